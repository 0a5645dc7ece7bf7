"""How a record stands in a journal: a line of JSON, with a checksum of it and of all before it."""

import json
import zlib

from paceline.journal.records import Record

HEADER_START = b'{"kind":"race"'
_LINE_START = b'{"kind":"'
_SEAL = b',"sum":"'
_SEALED = _SEAL + b'%08x"}'
_SEAL_AT = -len(_SEALED % 0)
_CHANGED = (
    "its checksum does not fit: after it was written, it was changed, or a line before it was "
    "removed or moved"
)


def written(record: Record, chain: int) -> tuple[bytes, int]:
    """The line of a record after a line whose checksum is `chain`; and its own checksum.

    >>> from paceline.journal.records import ArmOut
    >>> written(ArmOut(at=2.5, arm=1), 0)
    (b'{"kind":"out","at":2.5,"arm":1,"sum":"c4396b67"}\\n', 3292097383)
    """
    body = json.dumps(record.to_json(), separators=(",", ":")).encode()[:-1]
    chain = zlib.crc32(body, chain)
    return body + _SEALED % chain + b"\n", chain


def unchanged(lines: list[bytes], chain: int, *, must: bool) -> tuple[int, int, str]:
    """How many of these lines are as they were written, and the checksum of the last of them.

    Then, what is wrong with the next one; '' if they all are. `must` says that each must have a
    checksum: the first format had none.
    """
    crc32 = zlib.crc32
    for place, line in enumerate(lines):
        before, chain = chain, crc32(line[:_SEAL_AT], chain)
        if line[_SEAL_AT:] == _SEALED % chain:
            continue
        if line[_SEAL_AT:].startswith(_SEAL):
            return place, before, _CHANGED
        if must:
            return place, before, "its checksum is missing"
        chain = crc32(line, before)
    return len(lines), chain, ""


def parsed(lines: list[bytes]) -> list[dict[str, object]] | None:
    """What lines say, read all at once; None if one of them is no record, or is not alone.

    >>> parsed([b'{"kind":"out","arm":1}', b'{"kind":"out","arm":2}'])
    [{'kind': 'out', 'arm': 1}, {'kind': 'out', 'arm': 2}]
    >>> parsed([b'{"kind":"out","arm":[1', b'2]}']) is None
    True
    """
    # No two lines can pass for one: none could go on with what every line begins with.
    if not all(line.startswith(_LINE_START) and line.endswith(b"}") for line in lines):
        return None
    try:
        found: list[dict[str, object]] = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        return None
    return found if len(found) == len(lines) else None

"""What a worker says to the driver: plain numbers and texts, which are checked when they come.

A pull runs in the worker's own process and can write to its socket. So nothing that comes from
there is trusted: a message has a fixed head, raw doubles, and texts if a pull printed something or
went wrong.

>>> message = encode("failed", 7, [0.5], [0.01], trouble=("no number", "gave nan", ""))
>>> decode(message)
Answer(kind='failed', job=7, values=[0.5], seconds=[0.01], threads=0,
       trouble=('no number', 'gave nan', ''), printed=(), at=0)
>>> decode(b"junk")
Traceback (most recent call last):
    ...
paceline.engines.local.process.messages.Malformed: 4 bytes that are no message
"""

import json
import struct
from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

from .evaluating import TROUBLES, Trouble

LARGEST_ANSWER = 1 << 18  # bytes; ours are smaller

KINDS = ("began", "values", "finished", "failed")
# A mark, the kind, threads, how many pulls, the job, and how much of the log was told.
_HEAD = struct.Struct("<BBIIQQ")
_MARK = 0xA7
_WRITER = json.JSONEncoder(ensure_ascii=False)
_MOST_THREADS = 0xFFFF_FFFF


class Malformed(ValueError):
    """These bytes are no message of a worker."""


Texts = Sequence[tuple[int, str]]  # what pulls printed: the place of each among the values, a text


class Answer(NamedTuple):
    """What a worker says of its job."""

    kind: str
    job: int
    values: list[float]  # of the next pulls
    seconds: list[float]  # how long each of them took
    threads: int  # how many of its own threads a finished job has left running
    trouble: Trouble | None
    printed: Texts = ()  # of a pull that failed, the place is after the last value
    at: int = 0  # where in its log begins what was not told yet


# What it needs is bound here: a pull may have replaced it in the library.
def encode(
    kind: str,
    job: int,
    values: Sequence[float] = (),
    seconds: Sequence[float] = (),
    threads: int = 0,
    trouble: Trouble | None = None,
    printed: Texts = (),
    at: int = 0,
    *,
    pack: Any = _HEAD.pack,
    doubles: Any = struct.pack,
    dumps: Any = _WRITER.encode,
) -> bytes:
    """The bytes of a message."""
    head: bytes = pack(_MARK, KINDS.index(kind), min(threads, _MOST_THREADS), len(values), job, at)
    text = b""
    if trouble is not None or printed:
        text = dumps([trouble, printed]).encode(errors="replace")
    given: bytes = doubles(f"{len(values)}d", *values)  # from a list, an array takes far longer
    took: bytes = doubles(f"{len(seconds)}d", *seconds)
    return head + given + took + text


def decode(message: bytes) -> Answer:
    """The message of these bytes; raises `Malformed` if they are none."""
    if len(message) < _HEAD.size or message[0] != _MARK:
        raise Malformed(f"{len(message)} bytes that are no message")
    _, number, threads, pulls, job, at = _HEAD.unpack_from(message)
    middle, end = _HEAD.size + 8 * pulls, _HEAD.size + 16 * pulls
    if number >= len(KINDS) or end > len(message):
        raise Malformed("a message of no known kind, or shorter than it says")
    kind = KINDS[number]
    values, seconds = array("d"), array("d")
    values.frombytes(message[_HEAD.size : middle])
    seconds.frombytes(message[middle:end])
    trouble, printed = _texts(message[end:]) if end < len(message) else (None, ())
    if (kind == "failed") != (trouble is not None):
        raise Malformed("a failure without its kind, message and detail, or one that is none")
    return Answer(kind, job, values.tolist(), seconds.tolist(), threads, trouble, printed, at)


def _texts(text: bytes) -> tuple[Trouble | None, Texts]:
    """What went wrong, and what was printed."""
    try:
        trouble, printed = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise Malformed("a message longer than it says, or of texts that are none") from None
    if not isinstance(printed, list) or not all(map(_is_printed, printed)):
        raise Malformed("what was printed, but not by a pull or no text")
    return _trouble(trouble), tuple((place, said) for place, said in printed)


def _is_printed(one: Any) -> bool:
    return isinstance(one, list) and [type(part) for part in one] == [int, str]


def _trouble(plain: Any) -> Trouble | None:
    if plain is None:
        return None
    if not isinstance(plain, list) or len(plain) != 3 or not all(type(x) is str for x in plain):
        raise Malformed("a failure without its kind, message and detail")
    kind, what, detail = plain
    if kind not in TROUBLES:
        raise Malformed("a failure of no known kind")
    return kind, what, detail

"""What a worker says to the driver: plain numbers and texts, which are checked when they come.

A pull runs in the worker's own process and can write to its socket. So nothing that comes from
there is trusted: a message has a fixed head, raw doubles, and a text if a pull went wrong.

>>> message = encode("failed", 7, [0.5], [0.01], trouble=("no number", "gave nan", ""))
>>> decode(message)
Answer(kind='failed', job=7, values=[0.5], seconds=[0.01], threads=0, trouble=('no number', ...))
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
_HEAD = struct.Struct("<BBIIQ")  # a mark, the kind, threads, how many pulls, the job
_MARK = 0xA7
_WRITER = json.JSONEncoder(ensure_ascii=False)
_MOST_THREADS = 0xFFFF_FFFF


class Malformed(ValueError):
    """These bytes are no message of a worker."""


class Answer(NamedTuple):
    """What a worker says of its job."""

    kind: str
    job: int
    values: list[float]  # of the next pulls
    seconds: list[float]  # how long each of them took
    threads: int  # how many of its own threads a finished job has left running
    trouble: Trouble | None


# What it needs is bound here: a pull may have replaced it in the library.
def encode(
    kind: str,
    job: int,
    values: Sequence[float] = (),
    seconds: Sequence[float] = (),
    threads: int = 0,
    trouble: Trouble | None = None,
    *,
    pack: Any = _HEAD.pack,
    doubles: Any = struct.pack,
    dumps: Any = _WRITER.encode,
) -> bytes:
    """The bytes of a message."""
    head: bytes = pack(_MARK, KINDS.index(kind), min(threads, _MOST_THREADS), len(values), job)
    text: bytes = b"" if trouble is None else dumps(trouble).encode()
    given: bytes = doubles(f"{len(values)}d", *values)  # from a list, an array takes far longer
    took: bytes = doubles(f"{len(seconds)}d", *seconds)
    return head + given + took + text


def decode(message: bytes) -> Answer:
    """The message of these bytes; raises `Malformed` if they are none."""
    if len(message) < _HEAD.size or message[0] != _MARK:
        raise Malformed(f"{len(message)} bytes that are no message")
    _, number, threads, pulls, job = _HEAD.unpack_from(message)
    middle, end = _HEAD.size + 8 * pulls, _HEAD.size + 16 * pulls
    if number >= len(KINDS) or end > len(message):
        raise Malformed("a message of no known kind, or shorter than it says")
    kind = KINDS[number]
    values, seconds = array("d"), array("d")
    values.frombytes(message[_HEAD.size : middle])
    seconds.frombytes(message[middle:end])
    if kind == "failed":
        trouble = _trouble(message[end:])
    elif end == len(message):
        trouble = None
    else:
        raise Malformed("a message longer than it says")
    return Answer(kind, job, values.tolist(), seconds.tolist(), threads, trouble)


def _trouble(text: bytes) -> Trouble:
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        plain = None
    if not isinstance(plain, list) or len(plain) != 3 or not all(type(x) is str for x in plain):
        raise Malformed("a failure without its kind, message and detail")
    kind, what, detail = plain
    if kind not in TROUBLES:
        raise Malformed("a failure of no known kind")
    return kind, what, detail

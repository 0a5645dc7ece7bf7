"""Reads lines of one pull each together, as one record: it says the same, and is read sooner."""

import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby, repeat

from paceline.engines.jobs import Run
from paceline.journal.records import ManyReturned, PullsReturned

Joined = tuple[ManyReturned, int]  # a record, and how many lines it is made of

_WHOLE = rb"(0|[1-9]\d{0,17})"
_NUMBER = rb"(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)"


def _pattern() -> re.Pattern[bytes]:
    """A line of one pull, as such a record is written: other numbers in the same places."""
    example = PullsReturned(0.5, 7, (Run(7, 7, 1),), [0.5], [0.5])
    line = re.escape(json.dumps(example.to_json(), separators=(",", ":")).encode())
    line = line.replace(rb"0\.5", _NUMBER).replace(b"7", _WHOLE)
    return re.compile(b"^" + line[:-2] + rb'(?:,"sum":"\w{8}")?\}$', re.MULTILINE)


_ONE_PULL = _pattern()
_AS_RUN: Callable[[tuple[int, int, int]], Run] = partial(tuple.__new__, Run)  # quicker than Run()


def are_values(line: bytes) -> bool:
    """Whether a line is of a kind that can be joined."""
    return line.startswith(b'{"kind":"results"')


def joined(lines: Sequence[bytes], after: float) -> list[Joined] | None:
    """The records of lines of one pull each, if they are that, and none is earlier than `after`.

    Pulls on equally many cores form a record: it has a run, a value and its seconds per line, and
    the time of the last line.

    >>> line = b'{"kind":"results","at":%d.5,"cores":1,"pulls":[[0,%d,1]],"values":[3.0],'
    >>> line += b'"seconds":[0.5]}'
    >>> joined([line % (1, 0), line % (2, 1)], after=0.0)
    [(ManyReturned(at=2.5, cores=1, pulls=(Run(arm=0, first=0, pulls=1),
      Run(arm=0, first=1, pulls=1)), values=[3.0, 3.0], seconds=[0.5, 0.5], arms=[0, 0],
      firsts=[0, 1], moments=[1.5, 2.5]), 2)]
    >>> joined([line % (2, 0), line % (1, 1)], after=0.0) is None
    True
    """
    found = _ONE_PULL.findall(b"\n".join(lines))
    if len(found) != len(lines):
        return None
    times, on, which, numbers, values, seconds = zip(*found, strict=True)
    at = list(map(float, times))
    if not after <= at[0] or not all(map(operator.le, at, at[1:])) or at[-1] == math.inf:
        return None
    arms, firsts = list(map(int, which)), list(map(int, numbers))
    runs = list(map(_AS_RUN, zip(arms, firsts, repeat(1))))
    value, took = list(map(float, values)), list(map(float, seconds))
    return [
        (
            ManyReturned(at[end - 1], cores, tuple(runs[begin:end]), value[begin:end],
                         took[begin:end], arms[begin:end], firsts[begin:end], at[begin:end]),
            end - begin,
        )
        for cores, begin, end in _alike(on)
    ]  # fmt: skip


def _alike(on: Sequence[bytes]) -> Iterator[tuple[int, int, int]]:
    """Where the same number of cores begins and ends."""
    begin = 0
    for cores, some in groupby(on):
        end = begin + sum(1 for _ in some)
        yield int(cores), begin, end
        begin = end

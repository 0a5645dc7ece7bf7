r"""Second thoughts about a number that was read: is it the one, and does it say its unit?

>>> text = "time: 12.1ms, 3 iterations\n"
>>> value = Value("last")
>>> for doubt in doubts(value, find("last", "", text)):
...     print(doubt.text, *doubt.instead, sep="\n")
3 is a whole number before 'iterations', and may be a count: 12.1 is on the same line
('pattern:time: (\\S+?)ms', 12.1)
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from paceline.commands.finding import Found, NoValue, find
from paceline.commands.value import Value
from paceline.core.words import listed

_MOST = 3  # values that are offered instead
_LONGEST_TEXT = 20_000  # characters at the end, where other numbers are looked for
_LONGEST_LABEL = 40
# Not the parts of 12:30 or 1,234; with its unit, or the character that follows.
_NUMBER = re.compile(
    r"(?<![\w.])(?<!\d[:,])[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![:,]?\d)"
    r"(?=([A-Za-zµ%]*)(.?))"
)
_UNITS = {
    *("ns", "us", "µs", "ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "minutes"),
    *("h", "hours", "B", "kB", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "Hz", "kHz", "MHz"),
    *("GHz", "GFLOPS", "MFLOPS", "fps", "it/s", "MB/s", "GB/s", "%"),
}
_YEARS = range(1900, 2101)

Instead = tuple[str, float]  # how the value is written, and what it would have read


@dataclass(frozen=True)
class Doubt:
    """What speaks against a number, and values that would read others."""

    text: str
    instead: tuple[Instead, ...] = ()


def line_of(found: Found) -> tuple[str, int]:
    """The line that has the number, and where in it the number begins."""
    begin = found.text.rfind("\n", 0, found.start) + 1
    end = found.text.find("\n", found.end)
    return found.text[begin : len(found.text) if end < 0 else end], found.start - begin


def doubts(value: Value, found: Found) -> list[Doubt]:
    """What speaks against the number that was found; nothing, if it is plain which one is meant."""
    if value.kind in ("time", "json") or found.start == found.end:
        return []
    line, at = line_of(found)
    after = line[at + found.end - found.start :]
    if value.kind == "pattern":
        return list(_of_pattern(value, found, after))
    keys = tuple(_json_values(value, found.text)) if value.kind == "last" else ()
    if keys:
        what = "the output is JSON, and its last number need not be the one that is meant"
        return [Doubt(what, keys[:_MOST])]
    word = (re.match(r"[\W_]*\s*([^\W\d_]\S*|%)", after) or [None, ""])[1]
    here = found.text[found.start : found.end]
    others, where = _others_near(value, found, line, at)
    shown = listed([f"{number:g}" for _, number in others], _MOST)
    beside = f": {shown} {'is' if len(others) == 1 else 'are'} {where}" if others else ""
    is_whole = re.fullmatch(r"\D*\d+\D*", here) is not None
    noun = word.strip("().,;:") if word else ""
    before = f" before {noun!r}" if noun else ""
    if is_whole and found.number in _YEARS:
        return [Doubt(f"{found.number:.0f} may be a year{beside}", others)]
    if noun in _UNITS:
        return [Doubt(_unit(noun), (*_pinned(value, found, line, at, noun), *others)[:_MOST])]
    if is_whole and (others or noun):
        what = f"{found.number:g} is a whole number{before}, and may be a count{beside}"
        return [Doubt(what, others)]
    if others and any(re.search(r"\)[A-Za-zµ%]", one) for one, _ in others):
        return [Doubt(f"{found.number:g} has no unit{beside}", others)]
    return []


def _others_near(value: Value, found: Found, line: str, at: int) -> tuple[tuple[Instead, ...], str]:
    """Other numbers on the line, or else numbers with decimals on the line before it."""
    head = found.text[: found.start - at].rstrip().rpartition("\n")[2]
    here = [one for one in _in_line(value, found.text, line) if one[1] != found.number]
    if here:
        return tuple(here[:_MOST]), "on the same line"
    before = [one for one in _in_line(value, found.text, head) if one[1] % 1]
    return tuple(before[:_MOST]), "on the line before"


def others(value: Value, text: str) -> tuple[Instead, ...]:
    """Numbers that a value could read from the end of a text in which it found none."""
    keys = tuple(_json_values(value, text))
    if keys:
        return keys[:_MOST]
    for line in reversed(text[-_LONGEST_TEXT:].splitlines()):
        if found := tuple(_in_line(value, text, line)):
            return found[:_MOST]
    return ()


def _unit(unit: str) -> str:
    return (
        f"the number is in {unit!r}, and other runs may print another unit: have the program print "
        "always the same, or name it, so that a run with another one fails"
    )


def _of_pattern(value: Value, found: Found, after: str) -> Iterator[Doubt]:
    """A pattern that stops before the unit takes 12 s and 12 ms for the same."""
    unit = (re.match(r"\s?([A-Za-zµ%][\w/%]*)", after) or [None, ""])[1]
    last = list(re.finditer(value.argument, found.text, re.MULTILINE))[-1]
    if unit in _UNITS and last.end() == found.end:
        blank = " " if after.startswith(" ") else ""
        text = f"pattern:{value.argument}{blank}{re.escape(unit)}"
        yield Doubt(_unit(unit), tuple(_checked(value, text, found.text, found.number)))


def _in_line(value: Value, text: str, line: str) -> Iterator[Instead]:
    """Patterns for the numbers of a line, the last line that is like it."""
    for token in _NUMBER.finditer(line):
        unit, next_one = token[1], token[2]
        label = re.split(r"[\d,;|(\[]", line[: token.start()])[-1].lstrip()[-_LONGEST_LABEL:]
        begin = re.escape(label).replace(r"\ ", " ") if label.strip() else ""
        if not begin and not line[: token.start()].strip():
            begin = "^" + line[: token.start()]
        ends = [unit] if unit else ([re.escape(next_one)] if next_one.strip() else [])
        for end in (*ends, ""):
            group = r"(\S+?)" if end else r"(\S+)"
            if begin or end:
                made = list(_checked(value, f"pattern:{begin}{group}{end}", text, float(token[0])))
                yield from made
                if made:
                    break


def _pinned(value: Value, found: Found, line: str, at: int, unit: str) -> Iterator[Instead]:
    label = re.split(r"[\d,;|(\[]", line[:at])[-1].lstrip()[-_LONGEST_LABEL:]
    begin = re.escape(label).replace(r"\ ", " ") if label.strip() else "^"
    yield from _checked(value, rf"pattern:{begin}(\S+) {unit}", found.text, found.number)


def _checked(value: Value, written: str, text: str, number: float) -> Iterator[Instead]:
    """A value that is offered was tried: it reads this number."""
    kind, _, argument = written.partition(":")
    try:
        read = find(kind, argument, text).number
    except (NoValue, re.error):
        return
    if read == number:
        yield str(Value(kind, argument, value.stream)), number


def _json_values(value: Value, text: str) -> Iterator[Instead]:
    """The numbers of a JSON text, or of its last line, by their keys."""
    if "{" not in text[-_LONGEST_TEXT:]:
        return
    for part in (text.strip(), text.strip().rpartition("\n")[2]):
        try:
            plain = json.loads(part)
        except (ValueError, RecursionError):
            continue
        if isinstance(plain, dict):
            for path, number in _leaves(plain):
                yield from _checked(value, f"json:{path}", text, number)
        return


def _leaves(plain: Any, path: str = "") -> Iterator[tuple[str, float]]:
    pairs = plain.items() if isinstance(plain, dict) else ()
    for key, one in pairs:
        here = f"{path}.{key}" if path else str(key)
        is_number = isinstance(one, int | float) and not isinstance(one, bool)
        if is_number and math.isfinite(one):
            yield here, float(one)
        else:
            yield from _leaves(one, here)

r"""How the number of a pull is found in what a command leaves: what it printed, or a file.

What a command leaves may be anything: gigabytes, a pipe that nobody writes to, a text on which a
pattern takes an hour. So it is read and searched where a pull that takes too long can be ended: in
the worker that ran the command. Workers load this file by its path, because they do not import
paceline. It needs the standard library alone.

>>> import tempfile
>>> with tempfile.TemporaryFile(buffering=0) as stdout:
...     _ = stdout.write(b"step 1\nscore = 0.25\n")
...     read(("last", "", "stdout"), None, stdout.fileno(), seconds=1.5)
0.25
"""

import json
import math
import os
import re
import stat
from collections import deque
from typing import Any, NamedTuple

MOST_BYTES = 1 << 24  # of an output that is searched
ENOUGH_FOR_LAST = 1 << 16  # bytes at the end, where the last number is looked for

_QUOTED = 80  # characters of an output that go into a message
# A pipe is opened without waiting for somebody to write to it, where that can be.
_FLAGS = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(os, _name, 0)


class NoValue(ValueError):
    """A command ended, but what it left does not have the number it should give."""


class Unreadable(NoValue):
    """What should have the number could not even be searched."""


class Found(NamedTuple):
    """A number, and where in which text it was found; the place is empty if it has none."""

    number: float
    text: str
    start: int = 0
    end: int = 0


def read(
    where: tuple[str, str, str], file: str | None, output: int, seconds: float, begin: int = 0
) -> float:
    """The finite number of a command that ended well; raises `NoValue` if there is none.

    `where` has the kind, the argument and the stream of its `Value`, `file` is where it writes its
    value, and `output` is the open file with that stream, from `begin` on.
    """
    return look(where, file, output, seconds, begin).number


def look(
    where: tuple[str, str, str], file: str | None, output: int, seconds: float, begin: int = 0
) -> Found:
    """The same, with where it was found."""
    kind, argument, stream = where
    text = ""
    try:
        if kind == "last":
            text = _end(output, said(stream), begin)
        elif kind == "file" and file is not None:
            text = _written(file)
        elif kind != "time":
            text = _whole(output, begin)
        found = find(kind, argument, text, said(stream), seconds)
    except Unreadable:
        raise
    except NoValue as error:
        raise NoValue(f"gave no number: {error}") from None
    except MemoryError:
        raise Unreadable("left so much that there is not enough memory to search it") from None
    if not math.isfinite(found.number):
        raise NoValue(f"gave {found.number}")
    return found


def said(stream: str) -> str:
    """How a stream is called in a message."""
    return "output" if stream == "stdout" else f"{stream} output"


def find(
    kind: str, argument: str, text: str, what: str = "output", seconds: float = math.nan
) -> Found:
    """The number in a text; nan and infinity are returned as such.

    >>> find("json", "runs.0.score", '{"runs": [{"score": 2}]}').number
    2.0
    """
    if kind == "time":
        return Found(seconds, "")
    if kind == "json":
        return Found(_json_number(text, argument, what), text)
    if kind == "pattern":
        return _matched_number(text, argument, what)
    return _last_number(text, f"file {argument!r}" if kind == "file" else what)


def _written(path: str) -> str:
    """The end of the file that a command should have written."""
    try:
        file = os.open(path, _FLAGS)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise Unreadable(f"wrote no file {path}: {why}") from None
    try:
        mode = os.fstat(file).st_mode
        if not stat.S_ISREG(mode):
            what = "a folder" if stat.S_ISDIR(mode) else "a pipe, a device or the like"
            raise Unreadable(f"wrote no file {path}: it is {what}")
        return _end(file, f"file {path}", 0)
    except OSError as error:
        raise Unreadable(f"wrote {path}, but it cannot be read: {error.strerror}") from None
    finally:
        os.close(file)


def _end(file: int, what: str, begin: int) -> str:
    """The end of an open file, without a word that is cut off."""
    near = max(begin, os.fstat(file).st_size - ENOUGH_FOR_LAST)
    text = _bytes(file, near, ENOUGH_FOR_LAST)
    if near > begin:
        found = re.search(rb"\s", text)
        if found is None:
            raise Unreadable(f"ended its {what} with a word of more than {ENOUGH_FOR_LAST:,} bytes")
        text = text[found.end() :]
    return text.decode(errors="replace")


def _whole(file: int, begin: int) -> str:
    if os.fstat(file).st_size - begin >= MOST_BYTES:
        raise Unreadable(f"printed more than {MOST_BYTES:,} bytes, too many to search")
    return _bytes(file, begin, MOST_BYTES).decode(errors="replace")


def _bytes(file: int, begin: int, most: int) -> bytes:
    parts: list[bytes] = []
    while most > 0 and (part := read_at(file, most, begin)):
        parts.append(part)
        begin += len(part)
        most -= len(part)
    return b"".join(parts)


def read_at(file: int, most: int, place: int) -> bytes:
    """Bytes of an open file; that it moves on in it matters to nobody who reads like this."""
    if hasattr(os, "pread"):
        return os.pread(file, most, place)
    os.lseek(file, place, os.SEEK_SET)  # Windows
    return os.read(file, most)


# Fortran writes 1.5D-03.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eEdD][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"([+-]?)(?:(nan)(?:\(.*)?|inf(?:inity)?)", re.IGNORECASE)
_NUMBER_LIKE = re.compile(r"\d|(?<![a-z])(?:nan|inf(?:inity)?)(?![a-z])", re.IGNORECASE)
_NOTHING = {"None", "null", "NULL", "NA", "N/A", "n/a"}
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_AROUND = "\"'`()[]{}*|,;:"


def _last_number(text: str, what: str) -> Found:
    """Return the last number, if there is no doubt which one it is.

    A number skipped in silence would mean a wrong reward in every pull. So a last word that looks
    like a number but is not one ('3.5s', '12:30', '1,234', 'None') ends the search with an error.
    """
    text = _COLOUR.sub("", text)
    places = list(re.finditer(r"\S+", text))
    words = [place[0] for place in places]
    for position in range(len(words) - 1, -1, -1):
        word = words[position]
        core = word.strip(_AROUND).rstrip(f"{_AROUND}.")
        # The value of name=value, and of "name":value in JSON without spaces.
        core = re.split(r"=|(?<=[\"'])[:,]", core)[-1].strip(_AROUND)
        number = _number(core)
        if number is not None:
            if position and words[position - 1] in ("±", "+/-", "+-"):
                raise NoValue(_unclear(f"{words[position - 1]} {word}", what))
            return Found(number, text, *places[position].span())
        if core in _NOTHING or _NUMBER_LIKE.search(word):
            raise NoValue(_unclear(word, what))
    if not words:
        raise NoValue(f"the {what} is empty: it should end with a number")
    raise NoValue(
        f"there is no number in the {what}, which ends with {_quote(text)}: have the command "
        "print one last"
    )


def _unclear(words: str, what: str) -> str:
    return (
        f"where the {what} should have its last number it has {_quote(words)}, which is not a "
        r"plain number: print the number last, or say where it is, as in pattern:score = (\S+)"
    )


def _matched_number(text: str, pattern: str, what: str) -> Found:
    last = deque(re.finditer(pattern, text, re.MULTILINE), maxlen=1)
    if not last:
        raise NoValue(
            f"the pattern {pattern!r} is not in the {what}, which "
            + (f"ends with {_quote(text)}" if text.strip() else "is empty")
        )
    number = _number((last[0][1] or "").strip())
    if number is None:
        raise NoValue(
            f"the pattern {pattern!r} matched {_quote(last[0][0])}, but its group holds "
            f"{_held(last[0][1])}, which is not a number"
        )
    return Found(number, text, *last[0].span(1))


def _json_number(text: str, path: str, what: str) -> float:
    found = _json_of(text.strip(), what)
    left = path
    while left:
        if isinstance(found, dict) and left in found:  # a key may have dots in it
            found, left = found[left], ""
            continue
        key, _, left = left.partition(".")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and re.fullmatch("-?[0-9]{1,18}", key):
            if not -len(found) <= int(key) < len(found):
                raise NoValue(f"no {path} in the {what}: there are {len(found)} items, not {key}")
            found = found[int(key)]
        else:
            raise NoValue(f"no {path} in the {what}: {key!r} is not in {_contents(found)}")
    if isinstance(found, str):  # some programs write numbers so, and nan, which JSON lacks
        number = _number(found.strip())
        found = found if number is None else number
    if not isinstance(found, float):
        raise NoValue(f"{path} in the {what} is {_quote(json.dumps(found))}, which is not a number")
    return found


def _json_of(text: str, what: str) -> Any:
    for part in (text, text.rpartition("\n")[2]):
        try:
            return json.loads(part, parse_int=float)
        except (ValueError, RecursionError):
            continue
    raise NoValue(
        f"neither the {what} nor its last line is JSON; it ends with {_quote(text)}"
        if text
        else f"the {what} is empty: it should be JSON"
    )


def _number(word: str) -> float | None:
    if _NUMBER.fullmatch(word):
        return float(word.lower().replace("d", "e"))
    found = _NOT_FINITE.fullmatch(word)
    if found is None:
        return None
    return math.nan if found[2] else float(f"{found[1]}inf")


def _contents(found: Any) -> str:
    if isinstance(found, list):
        return f"a list of {len(found)}"
    if not isinstance(found, dict):
        return _quote(json.dumps(found))
    keys = ", ".join(found)
    return f"the keys {keys}" if len(keys) <= 80 else f"the keys {keys[:80]}…"


def _held(group: str | None) -> str:
    return "None" if group is None else _quote(group)


def _quote(text: str) -> str:
    """Quote a text; of a long one only the end, where programs say what happened."""
    text = text.strip()
    return repr(text) if len(text) <= _QUOTED else f"…{text[-_QUOTED:]!r}"

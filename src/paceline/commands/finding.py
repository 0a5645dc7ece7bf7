r"""How the number of a pull is found in what a command leaves: what it printed, or a file.

What a command leaves may be anything: gigabytes, a pipe that nobody writes to, a text on which a
pattern takes an hour. So it is read and searched where a pull that takes too long can be ended: in
the worker that ran the command. Workers load this file by its path, because they do not import
paceline. It needs the standard library alone.

>>> import tempfile
>>> with tempfile.TemporaryFile(buffering=0) as stdout:
...     _ = stdout.write(b"step 1\nscore = 0.25\n")
...     read("last", "", None, stdout.fileno(), seconds=1.5)
0.25
"""

import json
import math
import os
import re
import stat
from collections import deque
from typing import Any

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


def read(kind: str, argument: str, file: str | None, stdout: int, seconds: float) -> float:
    """The finite number of a command that ended well; raises `NoValue` if there is none.

    `kind` and `argument` are those of its `Value`, `file` is where it writes its value, and
    `stdout` is the open file with its output.
    """
    text: str | None = None
    output = ""
    try:
        if kind == "last":
            output = _end(stdout, "output")
        elif kind == "file" and file is not None:
            text = _written(file)
        elif kind != "time":
            output = _whole(stdout)
        found = find(kind, argument, output, text, seconds)
    except Unreadable:
        raise
    except NoValue as error:
        raise NoValue(f"gave no number: {error}") from None
    except MemoryError:
        raise Unreadable("left so much that there is not enough memory to search it") from None
    if not math.isfinite(found):
        raise NoValue(f"gave {found}")
    return found


def find(
    kind: str,
    argument: str,
    stdout: str,
    file_text: str | None = None,
    seconds: float = math.nan,
) -> float:
    """The number in these texts; nan and infinity are returned as such.

    >>> find("json", "runs.0.score", '{"runs": [{"score": 2}]}')
    2.0
    """
    if kind == "time":
        return seconds
    if kind == "json":
        return _json_number(stdout, argument)
    if kind == "pattern":
        return _matched_number(stdout, argument)
    if kind == "file":
        if file_text is None:
            raise NoValue(f"the command wrote no file {argument!r}")
        return _last_number(file_text, f"file {argument!r}")
    return _last_number(stdout, "output")


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
        return _end(file, f"file {path}")
    except OSError as error:
        raise Unreadable(f"wrote {path}, but it cannot be read: {error.strerror}") from None
    finally:
        os.close(file)


def _end(file: int, what: str) -> str:
    """The end of an open file, without a word that is cut off."""
    begin = max(0, os.fstat(file).st_size - ENOUGH_FOR_LAST)
    text = _bytes(file, begin, ENOUGH_FOR_LAST)
    if begin:
        found = re.search(rb"\s", text)
        if found is None:
            raise Unreadable(f"ended its {what} with a word of more than {ENOUGH_FOR_LAST:,} bytes")
        text = text[found.end() :]
    return text.decode(errors="replace")


def _whole(file: int) -> str:
    if os.fstat(file).st_size >= MOST_BYTES:
        raise Unreadable(f"printed more than {MOST_BYTES:,} bytes, too many to search")
    return _bytes(file, 0, MOST_BYTES).decode(errors="replace")


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


def _last_number(text: str, what: str) -> float:
    """Return the last number, if there is no doubt which one it is.

    A number skipped in silence would mean a wrong reward in every pull. So a last word that looks
    like a number but is not one ('3.5s', '12:30', '1,234', 'None') ends the search with an error.
    """
    words = _COLOUR.sub("", text).split()
    for position in range(len(words) - 1, -1, -1):
        word = words[position]
        core = word.strip(_AROUND).rstrip(f"{_AROUND}.")
        # The value of name=value, and of "name":value in JSON without spaces.
        core = re.split(r"=|(?<=[\"'])[:,]", core)[-1].strip(_AROUND)
        number = _number(core)
        if number is not None:
            if position and words[position - 1] in ("±", "+/-", "+-"):
                raise NoValue(_unclear(f"{words[position - 1]} {word}", what))
            return number
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


def _matched_number(text: str, pattern: str) -> float:
    last = deque(re.finditer(pattern, text, re.MULTILINE), maxlen=1)
    if not last:
        raise NoValue(
            f"the pattern {pattern!r} is not in the output, which ends with {_quote(text)}"
        )
    number = _number((last[0][1] or "").strip())
    if number is None:
        raise NoValue(
            f"the pattern {pattern!r} matched {_quote(last[0][0])}, but its group holds "
            f"{_held(last[0][1])}, which is not a number"
        )
    return number


def _json_number(text: str, path: str) -> float:
    found = _json_of(text.strip())
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
                raise NoValue(f"no {path} in the output: there are {len(found)} items, not {key}")
            found = found[int(key)]
        else:
            raise NoValue(f"no {path} in the output: {key!r} is not in {_contents(found)}")
    if isinstance(found, str):  # some programs write numbers so, and nan, which JSON lacks
        number = _number(found.strip())
        found = found if number is None else number
    if not isinstance(found, float):
        raise NoValue(f"{path} in the output is {_quote(json.dumps(found))}, which is not a number")
    return found


def _json_of(text: str) -> Any:
    for part in (text, text.rpartition("\n")[2]):
        try:
            return json.loads(part, parse_int=float)
        except (ValueError, RecursionError):
            continue
    raise NoValue(
        f"neither the output nor its last line is JSON; it ends with {_quote(text)}"
        if text
        else "the output is empty: it should be JSON"
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

"""How the number of a pull is read from a command's output."""

import json
import math
import re
from collections import deque
from dataclasses import dataclass
from typing import Any

from paceline.commands.template import pieces, quote
from paceline.errors import InvalidInput, PacelineError, unknown_name

VALUE_HELP = (
    "how the number is read: last (the last number printed), json:KEY.KEY (printed as JSON), "
    "pattern:REGEX (one group, last match), file:PATH (the last number in a file it writes), "
    "or time (the seconds it took)"
)
_KINDS = {  # how each is written
    "last": "last",
    "json": "json:KEY, as in json:metrics.score",
    "pattern": r"pattern:REGEX, as in pattern:score = (\S+)",
    "file": "file:PATH, as in file:out-{seed}.txt",
    "time": "time",
}


class NoValue(PacelineError, ValueError):
    """A command ended, but its output does not have the number it should give."""


@dataclass(frozen=True)
class Value:
    r"""Where the number of a pull is found.

    >>> Value("last").read("step 3\nscore = 0.25\n")
    0.25
    >>> Value("json", "runs.0.score").read('{"runs": [{"score": 2}]}')
    2.0
    >>> Value("pattern", r"score (\S+)").read("score 1.5\nafter 3 steps\n")
    1.5
    """

    kind: str = "last"
    argument: str = ""  # the path of keys, the regular expression, or the template of the file

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise unknown_name("value", self.kind, _KINDS)
        usage = _KINDS[self.kind]
        if bool(self.argument) != (":" in usage):
            raise InvalidInput(f"value {str(self)!r}: write {usage}")
        if self.kind == "pattern":
            try:
                groups = re.compile(self.argument).groups
            except re.error as error:
                raise InvalidInput(
                    f"value {str(self)!r} is not a regular expression: {error}"
                ) from None
            if groups != 1:
                raise InvalidInput(
                    f"value {str(self)!r} has {groups} groups: put parentheses around the number "
                    "and around nothing else, as in (\\S+); (?:…) does not count as one"
                )
        if self.kind == "file":
            pieces(self.argument)

    def __str__(self) -> str:
        return f"{self.kind}:{self.argument}" if self.argument else self.kind

    def read(self, stdout: str, file_text: str | None = None, seconds: float = math.nan) -> float:
        """Return the number; nan and infinity are returned as such, and the caller decides.

        Raises `NoValue` if there is none, or if it is not clear which one is meant.
        """
        if self.kind == "time":
            return seconds
        if self.kind == "json":
            return _json_number(stdout, self.argument)
        if self.kind == "pattern":
            return _matched_number(stdout, self.argument)
        if self.kind == "file":
            if file_text is None:
                raise NoValue(f"the command wrote no file {self.argument!r}")
            return _last_number(file_text, f"file {self.argument!r}")
        return _last_number(stdout, "output")


def parse_value(text: str) -> Value:
    """Make a value from a word such as `json:metrics.score`.

    >>> parse_value("json:metrics.score")
    Value(kind='json', argument='metrics.score')
    """
    kind, _, argument = text.partition(":")
    return Value(kind.strip(), argument)


# Fortran writes 1.5D-03.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][+-]?[0-9]+)?")
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
        f"there is no number in the {what}, which ends with {quote(text)}: have the command "
        "print one last"
    )


def _unclear(words: str, what: str) -> str:
    return (
        f"where the {what} should have its last number it has {quote(words)}, which is not a "
        r"plain number: print the number last, or say where it is, as in pattern:score = (\S+)"
    )


def _matched_number(text: str, pattern: str) -> float:
    last = deque(re.finditer(pattern, text, re.MULTILINE), maxlen=1)
    if not last:
        raise NoValue(
            f"the pattern {pattern!r} is not in the output, which ends with {quote(text)}"
        )
    number = _number((last[0][1] or "").strip())
    if number is None:
        raise NoValue(
            f"the pattern {pattern!r} matched {quote(last[0][0])}, but its group holds "
            f"{last[0][1]!r}, which is not a number"
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
        raise NoValue(f"{path} in the output is {quote(json.dumps(found))}, which is not a number")
    return found


def _json_of(text: str) -> Any:
    for part in (text, text.rpartition("\n")[2]):
        try:
            return json.loads(part, parse_int=float)
        except (ValueError, RecursionError):
            continue
    raise NoValue(
        f"neither the output nor its last line is JSON; it ends with {quote(text)}"
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
        return quote(json.dumps(found))
    keys = ", ".join(found)
    return f"the keys {keys}" if len(keys) <= 80 else f"the keys {keys[:80]}…"

"""Where the number of a pull is in a command's output; `finding.py` finds it there."""

import math
import re
from dataclasses import dataclass

from paceline.commands.finding import find
from paceline.commands.template import pieces
from paceline.errors import InvalidInput, unknown_name

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
        return find(self.kind, self.argument, stdout, file_text, seconds)


def parse_value(text: str) -> Value:
    """Make a value from a word such as `json:metrics.score`.

    >>> parse_value("json:metrics.score")
    Value(kind='json', argument='metrics.score')
    """
    kind, _, argument = text.partition(":")
    return Value(kind.strip(), argument)

"""Where the number of a pull is in a command's output; `finding.py` finds it there."""

import math
import re
from dataclasses import dataclass
from typing import Literal

from paceline.commands.finding import NoValue, find, said
from paceline.commands.template import pieces
from paceline.errors import InvalidInput, unknown_name

VALUE_HELP = (
    "how the number is read: last (the last number printed), json:KEY.KEY (printed as JSON), "
    "pattern:REGEX (one group, last match), file:PATH (the last number in a file it writes), "
    "time (the seconds it took); or stderr, stderr:json:KEY.KEY, stderr:pattern:REGEX, for what it "
    "prints to standard error"
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
    >>> Value("last", stream="stderr").read("progress: 3\n", stderr="score = 0.25\n")
    0.25
    """

    kind: str = "last"
    argument: str = ""  # the path of keys, the regular expression, or the template of the file
    stream: Literal["stdout", "stderr"] = "stdout"

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise unknown_name("value", self.kind, (*_KINDS, "stderr"))
        usage = _KINDS[self.kind]
        if self.stream == "stderr":
            usage = usage.replace(f"{self.kind}:", f"stderr:{self.kind}:")
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
        if self.stream == "stderr" and self.kind in ("file", "time"):
            raise InvalidInput(
                f"value {str(self)!r}: what is printed to standard error is read as stderr, "
                "stderr:json:KEY or stderr:pattern:REGEX"
            )

    def __str__(self) -> str:
        text = f"{self.kind}:{self.argument}" if self.argument else self.kind
        if self.stream == "stdout":
            return text
        return self.stream if text == "last" else f"{self.stream}:{text}"

    @property
    def where(self) -> tuple[str, str, str]:
        """What `finding.py` needs to know: the kind, the argument and the stream."""
        return self.kind, self.argument, self.stream

    def read(
        self,
        stdout: str,
        file_text: str | None = None,
        seconds: float = math.nan,
        stderr: str = "",
    ) -> float:
        """Return the number; nan and infinity are returned as such, and the caller decides.

        Raises `NoValue` if there is none, or if it is not clear which one is meant.
        """
        text: str | None = stdout if self.stream == "stdout" else stderr
        if self.kind == "file":
            text = file_text
        if text is None:
            raise NoValue(f"the command wrote no file {self.argument!r}")
        return find(self.kind, self.argument, text, said(self.stream), seconds).number


def parse_value(text: str) -> Value:
    r"""Make a value from a word such as `json:metrics.score`.

    >>> parse_value("json:metrics.score")
    Value(kind='json', argument='metrics.score', stream='stdout')
    >>> str(parse_value("stderr")), str(parse_value(r"stderr:pattern:score (\S+)"))
    ('stderr', 'stderr:pattern:score (\\S+)')
    """
    kind, colon, rest = text.partition(":")
    if kind.strip() != "stderr":
        return Value(kind.strip(), rest)
    if not colon:
        return Value(stream="stderr")
    kind, _, argument = rest.partition(":")
    return Value(kind.strip(), argument, "stderr")

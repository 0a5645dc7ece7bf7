"""What there is to know about an option of a race."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from paceline.races.checks import Check


@dataclass(frozen=True)
class Option:
    """All that there is to know about an option, but for what it does.

    `kept` says what the journal does with it: "race" is part of what the race is, and must not
    change; "session" is how it is run, and a resume may change it; None is not kept. `record` gives
    what is written, from checked settings, and `recall` makes a value of it again.
    """

    name: str
    default: Any
    takes: str  # in a few words; also what stands for it in --help
    help: str
    check: Check
    group: str
    kept: Literal["race", "session"] | None = None
    short: str = ""  # its flag of one letter
    words: Callable[[str], Any] | None = str  # from the command line; None: only in Python
    choices: tuple[str, ...] = ()
    flag: Literal["value", "each choice", "on or off"] = "value"
    in_profile: bool = False
    record: Callable[[Any], Any] | None = None  # of the Settings; None: the value as it is
    recall: Callable[[Any], Any] = lambda plain: plain

    def recorded(self, settings: Any) -> Any:
        """What the journal keeps of it."""
        return settings.options[self.name] if self.record is None else self.record(settings)

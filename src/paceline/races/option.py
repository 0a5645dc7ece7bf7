"""How an option of a race is described."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from paceline.errors import InvalidInput
from paceline.races.checks import Check
from paceline.races.resuming import AS_OTHERS, OnResume

NOT_IN_RESUME = ("journal", "labels")  # the journal is what is resumed, and it has the labels


@dataclass(frozen=True)
class Option:
    """Everything about an option except what it does.

    `kept` says how the journal treats it: "race" is part of what the race is, and must not change
    (or only as `on_resume` says); "session" is how it is run, and a resume may change it; None is
    not recorded. `record` takes checked settings and gives what is written; `recall` turns that
    back into a value.
    """

    name: str
    default: Any
    takes: str  # in a few words; also its placeholder in --help
    help: str
    check: Check
    group: str
    kept: Literal["race", "session"] | None = None
    short: str = ""  # its one-letter flag
    words: Callable[[str], Any] | None = str  # parses the command line's text; None: only in Python
    choices: tuple[str, ...] = ()
    flag: Literal["value", "each choice", "on or off"] = "value"
    in_profile: bool = False
    record: Callable[[Any], Any] | None = None  # takes the Settings; None: the value as it is
    recall: Callable[[Any], Any] = lambda plain: plain
    on_resume: OnResume = AS_OTHERS

    @property
    def in_resume(self) -> bool:
        """Whether a resume takes it."""
        return self.name not in NOT_IN_RESUME and (self.kept != "race" or bool(self.on_resume.only))

    def checked(self, value: Any) -> Any:
        """The value as `paceline.race` uses it; a refusal names the option."""
        try:
            return self.check(value, self.name)
        except InvalidInput as error:
            if self.name in str(error):
                raise
            raise InvalidInput(f"{self.name}: {error}") from error

    def recorded(self, settings: Any) -> Any:
        """What the journal keeps of it."""
        return settings.options[self.name] if self.record is None else self.record(settings)

"""The environment of a command: variables with their values, and variables known by name only.

The journal of a race keeps the command, and so the values given here. The value of a variable that
is only named stays out of it: the race takes it from its own environment when it starts or resumes.
"""

from collections.abc import Mapping
from typing import Any

from paceline.commands.template import check_text, pieces
from paceline.errors import InvalidInput, seen

Variables = dict[str, str | None]  # templates by name; None: only the name is known


def variables(given: Any) -> Variables:
    """Variables by name: from a dict, or from words as on the command line.

    >>> variables(["MODE=fast", "API_KEY"])
    {'MODE': 'fast', 'API_KEY': None}
    >>> variables({"MODE": "fast", "API_KEY": None})
    {'MODE': 'fast', 'API_KEY': None}
    """
    if isinstance(given, Mapping):
        found = dict(given)
    elif not isinstance(given, list | tuple):
        raise InvalidInput(
            "the environment is a dict of names and values, or a list of NAME=VALUE and NAME, got "
            f"{seen(given)}"
        )
    else:
        found = dict(_word(one) for one in given)
    for name, value in found.items():
        _check(name, value)
    return found


def with_values(named: Mapping[str, str | None], source: Mapping[str, str]) -> Variables:
    """The same variables, with the values that the source has for those that are only named.

    >>> with_values({"MODE": "{mode}", "API_KEY": None}, {"API_KEY": "s3cret"})
    {'MODE': '{mode}', 'API_KEY': 's3cret'}
    """
    return {
        name: _literal(source[name]) if value is None else value for name, value in named.items()
    }


def check_source(named: Mapping[str, str | None], source: Mapping[str, str]) -> None:
    """Refuse variables that are only named, and that the source does not have."""
    for name, value in named.items():
        if value is None and name not in source:
            raise InvalidInput(
                f"the command takes {name} from the environment, where it is not set: set it "
                f"before the race starts or resumes, or write NAME=VALUE"
            )


def holds_values(named: Mapping[str, str | None]) -> bool:
    """Whether a value is more than a placeholder that is filled in for every arm or pull.

    >>> holds_values({"SEED": "{seed}", "API_KEY": None}), holds_values({"MODE": "fast"})
    (False, True)
    """
    return any(
        not is_name for value in named.values() for _, is_name in pieces(value or "") if value
    )


def _word(text: Any) -> tuple[str, str | None]:
    if not isinstance(text, str):
        raise InvalidInput(f"a variable of the environment is NAME=VALUE or NAME, got {seen(text)}")
    name, equals, value = text.partition("=")
    return name, value if equals else None


def _check(name: Any, value: Any) -> None:
    if not isinstance(name, str) or not name or "=" in name or "\0" in name:
        raise InvalidInput(f"{seen(name)} cannot be the name of an environment variable")
    check_text(name, "the name of an environment variable")
    if not isinstance(value, str | None):
        raise InvalidInput(
            f"the environment variable {name} must be a string, or None to take it from the "
            f"environment of the race, got {seen(value)}"
        )
    if value is not None:
        check_text(value, f"the environment variable {name}")
        pieces(value)


def _literal(value: str) -> str:
    """A value as a template that has no placeholders."""
    return value.replace("{", "{{").replace("}", "}}")

"""The form of a word, `name:value,key=value`, and the objects that its values and keys make."""

import dataclasses
import types
import typing
from typing import Any

from paceline.errors import InvalidInput, unknown_name


def split_word(text: str) -> tuple[str, list[str], dict[str, str]]:
    """Cut a word into its name, its values, and its options by name.

    >>> split_word("ernest:1,8,cores=16")
    ('ernest', ['1', '8'], {'cores': '16'})
    """
    name, _, rest = text.partition(":")
    words = [word.strip() for word in rest.split(",") if word.strip()]
    options = dict(word.split("=", 1) for word in words if "=" in word)
    return name.strip(), [word for word in words if "=" not in word], options


def construct(kind: Any, text: str, values: list[str], options: dict[str, str]) -> Any:
    """Call a dataclass with words turned into the types of its fields."""
    fields = [field.name for field in dataclasses.fields(kind)]
    types_ = typing.get_type_hints(kind)
    if len(values) > len(fields):
        raise InvalidInput(f"{text!r} has too many values: it takes {', '.join(fields)}")
    named = dict(zip(fields, values, strict=False))
    kind_name = text.partition(":")[0]
    for name in options:
        if name not in fields:
            raise unknown_name(f"option of {kind_name}", name, fields)
        if name in named:
            raise InvalidInput(f"{text!r} gives {name} twice: {named[name]} and {options[name]}")
    words = named | options
    required = [f.name for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING]
    missing = [name for name in required if name not in words]
    if missing:
        raise InvalidInput(f"{text!r} lacks {', '.join(missing)}: write {kind_name}:{missing[0]}=…")
    return kind(**{name: _value(word, types_[name], text) for name, word in words.items()})


def to_number(word: str, text: str) -> float:
    """Read a number; `text` is where it was found, for the message."""
    try:
        return float(word)
    except ValueError:
        raise InvalidInput(f"in {text!r}, {word!r} is not a number") from None


def to_whole(word: str, text: str) -> int:
    """Read a whole number; `text` is where it was found, for the message."""
    try:
        return int(word)
    except ValueError:
        raise InvalidInput(f"in {text!r}, {word!r} is not a whole number") from None


def _value(word: str, wanted: Any, text: str) -> Any:
    """Turn a word into a bool, an int or a float, or leave it, as the field's type says."""
    accepted = typing.get_args(wanted) if isinstance(wanted, types.UnionType) else (wanted,)
    if bool in accepted:
        if word.lower() not in ("true", "false"):
            raise InvalidInput(f"in {text!r}, {word!r} must be true or false")
        return word.lower() == "true"
    if int in accepted:
        return to_whole(word, text)
    return to_number(word, text) if float in accepted else word

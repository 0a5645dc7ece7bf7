"""Templates with placeholders, `{name}`: what they contain, and how they are filled."""

import functools
import os
import re
from collections.abc import Mapping
from typing import Any

from paceline.errors import InvalidInput, seen, unknown_name

RESERVED = ("seed", "cores")  # filled in for every pull; an arm's parameter cannot have these names

_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NAME = re.compile(r"[^\W\d][\w-]*")


@functools.lru_cache(maxsize=256)
def pieces(template: str) -> tuple[tuple[str, bool], ...]:
    """Cut a template into texts and names; True marks a name.

    >>> pieces("a{x}{{b}}")
    (('a', False), ('x', True), ('{', False), ('b', False), ('}', False))
    """
    pieces: list[tuple[str, bool]] = []
    end = 0
    for token in _TOKEN.finditer(template):
        if token.start() > end:
            pieces.append((template[end : token.start()], False))
        end = token.end()
        name = token[1]
        if token[0] in ("{{", "}}"):
            pieces.append((token[0][0], False))
        elif name is None:
            raise InvalidInput(
                f"{token[0]!r} has no partner in {quote(template)}: a literal brace is "
                f"written {token[0] * 2}"
            )
        elif _NAME.fullmatch(name):
            pieces.append((name, True))
        elif _NAME.fullmatch(re.split("[:!]", name)[0]):
            raise InvalidInput(
                f"{token[0]} in {quote(template)}: formats are not supported; write the values "
                f"of the arms as they should look, and {{{re.split('[:!]', name)[0]}}} here"
            )
        else:
            raise InvalidInput(
                f"{token[0]} in {quote(template)} is not a placeholder such as {{x}}: if the "
                "braces are meant, double them, {{ and }}"
            )
    if end < len(template):
        pieces.append((template[end:], False))
    return tuple(pieces)


def names(*templates: str) -> set[str]:
    """The placeholders in these templates."""
    return {text for template in templates for text, is_name in pieces(template) if is_name}


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with these values instead of its placeholders."""
    try:
        return "".join(values[text] if is_name else text for text, is_name in pieces(template))
    except KeyError as error:
        raise unknown_name("placeholder", error.args[0], values) from None


def written(value: Any) -> str:
    """Write a parameter's value as it appears in a command; true and false as in TOML.

    >>> written(1.0), written("a b"), written(True)
    ('1.0', 'a b', 'true')
    """
    try:
        return str(value).lower() if isinstance(value, bool) else str(value)
    except ValueError:
        raise InvalidInput(f"{seen(value)} is too large to be written into a command") from None


def check_name(name: str) -> None:
    """Refuse a parameter's name that could never be used in a template."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name!r} cannot be the name of a parameter: use letters, digits, - and _, with a "
            "letter first"
        )
    if name in RESERVED:
        raise InvalidInput(
            f"{name!r} is filled in for every pull: give your parameter another name"
        )


def check_text(text: str, what: str) -> None:
    r"""Refuse a text that no operating system passes on: in a path, a word or the environment.

    >>> check_text("a\0b", "the name")
    Traceback (most recent call last):
        ...
    paceline.errors.InvalidInput: the name has a zero byte in it, 'a\x00b': remove it
    """
    if "\0" in text:
        raise InvalidInput(f"{what} has a zero byte in it, {seen(text)}: remove it")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise InvalidInput(
            f"{what} has characters that this system cannot write, {seen(text)}: remove them"
        ) from None


def quote(text: str, most: int = 80) -> str:
    """Quote a text; of a long one only the end, where programs say what happened.

    >>> quote("a" * 100, most=3)
    "…'aaa'"
    """
    text = text.strip()
    return repr(text) if len(text) <= most else f"…{text[-most:]!r}"

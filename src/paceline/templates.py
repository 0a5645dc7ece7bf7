"""Templates with placeholders, `{name}`: what they hold, and how they are filled."""

import functools
import re
import shlex
from collections.abc import Mapping
from typing import Any

from paceline.errors import InvalidInput, unknown_name

RESERVED = ("seed", "cores")  # filled in for every pull; no parameter of an arm has these names

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
                f"{token[0]!r} without its partner in {shorten(template)}: a literal brace is "
                f"written {token[0] * 2}"
            )
        elif _NAME.fullmatch(name):
            pieces.append((name, True))
        elif _NAME.fullmatch(re.split("[:!]", name)[0]):
            raise InvalidInput(
                f"{token[0]} in {shorten(template)}: formats are not supported, write the values "
                f"of the arms as they should look and {{{re.split('[:!]', name)[0]}}} here"
            )
        else:
            raise InvalidInput(
                f"{token[0]} in {shorten(template)} is no placeholder such as {{x}}: if the "
                "braces are meant, double them, {{ and }}"
            )
    if end < len(template):
        pieces.append((template[end:], False))
    return tuple(pieces)


def names(*templates: str) -> set[str]:
    """The placeholders in these templates."""
    return {text for template in templates for text, is_name in pieces(template) if is_name}


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with these values in the place of its placeholders."""
    try:
        return "".join(values[text] if is_name else text for text, is_name in pieces(template))
    except KeyError as error:
        raise unknown_name("placeholder", error.args[0], values) from None


# What a shell would act upon if it stood alone in the command.
_OPERATOR = re.compile(r"\|\|?|&&?|;|[0-9]?>.*|<.*")


def split(template: str, shell: bool) -> tuple[str, ...]:
    """The words of a command; for the shell, the one text that it is."""
    if shell:
        return (template,)
    try:
        words = tuple(shlex.split(template))
    except ValueError as error:
        raise InvalidInput(
            f"cannot split {shorten(template)} into words: {str(error).lower()}"
        ) from None
    # A word that is the same before and after quotes are removed was not quoted.
    bare = set(template.split())
    for word in words:
        if word in bare and _OPERATOR.fullmatch(word):
            raise InvalidInput(
                f"{word!r} in {shorten(template)} means something to a shell only: ask for the "
                "shell, or quote it if the command should get it"
            )
    return words


def check_shell(template: str) -> None:
    """Refuse placeholders where the quotes that `fill` puts around values would not hold.

    Inside "…" a quoted value would lose its quotes, and `$(…)` in it would be run. So a
    placeholder must stand in the open; there is always a way to write it so.
    """
    inside = ""  # the quote, backtick or comment that is open
    nested = False  # in something whose quotes are not followed here
    escaped = False
    recent = "\n"  # the last characters read
    for text, is_name in pieces(template):
        if is_name:
            if inside or nested or escaped or recent.endswith("$"):
                raise InvalidInput(
                    f"{{{text}}} in {shorten(template)} stands behind $ or \\, or in quotes, a "
                    "comment, $((…)) or a here-document, but values come with their own quotes: "
                    f"begin with {_variable(text)}={{{text}}}; and write "
                    f'"${_variable(text)}" there'
                )
            recent = text
            continue
        for character in text:
            if escaped:
                escaped = False
            elif character == "\\" and inside not in ("'", "#"):
                escaped = True
            elif inside == "#":
                inside = "" if character == "\n" else inside
            elif inside:
                opens = character == "`" or recent[-1] + character == "$("
                nested |= inside == '"' and opens
                inside = "" if character == inside else inside
            elif character in "'\"`" or (character == "#" and recent[-1] in " \t\n;&|()"):
                inside = character
            recent = recent[-2:] + character
            nested |= not inside and recent.endswith(("<<", "$(("))
    if inside in ("'", '"', "`") and not nested:
        raise InvalidInput(f"{inside} without its partner in {shorten(template)}: close it")


def _variable(name: str) -> str:
    return re.sub(r"\W|-", "_", name)


def written(value: Any) -> str:
    """Write a parameter's value as it stands in a command; true and false as in TOML.

    >>> written(1.0), written("a b"), written(True)
    ('1.0', 'a b', 'true')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_name(name: str) -> None:
    """Refuse the name of a parameter that could never stand in a template."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name!r} cannot be the name of a parameter: use letters, digits, - and _, with a "
            "letter first"
        )
    if name in RESERVED:
        raise InvalidInput(
            f"{name!r} is filled in for every pull: give your parameter another name"
        )


def shorten(text: str, most: int = 80) -> str:
    """Quote a text; of a long one its end, where programs say what happened.

    >>> shorten("a" * 100, most=3)
    "…'aaa'"
    """
    text = text.strip()
    return repr(text) if len(text) <= most else f"…{text[-most:]!r}"

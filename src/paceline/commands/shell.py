"""What a shell would make of a template: its words, and the quotes around its placeholders."""

import re
import shlex

from paceline.commands.template import pieces, quote
from paceline.errors import InvalidInput

# A shell would act on these if they stood alone in the command.
_OPERATOR = re.compile(r"\|\|?|&&?|;|[0-9]?>.*|<.*")


def split(template: str, shell: bool) -> tuple[str, ...]:
    """The words of a command; for the shell, the whole text."""
    if shell:
        return (template,)
    try:
        words = tuple(shlex.split(template))
    except ValueError as error:
        raise InvalidInput(
            f"cannot split {quote(template)} into words: {str(error).lower()}"
        ) from None
    # A word that is the same before and after quotes are removed was not quoted.
    bare = set(template.split())
    for word in words:
        if word in bare and _OPERATOR.fullmatch(word):
            raise InvalidInput(
                f"{word!r} in {quote(template)} has a meaning only in a shell: ask for the "
                "shell, or quote it to pass it to the command"
            )
    return words


def check_shell(template: str) -> None:
    """Refuse placeholders where the quotes that `fill` puts around values would not work.

    Inside "…" a quoted value would lose its quotes, and `$(…)` in it would be run. So a placeholder
    must stand outside of quotes; there is always a way to write it so.
    """
    inside = ""  # the quote, backtick or comment that is open
    nested = False  # in something whose quotes are not followed here
    escaped = False
    recent = "\n"  # the last characters read
    for text, is_name in pieces(template):
        if is_name:
            if inside or nested or escaped or recent.endswith("$"):
                raise InvalidInput(
                    f"{{{text}}} in {quote(template)} comes after $ or \\, or is in quotes, a "
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
        raise InvalidInput(f"{inside} has no partner in {quote(template)}: close it")


def _variable(name: str) -> str:
    return re.sub(r"\W|-", "_", name)

r"""Characters that act on a terminal: the one place that makes them harmless.

Labels, messages of programs, paths and journals may hold anything. A terminal obeys some of it:
colours, a cleared screen, a changed title, text that runs backwards. Whatever paceline prints, and
the text of every error and warning of its own, passes through `visible`. Colours of paceline's own
are added afterwards.
"""

import re
import unicodedata

LAYOUT = "\n\t"
LONGEST = 160  # characters of a label or of a line; some labels are whole programs
_BLANKS = re.compile(r"[ \t\r\n\f\v]+")
_SUSPECT = re.compile(r"[^\n\t -~]")  # most texts have none


def visible(text: str, keep: str = LAYOUT) -> str:
    r"""The text, with what a terminal would act on, or not show, written as in Python's source.

    These are control characters (escape sequences begin with one), marks that turn the direction of
    the text, characters without width, separators of lines, and halves of surrogate pairs.

    >>> print(visible("\x1b[31mred\x9b0m a\u202eb λ…"))
    \x1b[31mred\x9b0m a\u202eb λ…
    >>> visible("one line\n", keep="")
    'one line\\n'
    """
    if keep == LAYOUT and not _SUSPECT.search(text):
        return text
    return "".join(
        one if one.isprintable() or one in keep or _is_blank(one) else _escaped(one) for one in text
    )


def clean(text: str) -> str:
    r"""The text on one line, without anything that a terminal would act on.

    >>> print(clean("a\n b\x1b[31m"))
    a b\x1b[31m
    """
    return visible(" ".join(text.split()), keep="")


def cut(text: str, most: int = LONGEST) -> str:
    """The text with its middle left out if it is long: names often differ at their ends.

    >>> cut("abcdefghij", 5)
    'ab…ij'
    """
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[: most - 1 - half]}…{text[len(text) - half :]}"


def shown(text: object, most: int = LONGEST) -> str:
    r"""Any text on one line, not too long, without characters that act or cannot be seen.

    >>> shown("a\n\u202eb")
    'a \\u202eb'
    """
    # Cut first, since a text may have megabytes; and again, since it grows when made visible.
    line = _BLANKS.sub(" ", cut(str(text), 8 * most)).strip()
    return cut(visible(line, keep=""), most)


def _is_blank(one: str) -> bool:
    return unicodedata.category(one) == "Zs"


def _escaped(one: str) -> str:
    return one.encode("unicode_escape").decode("ascii")

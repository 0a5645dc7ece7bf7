r"""Characters that act on a terminal: the one place that makes them harmless.

Labels, messages of programs, paths and journals may hold anything. A terminal obeys some of it:
colours, a cleared screen, a changed title, text that runs backwards. Whatever paceline prints, and
the text of every error and warning of its own, passes through `visible`. Colours of paceline's own
are added afterwards.
"""

import re
import unicodedata

LAYOUT = "\n\t"
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


def _is_blank(one: str) -> bool:
    return unicodedata.category(one) == "Zs"


def _escaped(one: str) -> str:
    return one.encode("unicode_escape").decode("ascii")

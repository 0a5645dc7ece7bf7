"""Text as HTML: whatever users wrote is shown, and never acts."""

import re
from collections.abc import Iterable

from paceline.characters import visible
from paceline.report.extra import needs_bokeh

with needs_bokeh():
    from markupsafe import Markup

_LONGEST = 160  # characters of a label or of a line; some labels are whole programs
_BLANKS = re.compile(r"[ \t\r\n\f\v]+")

__all__ = ["NOTHING", "Markup", "cut", "joined", "label", "prose", "shown"]

NOTHING = Markup()


def cut(text: str, most: int = _LONGEST) -> str:
    """The text with its middle left out if it is long: names often differ at their ends.

    >>> cut("abcdefghij", 5)
    'ab…ij'
    """
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[: most - 1 - half]}…{text[len(text) - half :]}"


def shown(text: object, most: int = _LONGEST) -> str:
    r"""Any text on one line, not too long, without characters that act or cannot be seen.

    >>> shown("a\n\u202eb")
    'a \\u202eb'
    """
    # Cut first, since a text may have megabytes; and again, since it grows when made visible.
    line = _BLANKS.sub(" ", cut(str(text), 8 * most)).strip()
    return cut(visible(line, keep=""), most)


def prose(text: str, most: int = 4000) -> Markup:
    """A sentence of paceline's own, which may quote anything."""
    return Markup.escape(shown(text, most))


def label(text: str) -> Markup:
    """The name of an arm; the direction of its script stays its own.

    >>> print(label("<b>"))
    <bdi>&lt;b&gt;</bdi>
    """
    return Markup("<bdi>{}</bdi>").format(shown(text))


def joined(pieces: Iterable[Markup]) -> Markup:
    """Pieces one after the other."""
    return NOTHING.join(pieces)

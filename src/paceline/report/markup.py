"""Text as HTML: whatever users wrote is shown, and never acts."""

from collections.abc import Iterable

from paceline.characters import cut, shown
from paceline.report.extra import needs_bokeh

with needs_bokeh():
    from markupsafe import Markup

__all__ = ["NOTHING", "Markup", "cut", "joined", "label", "prose", "shown"]

NOTHING = Markup()


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

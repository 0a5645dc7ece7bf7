"""Text as HTML: whatever users wrote is shown, and never acts."""

from collections.abc import Container, Iterable, Sequence

from paceline.characters import cut, shown
from paceline.report.extra import needs_bokeh

with needs_bokeh():
    from markupsafe import Markup

__all__ = ["NOTHING", "Markup", "cut", "joined", "label", "prose", "shown", "table"]

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


def table(
    heads: Sequence[str], rows: Iterable[Sequence[object]], words: Container[int] = ()
) -> Markup:
    """A plain table; all columns but those of `words` are numbers."""
    classes = ["" if place in words else "number" for place in range(len(heads))]
    head = Markup('<th scope="col" class="{}">{}</th>')
    cell = Markup('<td class="{}">{}</td>')
    line = Markup("<tr>{}</tr>")
    top = line.format(joined(map(head.format, classes, heads)))
    body = joined(line.format(joined(map(cell.format, classes, row))) for row in rows)
    return Markup("<thead>{}</thead><tbody>{}</tbody>").format(top, body)

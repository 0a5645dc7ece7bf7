"""What a page says and draws, apart from its frame: fragments and columns."""

from dataclasses import asdict, dataclass
from typing import Any

from paceline.report import standings, summary
from paceline.story.story import Story

Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Parts:
    """What of a page depends on the race; the package describes it."""

    fragments: dict[str, str]  # by the id of an element: its inside, as safe HTML
    data: dict[str, Columns]  # by the name of a source of charts

    def to_json(self) -> dict[str, Any]:
        """Plain values, as `paceline.update` takes them."""
        return asdict(self)


def parts(story: Story) -> Parts:
    """All that the page shows of a race."""
    fragments = summary.fragments(story) | standings.fragments(story)
    return Parts({name: str(inside) for name, inside in fragments.items()}, {})

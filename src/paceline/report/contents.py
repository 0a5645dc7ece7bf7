"""What a page says and draws, apart from its frame: fragments and columns."""

from dataclasses import asdict, dataclass
from typing import Any

from paceline.report import (
    blocks,
    colours,
    course,
    failures,
    parameters,
    printed,
    repeating,
    standings,
    summary,
    work,
)
from paceline.report.columns import Columns
from paceline.report.markup import Markup, shown
from paceline.story.story import Story


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
    palette = colours.colours_of(story)
    replayed = course.course_of(story)
    axes = parameters.axes_of(story)
    fragments = {
        **summary.fragments(story),
        **standings.fragments(story, palette),
        "legend-race": colours.legend_of_race(story, palette),
        "table-race": course.course_table(replayed),
        "legend-pool": colours.legend_of_pool(story, palette),
        "caption-pool": blocks.caption(story),
        "table-pool": blocks.pool_table(story),
        "core-time": blocks.core_time(story),
        "caption-scaling": work.scaling_caption(story),
        "table-scaling": work.scaling_table(story),
        "table-rounds": work.round_table(story),
        **parameters.names(axes),
        "failures": failures.fragment(story),
        "printed": printed.fragment(story),
        "repeat": repeating.fragment(story),
    }
    data = {
        "arms": _arms(story),
        **course.sources(replayed, palette),
        **blocks.sources(story, palette),
        **work.scaling_sources(story),
        **work.round_sources(story),
        **parameters.sources(story, axes),
    }
    return Parts({name: str(Markup.escape(text)) for name, text in fragments.items()}, data)


def _arms(story: Story) -> Columns:
    """Labels, once; all other sources have the numbers of arms."""
    return {"label": [shown(arm.label, 60) for arm in story.standing.arms]}

"""How all charts of the page are drawn: their style, their sources, and the axis of time."""

import json
from collections.abc import Sequence
from typing import Any

from paceline.report.colours import COLOURS
from paceline.report.extra import needs_bokeh

with needs_bokeh():
    from bokeh.document import Document
    from bokeh.embed.util import standalone_docs_json_and_render_items
    from bokeh.models import (
        AdaptiveTicker,
        BoxZoomTool,
        ColumnDataSource,
        CompositeTicker,
        DataRange1d,
        HoverTool,
        LinearColorMapper,
        NoOverlap,
        PanTool,
        ResetTool,
        WheelZoomTool,
    )
    from bokeh.plotting import figure

Tip = tuple[str, str]  # a name, and what of a source is shown
FONT = "system-ui, sans-serif"


class Charts:
    """Charts under construction, which share sources, colours and the axis of time."""

    def __init__(self) -> None:
        self.sources: dict[str, Any] = {}
        self.charts: dict[str, Any] = {}
        self.time = DataRange1d(range_padding=0.01, only_visible=False)
        marks = [f"#{place:06x}" for place in range(COLOURS)]
        self.mapper = LinearColorMapper(
            palette=marks, low=-0.5, high=COLOURS - 0.5, tags=["palette"]
        )

    def source(self, name: str, *columns: str) -> Any:
        """The source of this name; it is empty until the page has data."""
        if name not in self.sources:
            empty: dict[str, Sequence[Any]] = {column: [] for column in columns}
            self.sources[name] = ColumnDataSource(name=name, data=empty)
        return self.sources[name]

    @property
    def by_arm(self) -> Any:
        """The colours of glyphs whose source has a column of them."""
        return {"field": "color", "transform": self.mapper}

    def chart(self, name: str, height: int, **options: Any) -> Any:
        """A chart in the style of the page."""
        drawn = figure(
            name=f"chart-{name}",
            height=height,
            sizing_mode="stretch_width",
            tools=[],
            toolbar_location="above",
            min_border=4,
            background_fill_color=None,
            border_fill_color=None,
            outline_line_color=None,
            **options,
        )
        drawn.toolbar.logo = None
        drawn.add_tools(BoxZoomTool(), PanTool(), WheelZoomTool(), ResetTool())
        drawn.toolbar.active_drag = None
        for axis in drawn.axis:
            axis.update(
                axis_line_color=None,
                major_tick_line_color=None,
                minor_tick_line_color=None,
                axis_label_text_font_style="normal",
                axis_label_text_font_size="13px",
                major_label_text_font_size="12px",
                axis_label_text_font=FONT,
                major_label_text_font=FONT,
                major_label_policy=NoOverlap(min_distance=8),
                tags=["major_label_text_color=--muted", "axis_label_text_color=--muted"],
            )
        for grid in drawn.grid:
            grid.tags = ["grid_line_color=--line"]
        self.charts[name] = drawn
        return drawn

    def over_time(self, name: str, height: int, **options: Any) -> Any:
        """A chart whose axis of time moves with that of the others."""
        drawn = self.chart(name, height, x_range=self.time, **options)
        drawn.min_border_left = 64  # so that all begin at the same place
        axis = drawn.xaxis[0]
        axis.ticker = _time_ticker()
        axis.formatter.tags = ["seconds"]
        drawn.xgrid[0].ticker = axis.ticker
        return drawn

    def finished(self) -> str:
        """All charts as Bokeh reads them."""
        document = Document(title="paceline")
        with document.models.freeze():  # else each root is followed by a look at all models
            for drawn in self.charts.values():
                document.add_root(drawn)
            for source in self.sources.values():  # also those that no chart has
                document.add_root(source)
        docs, items = standalone_docs_json_and_render_items(list(self.charts.values()))
        item = items[0].to_json()
        roots = {drawn.id: f"chart-{name}" for name, drawn in self.charts.items()}
        item["roots"] = roots
        item["root_ids"] = list(roots)
        return json.dumps({"docs": docs, "items": [item]}, separators=(",", ":"))


def _time_ticker() -> Any:
    """Marks at whole seconds, minutes, hours or days."""
    fine = AdaptiveTicker(base=10, mantissas=[1, 2, 5], min_interval=0, max_interval=0.5)
    sixty = AdaptiveTicker(
        base=60, mantissas=[1, 2, 5, 10, 15, 20, 30], min_interval=1, max_interval=1800
    )
    hours = AdaptiveTicker(
        base=24, mantissas=[1, 2, 4, 6, 8, 12], min_interval=3600, max_interval=43200
    )
    days = AdaptiveTicker(base=10, mantissas=[1, 2, 5], min_interval=86400)
    return CompositeTicker(tickers=[fine, sixty, hours, days], desired_num_ticks=8)


def hover(drawn: Any, glyphs: Sequence[Any], tips: Sequence[Tip], **options: Any) -> None:
    """Say what is under the pointer; Bokeh escapes what it takes from a source."""
    cell = (
        '<span style="color:var(--muted)">{}</span><span style="overflow-wrap:anywhere">{}</span>'
    )
    cells = "".join(cell.format(name, what) for name, what in tips)
    style = "display:grid;grid-template-columns:auto 1fr;gap:1px 10px;max-width:26rem"
    text = f'<div style="{style}">{cells}</div>'
    tool = HoverTool(renderers=list(glyphs), tooltips=text, limit=3, **options)
    tool.visible = False  # always on
    drawn.add_tools(tool)


def colour(renderer: Any, *tags: str) -> Any:
    """Colour the glyph, and its other states, from the style sheet."""
    renderer.glyph.tags = list(tags)
    renderer.nonselection_glyph = None
    renderer.selection_glyph = None
    renderer.muted_glyph = None
    return renderer

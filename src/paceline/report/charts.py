"""The charts, over named sources without data: Bokeh draws them in the browser.

A model's tags say which colours of the style sheet its properties get, as in 'line_color=--muted';
the page's script sets them, anew when a reader turns from light to dark.
"""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from paceline.report.colours import COLOURS
from paceline.report.extra import needs_bokeh
from paceline.report.parameters import MOST_AXES

with needs_bokeh():
    from bokeh.core.properties import value
    from bokeh.document import Document
    from bokeh.embed.util import standalone_docs_json_and_render_items
    from bokeh.models import (
        AdaptiveTicker,
        BasicTickFormatter,
        BoxZoomTool,
        ColumnDataSource,
        CompositeTicker,
        DataRange1d,
        FixedTicker,
        HoverTool,
        LinearColorMapper,
        PanTool,
        ResetTool,
        WheelZoomTool,
    )
    from bokeh.plotting import figure

_TIME = [("time", "@x{0.[0000]} s")]
_Tip = tuple[str, str]  # a name, and what of a source is shown
_FONT = "system-ui, sans-serif"
_POWERS = [2**power for power in range(18)]


class _Charts:
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
        if name not in self.sources:
            empty: dict[str, Sequence[Any]] = {column: [] for column in columns}
            self.sources[name] = ColumnDataSource(name=name, data=empty)
        return self.sources[name]

    @property
    def by_arm(self) -> Any:
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
                axis_label_text_font=_FONT,
                major_label_text_font=_FONT,
                tags=["major_label_text_color=--muted", "axis_label_text_color=--muted"],
            )
        for grid in drawn.grid:
            grid.tags = ["grid_line_color=--line"]
        self.charts[name] = drawn
        return drawn

    def over_time(self, name: str, height: int, **options: Any) -> Any:
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


def _hover(drawn: Any, glyphs: Sequence[Any], tips: Sequence[_Tip], **options: Any) -> None:
    tool = HoverTool(renderers=list(glyphs), tooltips=list(tips), limit=3, **options)
    tool.visible = False  # always on
    drawn.add_tools(tool)


def _tag(renderer: Any, *tags: str) -> Any:
    """Colour the glyph, and its other states, from the style sheet."""
    renderer.glyph.tags = list(tags)
    renderer.nonselection_glyph = None
    renderer.selection_glyph = None
    renderer.muted_glyph = None
    return renderer


def _race(charts: _Charts) -> None:
    drawn = charts.over_time("race", 360, y_axis_label="mean, with its interval")
    drawn.xgrid.visible = False
    rounds = charts.source("rounds", "x")
    _tag(drawn.vspan(x="x", source=rounds, line_width=1), "line_color=--line")
    bands = charts.source("bands", "xs", "ys", "arm", "color", "alpha", "label")
    drawn.patches("xs", "ys", source=bands, color=charts.by_arm, fill_alpha="alpha", line_alpha=0.0)
    paths = charts.source("paths", "xs", "ys", "arm", "color", "label")
    lines = drawn.multi_line("xs", "ys", source=paths, color=charts.by_arm, line_width=1.8)
    falls = charts.source("falls", "x", "y", "arm", "label")
    ends = _tag(
        drawn.scatter("x", "y", source=falls, marker="x", size=6, line_width=1.3),
        "line_color=--muted",
    )
    _hover(drawn, [lines], [("arm", "@label"), ("mean", "$y{0.[0000]}")], line_policy="interp")
    _hover(drawn, [ends], [("out", "@label"), ("at", "@x{0.[000]} s")])
    drawn = charts.over_time("survivors", 170, y_axis_label="arms in", x_axis_label="time")
    drawn.y_range.start = 0
    drawn.toolbar_location = None  # it moves with the chart above
    survivors = charts.source("survivors", "x", "arms")
    filled = drawn.varea("x", 0, "arms", source=survivors, fill_alpha=0.18)
    _tag(filled, "fill_color=--accent")
    line = _tag(drawn.line("x", "arms", source=survivors, line_width=2), "line_color=--accent")
    _hover(drawn, [line], [*_TIME, ("arms in", "@arms")], mode="vline")


def _pool(charts: _Charts) -> None:
    drawn = charts.over_time("pool", 380, x_axis_label="time")
    drawn.ygrid.visible = False
    drawn.xgrid.visible = False
    drawn.yaxis[0].name = "ticks-pool"
    drawn.yaxis[0].ticker = FixedTicker(ticks=[])
    drawn.y_range.range_padding = 0.0
    box = {"left": "left", "right": "right", "bottom": "bottom", "top": "top"}
    room = charts.source("room", *box, "color")
    drawn.quad(**box, source=room, color=charts.by_arm, line_alpha=0)
    names = ("arm", "color", "pull", "value", "cores", "use", "label")
    pool = charts.source("pool", *box, *names)
    blocks = drawn.quad(**box, source=pool, color=charts.by_arm, line_alpha=0)
    _hover(
        drawn,
        [blocks],
        [
            ("arm", "@label"),
            ("pull", "@pull"),
            ("value", "@value"),
            ("cores", "@cores"),
            ("use", "@use"),
            ("time", "@left{0.[0000]} … @right{0.[0000]} s"),
        ],
    )


def _scaling(charts: _Charts) -> None:
    drawn = charts.chart(
        "scaling",
        300,
        x_axis_type="log",
        y_axis_type="log",
        x_axis_label="cores of a pull",
        y_axis_label="time of a pull",
    )
    drawn.xaxis[0].ticker = FixedTicker(ticks=_POWERS)
    drawn.xgrid[0].ticker = drawn.xaxis[0].ticker
    drawn.xaxis[0].formatter = BasicTickFormatter(tags=["whole"])
    drawn.yaxis[0].formatter = BasicTickFormatter(tags=["seconds"])
    linear = charts.source("linear", "cores", "seconds")
    _tag(
        drawn.line("cores", "seconds", source=linear, line_dash=[2, 4], line_width=1.5),
        "line_color=--muted",
    )
    fit = charts.source("fit", "cores", "seconds")
    curve = drawn.line("cores", "seconds", source=fit, line_width=2)
    _tag(curve, "line_color=--accent")
    measured = charts.source("scaling", "cores", "low", "median", "high", "pulls")
    whisker = drawn.segment("cores", "low", "cores", "high", source=measured, line_width=1.5)
    _tag(whisker, "line_color=--text")
    points = drawn.scatter("cores", "median", source=measured, size=8)
    _tag(points, "fill_color=--text", "line_color=--surface")
    tips = [
        ("cores", "@cores"),
        ("median", "@median{0.[0000]} s"),
        ("80 %", "@low{0.[0000]} … @high{0.[0000]} s"),
        ("pulls", "@pulls{0,0}"),
    ]
    _hover(drawn, [points], tips)
    _hover(drawn, [curve], [("fitted", "@seconds{0.[0000]} s on @cores cores")])


def _allocation(charts: _Charts) -> None:
    drawn = charts.chart("allocation", 300, x_axis_label="round", y_axis_label="cores of a pull")
    drawn.y_range.start = 0
    rounds = charts.source("allocation", "round", "low", "median", "high", "pulls")
    bars = drawn.segment(
        "round", "low", "round", "high", source=rounds, line_width=5, line_alpha=0.3
    )
    _tag(bars, "line_color=--accent")
    line = drawn.step("round", "median", source=rounds, mode="center", line_width=2)
    _tag(line, "line_color=--accent")
    dots = drawn.scatter("round", "median", source=rounds, size=5)
    _tag(dots, "fill_color=--accent", "line_color=--accent")
    tips = [
        ("round", "@round"),
        ("cores of a pull", "@low … @high, median @median"),
        ("pulls", "@pulls{0,0}"),
    ]
    _hover(drawn, [dots], tips, mode="vline")


def _parameter(charts: _Charts, place: int) -> None:
    drawn = charts.chart(f"parameter-{place}", 240)
    drawn.xaxis[0].name = f"ticks-parameter-{place}"
    drawn.xaxis[0].ticker = FixedTicker(ticks=[])
    drawn.xgrid[0].ticker = drawn.xaxis[0].ticker
    drawn.x_range.range_padding = 0.06
    drawn.toolbar_location = None
    names = ("x", "mean", "low", "high", "arm", "color", "value", "label")
    source = charts.source(f"parameter-{place}", *names)
    drawn.segment("x", "low", "x", "high", source=source, color=charts.by_arm, line_alpha=0.45)
    dots = drawn.scatter("x", "mean", source=source, color=charts.by_arm, size=7, line_alpha=0)
    _hover(drawn, [dots], [("arm", "@label"), ("value", "@value"), ("mean", "@mean")])


def _parallel(charts: _Charts) -> None:
    drawn = charts.chart("parallel", 380)
    drawn.axis.visible = False
    drawn.toolbar_location = None
    drawn.grid.visible = False
    drawn.x_range.range_padding = 0.07
    lines = charts.source("parallel", "xs", "ys", "arm", "color", "mean", "label")
    shown = drawn.multi_line(
        "xs", "ys", source=lines, color=charts.by_arm, line_width=1.6, line_alpha=0.75
    )
    poles = charts.source("poles", "x", "bottom", "top")
    _tag(
        drawn.segment("x", "bottom", "x", "top", source=poles, line_width=1.5),
        "line_color=--strong",
    )
    font = {"text_font": value(_FONT), "text_font_size": "12px"}
    marks = charts.source("marks", "x", "y", "text")
    words = drawn.text("x", "y", "text", source=marks, x_offset=6, text_baseline="middle", **font)
    _tag(words, "text_color=--muted")
    heads = charts.source("heads", "x", "y", "text")
    names = drawn.text("x", "y", "text", source=heads, text_align="center", **font)
    _tag(names, "text_color=--text")
    _hover(drawn, [shown], [("arm", "@label"), ("mean", "@mean")])


@cache
def charts_as_json() -> str:
    """All charts; the same for every race."""
    charts = _Charts()
    for draw in (_race, _pool, _scaling, _allocation):
        draw(charts)
    for place in range(MOST_AXES):
        _parameter(charts, place)
    _parallel(charts)
    return charts.finished()


def chart_names() -> list[str]:
    """The names of all charts; the page has an element `chart-NAME` for each."""
    parameters = [f"parameter-{place}" for place in range(MOST_AXES)]
    return ["race", "survivors", "pool", "scaling", "allocation", *parameters, "parallel"]

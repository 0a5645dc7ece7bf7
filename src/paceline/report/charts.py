"""The charts, over named sources without data: Bokeh draws them in the browser.

A model's tags say which colours of the style sheet its properties get, as in 'line_color=--muted';
the page's script sets them, anew when a reader turns from light to dark.
"""

from functools import cache

from paceline.report.course import LEAST_ARMS
from paceline.report.drawing import FONT, Charts, colour, hover
from paceline.report.extra import check_bokeh, needs_bokeh
from paceline.report.parameters import MOST_AXES

with needs_bokeh():
    from bokeh.core.properties import value
    from bokeh.models import BasicTickFormatter, FixedTicker

_TIME = [("time", "@x{0.[0000]} s")]
_ROUND = [size * 10**power for power in range(7) for size in (1, 2, 5)]
_POWERS = [2**power for power in range(18)]


def _race(charts: Charts) -> None:
    drawn = charts.over_time("race", 360, y_axis_label="mean, with its interval")
    drawn.xgrid.visible = False
    rounds = charts.source("rounds", "x")
    colour(drawn.vspan(x="x", source=rounds, line_width=1), "line_color=--line")
    bands = charts.source("bands", "xs", "ys", "arm", "color", "alpha", "label")
    drawn.patches("xs", "ys", source=bands, color=charts.by_arm, fill_alpha="alpha", line_alpha=0.0)
    paths = charts.source("paths", "xs", "ys", "arm", "color", "label")
    lines = drawn.multi_line("xs", "ys", source=paths, color=charts.by_arm, line_width=1.8)
    falls = charts.source("falls", "x", "y", "arm", "label")
    ends = colour(
        drawn.scatter("x", "y", source=falls, marker="x", size=5, line_width=1.2, line_alpha=0.7),
        "line_color=--muted",
    )
    hover(drawn, [lines], [("arm", "@label"), ("mean", "$y{0.[0000]}")], line_policy="interp")
    hover(drawn, [ends], [("out", "@label"), ("at", "@x{0.[000]} s")])
    drawn = charts.over_time(
        "survivors", 190, y_axis_label="arms in", x_axis_label="time", y_axis_type="log"
    )
    drawn.y_range.start = LEAST_ARMS
    drawn.yaxis[0].ticker = FixedTicker(ticks=_ROUND)
    drawn.yaxis[0].formatter = BasicTickFormatter(tags=["whole"])
    drawn.ygrid[0].ticker = drawn.yaxis[0].ticker
    drawn.toolbar_location = None  # it moves with the chart above
    survivors = charts.source("survivors", "x", "y", "arms")
    filled = drawn.varea("x", LEAST_ARMS, "y", source=survivors, fill_alpha=0.18)
    colour(filled, "fill_color=--accent")
    line = colour(drawn.line("x", "y", source=survivors, line_width=2), "line_color=--accent")
    hover(drawn, [line], [*_TIME, ("arms in", "@arms")], mode="vline")


def _pool(charts: Charts) -> None:
    drawn = charts.over_time("pool", 380, x_axis_label="time")
    drawn.ygrid.visible = False
    drawn.xgrid.visible = False
    drawn.yaxis[0].name = "ticks-pool"
    drawn.yaxis[0].ticker = FixedTicker(ticks=[])
    drawn.y_range.range_padding = 0.0
    box = {"left": "left", "right": "right", "bottom": "bottom", "top": "top"}
    room = charts.source("room", *box, "color")
    drawn.quad(**box, source=room, color=charts.by_arm, line_alpha=0)
    borders = drawn.hspan(y="y", source=charts.source("borders", "y"), line_width=3)
    names = ("arm", "color", "pull", "value", "cores", "use", "label")
    pool = charts.source("pool", *box, *names)
    blocks = drawn.quad(**box, source=pool, color=charts.by_arm, line_alpha=0)
    drawn.renderers.remove(borders)  # drawn last
    drawn.renderers.append(colour(borders, "line_color=--surface"))
    hover(
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


def _scaling(charts: Charts) -> None:
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
    drawn.yaxis[0].ticker.desired_num_ticks = 4
    linear = charts.source("linear", "cores", "seconds")
    colour(
        drawn.line("cores", "seconds", source=linear, line_dash=[2, 4], line_width=1.5),
        "line_color=--muted",
    )
    fit = charts.source("fit", "cores", "seconds")
    curve = drawn.line("cores", "seconds", source=fit, line_width=2)
    colour(curve, "line_color=--accent")
    measured = charts.source("scaling", "cores", "low", "median", "high", "pulls")
    whisker = drawn.segment("cores", "low", "cores", "high", source=measured, line_width=1.5)
    colour(whisker, "line_color=--text")
    points = drawn.scatter("cores", "median", source=measured, size=8)
    colour(points, "fill_color=--text", "line_color=--surface")
    tips = [
        ("cores", "@cores"),
        ("median", "@median{0.[0000]} s"),
        ("80 %", "@low{0.[0000]} … @high{0.[0000]} s"),
        ("pulls", "@pulls{0,0}"),
    ]
    hover(drawn, [points], tips)
    hover(drawn, [curve], [("fitted", "@seconds{0.[0000]} s on @cores cores")])


def _allocation(charts: Charts) -> None:
    drawn = charts.chart("allocation", 300, x_axis_label="round", y_axis_label="cores of a pull")
    drawn.y_range.start = 0
    for axis in drawn.axis:
        axis.ticker.min_interval = 1
    rounds = charts.source("allocation", "round", "low", "median", "high", "pulls")
    bars = drawn.segment(
        "round", "low", "round", "high", source=rounds, line_width=5, line_alpha=0.3
    )
    colour(bars, "line_color=--accent")
    line = drawn.step("round", "median", source=rounds, mode="center", line_width=2)
    colour(line, "line_color=--accent")
    dots = drawn.scatter("round", "median", source=rounds, size=5)
    colour(dots, "fill_color=--accent", "line_color=--accent")
    tips = [
        ("round", "@round"),
        ("cores of a pull", "@low … @high, median @median"),
        ("pulls", "@pulls{0,0}"),
    ]
    hover(drawn, [dots], tips, mode="vline")


def _parameter(charts: Charts, place: int) -> None:
    drawn = charts.chart(f"parameter-{place}", 240)
    drawn.xaxis[0].name = f"ticks-parameter-{place}"
    drawn.xaxis[0].ticker = FixedTicker(ticks=[])
    drawn.xgrid[0].ticker = drawn.xaxis[0].ticker
    drawn.x_range.range_padding = 0.06
    drawn.toolbar_location = None
    names = ("x", "mean", "low", "high", "arm", "color", "value", "label")
    source = charts.source(f"parameter-{place}", *names)
    drawn.segment("x", "low", "x", "high", source=source, color=charts.by_arm, line_alpha=0.3)
    dots = drawn.scatter("x", "mean", source=source, color=charts.by_arm, size=7, line_alpha=0)
    hover(drawn, [dots], [("arm", "@label"), ("value", "@value"), ("mean", "@mean")])


def _parallel(charts: Charts) -> None:
    drawn = charts.chart("parallel", 380)
    drawn.axis.visible = False
    drawn.toolbar_location = None
    drawn.grid.visible = False
    drawn.x_range.range_padding = 0.09
    lines = charts.source("parallel", "xs", "ys", "arm", "color", "mean", "label")
    shown = drawn.multi_line(
        "xs", "ys", source=lines, color=charts.by_arm, line_width=1.6, line_alpha=0.6
    )
    poles = charts.source("poles", "x", "bottom", "top")
    colour(
        drawn.segment("x", "bottom", "x", "top", source=poles, line_width=1.5),
        "line_color=--strong",
    )
    font = {"text_font": value(FONT), "text_font_size": "12px"}
    marks = charts.source("marks", "x", "y", "text")
    words = drawn.text("x", "y", "text", source=marks, x_offset=6, text_baseline="middle", **font)
    words.glyph.update(background_fill_alpha=0.85, padding=2)
    colour(words, "text_color=--muted", "background_fill_color=--surface")
    heads = charts.source("heads", "x", "y", "text")
    names = drawn.text("x", "y", "text", source=heads, text_align="center", **font)
    colour(names, "text_color=--text")
    hover(drawn, [shown], [("arm", "@label"), ("mean", "@mean")])


@cache
def charts_as_json() -> str:
    """All charts; the same for every race."""
    check_bokeh()
    charts = Charts()
    for draw in (_race, _pool, _scaling, _allocation):
        draw(charts)
    for place in range(MOST_AXES):
        _parameter(charts, place)
    _parallel(charts)
    return charts.finished()

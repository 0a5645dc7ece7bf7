"""A plan on one self-contained page: charts, the table, and what they rest on."""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paceline.core.words import count
from paceline.errors import InvalidInput
from paceline.planning.answer import Plan, say_range
from paceline.planning.forecast import Forecast
from paceline.report.extra import needs_bokeh
from paceline.story.markup import block, paragraph, table

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_WIDTH, _HEIGHT = 720, 340


def write_page(plan: Plan, path: str | os.PathLike[str]) -> Path:
    """Write the page; it needs nothing from any network."""
    with needs_bokeh():
        from bokeh.embed import file_html
        from bokeh.layouts import column
        from bokeh.models.widgets import Div
        from bokeh.resources import INLINE

    names, rows = plan.table()
    cells = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    facts = [paragraph(f"{label}: {text}") for label, text in plan.facts()]
    answer = paragraph(plan.headline(), "font-size:1.2em;font-weight:bold;margin:.5em 0")
    parts = [Div(text=answer, width=_WIDTH), *_charts(plan)]
    parts.append(Div(text=block(table(cells), *facts), width=_WIDTH))
    target = Path(path)
    text = file_html(column(*parts), INLINE, title=f"Plan for {count(plan.arms, 'arm')}")
    try:
        target.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot write the plan to {target}: {error}") from error
    return target


def _charts(plan: Plan) -> list[Any]:
    """Time against cores, where pools are compared; and the chance against the deadline."""
    able = [one for one in plan.forecasts if not one.impossible]
    charts = []
    pools = {one.cores for one in able}
    if plan.goal[0] is not None and len(pools) > 1:
        charts.append(_time_by_cores(able))
    if plan.goal[1] is not None and len({one.deadline for one in able}) > 1:
        charts.append(_chance_by_deadline(able))
    return charts


def _time_by_cores(forecasts: Sequence[Forecast]) -> Any:
    from bokeh.models import ColumnDataSource
    from bokeh.models.annotations import Whisker

    chart = _figure("cores", "time in seconds")
    for place, confidence in enumerate(dict.fromkeys(one.confidence for one in forecasts)):
        some = [
            one
            for one in forecasts
            if one.confidence == confidence and math.isfinite(one.seconds.high)
        ]
        source = ColumnDataSource(
            {
                "cores": [one.cores for one in some],
                "seconds": [one.seconds.median for one in some],
                "low": [one.seconds.low for one in some],
                "high": [one.seconds.high for one in some],
                "says": [say_range(one.seconds) for one in some],
                "hours": [one.core_hours.median for one in some],
            }
        )
        colour = _COLOURS[place % len(_COLOURS)]
        label = f"confidence {confidence:g}"
        chart.line("cores", "seconds", source=source, color=colour, legend_label=label)
        chart.scatter("cores", "seconds", source=source, color=colour, size=8, legend_label=label)
        chart.add_layout(
            Whisker(source=source, base="cores", lower="low", upper="high", line_color=colour)
        )
    chart.hover.tooltips = [
        ("cores", "@cores"), ("time", "@says"), ("core-hours", "@hours{0.[000]}"),
    ]  # fmt: skip
    return chart


def _chance_by_deadline(forecasts: Sequence[Forecast]) -> Any:
    from bokeh.models import ColumnDataSource

    chart = _figure("deadline in seconds", "chance to find the best", y_axis_type="linear")
    chart.y_range.start, chart.y_range.end = 0, 1.02
    for place, cores in enumerate(dict.fromkeys(one.cores for one in forecasts)):
        some = [one for one in forecasts if one.cores == cores]
        source = ColumnDataSource(
            {
                "deadline": [one.deadline for one in some],
                "success": [one.success for one in some],
            }
        )
        colour = _COLOURS[place % len(_COLOURS)]
        label = "" if cores is None else count(cores, "core")
        named = {"legend_label": label} if label else {}
        chart.line("deadline", "success", source=source, color=colour, **named)
        chart.scatter("deadline", "success", source=source, color=colour, size=8, **named)
    chart.hover.tooltips = [("deadline", "@deadline s"), ("best found", "@success{0.00}")]
    return chart


def _figure(x: str, y: str, **options: Any) -> Any:
    from bokeh.plotting import figure

    chosen = {"x_axis_type": "log", "y_axis_type": "log"} | options
    chart = figure(
        width=_WIDTH,
        height=_HEIGHT,
        x_axis_label=x,
        y_axis_label=y,
        tools="hover,pan,box_zoom,reset,save",
        **chosen,
    )
    chart.toolbar.logo = None
    return chart

"""Tables for notebooks: HTML in the colours of the page around it, whether that is dark or light.

Whatever users wrote is shown, and never acts. Nothing here is a script, and no colour is set.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape

from paceline.characters import shown
from paceline.core.words import count
from paceline.durations import say_seconds
from paceline.story.brief import describe_standing, describe_work
from paceline.story.numbers import estimates, format_value
from paceline.story.standing import Standing
from paceline.story.story import Outcome
from paceline.story.timeline import Timeline
from paceline.story.values import Values

MOST_ROWS = 20
_LONGEST = 2000  # characters of a sentence
_LINE = "1px solid rgba(128,128,128,.35)"
_STYLES = {"best": "font-weight:bold", "in": "", "out": "opacity:.6", "failed": "opacity:.6"}


def table(
    columns: Mapping[str, Sequence[str]],
    total: int | None = None,
    styles: Sequence[str] = (),
) -> str:
    """Columns as a table; `total` is how many rows there are, if they are not all here.

    >>> print(table({"arm": ["<b>"]}, total=3))
    <table ...>arm<...&lt;b&gt;<...</table><div>… and 2 more</div>
    """
    places = range(max((len(column) for column in columns.values()), default=0))
    aligned = ["left" if place == 0 else "right" for place, _ in enumerate(columns)]
    head = _row("th", list(columns), aligned, f"border-bottom:{_LINE}")
    rows = [
        _row("td", [column[i] for column in columns.values()], aligned, styles[i] if styles else "")
        for i in places
    ]
    more = 0 if total is None else total - len(rows)
    rest = f"<div>… and {more} more</div>" if more > 0 else ""
    style = "border-collapse:collapse;font-variant-numeric:tabular-nums"
    return f'<table style="{style}">{head}{"".join(rows)}</table>{rest}'


def paragraph(text: str, style: str = "") -> str:
    """A sentence, which may quote anything."""
    return f'<div style="{style}">{escape(shown(text, _LONGEST))}</div>'


def block(*parts: str) -> str:
    """Parts that belong together."""
    return f'<div style="overflow-x:auto">{"".join(parts)}</div>'


def folded(text: str, inside: str) -> str:
    """A sentence that unfolds to what is `inside`, which is HTML already."""
    return f"<details><summary>{escape(shown(text, _LONGEST))}</summary>{inside}</details>"


def standing_table(standing: Standing) -> str:
    """The best of the arms."""
    arms = standing.ranked()
    few = arms[:MOST_ROWS]
    numbers = estimates(few)
    columns = {
        "arm": [record.label for record in few],
        "mean": [mean for mean, _ in numbers],
        "interval": [interval for _, interval in numbers],
        "pulls": [f"{record.pulls}" for record in few],
        "status": [str(record.status) for record in few],
    }
    return table(columns, len(arms), [_STYLES[record.status] for record in few])


def of_standing(standing: Standing, headline: str = "") -> str:
    """How a race stands: a line, what looks wrong, how long it may take, the best of the arms."""
    said = [*standing.notes, *(f"Warning: {text}" for text in standing.warnings)]
    said += [standing.outlook] if standing.outlook else []
    head = paragraph(headline or describe_standing(standing))
    return block(head, *map(paragraph, said), standing_table(standing))


def of_result(standing: Standing, outcome: Outcome, failures: Sequence[str] = ()) -> str:
    """How a race ended: the verdict, what it rests on, what looks wrong, the best of the arms."""
    said = [*standing.notes, *(f"Warning: {text}" for text in standing.warnings)]
    if failures:
        said.append(f"{count(len(failures), 'failed attempt')}, such as: {failures[0]}")
    return block(
        paragraph(outcome.verdict, "font-weight:bold"),
        paragraph(describe_work(standing)),
        *map(paragraph, said),
        standing_table(standing),
    )


def of_values(values: Values) -> str:
    """The first values of a race."""
    few = values[:MOST_ROWS]
    known = values.labels
    columns = {
        "arm": [known[one.arm] if known else str(one.arm) for one in few],
        **{
            name: [format_value(getattr(one, name)) for one in few]
            for name in ("number", "seed", "value", "seconds", "cores", "at")
        },
    }
    return block(table(columns, len(values)))


def of_timeline(timeline: Timeline) -> str:
    """How the time of a pool's cores was spent."""
    spent = timeline.core_time()
    uses = {use: seconds for use, seconds in spent.to_json().items() if seconds > 0}
    columns = {
        "use": list(uses),
        "core-seconds": [format_value(seconds) for seconds in uses.values()],
        "share": [f"{seconds / (spent.total or 1.0):.0%}" for seconds in uses.values()],
    }
    text = f"{count(len(timeline), 'span')} in {say_seconds(timeline.elapsed)}"
    return block(paragraph(text), table(columns))


def of_seconds(measured: Mapping[int, Sequence[float]], text: str) -> str:
    """The seconds of pulls by their core counts."""
    counts = sorted(measured)
    columns = {"cores": [f"{cores}" for cores in counts]}
    summaries: dict[str, Callable[[Sequence[float]], float]] = {
        "mean seconds": lambda times: sum(times) / len(times),
        "least": min,
        "most": max,
    }
    for name, of in summaries.items():
        columns[name] = [format_value(float(of(measured[cores]))) for cores in counts]
    columns["pulls"] = [f"{len(measured[cores])}" for cores in counts]
    return block(paragraph(text), table(columns))


def _row(tag: str, cells: Sequence[str], aligned: Sequence[str], style: str) -> str:
    pairs = zip(cells, aligned, strict=True)
    inside = "".join(
        f'<{tag} style="text-align:{side};padding:.15em .6em;background:none;{style}">'
        f"<bdi>{escape(shown(cell))}</bdi></{tag}>"
        for cell, side in pairs
    )
    return f"<tr>{inside}</tr>"

"""How pulls scale with their cores, and how many cores they got."""

from collections.abc import Iterable

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.durations import say_seconds
from paceline.report.columns import Columns
from paceline.report.markup import Markup, prose, table
from paceline.story.story import Story

_MOST_COUNTS = 60  # core counts in the chart
_MOST_ROUNDS = 400  # in the chart; rounds beyond are summed up
_TABLE_ROUNDS = 40


def scaling_sources(story: Story) -> dict[str, Columns]:
    """Measured seconds of a pull by its cores, and the curve that was fitted to them."""
    measured = list(_measured(story))
    names = ("cores", "low", "median", "high", "pulls")
    points: Columns = {name: [row[place] for row in measured] for place, name in enumerate(names)}
    return {"scaling": points, "fit": _fit(story), "linear": _linear(measured)}


def _measured(story: Story) -> Iterable[tuple[int, float, float, float, int]]:
    values = story.values
    counts = np.unique(values.cores)
    if counts.size > _MOST_COUNTS:
        counts = counts[np.unique(np.linspace(0, counts.size - 1, _MOST_COUNTS).astype(int))]
    for cores in counts.tolist():
        seconds = values.seconds[values.cores == cores]
        seconds = seconds[seconds > 0]
        if seconds.size:
            low, middle, high = (
                float(f"{one:.4g}") for one in np.quantile(seconds, (0.1, 0.5, 0.9))
            )
            yield cores, low, middle, high, int(seconds.size)


def _fit(story: Story) -> Columns:
    """Of the core counts that pulls could have; each step of a wide pool would be too many."""
    if story.scaling is None:
        return {"cores": [], "seconds": []}
    runtime = story.scaling.runtime_seconds
    places = np.unique(np.geomspace(1, runtime.size, 80).astype(int))
    shown = [int(one) for one in places if np.isfinite(runtime[one - 1])]
    return {
        "cores": shown,
        "seconds": [float(f"{runtime[one - 1]:.4g}") for one in shown],
    }


def _linear(measured: list[tuple[int, float, float, float, int]]) -> Columns:
    """What twice the cores in half the time would be, from the fewest cores that were measured."""
    if len(measured) < 2:
        return {"cores": [], "seconds": []}
    cores, seconds = measured[0][0], measured[0][2]
    last = measured[-1][0]
    return {"cores": [cores, last], "seconds": [seconds, float(f"{seconds * cores / last:.4g}")]}


def scaling_caption(story: Story) -> Markup:
    """What the pool makes of it."""
    rows = list(_measured(story))
    if len(rows) < 2:
        return Markup("")
    first, last = rows[0], rows[-1]
    gain, more = first[2] / last[2], last[0] / first[0]
    return prose(
        f"On {last[0]} cores a pull is {gain:.2g} times as fast as on {first[0]}, with {more:.3g} "
        "times the cores. Whiskers hold 80 % of the pulls; the dotted line would be no loss at all."
    )


def scaling_table(story: Story) -> Markup:
    """The same in numbers."""
    runtime: Floats = story.scaling.runtime_seconds if story.scaling is not None else np.empty(0)

    def fitted(cores: int) -> str:
        known = cores <= runtime.size and np.isfinite(runtime[cores - 1])
        return say_seconds(float(runtime[cores - 1])) if known else "–"

    rows = (
        [f"{cores}", f"{pulls:,}", *map(say_seconds, (low, middle, high)), fitted(cores)]
        for cores, low, middle, high, pulls in _measured(story)
    )
    return table(("Cores", "Pulls", "10 % below", "Median", "90 % below", "Fitted"), rows)


def _rounds(story: Story) -> list[tuple[int, Ints]]:
    """The rounds by their numbers, and the pulls that ended in each; the opening is round 0."""
    ends = np.array(story.milestones.rounds)
    if not ends.size:
        return []
    place = np.searchsorted(ends, story.values.at)
    order = np.argsort(place, kind="stable")
    edges = np.searchsorted(place[order], np.arange(ends.size + 1))
    groups = (order[edges[one] : edges[one + 1]] for one in range(ends.size))
    first = min(1, 1 + story.standing.rounds - ends.size)
    return [(number, mine) for number, mine in enumerate(groups, start=first) if mine.size]


def round_sources(story: Story) -> dict[str, Columns]:
    """The cores of the pulls of each round."""
    rounds = _rounds(story)
    if len(rounds) > _MOST_ROUNDS:
        chosen = np.unique(np.linspace(0, len(rounds) - 1, _MOST_ROUNDS).astype(int))
        rounds = [rounds[one] for one in chosen]
    cores = [story.values.cores[mine] for _, mine in rounds]
    return {
        "allocation": {
            "round": [number for number, _ in rounds],
            "low": [int(one.min()) for one in cores],
            "median": [float(np.median(one)) for one in cores],
            "high": [int(one.max()) for one in cores],
            "pulls": [int(one.size) for one in cores],
        }
    }


def round_table(story: Story) -> Markup:
    """The same in numbers."""
    rounds = _rounds(story)
    chosen = np.unique(np.linspace(0, max(len(rounds) - 1, 0), _TABLE_ROUNDS).astype(int))
    rows = []
    for number, mine in [rounds[one] for one in chosen if rounds]:
        cores = story.values.cores[mine]
        ended = say_seconds(float(story.values.at[mine].max()))
        arms = np.unique(story.values.arm[mine]).size
        spread = (f"{cores.min()}", f"{np.median(cores):g}", f"{cores.max()}")
        rows.append([str(number), ended, f"{arms:,}", f"{mine.size:,}", *spread])
    heads = ("Round", "Last pull at", "Arms", "Pulls", "Cores of a pull: least", "median", "most")
    return table(heads, rows)

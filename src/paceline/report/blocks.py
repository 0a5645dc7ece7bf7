"""The pool over time: a block per pull in cores × time, coloured by its arm."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.durations import say_seconds
from paceline.report.colours import HUES, OTHERS, ROOM, USE_COLOURS
from paceline.report.columns import Columns, rounded
from paceline.report.lanes import Layout, laid_out, layout_of
from paceline.report.markup import Markup, prose, table
from paceline.story.numbers import format_value
from paceline.story.story import Story
from paceline.story.timeline import USES, Timeline

MOST_BLOCKS = 60_000  # one by one; more are summed up in slices of time
_SLICES = 500
_TABLE_ROWS = 20
_MOST_TICKS = 12
_GAP = 0.03  # between rows


def sources(story: Story, colours: Sequence[int]) -> dict[str, Columns]:
    """What the chart draws."""
    timeline = story.timeline
    layout = layout_of(_periods(story))
    color = _colors(timeline, colours)
    if is_summed_up(story):
        blocks = _slices(timeline, color, timeline.elapsed)
    else:
        blocks = _blocks(story, layout, color)
    return {
        "room": _room(layout, timeline.elapsed, whole=is_summed_up(story)),
        "pool": blocks,
        "borders": {"y": [] if is_summed_up(story) else list(layout.first_rows[1:])},
        "ticks-pool": _ticks(layout, whole=is_summed_up(story)),
    }


def is_summed_up(story: Story) -> bool:
    """Whether there are too many pulls to draw each of them."""
    return len(story.timeline) > MOST_BLOCKS


def caption(story: Story) -> Markup:
    """How to read the chart."""
    if is_summed_up(story):
        return prose(
            f"There are {len(story.timeline):,} pulls, too many to draw each. In every one of "
            f"{_SLICES} slices of time, the heights show which arms had how many cores. "
            "Cores that nobody used stay empty."
        )
    several = any(len(nodes) > 1 for _, nodes in _periods(story))
    shading = " Shading separates the nodes." if several else ""
    return prose(
        "Each block is a pull: as wide as it took, as high as it had cores, in the colour of its "
        f"arm. Cores that nobody used stay empty.{shading} The journal does not say which cores "
        "ran a pull, so blocks are laid where there was room."
    )


def _periods(story: Story) -> list[tuple[float, tuple[int, ...]]]:
    nodes = [(at, sizes) for at, sizes in story.milestones.nodes if sizes]
    return nodes or [(at, (cores,)) for at, cores in story.timeline.pool]


def _colors(timeline: Timeline, colours: Sequence[int]) -> Ints:
    """Of each span: of its arm, or of what became of it."""
    color = np.array(colours, dtype=np.int64)[timeline.arm]
    for use, of_use in USE_COLOURS.items():
        color[timeline.use == USES.index(use)] = of_use
    return color


def _blocks(story: Story, layout: Layout, color: Ints) -> Columns:
    timeline, values = story.timeline, story.values
    pieces = laid_out(layout, timeline.start, timeline.end, timeline.cores)
    place = np.array([piece[0] for piece in pieces], dtype=np.int64)
    rows = np.array([piece[1] for piece in pieces], dtype=np.int64)
    sizes = np.array([piece[2] for piece in pieces], dtype=np.int64)
    gap = _GAP if layout.rows <= 128 else 0.0
    first, pulls = timeline.first[place], timeline.pulls[place]
    found = {
        (arm, number): value
        for arm, number, value in zip(
            values.arm.tolist(), values.number.tolist(), values.value.tolist(), strict=True
        )
    }
    arms = timeline.arm[place].tolist()
    said = [
        format_value(found[arm, number]) if many == 1 and (arm, number) in found else ""
        for arm, number, many in zip(arms, first.tolist(), pulls.tolist(), strict=True)
    ]
    return {
        "left": rounded(timeline.start[place], timeline.elapsed),
        "right": rounded(timeline.end[place], timeline.elapsed),
        "bottom": rounded(rows + gap, max(layout.rows, 1)),
        "top": rounded(rows + sizes - gap, max(layout.rows, 1)),
        "arm": arms,
        "color": color[place].tolist(),
        "pull": [_numbers(*one) for one in zip(first.tolist(), pulls.tolist(), strict=True)],
        "value": said,
        "cores": [str(one) for one in timeline.cores[place].tolist()],
        "use": [USES[use] for use in timeline.use[place].tolist()],
    }


def _numbers(first: int, pulls: int) -> str:
    if first < 0:
        return ""
    return f"{first}" if pulls == 1 else f"{first} … {first + pulls - 1}"


def _slices(timeline: Timeline, color: Ints, elapsed: float) -> Columns:
    """In each slice of time, the cores of the arms with colours, of all others, and of the rest."""
    merged = np.where((color >= HUES) & (color < OTHERS + 4), OTHERS, color)
    edges = np.linspace(0.0, elapsed, _SLICES + 1)
    columns: Columns = {name: [] for name in _NAMES}
    bottom = np.zeros(_SLICES)
    for one in np.unique(merged).tolist():
        mine = np.flatnonzero(merged == one)
        cores = _cores_used(timeline, mine, edges)
        top = bottom + cores
        seen = np.flatnonzero(cores > 0)
        arms = np.unique(timeline.arm[mine])
        uses = np.unique(timeline.use[mine])
        use = USES[int(uses[0])] if uses.size == 1 else "counted or ahead"
        columns["left"] += rounded(edges[:-1][seen], elapsed)
        columns["right"] += rounded(edges[1:][seen], elapsed)
        columns["bottom"] += rounded(bottom[seen], 100.0)
        columns["top"] += rounded(top[seen], 100.0)
        columns["cores"] += [f"{number:.3g} on average" for number in cores[seen].tolist()]
        # A group of several arms has no label of its own.
        same = {"arm": int(arms[0]) if arms.size == 1 else -1, "color": one, "use": use}
        for name, value in (same | {"pull": "", "value": ""}).items():
            columns[name] += [value] * seen.size
        bottom = top
    return columns


_NAMES = ("left", "right", "bottom", "top", "arm", "color", "pull", "value", "cores", "use")


def _cores_used(timeline: Timeline, mine: Ints, edges: Floats) -> Floats:
    """How many cores these spans had between the edges, on average."""
    cores = timeline.cores[mine].astype(np.float64)

    def spent(moments: Floats) -> Floats:
        """Core-seconds after each edge of spans that had begun, or ended, at these moments."""
        order = np.argsort(moments)
        sums = np.cumsum(np.r_[0.0, cores[order]])
        times = np.cumsum(np.r_[0.0, (cores * moments)[order]])
        place = np.searchsorted(moments[order], edges, side="right")
        return np.asarray(sums[place] * edges - times[place])

    used = np.diff(spent(timeline.start[mine]) - spent(timeline.end[mine]))
    width = float(edges[1] - edges[0]) if edges[-1] > 0 else 1.0
    return np.asarray(np.maximum(used, 0.0) / width)


def _room(layout: Layout, elapsed: float, *, whole: bool) -> Columns:
    """The cores that were there, whether they were used or not."""
    columns: Columns = {name: [] for name in ("left", "right", "bottom", "top", "color")}
    ends = [at for at, _ in layout.periods[1:]] + [elapsed]
    for (at, nodes), end in zip(layout.periods, ends, strict=False):  # none before any session
        bands = [(0, sum(nodes))] if whole else [*zip(layout.first_rows, nodes, strict=False)]
        for node, (first, size) in enumerate(bands):
            if size and end > at:
                row = (at, end, float(first), float(first + size), ROOM + node % 2)
                for name, value in zip(columns, row, strict=True):
                    columns[name].append(value)
    return {
        name: rounded(column, elapsed) if name in ("left", "right") else column
        for name, column in columns.items()
    }


def _ticks(layout: Layout, *, whole: bool) -> Columns:
    """Numbers of cores; with several nodes, their names."""
    if len(layout.first_rows) > 1 and not whole:
        ends = [*layout.first_rows[1:], layout.rows]
        bands = list(zip(layout.first_rows, ends, strict=True))
        step = -(-len(bands) // _MOST_TICKS)
        chosen = range(0, len(bands), step)
        at = [sum(bands[node]) / 2 for node in chosen]
        return {"at": at, "label": [f"node {node + 1}" for node in chosen]}
    step = next(
        size * 10**power
        for power in range(7)
        for size in (1, 2, 5)
        if layout.rows / (size * 10**power) <= _MOST_TICKS / 2
    )
    at = [float(one) for one in range(0, layout.rows + 1, step)]
    return {"at": at, "label": [f"{one:,.0f}" for one in at]}


def pool_table(story: Story) -> Markup:
    """The same in numbers: how many cores were in use, and for what, by slices of time."""
    timeline = story.timeline
    edges = np.linspace(0.0, max(timeline.elapsed, 1e-9), _TABLE_ROWS + 1)
    used = [
        _cores_used(timeline, np.flatnonzero(timeline.use == use), edges)
        for use in range(len(USES))
    ]
    sizes = [*timeline.pool, (timeline.elapsed, 0)]
    starts = np.array([at for at, _ in sizes[:-1]])
    there = np.zeros(_TABLE_ROWS)
    for (at, cores), (end, _) in pairwise(sizes):
        share = np.clip(np.minimum(edges[1:], end) - np.maximum(edges[:-1], at), 0.0, None)
        there += cores * share / (edges[1] - edges[0])
    rows = [
        [
            f"{say_seconds(float(edges[row]))} – {say_seconds(float(edges[row + 1]))}",
            *(f"{float(one[row]):.1f}" for one in used),
            f"{max(0.0, float(there[row] - sum(one[row] for one in used))):.1f}",
        ]
        for row in range(_TABLE_ROWS if starts.size else 0)
    ]
    return table(("Time", *USES, "idle"), rows, words=(0,))


def core_time(story: Story) -> Markup:
    """Where the core time went, as a bar and its key."""
    spent = story.timeline.core_time()
    total = spent.total
    if not total:
        return Markup("")
    bar, key = Markup(), Markup()
    part = Markup('<i class="use-{}" style="width:{}%"></i>')
    entry = Markup('<div><dt><i class="use-{}"></i>{}</dt><dd>{} <small>{}</small></dd></div>')
    for use, seconds in spent.to_json().items():
        if not seconds:
            continue
        share = 100 * seconds / total
        bar += part.format(use, f"{share:.2f}")
        key += entry.format(use, use, _percent(share), say_seconds(seconds))
    whole = Markup('<div class="stack" aria-hidden="true">{}</div><dl class="key">{}</dl>')
    return whole.format(bar, key)


def _percent(share: float) -> str:
    return "under 1\u00a0%" if 0 < share < 0.5 else f"{share:.0f}\u00a0%"

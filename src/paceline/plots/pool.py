"""What the cores of the pool did: cores upwards, time to the right, a colour per arm."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.words import count
from paceline.plots.drawing import (
    COLOURS,
    FAILED,
    GREY,
    Axes,
    foreground,
    legend_above,
    name,
    note,
    nothing_yet,
    tidy,
    time_axis,
)
from paceline.plots.packing import pack
from paceline.story.story import Story
from paceline.story.timeline import USES

MOST_ARMS = 6  # with a colour of their own
_MOST_BLOCKS = 12_000  # with more, a block is smaller than a point
_BINS = 600
_OTHERS = ("#767676", "#969696", "#b4b4b4", "#d0d0d0")  # from better to worse arms
_STARTING = "#e6e0c8"
_STYLES: dict[str, dict[str, Any]] = {  # beside the colour of the arm
    "counted": {},
    "ahead": {"alpha": 0.55},
    "backups": {"hatch": "....", "alpha": 0.8},
    "cancelled": {"hatch": "////", "alpha": 0.35},
    "failed": {"hatch": "xxxx", "alpha": 0.9},
    "starting": {},
}
_WORDS = {"ahead": "done ahead", "backups": "done twice", "cancelled": "cancelled"}


class Blocks(NamedTuple):
    """Pulls, or what else cores were used for; `job` says which follow each other on its cores."""

    arm: Ints
    start: Floats
    end: Floats
    cores: Ints
    use: Ints
    job: Ints


def draw(ax: Axes, story: Story, most: int = MOST_ARMS) -> Axes:
    """A block per pull; or, if there are too many, how many cores each arm had on average."""
    timeline = story.timeline
    if not len(timeline) or not timeline.pool:
        return nothing_yet(ax, "no core was used")
    unit = time_axis(ax, timeline.elapsed)
    colours = _colours(story, most)
    nodes = _nodes(story)
    _draw_room(ax, story, nodes, unit)
    blocks = _blocks(story)
    if blocks.arm.size <= _MOST_BLOCKS:
        uses = _draw_blocks(ax, blocks, story, colours, nodes, unit)
    else:
        uses = _draw_shares(ax, story, colours, unit)
        wide = timeline.elapsed / _BINS
        note(ax, f"{count(blocks.arm.size, 'pull')}: averages over {wide:.2g} s")
    for edge in np.cumsum(nodes)[:-1]:
        ax.axhline(edge, color=foreground(), linewidth=1.2, zorder=3)
    for at, _, _ in story.milestones.sessions[1:]:  # it was resumed
        ax.axvline(at / unit, color=GREY, linestyle=":", linewidth=1)
    ax.set_xlim(0, max(timeline.elapsed, float(timeline.end.max())) / unit)
    ax.set_ylim(0, sum(nodes))
    ax.set_ylabel("cores of the pool" if len(nodes) == 1 else f"cores of {len(nodes)} nodes")
    ax.yaxis.get_major_locator().set_params(integer=True)
    tidy(ax)
    _draw_legend(ax, story, colours, uses)
    return ax


def _nodes(story: Story) -> tuple[int, ...]:
    """The most cores that each node ever had."""
    known = [sizes for _, sizes in story.milestones.nodes if len(sizes) > 1]
    most = max(cores for _, cores in story.timeline.pool)
    widest = max(most, int(story.timeline.cores.max()))
    if not known:
        return (widest,)
    places = max(map(len, known))
    return tuple(
        max((sizes[place] for sizes in known if place < len(sizes)), default=0)
        for place in range(places)
    )


def _colours(story: Story, most: int) -> dict[int, str]:
    """A colour for each of the best arms that had a core, and greys for the others."""
    used = set(np.unique(story.timeline.arm).tolist())
    ranked = [record.index for record in story.standing.ranked() if record.index in used]
    most = max(0, min(most, len(COLOURS)))
    colours = dict(zip(ranked[:most], COLOURS, strict=False))
    others = ranked[most:]
    for place, arm in enumerate(others):
        colours[arm] = _OTHERS[place * len(_OTHERS) // len(others)]
    return colours


def _blocks(story: Story) -> Blocks:
    """One per pull. A span of several was one job, on the same cores all the time."""
    timeline, values = story.timeline, story.values
    has_values = timeline.first >= 0
    spans = np.flatnonzero(has_values)
    jobs = np.repeat(spans, timeline.pulls[spans])
    if jobs.size != len(values):  # not all values are told
        jobs, has_values = jobs[:0], np.zeros(len(timeline), dtype=bool)
    rest = np.flatnonzero(~has_values)
    end = np.r_[values.at[: jobs.size], timeline.end[rest]]
    seconds = np.r_[values.seconds[: jobs.size], timeline.seconds[rest]]
    job = np.r_[jobs, rest]
    return Blocks(
        timeline.arm[job], end - seconds, end, timeline.cores[job], timeline.use[job], job
    )


def _draw_room(ax: Axes, story: Story, nodes: Sequence[int], unit: float) -> None:
    """The cores that there were: a band per node, in two greys; what stays bare was idle."""
    edges = np.r_[0, np.cumsum(nodes)]
    known = [one for one in story.milestones.nodes if len(one[1]) == len(nodes)]
    changes = known if len(nodes) > 1 else [(at, (size,)) for at, size in story.timeline.pool]
    ends = [at for at, _ in changes[1:]] + [story.timeline.elapsed]
    for (at, sizes), end in zip(changes, ends, strict=True):
        for place, size in enumerate(sizes):
            ax.broken_barh(
                [(at / unit, max(end - at, 0.0) / unit)],
                (edges[place], size),
                facecolor=GREY,
                alpha=0.12 if place % 2 == 0 else 0.22,
                linewidth=0,
                zorder=0,
            )


def _draw_blocks(
    ax: Axes,
    blocks: Blocks,
    story: Story,
    colours: dict[int, str],
    nodes: Sequence[int],
    unit: float,
) -> set[str]:
    from matplotlib.collections import PolyCollection

    timeline = story.timeline
    of_job: dict[int, list[int]] = {}
    for block, job in enumerate(blocks.job.tolist()):
        of_job.setdefault(job, []).append(block)
    corners: dict[tuple[str, str], list[Any]] = {}
    for piece in pack(timeline.start, timeline.end, timeline.cores, nodes):
        bottom, top = piece.bottom, piece.bottom + piece.cores
        for block in of_job[piece.span]:
            left, right = float(blocks.start[block]) / unit, float(blocks.end[block]) / unit
            use = USES[int(blocks.use[block])]
            key = use, _colour(use, colours[int(blocks.arm[block])])
            square = [(left, bottom), (right, bottom), (right, top), (left, top)]
            corners.setdefault(key, []).append(square)
    width = float(np.clip(60.0 / np.sqrt(max(blocks.arm.size, 1)) - 0.4, 0.0, 0.8))
    for (use, colour), squares in corners.items():
        style: dict[str, Any] = {"edgecolor": "white", "linewidth": width} | _STYLES[use]
        ax.add_collection(PolyCollection(squares, facecolor=colour, zorder=2, **style))
    return {use for use, _ in corners}


def _draw_shares(ax: Axes, story: Story, colours: dict[int, str], unit: float) -> set[str]:
    """Areas on top of each other: how many cores each arm had, averaged over short times."""
    timeline = story.timeline
    edges = np.linspace(0.0, timeline.elapsed, _BINS + 1)
    shades = list(dict.fromkeys(colours.values()))
    shade = np.zeros(len(story.standing.arms), dtype=np.int64)
    for arm, colour in colours.items():
        shade[arm] = shades.index(colour)
    groups: dict[tuple[str, str], Any] = {}
    for use in np.unique(timeline.use).tolist():
        for number, colour in enumerate(shades):
            key = USES[use], _colour(USES[use], colour)
            taken = (timeline.use == use) & (shade[timeline.arm] == number)
            groups[key] = groups.get(key, False) | taken
    below = np.zeros(_BINS)
    for (use, colour), taken in groups.items():
        if not taken.any():
            continue
        start, end = timeline.start[taken], timeline.end[taken]
        cores = timeline.cores[taken].astype(np.float64)
        busy = np.diff(_used_by(edges, start, cores) - _used_by(edges, end, cores))
        above = below + busy / np.diff(edges)
        style = {"linewidth": 0, "edgecolor": "white"} | _STYLES[use]
        ax.stairs(above, edges / unit, baseline=below, fill=True, color=colour, zorder=2, **style)
        below = above
    return {use for (use, _), taken in groups.items() if taken.any()}


def _used_by(at: Floats, since: Floats, cores: Floats) -> Floats:
    """The core-seconds by some moments if each of these cores is used from its moment on."""
    order = np.argsort(since, kind="stable")
    since, cores = since[order], cores[order]
    known = np.searchsorted(since, at)
    total, weighted = np.r_[0.0, np.cumsum(cores)], np.r_[0.0, np.cumsum(cores * since)]
    used: Floats = at * total[known] - weighted[known]
    return used


def _colour(use: str, colour: str) -> str:
    return {"failed": FAILED, "starting": _STARTING}.get(use, colour)


def _draw_legend(ax: Axes, story: Story, colours: dict[int, str], uses: set[str]) -> None:
    from matplotlib.patches import Patch

    arms = story.standing.arms
    named = [arm for arm, colour in colours.items() if colour in COLOURS]
    handles: list[Any] = [Patch(facecolor=colours[arm]) for arm in named]
    labels = [name(arms[arm].label) for arm in named]
    others = len(colours) - len(named)
    if others:
        handles.append(Patch(facecolor=_OTHERS[1]))
        better = " (darker: better)" if others >= len(_OTHERS) else ""
        labels.append(count(others, "other") + better)
    for use in USES[1:]:
        if use in uses:
            colour = _colour(use, _OTHERS[1])
            handles.append(Patch(facecolor=colour, edgecolor="white", **_STYLES[use]))
            labels.append(_WORDS.get(use, use))
    handles.append(Patch(facecolor=GREY, alpha=0.15))
    labels.append("idle")
    legend_above(ax, handles, labels)

"""Draws what ran when: resource upwards, time to the right, a colour per arm."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from paceline.pools.timeline import Span

ARM_COLOURS = ("#4477aa", "#ee6677", "#44aa77", "#ccbb44", "#aa3377", "#66ccee")
_SLACK = 1e-9
_MOST_LINES = 40  # with more, only the borders of single pulls would be visible


class Rectangle(NamedTuple):
    """A piece of the resource × time plane."""

    span: Span
    bottom: float
    height: float


def place(spans: Sequence[Span]) -> list[Rectangle]:
    """Stack spans so that none overlap: each takes the lowest free resource when it starts.

    A span is cut into pieces if the free resource is not in one piece.

    >>> spans = [Span(0, 1, 0.5, 0.0, 2.0), Span(1, 1, 0.5, 0.0, 1.0), Span(2, 1, 0.5, 1.0, 3.0)]
    >>> [(r.span.arm, r.bottom) for r in place(spans)]
    [(0, 0.0), (1, 0.5), (2, 0.5)]
    """
    placed: list[Rectangle] = []
    for span in sorted(spans, key=lambda s: (s.start, s.arm)):
        busy = sorted(
            (r.bottom, r.bottom + r.height) for r in placed if r.span.end > span.start + _SLACK
        )
        need = span.share * span.pulls
        level = 0.0
        for bottom, top in [*busy, (1.0, 1.0)]:
            height = min(bottom - level, need)
            if height > _SLACK:
                placed.append(Rectangle(span, level, height))
                need -= height
            level = max(level, top)
        if need > 1e-6:
            raise ValueError(f"more than the whole resource is in use at {span.start:g} s")
    return placed


def draw_spans(axes: Any, spans: Sequence[Span], end: float) -> None:
    """Fill the axes with one rectangle per pull; hatch those that end after `end`."""
    for span, bottom, height in place(spans):
        colour = ARM_COLOURS[span.arm % len(ARM_COLOURS)]
        seconds = span.end - span.start
        whole = max(1, round(height / span.share))
        pieces = whole if whole <= _MOST_LINES else 1
        axes.bar(
            [span.start] * pieces,
            [height / pieces] * pieces,
            width=seconds,
            bottom=[bottom + i * height / pieces for i in range(pieces)],
            align="edge",
            color=colour,
            edgecolor="white",
            linewidth=0.6,
            hatch="//" if span.end > end else None,
            alpha=0.55 if span.end > end else None,
        )
    axes.set(xlim=(0, end), ylim=(0, 1), xlabel="time (s)", ylabel="share of the resource")


def legend_of_arms(figure: Any, arms: int) -> None:
    """Add a legend below the figure that says which colour is which arm."""
    from matplotlib.patches import Patch

    handles = [
        Patch(color=ARM_COLOURS[a % len(ARM_COLOURS)], label=f"arm {a + 1}") for a in range(arms)
    ]
    figure.legend(
        handles=handles, loc="outside lower center", ncols=arms, frameon=False, fontsize=9
    )

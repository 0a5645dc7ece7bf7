"""Pictures of a race with matplotlib, made of its story alone: `result.plot`.

Each draws on an `Axes` and returns it: on that given as `ax`, or on one of a new figure, which a
notebook shows and `plt.show()` does, too. No setting of matplotlib is changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paceline.plots import pool, race, scaling, standings
from paceline.plots.drawing import axes_or_new
from paceline.story.story import Story

_SCALING_SIZE = 5.6, 4.2  # in inches


@dataclass(frozen=True, repr=False)
class Plots:
    """The pictures of a race; they need `pip install 'paceline[figures]'`."""

    story: Story

    def standings(self, ax: Any = None, *, most: int = standings.MOST_ARMS) -> Any:
        """The means of the best arms, with their intervals; those that are out are grey."""
        rows = min(len(self.story.standing.arms), most)
        ax = axes_or_new(ax, 6.4, 1.3 + 0.24 * max(rows, 2))
        return standings.draw(ax, self.story, most)

    def race(self, ax: Any = None, *, most: int = race.MOST_ARMS) -> Any:
        """Intervals that narrow with time, until arms fall; and how many arms are still in."""
        return race.draw(axes_or_new(ax, 7.0, 4.2), self.story, most)

    def pool(self, ax: Any = None, *, most: int = pool.MOST_ARMS) -> Any:
        """What every core did: a block per pull, in the colour of its arm. Idle cores are bare.

        Which cores a pull had is not recorded: each is drawn on the lowest that were free. With
        very many pulls, their cores are averaged over short times.
        """
        return pool.draw(axes_or_new(ax, 8.0, 4.2), self.story, most)

    def scaling(self, ax: Any = None) -> Any:
        """How long a pull took by its cores, and the fitted curve by which cores were given out."""
        return scaling.draw(axes_or_new(ax, *_SCALING_SIZE), self.story)

    def __repr__(self) -> str:
        return "<Plots: .standings(), .race(), .pool(), .scaling()>"


def draw_profile(ax: Any, measured: Mapping[int, Sequence[float]], fitted: Sequence[float]) -> Any:
    """The seconds of pulls by their cores, and the curve fitted to them on 1, 2, … cores."""
    ax = axes_or_new(ax, *_SCALING_SIZE)
    cores = np.repeat(list(measured), [len(times) for times in measured.values()])
    seconds = np.concatenate([np.asarray(times, dtype=np.float64) for times in measured.values()])
    return scaling.draw_times(ax, cores.astype(np.int64), seconds, np.array(fitted))

"""Check what the paper assumes of λ on a grid; each failure is named with a witness."""

from dataclasses import dataclass

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.scaling import Scaling

_SLACK = 1e-9


@dataclass(frozen=True)
class Assumptions:
    """Which assumptions fail for a scaling function on the grid that was checked; None: it holds.

    The paper assumes that λ rises from 0, grows without bound, and is concave. Instead of
    concavity its algorithms only need subadditivity, λ(a + b) ≤ λ(a) + λ(b), which makes a bigger
    round worthwhile. Their guarantees hold even without it.
    """

    rising: str | None
    unbounded: str | None
    concave: str | None
    subadditive: str | None

    @property
    def failures(self) -> tuple[str, ...]:
        """One sentence for every assumption that fails, the most serious first."""
        found = (self.rising, self.unbounded, self.subadditive, self.concave)
        return tuple(text for text in found if text is not None)


def check_assumptions(scaling: Scaling, most_pulls: float = 2.0**40) -> Assumptions:
    """Check the three assumptions of the paper, and subadditivity, up to `most_pulls`.

    >>> from paceline.core.pool import CorePool
    >>> from paceline.core.scaling import PowerLaw
    >>> check_assumptions(PowerLaw(0.5)).failures
    ()
    >>> for failure in check_assumptions(CorePool(4, lambda cores: 8 / cores**0.5)).failures:
    ...     print(failure)
    λ is not concave: it rises by 1.66 a pull from 1 to 2 pulls, but by 2.34 from 2 to 3
    """
    small = np.arange(1.0, 65.0)
    grid = np.unique(np.r_[small, np.round(np.geomspace(1.0, most_pulls, 301))])  # pulls are whole
    with np.errstate(all="ignore"):
        seconds = np.asarray(scaling.seconds(grid), dtype=np.float64)
    rising = _rising(scaling, grid, seconds)
    if rising is not None:  # the others would only repeat it
        return Assumptions(rising, None, None, None)
    return Assumptions(
        rising, _unbounded(grid, seconds), _concave(grid, seconds), _subadditive(scaling, small)
    )


def _rising(scaling: Scaling, grid: Floats, seconds: Floats) -> str | None:
    if scaling.seconds(0.0) != 0:
        return f"λ does not start at 0: λ(0) = {scaling.seconds(0.0):g}"
    bad = np.flatnonzero(~np.isfinite(seconds) | (seconds <= 0))
    if bad.size:
        return f"λ is not a positive number: λ({grid[bad[0]]:g}) = {seconds[bad[0]]:g}"
    falls = np.flatnonzero(np.diff(seconds) < -_SLACK * seconds[1:])
    if falls.size:
        i = int(falls[0])
        return (
            f"λ falls: from {seconds[i]:g} s for {grid[i]:g} pulls "
            f"to {seconds[i + 1]:g} s for {grid[i + 1]:g}"
        )
    return None


def _unbounded(grid: Floats, seconds: Floats) -> str | None:
    # No finite grid shows a limit. A λ that does not rise over the last third of the logarithmic
    # grid is taken to have one.
    third = -grid.size // 3
    if seconds[-1] <= seconds[third] * (1 + 1e-6):
        return f"λ is bounded: it stays near {seconds[-1]:g} s from {grid[third]:g} pulls on"
    return None


def _concave(grid: Floats, seconds: Floats) -> str | None:
    slopes = np.diff(seconds) / np.diff(grid)
    worse = np.flatnonzero(slopes[1:] > slopes[:-1] * (1 + 1e-6) + _SLACK * slopes[0])
    if worse.size:
        i = int(worse[0])
        return (
            f"λ is not concave: it rises by {slopes[i]:.3g} a pull from {grid[i]:g} to "
            f"{grid[i + 1]:g} pulls, but by {slopes[i + 1]:.3g} from {grid[i + 1]:g} to "
            f"{grid[i + 2]:g}"
        )
    return None


def _subadditive(scaling: Scaling, small: Floats) -> str | None:
    parts = np.unique(np.r_[small, 2.0 ** np.arange(7, 31), 3.0 * 2.0 ** np.arange(6, 30)])
    alone = np.asarray(scaling.seconds(parts))
    together = np.asarray(scaling.seconds(np.add.outer(parts, parts).ravel()))
    excess = together.reshape(parts.size, -1) - np.add.outer(alone, alone) * (1 + _SLACK)
    if excess.max() > 0:
        a, b = (int(i) for i in np.unravel_index(int(excess.argmax()), excess.shape))
        return (
            f"λ is not subadditive: {parts[a]:g} and {parts[b]:g} pulls take "
            f"{alone[a] + alone[b]:g} s one after the other, but "
            f"{scaling.seconds(parts[a] + parts[b]):g} s at once"
        )
    return None

"""From where to where means and their intervals are drawn."""

import math
from collections.abc import Sequence

import numpy as np

from paceline.story.standing import ArmRecord

Scale = tuple[float, float]


def scale_of(arms: Sequence[ArmRecord]) -> Scale:
    """All means, and the intervals of the arms that are in.

    An arm that fell early may have an interval that is a hundred times as wide.
    """
    ends = [arm.mean for arm in arms if math.isfinite(arm.mean)]
    leading = [arm for arm in arms if arm.status in ("best", "in")]
    ends += [end for arm in leading for end in (arm.low, arm.high) if math.isfinite(end)]
    halves = [(arm.high - arm.low) / 2 for arm in arms if math.isfinite(arm.high - arm.low)]
    if not ends:
        return 0.0, 1.0
    margin = float(np.median(halves)) if halves else 0.0
    low, high = min(ends) - margin, max(ends) + margin
    if not math.isfinite(high - low):  # values near the largest floats
        return -1e300, 1e300
    room = 0.0 if high > low else max(0.5, 1e-9 * abs(low))
    return low - room, high + room

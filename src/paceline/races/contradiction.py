"""Why a table of means can seem to contradict the verdict below it.

The table shows the mean of all values of an arm. The verdict rests on comparisons of pulls made
while both arms were in, group by group, each group judged by its own noise. So one value that is
very far off carries the mean and hardly counts in the verdict; and an arm that was out early keeps
the mean that it had then.
"""

from collections.abc import Sequence, Set

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.statistics import mean_of
from paceline.core.words import arm_name

_FAR = 5.0  # times the range of the middle half; six times the standard deviation of normal values


def contradiction(
    chosen: Sequence[int],
    failed: Set[int],
    values: Sequence[Floats],
    labels: Sequence[str],
    *,
    sign: float = 1.0,
    tolerance: float = 0.0,
) -> str:
    """In a sentence, why an arm that was not chosen has a better mean; '' if none has.

    >>> a, b = np.array([1.0, 1.1, -1e20, 0.9]), np.array([0.1, 0.2, 0.0, 0.1])
    >>> print(contradiction([0], set(), [a, b], ["x=1", "x=2"]))
    the table seems to contradict the verdict: the mean of x=1 in it includes one value of -1e+20, \
and would be 1 without it. The verdict compares pulls group by group, where one value weighs \
little: see whether it is an error
    >>> contradiction([0], set(), [a[:2], b], ["x=1", "x=2"])
    ''
    """
    means = [sign * mean_of(one) if one.size else -np.inf for one in values]
    rest = [arm for arm in range(len(values)) if arm not in (*chosen, *failed)]
    if not chosen or not rest or not all(values[arm].size for arm in chosen):
        return ""
    worst, other = min(chosen, key=means.__getitem__), max(rest, key=means.__getitem__)
    if not means[other] - means[worst] > tolerance:
        return ""
    begins = "the table seems to contradict the verdict: the mean of"
    better, best = arm_name(labels[other]), arm_name(labels[worst])
    both = min(values[other].size, values[worst].size)
    apart = sign * (mean_of(values[other][:both]) - mean_of(values[worst][:both]))
    if apart <= tolerance:
        return (
            f"{begins} {better} in it is better than that of {best}, but not over the first {both} "
            "pulls of both. The verdict compares pulls that were made while both were in"
        )
    for arm in (worst, other):
        value, others, is_far = _farthest(values[arm])
        if not is_far:
            continue
        without = {arm: sign * others}
        apart = without.get(other, means[other]) - without.get(worst, means[worst])
        if apart <= tolerance:
            return (
                f"{begins} {arm_name(labels[arm])} in it includes one value of {value:.6g}, and "
                f"would be {others:.4g} without it. The verdict compares pulls group by group, "
                "where one value weighs little: see whether it is an error"
            )
    begins = f"{begins} {better} in it is better than that of {best}"
    if values[other].size < values[worst].size:
        return (
            f"{begins}, but {better} was out after {values[other].size} pulls. The verdict "
            "compares pulls that were made while both were in"
        )
    return (
        f"{begins}. The verdict compares pulls group by group, each by its own noise, where a few "
        "values that are far off weigh less than in a mean"
    )


def _farthest(values: Floats) -> tuple[float, float, bool]:
    """The value farthest from the median, the mean of the others, and whether it is far off."""
    if values.size < 2:
        return float(values[0]), np.nan, False
    place = int(np.argmax(np.abs(values - np.median(values))))
    value, others = float(values[place]), np.delete(values, place)
    low, middle, high = np.quantile(others, (0.25, 0.5, 0.75))
    return value, float(others.mean()), bool(abs(value - middle) > _FAR * (high - low))

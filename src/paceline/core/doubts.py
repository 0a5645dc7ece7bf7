"""What looks wrong about the values of a race: reported, and if serious, not used as evidence.

Every guarantee rests on an assumption about the values, and some violations can be seen. A doubt
names the arms and says what to do. Most leave the verdict as it is. One that voids it takes the
confidence away: values that never vary show no noise at all, and values that rise with every pull
are a counter, not a measurement. Rare values that were never seen cannot be doubted.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.noise import Noise
from paceline.core.words import listed

_FEW = 8  # pulls: about fewer nothing is said
_RARE = 100  # zeros from every arm: successes may be this rare, but then the race takes long
_ENOUGH = 20  # pulls to judge the shape of an arm's values
_FEW_LEVELS = 6
_MOST_EQUAL = 0.1  # share of equal values; rounding makes some values equal, but fewer than this
_FAR_OFF = 60.0  # times the median distance: exponential values never lie that far off
_LEAST_SIZE, _LARGEST_SIZE = 1e-145, 1e152  # of noise that can be squared and added up
_LEAST_NOISE = 2e-14  # as a share of the size of the values: a hundred times their rounding
_SURE = 5.0  # standard errors: a false alarm in a million races
_SKEWED = 1.0  # an exponential distribution has 2
_HEAVY = 3.0  # excess kurtosis: a uniform distribution has −1.2, Laplace's 3, an exponential one 6
_NEAR_A_BOUND = 2.5  # standard deviations of a value
_RISING = 2.0  # atanh of the correlation of values and their numbers: 0.96
_DEPENDENT = 0.2  # rank correlation of a pull with the one before
_ENOUGH_THAT_DIFFER = 5.0
_MOST_NAMED = 3
_NO_NOISE = "no noise was seen. Is the seed used, and is the right number read?"


@dataclass(frozen=True)
class Doubt:
    """One thing that looks wrong, and for which arms: what was seen, then what to do.

    `voids` says that no confidence may be claimed.

    >>> doubt = Doubt("equal", (1,), "some of the values of {arms} are equal", "declare bounds=")
    >>> doubt.text(["a", "b"])
    'some of the values of "b" are equal: declare bounds='
    """

    kind: str
    arms: tuple[int, ...]
    seen: str  # with {arms} where they are named
    advice: str
    voids: bool = False

    def text(self, labels: Sequence[str]) -> str:
        """The whole doubt in one line."""
        return f"{self.finding(labels)}: {self.advice}"

    def finding(self, labels: Sequence[str]) -> str:
        """What was seen."""
        names = [f'"{labels[arm]}"' for arm in self.arms]
        return self.seen.replace("{arms}", listed(names, _MOST_NAMED))


def find_doubts(values: Sequence[Floats], noise: Noise, *, claims: bool = True) -> list[Doubt]:
    """What looks wrong about the values of each arm, in the order of their pulls.

    If no confidence is claimed, their shape does not matter.

    >>> from paceline.core.noise.normal import NormalNoise
    >>> rng = np.random.default_rng(0)
    >>> find_doubts([rng.normal(0, 1, 50), rng.normal(1, 2, 50)], NormalNoise())
    []
    >>> [one.kind for one in find_doubts([np.full(9, 3.0), np.full(9, 7.0)], NormalNoise())]
    ['constant']
    """
    seen = {arm: one for arm, one in enumerate(values) if one.size >= _FEW}
    found = list(_constant(seen, noise, len(values)))
    varied = {arm: one for arm, one in seen.items() if one.min() < one.max()}
    with np.errstate(all="ignore"):  # values near the largest and the smallest floats
        lost = [*_lost_in_rounding(varied)] or _rising(varied)
        if lost:  # anything else odd about them follows from this
            return found + lost
        found += _dependent(varied)
        if noise.shaped:
            found += _outliers(varied)
            found += _shape(varied) if claims else ()
    return found


def _constant(seen: dict[int, Floats], noise: Noise, arms: int) -> Iterator[Doubt]:
    """Arms whose pulls all gave the same value; with values 0 and 1 this is nothing unusual."""
    still = [arm for arm, one in seen.items() if one.min() == one.max()]
    if not still:
        return
    first, fewest = seen[still[0]], min(seen[arm].size for arm in still)
    if len(still) == arms:
        if len({float(seen[arm][0]) for arm in still}) == 1 and noise.limits is not None:
            # No success yet, or no failure: that decides nothing either.
            if fewest >= _RARE:
                yield Doubt(
                    "constant",
                    tuple(still),
                    f"in {fewest} pulls or more, {{arms}} gave nothing but {first[0]:g}",
                    "nothing tells them apart. Is the right number read?",
                )
            return
        yield Doubt(
            "constant",
            tuple(still),
            f"in {fewest} pulls or more, {{arms}} each gave one value only",
            _NO_NOISE,
            voids=True,
        )
    elif noise.limits is None:
        same = f"all {first.size} pulls of {{arms}} gave {first[0]:g}"
        if len(still) > 1:
            same = f"in {fewest} pulls or more, {{arms}} each gave one value only"
        advice = f"{_NO_NOISE} If they may well never vary, declare bounds="
        yield Doubt("constant", tuple(still), same, advice, voids=True)


def _lost_in_rounding(varied: dict[int, Floats]) -> Iterator[Doubt]:
    """Arms whose noise, or its square, floating-point numbers cannot hold."""
    found = []
    for arm, one in varied.items():
        least = max(_LEAST_SIZE, _LEAST_NOISE * float(np.abs(one).max()))
        if not least < float(one.std()) < _LARGEST_SIZE:
            found.append(arm)
    if found:
        yield Doubt(
            "scale",
            tuple(found),
            "the values of {arms} are too large, too small or too close together to be told apart",
            "subtract what they have in common, and scale them to about 1",
            voids=True,
        )


def _rising(varied: dict[int, Floats]) -> list[Doubt]:
    """Arms whose values rise, or fall, from pull to pull, nearly without exception."""
    found = []
    for arm, one in varied.items():
        rank = _correlation(_ranks(one), np.arange(float(one.size)))
        trend = math.atanh(min(abs(rank), 1 - 1e-12))
        if trend >= _RISING and trend * math.sqrt(one.size - 3) >= _SURE:
            found.append(arm)
    if not found:
        return []
    one = varied[found[0]]
    way = "rise" if one[-1] > one[0] else "fall"
    shown = f"from {one[0]:.10g} at first to {one[-1]:.10g} at last"
    return [
        Doubt(
            "counter",
            tuple(found),
            f"the values of {{arms}} {way} from pull to pull, {shown}",
            "is the number that is read a counter or a clock?",
            voids=True,
        )
    ]


def _dependent(varied: dict[int, Floats]) -> Iterator[Doubt]:
    """Arms whose pulls resemble the one before."""
    found = {}
    for arm, one in varied.items():
        ranks = _ranks(one) / one.size
        # If only a few values differ from the rest, two of them side by side already weigh much.
        if one.size * (4 * float(ranks.var())) ** 2 >= _ENOUGH_THAT_DIFFER:
            lagged = _correlation(ranks[1:], ranks[:-1])
            if lagged > _DEPENDENT and lagged * math.sqrt(one.size - 1) > _SURE:
                found[arm] = lagged
    if found:
        most = max(found.values())
        yield Doubt(
            "dependent",
            tuple(found),
            f"pulls of {{arms}} resemble the one before, with a correlation of {most:.2f}",
            "something drifts, or carries over from pull to pull, and the confidence is for "
            "independent pulls",
        )


def _outliers(varied: dict[int, Floats]) -> Iterator[Doubt]:
    """Arms where a single value decides the mean."""
    far = [arm for arm, one in varied.items() if _farthest(one) > _FAR_OFF]
    if far:
        yield Doubt(
            "outlier",
            tuple(far),
            "a value of {arms} is very far from all others, and carries the mean",
            "see whether it is an error; declare bounds= if it is not",
        )


def _shape(varied: dict[int, Floats]) -> Iterator[Doubt]:
    """What speaks against normal values."""
    many = {arm: one for arm, one in varied.items() if one.size >= _ENOUGH}
    equal = [arm for arm, one in many.items() if _too_few_values(one)]
    if equal:
        yield Doubt(
            "equal",
            tuple(equal),
            "many values of {arms} are the same number, so they are not normal",
            "declare bounds=(lowest, highest) to be sure",
        )
    skewed, heavy = [], []
    for arm, one in many.items():
        if _farthest(one) > _FAR_OFF:
            continue  # already reported as an outlier
        apart, size = (one - one.mean()) / one.std(), one.size
        skewness, kurtosis = float((apart**3).mean()), float((apart**4).mean()) - 3
        if abs(skewness) > max(_SKEWED, _SURE * math.sqrt(6 / size)):
            skewed.append(arm)
        elif kurtosis > max(_HEAVY, 2 * _SURE * math.sqrt(24 / size)):
            heavy.append(arm)
    if skewed:
        yield Doubt(
            "skewed",
            tuple(skewed),
            "the values of {arms} are skewed, and normal ones are assumed",
            "declare bounds= if there are any, or race a transform such as the logarithm",
        )
    if heavy:
        yield Doubt(
            "heavy-tailed",
            tuple(heavy),
            "a few values of {arms} are far off, and normal ones are assumed",
            "declare bounds= if there are any, or cap the values",
        )
    if varied and all(one.min() >= 0 and one.max() <= 1 for one in varied.values()):
        near = [
            arm
            for arm, one in many.items()
            if min(one.mean(), 1 - one.mean()) < _NEAR_A_BOUND * one.std()
        ]
        if near:
            yield Doubt(
                "bound",
                tuple(near),
                "all values lie between 0 and 1, and those of {arms} come close to an end",
                "if they cannot leave that range, declare bounds=(0, 1)",
            )


def _too_few_values(one: Floats) -> bool:
    """Whether there are only a few levels, or one is far more common than rounding explains."""
    levels, often = np.unique(one, return_counts=True)
    if levels.size <= _FEW_LEVELS:
        return True
    margin = _SURE * math.sqrt(_MOST_EQUAL / one.size)
    # Rounded normal values give the commonest a smaller share than this.
    by_rounding = float(np.diff(levels).min()) / float(one.std())
    return float(often.max()) / one.size > max(_MOST_EQUAL + margin, by_rounding)


def _farthest(one: Floats) -> float:
    """The largest distance of a value from the median, in units of the median distance."""
    apart = np.abs(one - np.median(one))
    usual = float(np.median(apart))
    return float(apart.max()) / usual if usual > 0 else 0.0


def _ranks(one: Floats) -> Floats:
    """The rank of each value among all; equal values share one."""
    _, place, often = np.unique(one, return_inverse=True, return_counts=True)
    last: Floats = np.cumsum(often).astype(np.float64)
    return np.asarray((last - 0.5 * often)[place])


def _correlation(one: Floats, other: Floats) -> float:
    one, other = one - one.mean(), other - other.mean()
    found = float((one @ other) / math.sqrt((one @ one) * (other @ other) or math.inf))
    return found if math.isfinite(found) else 0.0

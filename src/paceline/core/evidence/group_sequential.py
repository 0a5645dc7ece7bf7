"""Evidence for rounds: looks on a fixed grid of pulls, at a bar that is exact.

Between two looks lies a cell: m fresh pulls of every arm alive. It gives each arm a score z against
opponents chosen before, from a test on the cell's values alone. If the arm is the best, z is at
most standard normal, in distribution and given all that came before. So the best arm's total
W = Σ √m z stays below a Brownian motion looked at on the grid, and W passes b_g √τ_g at any look
with probability at most δ: that is how b_g is computed (`boundary`). A cell is never looked into
before it is complete, and opponents are never chosen with its own values.
"""

from abc import abstractmethod

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.base import Evidence
from paceline.core.evidence.boundary import DEPTHS, PILOT, TIMES, boundary, spending
from paceline.core.evidence.opponents import Opponents, leaders, leading_group
from paceline.core.evidence.tails import fisher_scores, sign_scores, student_scores
from paceline.core.noise import Noise
from paceline.core.rounds import Results


class GroupSequential(Evidence):
    """Scores of cells, added up. A subclass says how a cell is scored."""

    def __init__(self, arms: int, delta: float, top: int = 1) -> None:
        super().__init__(arms, top)
        self.delta = delta / top
        self.total = np.zeros(arms)  # W
        self.past: list[tuple[Ints, Floats]] = []  # the arms alive at each look, and their W
        self.look = -1  # the pilot comes first

    def next_look(self) -> int:
        """The next point of the grid; the pilot only chooses opponents."""
        return int(DEPTHS[self.look]) if self.look >= 0 else PILOT

    def weigh(self, fresh: Results) -> Floats:
        """Add the cell's scores."""
        cell = int(fresh.pulls.min())
        assert self.depth + cell == self.next_look(), "a cell is looked at when it is complete"
        if self.look < 0:
            self.look = 0
            return np.full(self.alive.size, -np.inf)
        total = self.total[self.alive] + np.sqrt(cell) * self._score(fresh)
        self.total[self.alive] = total
        self.past.append((self.alive, total))
        bar = self._bar(self.look) * np.sqrt(TIMES[self.look])
        self.look += 1
        return np.asarray(total - bar)

    def out_at(self, level: float, arms: Ints) -> bool:
        """By the totals at all looks. Bars fall as the level rises, at every look."""
        out = np.zeros(arms.size, dtype=np.bool_)
        for look, (alive, total) in enumerate(self.past):
            bar = self._bar_for(level / self.top, look) * np.sqrt(TIMES[look])
            out |= total[np.searchsorted(alive, arms)] >= bar
        return bool(out.all())

    def _score(self, fresh: Results) -> Floats:
        means, variances = self.estimates(), self.variances()
        if self.top == 1:
            return self.compare(fresh, self.opponents(fresh, means, variances))
        scores = [self.compare(fresh, rival) for rival in leaders(means, self.top)]
        weakest: Floats = np.minimum.reduce(scores)
        return weakest

    def opponents(self, fresh: Results, means: Floats, variances: Floats) -> Opponents:
        """Whom each arm alive meets in the cell: only the numbers of fresh pulls are looked at."""
        return leading_group(means, variances, fresh.pulls)

    @abstractmethod
    def compare(self, fresh: Results, opponents: Opponents) -> Floats:
        """The score of each arm against its opponents: at most standard normal if it is best."""

    def estimates(self) -> Floats:
        """The means of the arms alive, by what is known."""
        return self.tally.means(self.alive)

    def _bar(self, look: int) -> float:
        return self._bar_for(self.delta, look)

    def _bar_for(self, delta: float, look: int) -> float:
        return boundary(delta).at(look)

    def bars(self, depths: Ints) -> Floats:
        """The bars at points of the grid."""
        looks = np.searchsorted(DEPTHS, depths)
        return np.array([self._bar(int(look)) for look in looks])

    def scores(self) -> Floats:
        """W/√τ."""
        scores: Floats = self.total[self.alive] / max(self.depth - PILOT, 1) ** 0.5
        return scores


class Fisher(GroupSequential):
    """Values of two kinds, `limits`: Fisher's exact test, its ties broken at random.

    Given how many successes there are in all, the arm's share of them is hypergeometric if all have
    the same chance; p is then exactly uniform, since the jumps are filled with a random number.
    Opponents with lower chances have fewer successes, which makes p larger: it is monotone.
    """

    def __init__(
        self,
        arms: int,
        delta: float,
        rng: np.random.Generator,
        limits: tuple[float, float] = (0.0, 1.0),
        top: int = 1,
    ) -> None:
        super().__init__(arms, delta, top)
        self.rng = rng
        self.low, self.width = limits[0], limits[1] - limits[0]

    def estimates(self) -> Floats:
        """The chances, drawn a little towards ½."""
        pulls = self.tally.pulls[self.alive]
        ones = (self.tally.sums[self.alive] - self.low * pulls) / self.width
        return np.asarray((ones + 0.5) / (pulls + 1.0))

    def variances(self) -> Floats:
        """p (1 − p)."""
        chance = self.estimates()
        return chance * (1 - chance)

    def compare(self, fresh: Results, opponents: Opponents) -> Floats:
        """By the numbers of successes."""
        ones = np.rint((fresh.sums - self.low * fresh.pulls) / self.width)
        pulls = fresh.pulls.astype(np.float64)
        uniform = self.rng.random(ones.size)
        return fisher_scores(
            ones, pulls, np.rint(opponents.total(ones)), opponents.total(pulls), uniform
        )


class PairedSigns(Fisher):
    """Two kinds of values with shared seeds: the exact sign test on pairs that differ.

    If the arm is the best, it wins at least half of those, given that they differ. It meets the
    leader alone, since with a group there is no such pair.
    """

    def opponents(self, fresh: Results, means: Floats, variances: Floats) -> Opponents:
        """The leader, or for the leader the runner-up."""
        return leaders(means, 1)[0]

    def compare(self, fresh: Results, opponents: Opponents) -> Floats:
        """By how often the opponent won, and how often it lost."""
        assert fresh.values is not None
        apart = np.sign(opponents.total(fresh.values) - fresh.values)
        wins, losses = (apart > 0).sum(axis=1), (apart < 0).sum(axis=1)
        return sign_scores(wins, losses, self.rng.random(wins.size))


class KnownSigma(GroupSequential):
    """Normal values with standard deviation `sigma`: the z test.

    With `tails="subgaussian"` values are only known to have no heavier tails than those: W is then
    √τ-sub-Gaussian, and the bar √(2 ln 1/α_g) is passed with probability at most α_g at each look.
    With shared seeds (`paired`) the noises may add up: a difference is 2σ-sub-Gaussian at worst.
    """

    def __init__(
        self,
        arms: int,
        delta: float,
        sigma: float,
        *,
        tails: str = "normal",
        paired: bool = False,
        top: int = 1,
    ) -> None:
        super().__init__(arms, delta, top)
        self.sigma = sigma
        self.tails = tails
        self.paired = paired

    def opponents(self, fresh: Results, means: Floats, variances: Floats) -> Opponents:
        """With shared seeds a group may vary as much as one arm: then the leader alone."""
        return leaders(means, 1)[0] if self.paired else super().opponents(fresh, means, variances)

    def variances(self) -> Floats:
        """σ²."""
        return np.full(self.alive.size, self.sigma**2)

    def compare(self, fresh: Results, opponents: Opponents) -> Floats:
        """By the difference of the means."""
        pulls = fresh.pulls.astype(np.float64)
        theirs = opponents.total(pulls)
        apart = opponents.total(fresh.sums) / theirs - fresh.sums / pulls
        if self.paired:
            return apart / (self.sigma * (pulls**-0.5 + theirs**-0.5))
        return apart / (self.sigma * np.sqrt(1 / pulls + 1 / theirs))

    def _bar_for(self, delta: float, look: int) -> float:
        if self.tails == "normal":
            return super()._bar_for(delta, look)
        return float(np.sqrt(2 * np.log(1 / spending(delta)[look])))


class Student(GroupSequential):
    """Normal values with unknown variances, one per arm: the t test.

    The variance of a difference is estimated from several arms', each with its own: the statistic
    then lies between Student's with the least and with the total degrees of freedom.
    """

    def compare(self, fresh: Results, opponents: Opponents) -> Floats:
        """By the difference of the means, over its own standard error."""
        pulls = fresh.pulls.astype(np.float64)
        if pulls.min() < 2:
            return np.zeros(pulls.size)
        theirs = opponents.total(pulls)
        variance = spreads(fresh) / (pulls - 1)
        # Σ (m_j/M)² s_j²/m_j over the opponents
        noise = variance / pulls + np.maximum(opponents.total(variance * pulls), 0) / theirs**2
        apart = _difference(opponents.total(fresh.sums) / theirs, fresh.sums / pulls)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            scores = student_scores(
                apart / np.sqrt(noise),
                np.full(pulls.size, pulls.min() - 1),
                pulls - 1 + theirs - opponents.size,
            )
        return np.minimum(scores, _highest_score(_log_orders(pulls, theirs)))


class PairedStudent(GroupSequential):
    """Normal values with shared seeds: the t test on the differences, pull by pull.

    What the k-th pulls have in common drops out. Exact for normal differences, whatever their
    variances; also where seeds are not shared.
    """

    def __init__(self, arms: int, delta: float, top: int = 1) -> None:
        super().__init__(arms, delta, top)
        self._seen = np.zeros(2)  # sums over cells: of the noise of differences, as it is and alone

    def compare(self, fresh: Results, opponents: Opponents) -> Floats:
        """By the mean difference, over its own standard error."""
        assert fresh.values is not None
        pulls = fresh.values.shape[1]
        if pulls < 2:
            return np.zeros(fresh.arms.size)
        rivals = opponents.total(fresh.values) / opponents.size[:, None]
        apart = _difference(rivals, fresh.values)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            noise = apart.var(axis=1, ddof=1)
            free = np.full(noise.size, pulls - 1)
            scores = student_scores(apart.mean(axis=1) / np.sqrt(noise / pulls), free, free)
            alone = spreads(fresh) / (pulls - 1)
            self._seen += noise.sum(), (alone + opponents.total(alone) / opponents.size**2).sum()
        return np.minimum(scores, _highest_score(np.full(noise.size, pulls * np.log(2))))

    def variances(self) -> Floats:
        """Without what is common to all."""
        own, alone = self._seen
        kept = min(own / alone, 2.0) if own > 0 and alone > 0 else 1.0
        return super().variances() * kept


def spreads(fresh: Results) -> Floats:
    """The squares around each arm's own mean in the cell."""
    if fresh.spreads is not None:
        return fresh.spreads
    found = fresh.squares - fresh.sums**2 / fresh.pulls
    return np.maximum(found, _ROUNDING_OF_SQUARES * fresh.squares)  # what may have been lost


_ROUNDING_OF_SQUARES = 1e-12
_ROUNDING = 1e-13


def _difference(theirs: Floats, own: Floats) -> Floats:
    """How far two means are apart; not at all if only by rounding, which always errs one way."""
    apart = theirs - own
    return np.where(np.abs(apart) > _ROUNDING * (np.abs(theirs) + np.abs(own)), apart, 0.0)


def _log_orders(pulls: Floats, theirs: Floats) -> Floats:
    """The logarithm of how many ways there are to deal the cell's values to both sides."""
    from scipy.special import betaln

    return np.asarray(-np.log(pulls + theirs + 1) - betaln(pulls + 1, theirs + 1))


def _highest_score(log_orders: Floats) -> Floats:
    """The score of p = 1/orders: no test that only uses the order of values gives less.

    Few values that happen to lie close together would otherwise decide alone; normal ones seldom
    get there.
    """
    from scipy.special import ndtri_exp

    return np.asarray(-ndtri_exp(-log_orders))


def group_sequential(
    arms: int,
    delta: float,
    noise: Noise,
    rng: np.random.Generator,
    *,
    top: int = 1,
    paired: bool = False,
) -> GroupSequential:
    """The evidence for rounds that fits what is assumed; for bounded values, their scale."""
    if noise.kind == "bernoulli":
        kind = PairedSigns if paired else Fisher
        return kind(arms, delta, rng, noise.limits or (0.0, 1.0), top)
    if noise.kind == "normal" and noise.sigma is not None and not paired:
        return KnownSigma(arms, delta, noise.sigma, top=top)
    if noise.scale is not None and noise.kind != "normal":
        return KnownSigma(arms, delta, noise.scale, tails="subgaussian", paired=paired, top=top)
    return PairedStudent(arms, delta, top) if paired else Student(arms, delta, top)

"""What every noise promises. Its tests subclass `NoiseContract` and say how to draw such values."""

import json
import math
import pickle
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest

from paceline import InvalidInput, PowerLaw
from paceline.core.arrays import Floats, Ints
from paceline.core.doubts import find_doubts
from paceline.core.evidence.base import Evidence
from paceline.core.evidence.nearness import Nearness
from paceline.core.noise import Noise
from paceline.core.noise.catalog import NOISES, from_json
from paceline.core.rounds import Results
from paceline.core.tally import Tally
from paceline.policies.base import Task
from paceline.policies.racing import EVIDENCE, make_evidence
from tests.statistical.test_guarantee import refutes

RUNS, ALPHA = 600, 0.1
LOOKS = [0, *range(2, 12), 20, 40, 80, 160, 320]
ARMS, DELTA = 4, 0.1
RACES, DEPTH = 60, 300


class NoiseContract:
    """Every noise is held to these."""

    noise: ClassVar[Noise]

    def draw(self, mean: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Values for which the noise holds, with a mean between ¼ and ¾."""
        raise NotImplementedError

    # What it is.

    def test_is_in_the_catalog_under_its_name(self) -> None:
        assert NOISES[self.noise.kind] is type(self.noise)

    def test_survives_a_journal_and_a_pickle(self) -> None:
        for noise in (self.noise, self.noise.negated()):
            written = noise.to_json()
            assert list(written) == ["kind", "bounds", "sigma"]
            assert json.loads(json.dumps(written)) == written
            for copy in (from_json(written), pickle.loads(pickle.dumps(noise))):
                assert copy == noise
                assert hash(copy) == hash(noise)

    def test_differs_from_all_others(self) -> None:
        others = [kind for name, kind in NOISES.items() if name != self.noise.kind]
        assert all(kind.of((0.0, 1.0), 1.0) != self.noise for kind in others)

    def test_is_frozen(self) -> None:
        with pytest.raises(AttributeError):
            self.noise.kind = "another"  # type: ignore[misc]

    def test_negated_twice_is_the_same(self) -> None:
        noise, negated = self.noise, self.noise.negated()
        assert negated.negated() == noise
        assert (negated.kind, negated.scale, negated.variance) == (
            noise.kind,
            noise.scale,
            noise.variance,
        )
        limits = noise.limits
        assert negated.limits == (None if limits is None else (-limits[1], -limits[0]))

    def test_is_described_in_a_few_words(self) -> None:
        said = self.noise.describe()
        assert said
        assert "\n" not in said
        assert "None" not in said

    def test_what_is_known_is_not_learned_from_values(self) -> None:
        for binary in (True, False):
            learned = self.noise.learned(binary=binary)
            assert learned.known
            assert (learned == self.noise) is self.noise.known

    # What values there can be.

    def test_its_values_are_allowed_and_others_are_not(self) -> None:
        rng = np.random.default_rng(5)
        allowed, limits = self.noise.allowed, self.noise.limits
        assert (allowed is None) is (limits is None)
        if allowed is None or limits is None:
            return
        assert all(allowed(value) for value in [*limits, *self.draw(0.5, (50,), rng).tolist()])
        width = limits[1] - limits[0]
        outside = (limits[0] - 1e-9 * width, limits[1] + 1e-9 * width, math.inf, math.nan)
        assert not any(allowed(value) for value in outside)
        assert allowed(limits[0] + 0.5 * width) is not self.noise.binary

    def test_it_raises_no_doubts_about_its_values(self) -> None:
        rng = np.random.default_rng(5)
        values = [self.draw(mean, (200,), rng) for mean in (0.4, 0.6)]
        assert find_doubts(values, self.noise) == []

    # What is said about means.

    def failures(self, shrunk: float = 1.0) -> int:
        """How many of RUNS sequences have an interval without the mean, at any of the looks."""
        rng, mean = np.random.default_rng(11), 0.3
        tally, wrong = Tally.empty(RUNS), np.zeros(RUNS, dtype=bool)
        for before, now in pairwise(LOOKS):
            tally.add(results_of(self.draw(mean, (RUNS, now - before), rng)))
            low, high = self.noise.intervals(tally, ALPHA)
            middle = tally.sums / tally.pulls
            wrong |= mean < middle - shrunk * (middle - low)
            wrong |= mean > middle + shrunk * (high - middle)
        return int(wrong.sum())

    def test_intervals_hold_at_all_times_at_once(self) -> None:
        assert not refutes(self.failures(), RUNS, ALPHA)

    def test_control_a_third_of_the_width_is_caught(self) -> None:
        assert refutes(self.failures(shrunk=1 / 3), RUNS, ALPHA)

    def test_of_nothing_the_intervals_are_the_limits(self) -> None:
        low, high = self.noise.limits or (-math.inf, math.inf)
        said = self.noise.intervals(Tally.empty(2), ALPHA)
        assert [one.tolist() for one in said] == [[low] * 2, [high] * 2]

    def test_estimates_come_near_the_truth(self) -> None:
        rng = np.random.default_rng(5)
        values = np.stack([self.draw(mean, (4000,), rng) for mean in (0.4, 0.6)])
        tally, arms = Tally.empty(2), np.arange(2)
        tally.add(results_of(values))
        estimates = self.noise.estimates(tally, arms)
        variances = self.noise.pull_variances(tally, arms)
        assert estimates is not None
        assert variances is not None
        assert estimates[0] == pytest.approx(values.mean(axis=1), abs=1e-3)
        for seen in (estimates[1], variances):
            assert (seen >= 0.9 * values.var(axis=1)).all()  # a scale may be larger
        if self.noise.variance is None:
            assert variances == pytest.approx(values.var(axis=1), rel=0.01)

    def test_tails_are_those_of_means(self) -> None:
        """So many means of 20 values are beyond a threshold, and no more than is said."""
        rng = np.random.default_rng(5)
        tails = self.noise.tails(sigma=None if self.noise.scale else 1.0)
        placed = tails.placed(np.array([0.6, 0.4]))
        said = tails.chance(20 * tails.cramer(placed[1:], placed[:1]))
        beyond = self.draw(0.4, (2000, 20), rng).mean(axis=1) >= 0.6
        assert 0 < said[0] <= 1
        assert not refutes(int(beyond.sum()), 2000, float(said[0]))
        assert tails.rates(float(placed[0]), placed[1:])[0] > 0

    # What speaks against an arm.

    def made(self, kind: str, *, paired: bool = False, delta: float = DELTA) -> Evidence:
        task = Task(
            arms=ARMS,
            scaling=PowerLaw(0.5),
            confidence=1 - delta,
            noise=self.noise,
            paired=paired,
        )
        return make_evidence(task, delta, kind)

    def run(self, evidence: Evidence, means: list[float], depth: int, seed: int) -> list[int]:
        """The arms that are left after so many pulls each."""
        rng = np.random.default_rng(seed)
        while evidence.depth < depth and evidence.alive.size > 1:
            pulls = evidence.next_look() - evidence.depth
            values = np.stack([self.draw(means[arm], (pulls,), rng) for arm in evidence.alive])
            evidence.take(results_of(values, evidence.alive))
        left: list[int] = evidence.alive.tolist()
        return left

    @pytest.mark.parametrize("paired", [False, True])
    def test_a_clearly_worse_arm_falls(self, paired: bool) -> None:
        means = [0.25, 0.25, 0.75, 0.25]
        kinds = [kind for kind in EVIDENCE if kind != "betting" or self.noise.limits is not None]
        for kind in kinds:
            if kind == "lil" and paired:
                continue  # it has no use for pairs
            assert self.run(self.made(kind, paired=paired), means, 4000, seed=1) == [2]

    def test_bets_are_for_values_between_limits(self) -> None:
        if self.noise.limits is None:
            with pytest.raises(InvalidInput, match="between bounds"):
                self.made("betting")

    def losses(self, means: list[float]) -> int:
        """In how many of RACES races the first arm is lost."""
        runs = (self.run(self.made("auto"), means, DEPTH, seed) for seed in range(RACES))
        return sum(0 not in left for left in runs)

    def test_the_best_is_seldom_lost(self) -> None:
        """Of arms that tie, the first may be called the best."""
        assert not refutes(self.losses([0.5] * ARMS), RACES, DELTA)

    def test_control_an_arm_that_is_not_the_best_is_lost_too_often(self) -> None:
        assert refutes(self.losses([0.25] + [0.75] * (ARMS - 1)), RACES, DELTA)

    @pytest.mark.parametrize("paired", [False, True])
    def test_with_a_tolerance_there_is_an_end(self, paired: bool) -> None:
        """Also of arms that tie: one of the better ones, or any, if no other is better."""
        for means, right in (([0.75, 0.25, 0.7, 0.25], {0, 2}), ([0.5] * ARMS, set(range(ARMS)))):
            evidence = self.noise.closed(ARMS, DELTA, tolerance=0.25, paired=paired)
            [left] = self.run(evidence, means, 100_000, seed=1)
            assert left in right

    def test_games_are_won_against_an_arm_that_is_far_behind(self) -> None:
        rng, alive = np.random.default_rng(3), np.arange(2)
        near = Nearness(2, DELTA, 0.1, 1, self.noise.gains(2, DELTA))
        means = np.array([0.75, 0.25])
        for _ in range(60):
            values = np.stack([self.draw(mean, (20,), rng) for mean in means])
            near.take(results_of(values), alive, means)
        assert near.answer(alive, means) is not None


def results_of(values: Floats, arms: Ints | None = None) -> Results:
    """A row of values per arm."""
    pulls = np.full(len(values), values.shape[1])
    spreads = ((values - values.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return Results(
        np.arange(len(values)) if arms is None else arms,
        pulls,
        values.sum(axis=1),
        (values**2).sum(axis=1),
        spreads,
        values,
    )

"""The contracts bite: toys that break a law are caught by the test of that law."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from paceline import Normal, PowerLaw, Scaling
from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.base import Evidence
from paceline.core.evidence.group_sequential import KnownSigma
from paceline.core.rounds import Results, Round, Verdict
from paceline.policies.base import Pacer, Policy, Task
from paceline.testing import EvidenceContract, PolicyContract, ProblemContract, ScalingContract


def caught(law: Callable[..., None], *given: Any) -> bool:
    """Whether the test of a law fails."""
    try:
        law(*given)
    except AssertionError:
        return True
    return False


# Policies.


class ToyPacer(Pacer):
    """Three rounds of four pulls each."""

    def opening(self) -> Round:
        return Round(self.alive, np.full(self.alive.size, 4))

    def decide(self) -> Round | Verdict:
        if self.rounds < 3:
            return self.opening()
        return Verdict(self.ranked(self.alive, self.rng)[:1], decided=True, confidence=None)


class Restless(ToyPacer):
    """It draws a lot each time it is asked."""

    def ask(self) -> Round | Verdict:
        asked = super().ask()
        if isinstance(asked, Round):
            return Round(asked.arms, asked.pulls + self.rng.integers(2, size=asked.arms.size))
        return asked


class Twice(ToyPacer):
    """It names an arm twice."""

    def opening(self) -> Round:
        return Round(np.zeros(2, dtype=np.int64), np.full(2, 4))


class Hasty(ToyPacer):
    """It decides after the first part of a round."""

    def tell(self, results: Results, conditions: Any = None) -> None:
        whole = Results(results.arms, results.pulls, results.sums, results.squares, last=True)
        super().tell(whole, conditions)


class Fickle(ToyPacer):
    """Late results change its mind."""

    def tell(self, results: Results, conditions: Any = None) -> None:
        self.verdict = None
        super().tell(results, conditions)


class Disturbed(ToyPacer):
    """To say how it stands, it draws from its own generator, and the next round tells."""

    def opening(self) -> Round:
        return Round(self.alive, 1 + self.rng.integers(1000, size=self.alive.size))

    def stop(self, reason: str) -> Verdict:
        self.rng.random()
        return super().stop(reason)


@dataclass(frozen=True)
class Toy(Policy):
    kind: type[Pacer] = ToyPacer
    name = "toy"
    goal = "deadline"

    def _pacer(self, task: Task) -> Pacer:
        return self.kind(task)


def held_to(kind: type[Pacer]) -> PolicyContract:
    class Contract(PolicyContract):
        policy = Toy(kind)
        goal = {"deadline": 50.0}

    return Contract()


class TestToy(PolicyContract):
    """The one that breaks no law: so the others fail for what they do."""

    policy = Toy()
    goal = {"deadline": 50.0}


def test_policies_that_break_a_law_are_caught() -> None:
    assert caught(held_to(Restless).test_asking_changes_nothing)
    assert caught(held_to(Twice).test_a_round_names_each_arm_once_and_asks_for_pulls)
    hasty = held_to(Hasty)
    assert caught(hasty.test_only_what_is_missing_is_asked_for)
    assert caught(hasty.test_results_in_pieces_and_any_order_lead_to_the_same_race)
    fickle = held_to(Fickle)
    assert caught(fickle.test_nothing_is_asked_after_the_verdict_and_late_results_change_nothing)
    disturbed = held_to(Disturbed)
    assert caught(disturbed.test_it_can_be_stopped_at_any_time_and_goes_on_as_if_it_had_not)


# Evidence.


class Laws(EvidenceContract):
    """Normal values for a toy, which is made by `kind`."""

    def __init__(self, kind: Callable[[int, float, int], Evidence]) -> None:
        self.kind = kind

    def make(self, arms: int, delta: float, top: int) -> Evidence:
        return self.kind(arms, delta, top)

    def values(self, rng: np.random.Generator, gaps: Floats, pulls: int) -> Floats:
        return rng.normal(-gaps[:, None], 0.3, (gaps.size, pulls))


class Silent(KnownSigma):
    """It never says anything."""

    def weigh(self, fresh: Results) -> Floats:
        return super().weigh(fresh) - np.inf


class Forgetful(KnownSigma):
    """Who is out at one level is in at a higher one."""

    def out_at(self, level: float, arms: Ints) -> bool:
        return level < 0.05


class Lots(KnownSigma):
    """It has luck of its own."""

    def weigh(self, fresh: Results) -> Floats:
        return super().weigh(fresh) + np.random.default_rng().normal(0, 3, fresh.arms.size)


def bold(arms: int, delta: float, top: int) -> Evidence:
    """It believes the noise to be a third of what it is."""
    return KnownSigma(arms, delta, 0.1, top=top)


def bold_level(arms: int, delta: float, top: int) -> Evidence:
    """It allows itself five times the errors."""
    return KnownSigma(arms, 5 * delta, 0.3, top=top)


@pytest.mark.parametrize("top", [1, 2])
def test_evidence_that_breaks_a_law_is_caught(top: int) -> None:
    def made(kind: Callable[..., Evidence]) -> Laws:
        return Laws(lambda arms, delta, k: kind(arms, delta, 0.3, top=k))

    silent = made(Silent)
    assert caught(silent.test_clearly_worse_arms_fall_and_the_best_stay, top)
    assert caught(made(Forgetful).test_who_is_out_at_a_level_is_out_at_all_higher_ones, top)
    # Two of its races may well be alike by chance, but not ten times.
    same = made(Lots).test_it_is_a_function_of_what_it_was_given
    assert any(caught(same, top) for _ in range(10))
    assert caught(Laws(bold).test_the_best_arm_is_lost_as_seldom_as_was_promised, top)


def test_five_times_the_errors_are_too_many() -> None:
    assert caught(Laws(bold_level).test_the_best_arm_is_lost_as_seldom_as_was_promised, 1)


# Scalings.


@dataclass(frozen=True)
class Odd(Scaling):
    """A power law with something wrong."""

    wrong: str = ""

    def _seconds(self, pulls: Floats) -> Floats:
        if self.wrong == "falls":
            return np.asarray(np.sqrt(pulls) + 5 * (pulls < 10))
        if self.wrong == "bounded":
            return np.asarray(1 - np.exp(-pulls))
        if self.wrong == "convex":
            return np.sqrt(pulls) * pulls
        if self.wrong == "not elementwise":
            return np.sqrt(pulls) * (1 + 1e-6 * pulls.size)
        return np.sqrt(pulls)

    def _pulls(self, seconds: Floats) -> Floats:
        if self.wrong == "inverse too small":
            return 0.99 * super()._pulls(seconds)
        if self.wrong == "inverse too large":
            return 1.01 * super()._pulls(seconds)
        return super()._pulls(seconds)


class ByIdentity(Odd):
    __eq__ = object.__eq__
    __hash__ = object.__hash__


class TestNothingWrong(ScalingContract):
    scaling = Odd()


class TestConvexThatSaysSo(ScalingContract):
    scaling = Odd("convex")
    subadditive = False


def scaling_laws(it: Scaling) -> ScalingContract:
    class Contract(ScalingContract):
        scaling = it

    return Contract()


def test_scalings_that_break_a_law_are_caught() -> None:
    def odd(wrong: str) -> ScalingContract:
        return scaling_laws(Odd(wrong))

    assert caught(odd("falls").test_it_rises_from_zero_without_bound)
    assert caught(odd("bounded").test_it_rises_from_zero_without_bound)
    assert caught(odd("convex").test_it_is_subadditive_or_says_that_it_is_not)
    assert caught(odd("not elementwise").test_arrays_and_numbers_agree)
    assert caught(odd("inverse too small").test_the_inverse_gives_back_the_pulls)
    assert caught(odd("inverse too small").test_whole_numbers_come_back_whole)
    assert caught(odd("inverse too large").test_the_inverse_is_the_largest_that_fits)
    assert caught(scaling_laws(ByIdentity()).test_it_compares_by_value)
    assert caught(scaling_laws(ByIdentity()).test_it_survives_pickling)

    class SaysItIsConvex(ScalingContract):
        scaling = PowerLaw(0.5)
        subadditive = False

    assert caught(SaysItIsConvex().test_it_is_subadditive_or_says_that_it_is_not)


# Problems.


class Skewed(Normal):
    """The means are a little higher than it says."""

    def draw(self, arms: Ints, pulls: Ints, first: Ints, rng: Any) -> tuple[Floats, Floats]:
        assert self.means is not None
        return Normal(self.means + 0.02, self.sigma).draw(arms, pulls, first, rng)

    def draw_each(self, arms: Ints, pulls: int, first: int, rng: Any) -> Floats:
        return super().draw_each(arms, pulls, first, rng) + 0.02


class Loud(Normal):
    """Noisier than it says."""

    def draw(self, arms: Ints, pulls: Ints, first: Ints, rng: Any) -> tuple[Floats, Floats]:
        assert self.means is not None
        return Normal(self.means, 1.1 * self.sigma).draw(arms, pulls, first, rng)

    def draw_each(self, arms: Ints, pulls: int, first: int, rng: Any) -> Floats:
        assert self.means is not None
        return Normal(self.means, 1.1 * self.sigma).draw_each(arms, pulls, first, rng)


class WithLuckOfItsOwn(Normal):
    """It brings a generator of its own."""

    def draw(self, arms: Ints, pulls: Ints, first: Ints, rng: Any) -> tuple[Floats, Floats]:
        return super().draw(arms, pulls, first, np.random.default_rng())


class NumberedInName(Normal):
    """It says that draws are numbered, and takes the next ones."""

    numbered = True


class WrongSquares(Normal):
    """The squares are those of fewer rewards."""

    def draw(self, arms: Ints, pulls: Ints, first: Ints, rng: Any) -> tuple[Floats, Floats]:
        sums, squares = super().draw(arms, pulls, first, rng)
        return sums, 0.9 * squares


def problem_laws(kind: type[Normal]) -> ProblemContract:
    class Contract(ProblemContract):
        problem = kind([0.0, 1.0], sigma=0.5)

    return Contract()


def test_problems_that_break_a_law_are_caught() -> None:
    for kind in (Skewed, Loud):
        assert caught(problem_laws(kind).test_sums_have_the_declared_means_and_noise)
        assert caught(problem_laws(kind).test_single_rewards_have_the_declared_means_and_noise)
    assert caught(problem_laws(WithLuckOfItsOwn).test_the_same_seed_gives_the_same_draws)
    numbered = problem_laws(NumberedInName)
    assert caught(numbered.test_a_numbered_draw_depends_on_the_arm_and_the_number_alone)
    assert caught(problem_laws(WrongSquares).test_of_one_pull_the_square_is_the_square)
    assert caught(problem_laws(WrongSquares).test_sums_have_the_declared_means_and_noise)

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

import paceline
from paceline import APR, InvalidInput, PowerLaw, Scaling, simulate
from paceline.core.arrays import Floats

MEANS = [0.9, 0.7, 0.3]


def test_the_arrays_have_one_entry_per_replication() -> None:
    result = simulate(MEANS, "apr", PowerLaw(0.5), confidence=0.9, replications=7)
    for array in (result.seconds, result.index, result.correct, result.pulls, result.rounds):
        assert array.shape == (7,)
    assert result.correct.dtype == bool
    assert result.gap.tolist() == [0.0] * 7
    assert result.success == 1.0
    assert result.standard_error == pytest.approx(result.seconds.std(ddof=1) / math.sqrt(7))


def test_the_same_seed_gives_the_same_result_on_one_process_or_two() -> None:
    one = simulate(MEANS, APR(), confidence=0.9, seed=3, replications=12, processes=1)
    two = simulate(MEANS, APR(), confidence=0.9, seed=3, replications=12, processes=2)
    other = simulate(MEANS, APR(), confidence=0.9, seed=4, replications=12, processes=1)
    assert one.seconds.tolist() == two.seconds.tolist()
    assert one.pulls.tolist() == two.pulls.tolist()
    assert one.index.tolist() == two.index.tolist()
    assert one.seconds.tolist() != other.seconds.tolist()


def test_more_replications_repeat_the_first_ones() -> None:
    few = simulate(MEANS, APR(), confidence=0.9, replications=3)
    many = simulate(MEANS, APR(), confidence=0.9, replications=6)
    assert many.pulls[:3].tolist() == few.pulls.tolist()


def test_a_script_without_a_main_guard_can_use_two_processes() -> None:
    script = """
import paceline

class Mine(paceline.Scaling):
    def _seconds(self, pulls):
        return pulls**0.5

print(paceline.simulate([0.9, 0.5], scaling=Mine(), replications=4, processes=2).index.tolist())
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("[0, 0, 0, 0]\n", 0), done.stderr


def test_the_defaults() -> None:
    assert simulate(MEANS).confidence == 0.95
    by_deadline = simulate(MEANS, deadline=20.0)
    assert by_deadline.confidence is None
    assert by_deadline.seconds[0] <= 20.0


def test_both_goals_end_at_the_deadline_with_the_confidence_reached() -> None:
    result = simulate([0.7, 0.6, 0.3], confidence=0.95, deadline=30.0, replications=20)
    late = np.array([bool(reason) for reason in result.reasons])
    assert 0 < late.sum() < 20
    assert ((result.seconds[late] > 27.0) & (result.seconds[late] <= 30.0)).all()
    assert (result.index >= 0).all()
    assert (result.confidences[~late] == 0.95).all()
    known = result.confidences[late & ~np.isnan(result.confidences)]
    assert ((known >= 0.5) & (known < 0.95)).all()
    assert 0 < known.size < late.sum()
    assert result.confidence is None  # of some of them nothing is guaranteed


def test_nothing_pulled_by_the_deadline_is_undecided() -> None:
    means = np.linspace(0.1, 0.9, 40)
    with pytest.raises(InvalidInput, match="too short to pull each of the 40 arms"):
        simulate(means, confidence=0.95, deadline=2.0)
    result = simulate(means, "racing", confidence=0.95, deadline=2.0)
    assert result.index.tolist() == [-1]
    assert np.isnan(result.gap[0])


@pytest.mark.parametrize(
    "problem",
    [
        paceline.Normal([1.0, 0.0], sigma=0.5),
        paceline.Distributions([stats.beta(8, 2), stats.beta(2, 8)]),
        paceline.Evaluated(
            lambda arm, seed: arm + 0.1 * np.random.default_rng(seed).normal(),
            arms=[1.0, 0.0],
            sigma=0.1,
            means=[1.0, 0.0],
        ),
    ],
    ids=["normal", "distributions", "evaluated"],
)
def test_any_problem_can_be_raced(problem: paceline.Problem) -> None:
    result = simulate(problem, confidence=0.9, replications=3)
    assert result.index.tolist() == [0, 0, 0]
    again = simulate(problem, confidence=0.9, replications=3)
    assert again.pulls.tolist() == result.pulls.tolist()


def test_answers_cannot_be_judged_without_the_truth() -> None:
    problem = paceline.Evaluated(lambda arm, seed: arm, arms=[1.0, 0.0], sigma=0.1)
    result = simulate(problem, confidence=0.9)
    assert result.index.tolist() == [0]
    with pytest.raises(InvalidInput, match="means="):
        _ = result.correct


@pytest.mark.parametrize("policy", ["ssh", "uniform", "sequential-halving"])
def test_a_deadline_with_room_for_endless_pulls_is_used(policy: str) -> None:
    result = simulate([0.1, 0.9], policy, PowerLaw(0.1), deadline=40.0, replications=20)
    assert result.correct.all()
    assert (result.pulls > 1e15).all()


def test_a_cap_that_allows_no_pull_decides_nothing() -> None:
    result = simulate([0.1, 0.9], "ssh", PowerLaw(0.5), deadline=40.0, max_pulls=1)
    assert result.index.tolist() == [-1]
    assert result.pulls.tolist() == [0]
    assert "no more than 1 pulls" in result.reasons[0]


def test_rounds_that_a_cap_kept_from_starting_are_not_counted() -> None:
    result = simulate([0.5, 0.5], "apr", confidence=0.9, max_rounds=3)
    assert result.rounds.tolist() == [3]


def test_a_scaling_that_punishes_rounds_is_warned_of() -> None:
    class Convex(Scaling):
        def _seconds(self, pulls: Floats) -> Floats:
            return pulls**1.5

    with pytest.warns(paceline.ScalingWarning, match="not subadditive"):
        simulate(MEANS, scaling=Convex(), confidence=0.9)


def test_what_cannot_be_sent_to_another_process_is_refused_or_stays_here() -> None:
    import threading

    lock = threading.Lock()
    problem = paceline.Evaluated(lambda arm, lock_=lock: arm, arms=[1.0, 0.0], sigma=0.1)
    with pytest.raises(InvalidInput, match="use processes=1"):
        simulate(problem, confidence=0.9, replications=2, processes=2)
    assert simulate(problem, confidence=0.9, replications=2).index.tolist() == [0, 0]


class Falling(Scaling):
    def _seconds(self, pulls: Floats) -> Floats:
        return 1.0 / pulls


class Bounded(Scaling):
    def _seconds(self, pulls: Floats) -> Floats:
        return pulls / (1.0 + pulls)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"means": []}, "no arms"),
        ({"means": [0.5]}, "only one arm"),
        ({"means": [0.5, math.nan]}, "nan"),
        ({"means": [0.5, 1.5]}, "clip the means"),
        ({"confidence": 1.0}, "strictly between 0 and 1"),
        ({"confidence": 0.0}, "strictly between 0 and 1"),
        ({"confidence": "high"}, "must be a number"),
        ({"confidence": "0.9"}, "must be a number"),
        ({"confidence": True}, "must be a number"),
        ({"confidence": None, "deadline": "10"}, "must be a number"),
        ({"replications": 2.0}, "whole number"),
        ({"top": "2"}, "whole number"),
        ({"policy": "arp"}, "did you mean 'apr'"),
        ({"policy": 3}, "unknown policy 3"),
        ({"policy": "ssh"}, "give a deadline"),
        ({"policy": "apr", "confidence": None, "deadline": 9.0}, "give a confidence"),
        ({"rewards": "poisson"}, "unknown rewards 'poisson'"),
        ({"rewards": "normal", "sigma": 0.0}, "sigma"),
        ({"scaling": Falling()}, "λ falls"),
        ({"scaling": Bounded()}, "λ is bounded"),
        ({"scaling": lambda m: m}, "must be a Scaling"),
        ({"confidence": None, "deadline": 0.5}, "shorter than one pull"),
        ({"confidence": None, "deadline": 1.2}, "raise it to at least 1.7"),
        ({"replications": 0}, "replications"),
        ({"seed": -1}, "seed"),
        ({"processes": 0}, "processes"),
        ({"top": 3}, "nothing to find"),
        ({"max_pulls": 0}, "max_pulls"),
    ],
)
def test_bad_input_is_refused_with_what_to_do(arguments: dict[str, object], says: str) -> None:
    good: dict[str, object] = {"means": MEANS, "confidence": 0.9}
    with pytest.raises(InvalidInput, match=says):
        simulate(**(good | arguments))  # type: ignore[arg-type]

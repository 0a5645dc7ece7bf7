"""`paceline.plan` for given assumptions."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paceline
from paceline import CorePool, InvalidInput, Normal, PowerLaw
from paceline.planning import Range

FOUR: dict[str, Any] = {"arms": 4, "gap": 0.5, "sigma": 1.0, "pull": 10.0, "replications": 30}


def test_the_time_is_that_of_the_races_that_it_simulates() -> None:
    """Compared with `simulate`, which draws other values of the same problem."""
    pool = CorePool(8, lambda cores: 2 * cores**-0.5)
    means = [1.0, 0.6, 0.5, 0.1]
    plan = paceline.plan(means=means, sigma=1.0, scaling=pool, replications=200)
    real = paceline.simulate(
        Normal(means), scaling=pool, noise="normal", seed=5, replications=200
    ).seconds
    assert plan.seconds.median == pytest.approx(np.median(real), rel=0.25)
    assert plan.seconds.low == pytest.approx(np.quantile(real, 0.1), rel=0.35)
    assert plan.seconds.high == pytest.approx(np.quantile(real, 0.9), rel=0.35)


def test_more_cores_take_less_time_and_as_many_core_hours() -> None:
    plan = paceline.plan(cores=[1, 2, 4], **FOUR)
    one, two, four = plan.forecasts
    assert one.seconds.median > 1.9 * two.seconds.median > 3.6 * four.seconds.median
    assert four.core_hours.median == pytest.approx(one.core_hours.median, rel=0.1)
    assert plan.cores == 4
    assert one.success > 0.9


def test_cores_that_no_pull_can_use_are_not_recommended() -> None:
    """There are two arms, which are told apart by a few pulls: the rest of the pool idles."""
    plan = paceline.plan(means=[1.0, 0.0], sigma=0.01, pull=60.0, cores=[1, 64, 256])
    assert plan.cores is not None
    assert plan.cores < 256


def test_a_higher_confidence_takes_longer() -> None:
    plan = paceline.plan(cores=2, confidence=[0.8, 0.9, 0.99], **FOUR)
    medians = [one.seconds.median for one in plan.forecasts]
    assert medians == sorted(medians)
    assert medians[0] < medians[-1]


def test_a_longer_deadline_finds_the_best_more_often() -> None:
    plan = paceline.plan(cores=4, deadline="10m", **(FOUR | {"replications": 60}))
    deadlines = [one.deadline for one in plan.forecasts]
    assert deadlines == [150.0, 300.0, 600.0, 1200.0]
    success = [one.success for one in plan.forecasts]
    assert success[0] < success[-1]
    assert all(
        one.seconds.high <= one.deadline * (1 + 1e-9) for one in plan.forecasts if one.deadline
    )
    assert plan.best.deadline == 600.0
    wanted = plan.deadline_for(0.5 * (success[0] + success[-1]))
    assert wanted is not None
    assert 150 < wanted < 1200
    assert plan.deadline_for(1.01) is None
    assert "by 10 min the best is found with chance" in repr(plan)


def test_a_confidence_and_a_deadline_run_timed() -> None:
    plan = paceline.plan(cores=2, confidence=0.95, deadline="30m", **FOUR)
    (one,) = plan.forecasts
    assert plan.policy == "timed"
    assert 0 < one.decided < 1
    assert one.seconds.high <= 1800 * (1 + 1e-9)


def test_the_worlds_are_the_same_each_time() -> None:
    assert paceline.plan(cores=2, **FOUR).to_json() == paceline.plan(cores=2, **FOUR).to_json()


def test_low_values_may_be_good() -> None:
    low = paceline.plan(means=[0.1, 0.6, 0.7], scaling=PowerLaw(0.5), direction="minimize")
    high = paceline.plan(means=[0.9, 0.4, 0.3], scaling=PowerLaw(0.5))
    assert low.to_json() == high.to_json()
    normal = paceline.plan(
        means=[1, 2, 3], sigma=1, scaling=PowerLaw(0.5), direction="minimize", replications=10
    )
    assert normal.best.success == 1


def test_ties_have_no_end_unless_there_is_a_tolerance() -> None:
    tied: dict[str, Any] = {
        "means": [0.5, 0.5],
        "sigma": 1.0,
        "pull": 1.0,
        "cores": 2,
        "replications": 10,
    }
    plan = paceline.plan(paired=True, **tied)
    assert math.isinf(plan.seconds.median)
    assert plan.to_json()["seconds"] == [None, None, None]
    assert "without an end in sight" in repr(plan)
    json.dumps(plan.to_json(), allow_nan=False)
    near = paceline.plan(paired=True, tolerance=0.5, **tied)
    assert near.seconds.high < math.inf


@pytest.mark.parametrize("shape", ["uniform", "linear"])
def test_means_by_their_shape(shape: str) -> None:
    plan = paceline.plan(arms=8, means=shape, pull=1, cores=4, deadline=60, replications=10)
    assert 0 < plan.best.success <= 1


def test_a_pool_on_which_nothing_fits_is_said_to_be_impossible() -> None:
    plan = paceline.plan(arms=8, gap=0.3, pull=10, cores=[1, 16], deadline=[20], replications=10)
    small, large = plan.forecasts
    assert "deadline" in small.impossible
    assert math.isnan(small.success)
    assert plan.cores == 16 == large.cores
    assert plan.table()[1][0][0] == "1"


def test_theory_stands_beside_it() -> None:
    plan = paceline.plan(means=[0.9, 0.5], scaling=PowerLaw(1.0), replications=10)
    expected = paceline.theory.optimal_seconds([0.4 / 0.5], PowerLaw(1.0))
    assert plan.best.optimum == pytest.approx(Range(expected, expected, expected))
    several = paceline.plan(means=[0.9, 0.5, 0.1], scaling=PowerLaw(1.0), top=2, replications=10)
    assert math.isnan(several.best.optimum.median)


def test_a_race_that_is_undecided_at_the_deadline_is_called_so() -> None:
    plan = paceline.plan(
        arms=5, gap=0.5, sigma=1, pull="1s", deadline="30s", confidence=0.95, cores=2,
        replications=20,
    )  # fmt: skip
    assert plan.best.decided < 0.5
    assert plan.headline() == (
        f"on 2 cores: undecided by 30 s with chance {1 - plan.best.decided:.2f}, at a confidence "
        f"of 0.95; the best is found with chance {plan.best.success:.2f}"
    )
    enough = paceline.plan(
        arms=2, gap=3, sigma=1, pull="1s", deadline="5m", confidence=0.9, cores=2, replications=20
    )
    assert "to a confidence of 0.9, decided by 5 min with chance " in enough.headline()


def test_it_is_shown_in_notebooks_and_as_a_frame() -> None:
    plan = paceline.plan(cores=[1, 2], **FOUR)
    page = plan._repr_html_()
    assert page.count("<tr") == 3
    pandas = pytest.importorskip("pandas")
    table = plan.to_frame()
    assert isinstance(table, pandas.DataFrame)
    assert table["seconds"].tolist() == [one.seconds.median for one in plan.forecasts]


def test_a_page_has_charts_for_both_goals_and_fetches_nothing(tmp_path: Path) -> None:
    pytest.importorskip("bokeh")
    several = paceline.plan(cores=[1, 2], confidence=[0.8, 0.9], **FOUR)
    text = several.report(tmp_path / "plan.html").read_text()
    assert "time in seconds" in text
    assert "confidence 0.8" in text
    assert several.headline().partition("(")[0] in text
    assert "<script src" not in text
    late = paceline.plan(cores=2, deadline="10m", **FOUR).report(tmp_path / "late.html")
    assert "chance to find the best" in late.read_text()
    with pytest.raises(InvalidInput, match="cannot write the plan"):
        several.report(tmp_path / "nowhere" / "plan.html")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "say what to expect of the arms"),
        ({"gap": 0.1}, "how many arms"),
        ({"gap": 0.1, "arms": 1}, "at least 2"),
        ({"gap": 0.1, "arms": 4}, "say how long pulls take"),
        ({"gap": 0.1, "means": [0, 1], "arms": 4}, "not both"),
        ({"means": [0.5, 0.4], "arms": 4, "pull": 1}, "give one for each"),
        ({"means": [5, 4], "pull": 1}, "give sigma="),
        ({"means": "uniformly", "arms": 4, "pull": 1}, "uniform"),
        ({"means": [1, 0], "pull": 1, "cores": 0}, "cores"),
        ({"means": [1, 0], "pull": 1, "cores": 2, "confidence": 1.5}, "between 0 and 1"),
        ({"means": [1, 0], "pull": 1, "cores": 2, "deadline": "soon"}, "deadline"),
        ({"means": [1, 0], "pull": 1, "cores": 2, "deadline": 0.1}, "deadline"),
        ({"means": [1, 0], "scaling": 3}, "a Scaling"),
        ({"means": [1, 0], "scaling": PowerLaw(0.5), "cores": 4}, "give pull="),
        ({"means": [1, 0], "pull": 1, "cores": 2, "nois": "normal"}, "noise"),
        ({"means": [1, 0], "pull": 1, "cores": 2, "replications": 2}, "replications"),
        ({"means": [1, 0], "pull": 1, "cores": [1, 4], "cores_per_pull": 2}, "a pull needs 2"),
    ],
)
def test_bad_input_says_what_to_do(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        paceline.plan(**arguments)

import itertools
import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import CorePool, InvalidInput
from paceline.core.arrays import Floats
from paceline.core.fitting import Runtime, Timings

Shape = Callable[[float], float]

CORES = (1, 2, 4, 8, 16)
SHAPES: dict[str, Shape] = {
    "square root": lambda c: c**-0.5,
    "Amdahl, 10 % serial": lambda c: 0.1 + 0.9 / c,
    "linear speed-up": lambda c: 1 / c,
    "none": lambda c: 1.0,
    "rises again": lambda c: 1 + 10 / c + 0.3 * c,
}
every_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())


def run(
    timings: Timings,
    shape: Shape,
    arms: list[int],
    cores: int,
    rng: np.random.Generator,
    costs: Floats | None = None,
    stragglers: float = 0.0,
) -> None:
    """Pull `arms` once each on `cores` cores, with 2 % noise; stragglers take 20 times as long."""
    noise = np.exp(0.02 * rng.standard_normal(len(arms)))
    noise[rng.random(len(arms)) < stragglers] *= 20
    cost = 1.0 if costs is None else costs[arms]
    timings.add(np.array(arms), cores, shape(cores) * cost * noise)


def log_errors(runtime: Runtime, shape: Shape) -> Floats:
    """Logarithms of fitted over true seconds on 1 … 16 cores; the truth leaves cores idle too."""
    truth = np.minimum.accumulate([shape(c) for c in range(1, 17)])
    return np.log([runtime(c) for c in range(1, 17)]) - np.log(truth)


def shape_error(runtime: Runtime, shape: Shape) -> float:
    """As above, but whatever the level: by what factor two core counts are misjudged."""
    return float(np.ptp(log_errors(runtime, shape)))


@every_shape
@pytest.mark.parametrize("arms", [1, 10])
@pytest.mark.parametrize("seed", range(10))
def test_two_pulls_on_each_of_five_core_counts_are_enough(
    shape: Shape, arms: int, seed: int
) -> None:
    # With 10 arms each ran once: arms and core counts are confounded, but the arms are alike.
    rng = np.random.default_rng(seed)
    timings = Timings(10)
    for pull, cores in enumerate(CORES * 2):
        run(timings, shape, [pull % arms], cores, rng)
    runtime = timings.fit()
    assert np.abs(log_errors(runtime, shape)).max() < math.log(1.15)
    assert runtime.error < 0.1


@every_shape
def test_points_without_noise_are_met(shape: Shape) -> None:
    timings = Timings(5)
    for arm, cores in enumerate(CORES):
        timings.add(np.array([arm]), cores, np.array([shape(cores)]))
    assert np.abs(log_errors(timings.fit(), shape)).max() < 0.001


@every_shape
@pytest.mark.parametrize("seed", range(5))
def test_arms_of_different_cost_do_not_bend_the_shape(shape: Shape, seed: int) -> None:
    # First every arm once, on one of three core counts; then a few of them on all.
    rng = np.random.default_rng(seed)
    costs = 3.0 ** rng.uniform(-1, 1, 64)
    costs[::8] *= 9
    timings = Timings(64)
    for start, cores in enumerate((1, 2, 4)):
        run(timings, shape, list(range(start, 64, 3)), cores, rng, costs)
    for cores in CORES:
        run(timings, shape, rng.choice(64, 8, replace=False).tolist(), cores, rng, costs)
    assert shape_error(timings.fit(), shape) < math.log(1.1)


def test_costs_that_run_against_the_cores_are_seen_through() -> None:
    # The dearer the arm, the more cores it first ran on: as it looks, cores slow pulls down.
    rng = np.random.default_rng(0)
    costs = np.repeat([1.0, 3.0, 9.0, 27.0], 16)
    shape = SHAPES["square root"]
    timings = Timings(64)
    for group, cores in enumerate((1, 2, 4, 8)):
        run(timings, shape, list(range(16 * group, 16 * group + 16)), cores, rng, costs)
    assert timings.fit().model == "constant"
    for cores in (1, 2, 4, 8):
        run(timings, shape, [0, 20, 40, 60], cores, rng, costs)
    assert timings.fit().exponent == pytest.approx(0.5, abs=0.05)


@every_shape
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rounds", [1, 20])
def test_a_few_stragglers_do_not_bend_the_shape(shape: Shape, seed: int, rounds: int) -> None:
    rng = np.random.default_rng(seed)
    costs = 3.0 ** rng.uniform(-1, 1, 64)
    timings = Timings(64)
    for cores in CORES * rounds:
        run(timings, shape, list(range(64)), cores, rng, costs, stragglers=0.01)
    assert shape_error(timings.fit(), shape) < math.log(1.1)


def test_a_straggler_in_a_first_round_does_not_bend_the_shape() -> None:
    rng = np.random.default_rng(0)
    timings = Timings(50)
    for start, cores in enumerate(CORES):
        run(timings, SHAPES["square root"], list(range(start, 50, 5)), cores, rng)
    timings.add(np.array([49]), 16, np.array([20 / 4.0]))
    assert timings.fit().exponent == pytest.approx(0.5, abs=0.03)


@every_shape
def test_the_predicted_seconds_of_all_pulls_add_up_to_the_observed(shape: Shape) -> None:
    rng = np.random.default_rng(1)
    timings = Timings(20)
    costs = rng.lognormal(0, 1, 20)
    pulls = []
    for cores in (1, 2, 3, 5, 8):
        arms = rng.integers(20, size=30)
        seconds = shape(cores) * costs[arms] * (1 + rng.pareto(1.5, 30))
        timings.add(arms, cores, seconds)
        pulls += [(cores, float(each)) for each in seconds]
    runtime = timings.fit()
    # The formula, not its cap: the pulls did use the cores that slowed them down.
    predicted = sum(runtime.on_all(float(cores)) for cores, _ in pulls)
    assert predicted == pytest.approx(sum(seconds for _, seconds in pulls))


def test_the_simpler_model_is_taken_where_several_are_true() -> None:
    timings = Timings(1)
    for cores in CORES:
        timings.add(np.zeros(1, dtype=np.int64), cores, np.array([3 / cores]))
    assert timings.fit().model == "power law"  # also Amdahl and Ernest with weights of 0


def test_one_core_count_gives_a_constant_and_two_a_power_law() -> None:
    timings = Timings(2)
    timings.add(np.array([0, 1]), 2, np.array([1.0, 3.0]))
    assert (timings.fit().model, timings.fit()(64)) == ("constant", 2.0)
    timings.add(np.array([0, 1]), 8, np.array([0.5, 1.5]))
    runtime = timings.fit()
    assert runtime.model == "power law"
    assert (runtime(2), runtime(8), runtime(32)) == pytest.approx((2.0, 1.0, 0.5), rel=1e-6)
    assert math.isnan(runtime.error)


def test_two_core_counts_of_which_the_larger_is_slower_give_a_constant() -> None:
    timings = Timings(1)
    for cores, seconds in ((1, 1.0), (4, 1.5)):
        timings.add(np.array([0]), cores, np.array([seconds]))
    assert timings.fit().model == "constant"


@given(
    cells=st.dictionaries(
        st.tuples(st.integers(0, 3), st.sampled_from([1, 2, 3, 5, 8, 64, 1000])),
        st.tuples(st.integers(1, 3), st.floats(0.0, 1e6)),
        min_size=1,
    )
)
def test_any_fit_suits_a_pool(cells: dict[tuple[int, int], tuple[int, float]]) -> None:
    timings = Timings(4)
    for (arm, cores), (pulls, seconds) in cells.items():
        timings.add(np.full(pulls, arm), cores, np.full(pulls, seconds))
    runtime = timings.fit()
    times = [runtime(c) for c in (*range(1, 100), 1000, 100_000)]
    assert all(0 < seconds < math.inf for seconds in times)
    assert all(after <= before for before, after in itertools.pairwise(times))
    assert CorePool(8, runtime).seconds(8) > 0
    assert Runtime.from_json(json.loads(json.dumps(runtime.to_json()))) == runtime


weight = st.floats(0.0, 100.0)


@given(weight, weight, weight, weight, st.lists(st.floats(1.0, 1e4), min_size=2))
def test_a_runtime_never_rises(
    fixed: float, parallel: float, log: float, linear: float, cores: list[float]
) -> None:
    runtime = Runtime("Ernest", fixed + 0.01, parallel, log=log, linear=linear)
    times = [runtime(c) for c in sorted(cores)]
    assert all(after <= before * (1 + 1e-12) for before, after in itertools.pairwise(times))


def test_the_cap_is_a_time_that_whole_cores_reach() -> None:
    runtime = Runtime("Ernest", parallel=2.0, linear=1.0)  # least at √2 cores
    assert (runtime(1), runtime(2), runtime(1.5)) == (3.0, 3.0, 3.0)


@pytest.mark.parametrize(
    ("runtime", "text"),
    [
        (Runtime("constant", fixed=3.0), "3 s on any number of cores"),
        (Runtime("power law", parallel=1.02, exponent=0.49), "1.02 s · c^-0.49"),
        (Runtime("Amdahl", fixed=0.2, parallel=1.8), "2 s · (0.1 + 0.9/c)"),
        (
            Runtime("Ernest", fixed=1.0, parallel=8.0, log=0.25, linear=0.125),
            "1 s + 8 s/c + 0.25 s · ln c + 0.125 s · c",
        ),
        (Runtime("Ernest", parallel=8.0, log=0.25), "8 s/c + 0.25 s · ln c"),
    ],
)
def test_describe_and_the_round_trip_through_json(runtime: Runtime, text: str) -> None:
    assert runtime.describe() == text
    assert Runtime.from_json(json.loads(json.dumps(runtime.to_json()))) == runtime


def test_an_arm_that_stands_twice_in_one_call_counts_twice() -> None:
    timings = Timings(2)
    timings.add(np.array([1, 1, 1]), 4, np.array([1.0, 2.0, 6.0]))
    assert timings.pulls == 3
    assert timings.mean_seconds(1, 4) == 3.0
    assert timings.mean_seconds(0, 4) is None
    assert timings.mean_seconds(1, 2) is None


def test_pulls_too_short_for_the_clock_are_taken() -> None:
    timings = Timings(1)
    timings.add(np.array([0, 0]), 1, np.zeros(2))
    assert 0 < timings.fit()(1) < 1e-6


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Timings(0), "arms of Timings"),
        (lambda: Timings(3).fit(), "no pull has finished"),
        (lambda: Timings(3).add(np.array([3]), 1, np.array([1.0])), r"0 … 2"),
        (lambda: Timings(3).add(np.array([-1]), 1, np.array([1.0])), r"0 … 2"),
        (lambda: Timings(3).add(np.array([0.5]), 1, np.array([1.0])), "whole numbers"),
        (lambda: Timings(3).add(np.array([0]), 0, np.array([1.0])), "cores of a pull"),
        (lambda: Timings(3).add(np.array([0]), 1, np.array([-1.0])), "at least 0"),
        (lambda: Timings(3).add(np.array([0]), 1, np.array([math.nan])), "finite"),
        (lambda: Timings(3).add(np.array([0, 1]), 1, np.array([1.0])), "2 arms and 1 times"),
        (lambda: Runtime("Amdal", fixed=1.0), "did you mean 'Amdahl'"),
        (lambda: Runtime("Amdahl", fixed=-1.0), "fixed of Runtime"),
        (lambda: Runtime("Ernest", log=1.0), "runtime on 1 core"),
        (lambda: Runtime("Ernest", fixed=1.0, exponent=0.5, log=1.0), "exponent 1"),
        (lambda: Runtime("constant", fixed=1.0, error=-1.0), "error of Runtime"),
        (lambda: Runtime("constant", fixed=1.0)(0.5), "at least 1"),
        (lambda: Runtime("constant", fixed=1.0)(math.inf), "finite"),
        (lambda: Runtime.from_json({"model": "constant", "speed": 1.0}), "not a runtime"),
    ],
)
def test_bad_input_is_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        make()


def test_refused_pulls_leave_no_trace() -> None:
    timings = Timings(3)
    with pytest.raises(InvalidInput):
        timings.add(np.array([0, 7]), 1, np.array([1.0, 1.0]))
    timings.add(np.array([], dtype=np.int64), 2, np.array([]))
    assert timings.pulls == 0
    with pytest.raises(InvalidInput):
        timings.fit()

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import Amdahl, CorePool, Ernest, InvalidInput, Measured, PowerLaw, Scaling
from paceline.core.arrays import Floats
from paceline.core.scaling import differs
from paceline.testing import ScalingContract

SCALINGS = [
    PowerLaw(0.1),
    PowerLaw(0.5, unit_seconds=3.0),
    PowerLaw(1.0),
    Amdahl(0.0),
    Amdahl(0.3, unit_seconds=0.2),
    Amdahl(0.3, serial_exponent=0.5),
    Ernest(1.0, 8.0, cores=16),
    Ernest(1.0, 8.0, log=0.3, linear=0.1, cores=16),
    Ernest(0.0, 8.0, log=2.0, cores=64),
    Measured([1, 2, 4, 16], [1.0, 1.5, 2.0, 4.0]),
    0.2 * PowerLaw(1.0) + PowerLaw(0.3),
]
every_scaling = pytest.mark.parametrize("scaling", SCALINGS, ids=repr)


class TestPoorPowerLaw(ScalingContract):
    scaling = PowerLaw(0.1)


class TestPowerLaw(ScalingContract):
    scaling = PowerLaw(0.5, unit_seconds=3.0)


class TestPerfectScaling(ScalingContract):
    scaling = PowerLaw(1.0)


class TestAmdahlWithoutASerialPart(ScalingContract):
    scaling = Amdahl(0.0)


class TestAmdahl(ScalingContract):
    scaling = Amdahl(0.3, unit_seconds=0.2)


class TestAmdahlOfHillAndMarty(ScalingContract):
    scaling = Amdahl(0.3, serial_exponent=0.5)


class TestErnest(ScalingContract):
    scaling = Ernest(1.0, 8.0, cores=16)


class TestErnestWithAllTerms(ScalingContract):
    scaling = Ernest(1.0, 8.0, log=0.3, linear=0.1, cores=16)


class TestErnestThatHasTooManyCores(ScalingContract):
    """λ is flat there: the inverse is the largest number of all."""

    scaling = Ernest(0.0, 8.0, log=2.0, cores=64)


class TestMeasuredPoints(ScalingContract):
    scaling = Measured([1, 2, 4, 16], [1.0, 1.5, 2.0, 4.0])


class TestSum(ScalingContract):
    scaling = 0.2 * PowerLaw(1.0) + PowerLaw(0.3)


def test_the_trap_of_the_floored_inverse_is_real() -> None:
    scaling = PowerLaw(0.25)
    short = [n for n in range(1, 300) if math.floor(scaling.pulls(scaling.seconds(n))) < n]
    assert short  # so the contract can fail


@every_scaling
def test_scalings_are_what_their_numbers_are(scaling: Scaling) -> None:
    copy = pickle.loads(pickle.dumps(scaling))
    assert copy is not scaling
    assert copy == scaling
    assert hash(copy) == hash(scaling)
    assert not differs(copy, scaling)
    others = [other for other in SCALINGS if other is not scaling]
    assert all(differs(scaling, other) for other in others)
    with pytest.raises(AttributeError):
        scaling.values = 3  # type: ignore[attr-defined]


def test_a_scaling_that_cannot_be_compared_is_the_same_as_itself() -> None:
    class Odd(PowerLaw):
        def __eq__(self, other: object) -> bool:
            raise AssertionError

    odd = Odd(0.5)
    assert not differs(odd, odd)


def test_whole_pulls_stays_within_integers_for_a_very_poor_scaling() -> None:
    assert PowerLaw(0.01).whole_pulls(1e6) < 2**62


def test_amdahl_is_the_textbook_law() -> None:
    # Speed-up on c of P cores, with a serial share s of the one-core time, is 1/(s + (1−s)/c).
    serial, cores = 0.1, 8
    on_all = serial + (1 - serial) / cores
    scaling = Amdahl(serial / on_all, unit_seconds=on_all)
    for used in (1, 2, 4, 8):
        assert scaling.seconds(cores / used) == pytest.approx(serial + (1 - serial) / used)


@pytest.mark.parametrize(
    ("scaling", "limit"),
    [
        (PowerLaw(0.5), 0.0),
        (PowerLaw(1.0, unit_seconds=2.0), 2.0),
        (Amdahl(0.25), 0.75),
        (Amdahl(0.25, serial_exponent=0.5), 0.75),
        (Ernest(1.0, 8.0, linear=0.5, cores=4), 9.5 / 4),
        (Measured([1, 4], [1.0, 2.5]), 0.5),
        (0.1 * PowerLaw(1.0) + PowerLaw(0.5), 0.1),
        (CorePool(4, lambda cores: 8 / cores), 2.0),
    ],
    ids=repr,
)
def test_least_seconds_per_pull_is_the_limit(scaling: Scaling, limit: float) -> None:
    assert scaling.least_seconds_per_pull == pytest.approx(limit)
    assert scaling.seconds(1e12) / 1e12 == pytest.approx(limit, abs=1e-4)


class TestMeasured:
    def test_passes_through_points_that_are_rising_and_concave(self) -> None:
        pulls, seconds = [1, 3, 10, 40], [2.0, 4.0, 8.0, 15.0]
        assert Measured(pulls, seconds).seconds(np.array(pulls, dtype=float)) == pytest.approx(
            seconds
        )

    def test_order_and_repeats_do_not_matter(self) -> None:
        once = Measured([1, 2, 4], [1.0, 1.5, 2.0])
        twice = Measured([4, 1, 2, 2, 4, 1], [2.0, 1.0, 1.5, 1.5, 2.0, 1.0])
        assert twice.seconds(3.3) == pytest.approx(once.seconds(3.3))

    @given(st.integers(0, 10_000))
    def test_noisy_points_are_made_rising_and_concave(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        pulls = np.array([1.0, 2, 4, 8, 16, 32, 64])
        scaling = Measured(pulls, pulls**0.5 * np.exp(0.2 * rng.standard_normal(7)))
        grid = np.linspace(0, 200, 400)
        slopes = np.diff(scaling.seconds(grid))
        assert (slopes > 0).all()
        assert (np.diff(slopes) <= 1e-9).all()

    def test_no_other_rising_concave_function_fits_better(self) -> None:
        pulls, seconds = np.array([1.0, 2.0, 4.0, 8.0]), np.array([1.0, 3.0, 2.0, 5.0])

        def misfit(times: Floats) -> float:
            return float(np.sum((times / seconds - 1) ** 2))

        fitted = Measured(pulls, seconds).seconds(pulls)
        rng = np.random.default_rng(0)
        for _ in range(2000):
            slopes = np.sort(rng.exponential(1.0, 4))[::-1]
            other = np.cumsum(slopes * np.diff(np.r_[0.0, pulls]))
            mixed = fitted + rng.uniform(0, 0.2) * (other - fitted)  # concave again, and near
            assert misfit(fitted) <= misfit(mixed) + 1e-9

    @pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
    def test_ordinary_noise_is_no_reason_to_refuse(self, q: float) -> None:
        pulls = np.arange(1.0, 33.0)
        for seed in range(50):
            noise = np.exp(0.05 * np.random.default_rng(seed).standard_normal(32))
            scaling = Measured(pulls, pulls**q * noise)
            assert scaling.seconds(16.0) == pytest.approx(16**q, rel=0.1)

    def test_a_flat_end_by_chance_still_rises_beyond(self) -> None:
        scaling = Measured([1, 2, 4, 8], [1.0, 1.6, 2.2, 2.1])
        assert scaling.seconds(8.0) > scaling.seconds(4.0)
        assert scaling.pulls(10.0) < math.inf

    @pytest.mark.parametrize(
        ("pulls", "seconds", "says"),
        [
            ([1, 2, 4], [3.0, 2.0, 1.0], "do not rise"),
            ([1, 2], [1.0, 1.0], "do not rise"),
            ([1, 2], [1.0], "as many pulls as seconds"),
            ([], [], "at least one"),
            ([0, 1], [1.0, 2.0], "above 0"),
            ([1, 2], [1.0, math.nan], "finite"),
            ([1, 2], ["a", 2.0], "must be numbers"),
            ([[1, 2]], [[1.0, 2.0]], "flat list"),
        ],
    )
    def test_refuses(self, pulls: list[float], seconds: list[float], says: str) -> None:
        with pytest.raises(InvalidInput, match=says):
            Measured(pulls, seconds)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: PowerLaw(0.0), "above 0"),
        (lambda: PowerLaw(-0.5), "above 0"),
        (lambda: PowerLaw(1.5), r"\(0, 1\]"),
        (lambda: PowerLaw(math.nan), "finite"),
        (lambda: PowerLaw("half"), "must be a number"),  # type: ignore[arg-type]
        (lambda: PowerLaw("0.5"), "must be a number"),  # type: ignore[arg-type]
        (lambda: PowerLaw(True), "must be a number"),
        (lambda: PowerLaw(0.5, unit_seconds=0.0), "unit_seconds"),
        (lambda: Amdahl(1.0), r"\[0, 1\)"),
        (lambda: Amdahl(-0.1), "at least 0"),
        (lambda: Amdahl(0.1, serial_exponent=1.0), "serial_exponent"),
        (lambda: Ernest(-1.0, 1.0), "fixed of Ernest"),
        (lambda: Ernest(0.0, 0.0), "above 0"),
        (lambda: Ernest(1.0, 1.0, cores=0.5), "at least 1"),
        (lambda: -1.0 * PowerLaw(0.5), "factor"),
        (lambda: PowerLaw(0.5).seconds(-1.0), "at least 0"),
        (lambda: PowerLaw(0.5).pulls(math.nan), "at least 0"),
    ],
)
def test_bad_parameters_are_refused(make: object, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        make()  # type: ignore[operator]


def test_only_scalings_can_be_added() -> None:
    with pytest.raises(TypeError):
        PowerLaw(0.5) + 3  # type: ignore[operator]
    assert (PowerLaw(0.5) * 2.0).seconds(4.0) == (2.0 * PowerLaw(0.5)).seconds(4.0) == 4.0

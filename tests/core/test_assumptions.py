import numpy as np
import pytest

from paceline import Amdahl, CorePool, Ernest, Measured, PowerLaw, Scaling, check_assumptions
from paceline.core.arrays import Floats


class Custom(Scaling):
    def __init__(self, function: object) -> None:
        self.function = function

    def _seconds(self, pulls: Floats) -> Floats:
        return np.asarray(self.function(pulls), dtype=np.float64)  # type: ignore[operator]


@pytest.mark.parametrize(
    "scaling",
    [
        PowerLaw(0.01),
        PowerLaw(0.1),
        PowerLaw(1.0),
        Amdahl(0.2),
        Amdahl(0.2, serial_exponent=0.5),
        Ernest(1.0, 4.0, cores=2**41),
        Measured([1, 2, 4], [1.0, 1.5, 2.0]),
        0.1 * PowerLaw(1.0) + PowerLaw(0.5),
    ],
    ids=repr,
)
def test_what_the_paper_allows_passes(scaling: Scaling) -> None:
    assert check_assumptions(scaling).failures == ()


def test_a_falling_function_is_named() -> None:
    found = check_assumptions(Custom(lambda m: 1.0 / m))
    assert found.rising is not None
    assert "falls: from 1 s for 1 pulls to 0.5 s for 2" in found.rising


def test_a_bounded_function_is_named() -> None:
    found = check_assumptions(Custom(lambda m: m / (1 + m)))
    assert found.rising is None
    assert found.unbounded is not None
    assert "bounded" in found.unbounded


def test_a_convex_function_is_neither_concave_nor_subadditive() -> None:
    found = check_assumptions(Custom(lambda m: m**1.5))
    assert found.concave is not None
    assert found.subadditive is not None
    assert found.rising is None


@pytest.mark.parametrize(
    "scaling",
    [
        CorePool(16, lambda cores: cores**-0.5),
        Ernest(1.0, 20.0, log=1.0, linear=0.2, cores=64),
    ],
    ids=repr,
)
def test_real_pools_are_subadditive_but_not_concave(scaling: Scaling) -> None:
    found = check_assumptions(scaling)
    assert found.concave is not None
    assert found.failures == (found.concave,)


@pytest.mark.parametrize("bad", [lambda m: m * np.nan, lambda m: -m, lambda m: m * np.inf])
def test_what_is_no_time_is_named(bad: object) -> None:
    found = check_assumptions(Custom(bad))
    assert found.rising is not None
    assert "not a positive number" in found.rising

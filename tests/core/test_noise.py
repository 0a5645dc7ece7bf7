import math
from typing import Any, ClassVar

import numpy as np
import pytest

from paceline import InvalidInput
from paceline.core.arrays import Floats
from paceline.core.noise import Noise
from paceline.core.noise.bernoulli import BernoulliNoise
from paceline.core.noise.bounded import BoundedNoise
from paceline.core.noise.catalog import NOISES, checked, from_json
from paceline.core.noise.normal import NormalNoise
from paceline.core.noise.subgaussian import SubgaussianNoise
from paceline.core.noise.unknown import UnknownNoise
from tests.core.noise_contract import NoiseContract


def coins(mean: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    return (rng.random(shape) < mean).astype(np.float64)


class TestBernoulli(NoiseContract):
    noise = BernoulliNoise()

    def draw(self, mean: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        return coins(mean, shape, rng)


class TestBounded(NoiseContract):
    noise = BoundedNoise((-0.25, 1.25))

    def draw(self, mean: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        return -0.25 + 1.5 * rng.beta(2 * (mean + 0.25), 2 * (1.25 - mean), shape)


class TestBoundedOfKnownScale(TestBounded):
    noise = BoundedNoise((-0.25, 1.25), sigma=0.6)


class TestNormal(NoiseContract):
    noise: ClassVar[Noise] = NormalNoise()

    def draw(self, mean: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        return rng.normal(mean, 0.5, shape)


class TestNormalOfKnownSigma(TestNormal):
    noise = NormalNoise(sigma=0.5)


class TestSubgaussian(NoiseContract):
    noise = SubgaussianNoise(sigma=0.5)

    def draw(self, mean: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        return coins(mean, shape, rng)


class TestUnknown(TestNormal):
    noise = UnknownNoise()


def test_every_noise_has_a_contract() -> None:
    """A class of this file for each line of the catalog."""
    classes = [one for one in globals().values() if isinstance(one, type)]
    held = {
        one.noise.kind for one in classes if issubclass(one, NoiseContract) and "noise" in vars(one)
    }
    assert held == set(NOISES)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"kind": "gaussian"}, "unknown noise 'gaussian'"),
        ({"kind": "bernouli"}, "did you mean 'bernoulli'"),
        ({"kind": "bounded"}, "go together"),
        ({"kind": "normal", "bounds": (0, 1)}, "go together"),
        ({"kind": "bernoulli", "bounds": (0, 1)}, "go together"),
        ({"kind": "subgaussian", "sigma": 1.0, "bounds": (0, 1)}, "go together"),
        ({"kind": "subgaussian"}, "needs sigma"),
        ({"kind": "bernoulli", "sigma": 1.0}, "needs no sigma"),
        ({"kind": "bounded", "bounds": (0, 1), "sigma": 1.0}, "needs no sigma"),
        ({"kind": "auto", "bounds": (0, 1), "sigma": 1.0}, "not both"),
        ({"kind": "bounded", "bounds": (1, 1)}, r"\(lowest, highest\), got \(1, 1\)"),
        ({"kind": "bounded", "bounds": (2, 1)}, "lowest, highest"),
        ({"kind": "bounded", "bounds": (0, 1, 2)}, "lowest, highest"),
        ({"kind": "bounded", "bounds": ()}, "lowest, highest"),
        ({"kind": "bounded", "bounds": (0, math.inf)}, "bounds must be finite"),
        ({"kind": "bounded", "bounds": ("low", "high")}, "bounds must be numbers"),
        ({"kind": "bounded", "bounds": 3.0}, "bounds must be a flat list"),
        ({"kind": "normal", "sigma": 0.0}, "sigma must be a finite number above 0"),
        ({"kind": "subgaussian", "sigma": -1.0}, "sigma"),
        ({"kind": "auto", "sigma": math.nan}, "sigma"),
        ({"kind": "auto", "sigma": "1"}, "sigma must be a number"),
    ],
)
def test_contradictions_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        checked(**given)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({}, "auto"),
        ({"bounds": (0, 2)}, "bounded"),
        ({"sigma": 2.0}, "subgaussian"),
    ],
)
def test_auto_becomes_what_the_parameters_say(given: dict[str, Any], kind: str) -> None:
    assert checked("auto", **given).kind == kind


def test_bounds_become_a_pair_of_floats() -> None:
    for bounds in ([0, 10], (0.0, 10.0), range(0, 20, 10)):
        assert checked("bounded", bounds) == BoundedNoise((0.0, 10.0))


@pytest.mark.parametrize(
    ("noise", "scale", "limits"),
    [
        (BernoulliNoise(), 0.5, (0.0, 1.0)),
        (BoundedNoise((-2.0, 4.0)), 3.0, (-2.0, 4.0)),
        (NormalNoise(), None, None),
        (NormalNoise(sigma=2.0), 2.0, None),
        (SubgaussianNoise(sigma=3.0), 3.0, None),
        (UnknownNoise(), None, None),
    ],
)
def test_scale_and_limits(
    noise: Noise, scale: float | None, limits: tuple[float, float] | None
) -> None:
    """By Hoeffding's lemma values between bounds are sub-Gaussian with half the width."""
    assert noise.scale == scale
    assert noise.limits == limits
    # With the sign changed, the limits change places and the scale stays.
    negated = noise.negated()
    assert negated.kind == noise.kind
    assert negated.scale == scale
    assert negated.limits == (None if limits is None else (-limits[1], -limits[0]))
    assert negated.negated().limits == limits


def test_only_possible_values_are_allowed() -> None:
    coin = BernoulliNoise().allowed
    assert coin is not None
    assert [coin(value) for value in (0.0, 1.0, 0.5, -1.0, math.nan)] == [True, True] + 3 * [False]
    negated = BernoulliNoise().negated().allowed
    assert negated is not None
    assert [negated(value) for value in (0.0, -1.0, 1.0, -0.5)] == [True, True, False, False]
    bounded = BoundedNoise((1.0, 2.0)).allowed
    assert bounded is not None
    values = (1.0, 1.5, 2.0, 0.999, 2.001, math.nan)
    assert [bounded(value) for value in values] == [True] * 3 + [False] * 3
    for noise in (NormalNoise(), NormalNoise(sigma=1.0), SubgaussianNoise(sigma=1.0)):
        assert noise.allowed is None


def test_every_assumption_is_described_in_its_own_words() -> None:
    said = {
        UnknownNoise().describe(): "first values",
        BernoulliNoise().describe(): "0 and 1",
        BoundedNoise((0.5, 20.0)).describe(): "between 0.5 and 20",
        NormalNoise().describe(): "unknown variances",
        NormalNoise(sigma=0.25).describe(): "normal values with scale 0.25",
        SubgaussianNoise(sigma=4.0).describe(): "sub-Gaussian values with scale 4",
    }
    assert len(said) > len(NOISES)  # all different, and normal has two
    for description, words in said.items():
        assert words in description


@pytest.mark.parametrize(
    "written",
    [
        {"kind": "auto", "bounds": None, "sigma": None},
        {"kind": "bernoulli", "bounds": None, "sigma": None},
        {"kind": "bernoulli", "bounds": [-1.0, 0.0], "sigma": None},
        {"kind": "bounded", "bounds": [-2.0, 4.0], "sigma": None},
        {"kind": "bounded", "bounds": [-2.0, 4.0], "sigma": 0.5},
        {"kind": "normal", "bounds": None, "sigma": None},
        {"kind": "normal", "bounds": None, "sigma": 2.0},
        {"kind": "subgaussian", "bounds": None, "sigma": 2.0},
    ],
    ids=str,
)
def test_journals_are_read_as_they_were_written(written: dict[str, Any]) -> None:
    assert from_json(written).to_json() == written


def test_an_unknown_noise_is_refused_whatever_it_is() -> None:
    for kind in (["normal"], None, 3):
        with pytest.raises(InvalidInput, match="unknown noise"):
            checked(kind)  # type: ignore[arg-type]

"""The noises by name."""

from collections.abc import Mapping
from typing import Any

from paceline.core.arrays import finite_floats, positive, squarable
from paceline.core.noise.base import Bounds, Noise
from paceline.core.noise.bernoulli import BernoulliNoise
from paceline.core.noise.bounded import BoundedNoise
from paceline.core.noise.normal import NormalNoise
from paceline.core.noise.subgaussian import SubgaussianNoise
from paceline.core.noise.unknown import UnknownNoise
from paceline.errors import InvalidInput, seen, unknown_name

NOISES: dict[str, type[Noise]] = {
    "auto": UnknownNoise,
    "bernoulli": BernoulliNoise,
    "bounded": BoundedNoise,
    "normal": NormalNoise,
    "subgaussian": SubgaussianNoise,
}


def checked(kind: str, bounds: Any = None, sigma: float | None = None) -> Noise:
    """The noise that a user named; a contradiction is refused.

    >>> checked("auto", bounds=[0, 10])
    BoundedNoise(bounds=(0.0, 10.0), sigma=None)
    """
    if kind not in list(NOISES):  # a list, because `kind` may not be hashable
        raise unknown_name("noise", kind, NOISES)
    limits = None if bounds is None else _checked_bounds(bounds)
    if sigma is not None:
        squarable(positive(sigma, "sigma"), "sigma")
    return NOISES[kind].declared(limits, sigma)


def from_json(record: Mapping[str, Any]) -> Noise:
    """Undo `to_json` of a noise.

    >>> from_json({"kind": "normal", "bounds": None, "sigma": 2.0})
    NormalNoise(sigma=2.0)
    """
    bounds = None if record["bounds"] is None else (record["bounds"][0], record["bounds"][1])
    return NOISES[record["kind"]].of(bounds, record["sigma"])


def _checked_bounds(bounds: Any) -> Bounds:
    pair = finite_floats(bounds, "bounds").tolist()
    if len(pair) != 2 or pair[0] >= pair[1]:
        raise InvalidInput(f"bounds must be (lowest, highest), got {seen(bounds)}")
    for one in pair:
        squarable(one, "bounds", least=0.0)
    squarable(pair[1] - pair[0], "the distance between bounds")
    return pair[0], pair[1]

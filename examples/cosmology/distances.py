"""How far away things look: the distance modulus at a redshift, in a given universe."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

SPEED_OF_LIGHT = 299792.48  # km/s
STEPS = 25_000  # of an integral; far fewer would do, but then a pull would cost next to nothing


class Cosmology(NamedTuple):
    """What is to be found: the Hubble constant, and the shares of matter and dark energy."""

    h0: float  # km/s/Mpc
    matter: float  # ΩM
    dark_energy: float  # ΩΛ


def integrals(
    cosmology: tuple[float, float, float], redshifts: ArrayLike, *, steps: int = STEPS
) -> NDArray[np.float64]:
    """∫ dz'/E(z') from 0 to each redshift, by the midpoint rule.

    >>> integrals(Cosmology(70, 1, 0), [3.0]).round(6)      # 2 − 2/√(1+z)
    array([1.])
    """
    _, matter, dark_energy = cosmology
    radiation = max(0.0, 1.0 - matter - dark_energy)
    middles = (np.arange(steps) + 0.5) / steps
    # Threads take turns to start a numpy call, and only within one do they run at the same time. So
    # calls are few and long, and they write into two buffers that stay in a core's own cache.
    growth, square = np.empty(steps), np.empty(steps)  # 1+z' and E(z')²
    sums = []
    for redshift in np.asarray(redshifts, dtype=float).tolist():
        np.multiply(middles, redshift, out=growth)
        np.add(growth, 1.0, out=growth)
        np.multiply(growth, radiation, out=square)
        np.add(square, matter, out=square)
        for _ in range(3):
            np.multiply(square, growth, out=square)
        np.add(square, dark_energy, out=square)
        np.power(square, -0.5, out=square)
        sums.append(float(np.add.reduce(square)) * redshift / steps)
    return np.array(sums)


def moduli(
    cosmology: tuple[float, float, float], redshifts: ArrayLike, integrals: ArrayLike
) -> NDArray[np.float64]:
    """The distance moduli, in magnitudes, from the integrals up to these redshifts."""
    per_hubble = (1.0 + np.asarray(redshifts)) * np.asarray(integrals)
    found: NDArray[np.float64] = 5.0 * np.log10(SPEED_OF_LIGHT / cosmology[0] * per_hubble) + 25.0
    return found

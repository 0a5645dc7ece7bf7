"""Supernovae: how far away they look, and at which redshift.

A table has a line per supernova: its redshift, its distance modulus, and the standard error of
that, with blanks between them and no header. Further columns are ignored.
"""

import os
import random
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
from distances import Cosmology, integrals, moduli
from numpy.typing import NDArray

VARIABLE = "SUPERNOVAE"  # of the environment: worker processes and commands inherit it
FEWEST_ROWS = 2

# The synthetic survey.
TRUTH = Cosmology(h0=70.0, matter=0.3, dark_energy=0.7)
SYNTHETIC_POINTS = 192
SYNTHETIC_SEED = 1


class BadSurvey(ValueError):
    """A table that cannot be used, and what to do about it."""


@dataclass(frozen=True, eq=False)
class Survey:
    """A table of supernovae."""

    z: NDArray[np.float64]  # redshifts
    mu: NDArray[np.float64]  # distance moduli, in magnitudes
    sigma: NDArray[np.float64]  # their standard errors
    source: str  # where it is from, for what is printed

    def __len__(self) -> int:
        return len(self.z)

    def take(self, points: NDArray[np.int64]) -> "Survey":
        """Some of the points, as often as they are named."""
        return Survey(self.z[points], self.mu[points], self.sigma[points], self.source)


def load(path: str | os.PathLike[str] | None = None) -> Survey:
    """The table at `path`; else the one that SUPERNOVAE names, else Union2.1, else a synthetic one.

    Union2.1 (580 supernovae) comes with the package ecopann: `pip install ecopann`.
    """
    if path is not None:
        return read(path)
    if named := os.environ.get(VARIABLE):
        return read(named, hint=f" (named by the variable {VARIABLE})")
    return union() or synthetic()


def read(path: str | os.PathLike[str], *, hint: str = "") -> Survey:
    """Read a table from a file."""
    file = Path(path)
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise BadSurvey(
            f"{file}{hint} cannot be read: {why}. Give the full path of a table of supernovae"
        ) from error
    rows = [
        _row(line, f"{file}, line {number}") for number, line in enumerate(lines, 1) if line.strip()
    ]
    if len(rows) < FEWEST_ROWS:
        raise BadSurvey(
            f"{file} has {len(rows)} rows: give at least {FEWEST_ROWS}, one line per supernova"
        )
    z, mu, sigma = np.array(rows).T
    return Survey(z, mu, sigma, f"{file.name}, {len(rows)} supernovae")


def _row(line: str, where: str) -> tuple[float, float, float]:
    words = line.split()
    if len(words) < 3:
        raise BadSurvey(
            f"{where}: too few columns ({len(words)}); write redshift, distance modulus and its "
            "standard error"
        )
    try:
        z, mu, sigma = (float(word) for word in words[:3])
    except ValueError:
        raise BadSurvey(
            f"{where}: {line.strip()!r} does not start with three numbers; remove headers and "
            "comments"
        ) from None
    if not 0 < z < np.inf:
        raise BadSurvey(f"{where}: redshift {z:g}; the first column has to be above 0")
    if not np.isfinite(mu):
        raise BadSurvey(f"{where}: distance modulus {mu:g}; the second column has to be a number")
    if not 0 < sigma < np.inf:
        raise BadSurvey(f"{where}: standard error {sigma:g}; the third column has to be above 0")
    return z, mu, sigma


def union() -> Survey | None:
    """Union2.1, if the package `ecopann` is installed; it is looked into, not imported."""
    import importlib.metadata  # here, because it is slow to import

    try:
        files = importlib.metadata.files("ecopann") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        place = Path(str(file.locate()))
        if file.name == "Union2.1.txt" and place.is_file():
            table = read(place)
            return Survey(table.z, table.mu, table.sigma, f"Union2.1, {len(table)} supernovae")
    return None


def synthetic() -> Survey:
    """A made-up survey of a universe that is known: `TRUTH`.

    A quarter of the points is near, at z = 0.015 to 0.1, the others reach out to z = 1.6. Standard
    errors grow from about 0.15 nearby to 0.3 far away, and vary by a fifth. The moduli are those of
    `TRUTH`, plus normal errors of that size. Always the same numbers: the redshifts follow a
    formula, the rest uses only `random()`, whose numbers Python promises to keep.
    """
    near = _middles(SYNTHETIC_POINTS // 4)
    far = _middles(SYNTHETIC_POINTS - near.size)
    z = np.concatenate([0.015 * (0.1 / 0.015) ** near, 0.1 * 16.0 ** (far**0.65)])
    rng, normal = random.Random(SYNTHETIC_SEED), NormalDist()
    spread, error = np.array(
        [[normal.inv_cdf(rng.random()) for _ in range(z.size)] for _ in range(2)]
    )
    sigma = np.hypot(0.15, 0.16 * z) * np.exp(0.2 * spread)
    mu = moduli(TRUTH, z, integrals(TRUTH, z, steps=1_000)) + sigma * error
    truth = f"H0 = {TRUTH.h0:g}, ΩM = {TRUTH.matter:g}, ΩΛ = {TRUTH.dark_energy:g}"
    return Survey(z, mu, sigma, f"synthetic, {z.size} points made with {truth}")


def _middles(count: int) -> NDArray[np.float64]:
    return (np.arange(count) + 0.5) / count

"""Three simulations that procedures for ranking and selection are tried on, drawn for many pulls.

They follow the descriptions in SimOpt (simopt.github.io): a newsvendor, an (s, S) inventory and a
stochastic activity network. SimOpt itself draws pull by pull; a benchmark needs millions of pulls.
All values are higher where better. With shared seeds, pull k of all arms sees the same demands or
the same times. True means are taken from 200,000 pulls of each arm, which share their seeds.
"""

from abc import abstractmethod
from functools import cached_property

import numpy as np

from paceline import Problem
from paceline.core.arrays import Floats, Ints
from paceline.core.noise import Noise
from paceline.core.noise.normal import NormalNoise

_CHUNK = 2_000
_TRUTH = 200_000


class Model(Problem):
    """Values of arms by what is random in a pull."""

    sigma = np.nan  # it must be learned

    @abstractmethod
    def chance(self, pulls: int, rng: np.random.Generator) -> Floats:
        """What is random: a row per pull."""

    @abstractmethod
    def values(self, arms: Ints, chance: Floats) -> Floats:
        """The values of all arms (rows) if this happens."""

    @property
    def noise(self) -> Noise:
        return NormalNoise()

    @cached_property
    def means(self) -> Floats:  # type: ignore[override]
        rng, total = np.random.default_rng(0), np.zeros(self.arms)
        for _ in range(_TRUTH // _CHUNK):
            total += self.draw_each(np.arange(self.arms), _CHUNK, 0, rng).sum(axis=1)
        return total / _TRUTH

    def draw_each(self, arms: Ints, pulls: int, first: int, rng: np.random.Generator) -> Floats:
        return self.values(arms, self.chance(pulls, rng))

    def draw(
        self, arms: Ints, pulls: Ints, first: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        sums, squares = np.zeros(arms.size), np.zeros(arms.size)
        for place, (arm, count) in enumerate(zip(arms.tolist(), pulls.tolist(), strict=True)):
            for start in range(0, count, _CHUNK):
                size = min(_CHUNK, count - start)
                drawn = self.values(np.array([arm]), self.chance(size, rng))
                sums[place] += drawn.sum()
                squares[place] += (drawn**2).sum()
        return sums, squares


class Newsvendor(Model):
    """How much to order before a demand with a Burr law: bought at 5, sold at 9, salvaged at 1."""

    cost, price, salvage = 5.0, 9.0, 1.0
    shape, tail = 2.0, 20.0  # c and k: P(demand > x) = (1 + x^c)^-k

    def __init__(self) -> None:
        self.orders = np.linspace(0.02, 0.4, 39)
        self.arms = self.orders.size

    def chance(self, pulls: int, rng: np.random.Generator) -> Floats:
        return ((1 - rng.random((pulls, 1))) ** (-1 / self.tail) - 1) ** (1 / self.shape)

    def values(self, arms: Ints, chance: Floats) -> Floats:
        order, demand = self.orders[arms, None], chance[:, 0]
        sold = np.minimum(order, demand)
        return self.price * sold + self.salvage * (order - sold) - self.cost * order


class Inventory(Model):
    """When to order, and up to where: 30 days of exponential demand, and late deliveries."""

    days, mean, fixed, each, holding, late = 30, 100.0, 36.0, 2.0, 1.0, 4.0

    def __init__(self) -> None:
        points, tops = np.meshgrid(np.arange(150, 501, 50), np.arange(400, 901, 100))
        some = tops > points
        self.points, self.tops = points[some][:42].astype(float), tops[some][:42].astype(float)
        self.arms = self.points.size

    def chance(self, pulls: int, rng: np.random.Generator) -> Floats:
        demands = rng.exponential(self.mean, (pulls, self.days))
        return np.hstack([demands, rng.poisson(2.0, (pulls, self.days))])

    def values(self, arms: Ints, chance: Floats) -> Floats:
        point, top = self.points[arms, None], self.tops[arms, None]
        demands, leads = chance[:, : self.days].T, chance[:, self.days :].T.astype(np.int64)
        shape = (arms.size, chance.shape[0])
        stock, ordered = np.full(shape, 600.0), np.zeros(shape)
        coming = np.zeros((self.days + 20, *shape))
        cost, pulls = np.zeros(shape), np.arange(chance.shape[0])
        for day in range(self.days):
            stock += coming[day]
            ordered -= coming[day]
            stock -= demands[day]
            place = stock + ordered
            amount = np.where(place < point, top - place, 0.0)
            coming[day + 1 + np.minimum(leads[day], 18)[pulls], :, pulls] += amount.T
            ordered += amount
            cost += np.where(amount > 0, self.fixed + self.each * amount, 0.0)
            cost += self.holding * np.maximum(stock, 0.0) + self.late * np.maximum(-stock, 0.0)
        return -cost / self.days


class ActivityNetwork(Model):
    """Means of 13 exponential tasks on 9 nodes: the longest path, and what short tasks cost."""

    arcs = (
        (0, 1), (0, 2), (1, 2), (1, 3), (1, 5), (2, 5), (3, 4), (3, 6), (4, 5), (4, 7), (5, 8),
        (6, 7), (7, 8),
    )  # fmt: skip

    def __init__(self) -> None:
        # A scale for the whole, and how much more the first tasks get than the last.
        scales, slopes = np.meshgrid(np.linspace(0.6, 2.0, 8), np.linspace(-0.6, 0.6, 5))
        along = np.linspace(1.0, -1.0, len(self.arcs))
        self.times = scales.reshape(-1, 1) * (1 + slopes.reshape(-1, 1) * along)
        self.arms = len(self.times)

    def chance(self, pulls: int, rng: np.random.Generator) -> Floats:
        return rng.exponential(1.0, (pulls, len(self.arcs)))

    def values(self, arms: Ints, chance: Floats) -> Floats:
        ends = np.zeros((9, arms.size, chance.shape[0]))
        for number, (tail, head) in sorted(enumerate(self.arcs), key=lambda one: one[1][1]):
            ends[head] = np.maximum(
                ends[head], ends[tail] + self.times[arms, number, None] * chance[:, number]
            )
        return np.asarray(-ends[8] - (1 / self.times[arms]).sum(axis=1)[:, None])


MODELS: dict[str, type[Model]] = {
    "newsvendor": Newsvendor,
    "inventory": Inventory,
    "activity network": ActivityNetwork,
}

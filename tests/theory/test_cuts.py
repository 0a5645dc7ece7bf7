"""The bounds against exact probabilities, against measured ones, and against each other."""

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binom, binomtest, norm

from paceline import InvalidInput, PowerLaw
from paceline.core.arrays import Floats, Ints
from paceline.core.noise import BERNOULLI, Noise
from paceline.core.noise.bounded import BoundedNoise
from paceline.core.noise.normal import NormalNoise
from paceline.theory import (
    bottleneck,
    gaps_of,
    hardness,
    stage_count,
    stage_unit,
    stages_to_combine,
    success_bound,
)
from paceline.theory.cuts import (
    chain_bound,
    closed_bound,
    cut_bound,
    floor_bound,
    rate_hardness,
    rates,
)
from paceline.theory.field import _at_least

RUNS = 5000
CERTAIN = 1e-6

UNIT_NORMAL = NormalNoise(sigma=1.0)
NOISES = [BERNOULLI, BoundedNoise(bounds=(-1.0, 2.0)), NormalNoise(sigma=0.5)]
some_means = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=12, unique=True)
some_noise = st.sampled_from(NOISES)


def refutes(errors: int, runs: int, allowed: float) -> bool:
    """Whether so many errors refute that they are at most `allowed`."""
    return bool(binomtest(errors, runs, allowed, alternative="greater").pvalue < CERTAIN)


# --- rates ---


@given(better=st.floats(0.02, 0.98), share=st.floats(0.02, 0.98))
def test_the_rate_of_zeros_and_ones_is_the_best_exponent(better: float, share: float) -> None:
    worse = better * share

    def log_expected(c: float) -> float:
        return math.log(1 - worse + worse * math.exp(c)) + math.log(
            1 - better + better * math.exp(-c)
        )

    numeric = -minimize_scalar(log_expected, bounds=(0, 20), method="bounded").fun
    (rate,) = rates([worse, better], BERNOULLI)
    assert rate == pytest.approx(numeric, rel=1e-4, abs=1e-7)


@given(better=st.floats(0.02, 0.98), share=st.floats(0.02, 0.98), join=st.floats(0.0, 1.0))
def test_the_rate_of_pairs_holds_for_every_joint_law(
    better: float, share: float, join: float
) -> None:
    worse = better * share
    won = join * min(worse, 1 - better)  # only the worse arm has a one
    lost = won + better - worse
    (rate,) = rates([worse, better], BERNOULLI, paired=True)
    exponent = -math.log(1 - won - lost + 2 * math.sqrt(won * lost))
    assert rate <= exponent * (1 + 1e-9) + 1e-15
    if join == 1.0:
        assert rate == pytest.approx(exponent, rel=1e-6, abs=1e-12)


@given(means=some_means, top=st.integers(1, 11), noise=some_noise)
def test_rates_order_as_the_noise_says(means: list[float], top: int, noise: Noise) -> None:
    top = min(top, len(means) - 1)
    falling = np.sort(means)[::-1]
    squares = (falling[top - 1] - falling[top:]) ** 2
    scale = noise.scale
    assert scale is not None
    fast, slow = rates(means, noise, top=top), rates(means, noise, top=top, paired=True)
    assert (fast >= squares / (4 * scale**2) * (1 - 1e-6) - 1e-12).all()
    assert (slow >= squares / (8 * scale**2) * (1 - 1e-6) - 1e-12).all()
    assert (slow <= fast * (1 + 1e-6) + 1e-12).all()
    assert (np.diff(fast) >= 0).all()
    np.testing.assert_allclose(
        rates(means, noise, top=top, sigma=3.0), squares / 36, rtol=1e-6, atol=1e-12
    )


def test_rates_at_the_ends_of_the_range() -> None:
    assert rates([1.0, 0.0], BERNOULLI).tolist() == [math.inf]
    assert rates([1.0, 0.3], BERNOULLI) == pytest.approx(-math.log(0.3))
    assert rates([0.3, 0.0], BERNOULLI) == pytest.approx(-math.log(0.7))
    assert cut_bound([1.0, 0.0], BERNOULLI, pulls=1, kept=1) == 0.0
    assert rates([1.0, 0.3], BERNOULLI, paired=True) == pytest.approx(-math.log(0.3))


def test_the_papers_step_is_the_one_for_half_a_variance() -> None:
    gaps = [0.1, 0.3, 0.4]
    found = rates([0.5, 0.4, 0.2, 0.1], UNIT_NORMAL, sigma=math.sqrt(0.5))
    assert found == pytest.approx(np.square(gaps) / 2)
    assert rate_hardness(found) == pytest.approx(2 * hardness(gaps))


# --- exact probabilities ---


def reach(chances: Floats, count: int) -> float:
    """P(at least `count` of independent events)."""
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, [1 - chance, chance])
    return float(law[count:].sum())


def exact_loss(means: list[float], pulls: int, kept: int) -> float:
    """P(at least `kept` others have as many ones as the best arm), Bernoulli arms."""
    falling = np.sort(means)[::-1]
    ones = np.arange(pulls + 1)
    climb = binom.sf(ones[:, None] - 1, pulls, falling[1:])
    law = binom.pmf(ones, pulls, falling[0])
    return sum(float(p) * reach(row, kept) for p, row in zip(law, climb, strict=True))


@given(means=some_means, pulls=st.integers(1, 40), kept=st.integers(1, 11))
def test_a_cut_fails_no_more_often_than_the_bound(
    means: list[float], pulls: int, kept: int
) -> None:
    bound = cut_bound(means, BERNOULLI, pulls=pulls, kept=kept)
    assert exact_loss(means, pulls, kept) <= bound * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize("kept", [1, 4, 16, 40])
def test_the_bound_of_a_cut_is_no_loose_one(kept: int) -> None:
    means = [0.7, *np.linspace(0.2, 0.6, 60)]
    exact = exact_loss(means, 400, kept)
    bound = cut_bound(means, BERNOULLI, pulls=400, kept=kept)
    assert exact <= bound
    assert math.log(bound) <= 0.45 * math.log(exact)
    # The control: what twice the exponent would give is too little.
    assert exact > cut_bound(means, BERNOULLI, pulls=800, kept=kept)


def test_parting_the_arms_is_what_makes_wide_cuts_safe() -> None:
    # Markov alone cannot use that arms are independent, and pairs of seeds may be not.
    means = [0.6] + [0.4] * 999
    sharp = cut_bound(means, BERNOULLI, pulls=600, kept=500)
    markov = 999 * math.exp(-600 * rates(means, BERNOULLI)[0]) / 500
    assert sharp < markov / 1000
    assert cut_bound(means, BERNOULLI, pulls=600, kept=500, paired=True) > markov


@given(chances=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=15), count=st.integers(1, 15))
def test_so_many_of_independent_events_are_no_likelier_than_bounded(
    chances: list[float], count: int
) -> None:
    if count > len(chances):
        return
    falling = np.sort(chances)[::-1]
    bound = _at_least(count, falling, np.ones(falling.size, dtype=int), independent=True)
    assert reach(falling, count) <= bound * (1 + 1e-9) + 1e-15


# --- measured ---


class Instance(NamedTuple):
    """Arms, what is assumed of them, and how their values are drawn."""

    means: tuple[float, ...]
    noise: Noise
    draw: Callable[[np.random.Generator, tuple[int, ...], Floats], Floats]


def zeros_and_ones(rng: np.random.Generator, size: tuple[int, ...], means: Floats) -> Floats:
    return np.where(rng.random(size) < means, 1.0, 0.0)


def normal(rng: np.random.Generator, size: tuple[int, ...], means: Floats) -> Floats:
    return rng.normal(means, 1.0, size)


def two_ends(rng: np.random.Generator, size: tuple[int, ...], means: Floats) -> Floats:
    return np.where(rng.random(size) < (means + 1) / 3, 2.0, -1.0)


def beta(rng: np.random.Generator, size: tuple[int, ...], means: Floats) -> Floats:
    return 3 * rng.beta((means + 1) / 3, (2 - means) / 3, size) - 1


WIDE = BoundedNoise(bounds=(-1.0, 2.0))
INSTANCES = {
    "two": Instance((0.7, 0.4), BERNOULLI, zeros_and_ones),
    "one good": Instance((0.8,) + (0.5,) * 7, BERNOULLI, zeros_and_ones),
    "rare": Instance((0.3,) + (0.05,) * 9, BERNOULLI, zeros_and_ones),
    "frequent": Instance((0.99,) + (0.8,) * 5, BERNOULLI, zeros_and_ones),
    "spread": Instance((0.9, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1), BERNOULLI, zeros_and_ones),
    "unsorted": Instance((0.2, 0.3, 0.9, 0.5, 0.4), BERNOULLI, zeros_and_ones),
    "normal two": Instance((0.8, 0.0), UNIT_NORMAL, normal),
    "normal one good": Instance((1.0,) + (0.0,) * 11, UNIT_NORMAL, normal),
    "normal spread": Instance((2.0, 1.2, 0.8, 0.4, 0.0, -0.5), UNIT_NORMAL, normal),
    "normal clusters": Instance((1.0,) + (0.2,) * 4 + (-0.5,) * 4, UNIT_NORMAL, normal),
    "two ends": Instance((1.4, 0.2, 0.1, 0.0, -0.5), WIDE, two_ends),
    "beta": Instance((1.2, 0.4, 0.4, 0.1, -0.4, -0.4), WIDE, beta),
}
CASES = pytest.mark.parametrize("instance", INSTANCES.values(), ids=INSTANCES.keys())


def ahead(instance: Instance, pulls: int, runs: int = RUNS) -> Iterator[Ints]:
    """In each run, after each pull: how many arms have a mean no lower than the best one's."""
    rng = np.random.default_rng(17)
    means = np.array(instance.means)
    for _ in range(runs // 250):
        values = instance.draw(rng, (pulls, 250, means.size), means)
        sums = values.cumsum(axis=0)
        best = sums[..., [means.argmax()]]
        yield (sums >= best - 1e-9).sum(axis=-1) - 1


def pulls_until(bound: Callable[[int], float], most: float) -> int:
    """The fewest pulls, to 10 %, that bring a bound down to `most`."""
    pulls = 1
    while bound(pulls) > most:
        pulls = max(pulls + 1, math.ceil(pulls * 1.1))
    return pulls


@CASES
def test_cuts_and_chains_measured(instance: Instance) -> None:
    means, noise, _ = instance
    sizes = [b for b in (8, 4, 2, 1) if b < len(means)]

    def at(b: int) -> int:
        return pulls_until(lambda t: cut_bound(means, noise, pulls=t, kept=b), 0.05)

    chain = [at(b) for b in sizes]
    counts = np.concatenate(
        [runs[[t - 1 for t in chain]] for runs in ahead(instance, max(chain))], 1
    )
    lost = counts >= np.array(sizes)[:, None]
    for b, t, errors in zip(sizes, chain, lost.sum(axis=1).tolist(), strict=True):
        assert not refutes(errors, RUNS, cut_bound(means, noise, pulls=t, kept=b))
    bound = chain_bound(means, noise, kept=sizes, pulls=chain)
    assert bound <= 0.05 * len(sizes)
    assert not refutes(int(lost.any(axis=0).sum()), RUNS, bound)


def worst_moments(instance: Instance, floor: int) -> int:
    """How many races a rule loses that knows the truth and cuts when, and as far as, it hurts."""
    horizon = np.arange(1, 2 * floor + 1)[:, None]
    lost = 0
    for counts in ahead(instance, horizon.size):
        widest = np.where(counts > 0, 2 ** np.floor(np.log2(np.maximum(counts, 1))), 0)
        lost += int((horizon * widest >= floor).any(axis=0).sum())
    return lost


@CASES
def test_a_rule_that_cuts_at_the_worst_moment_measured(instance: Instance) -> None:
    means, noise, _ = instance
    floor = pulls_until(lambda x: floor_bound(means, noise, floor=x), 0.1)
    assert not refutes(worst_moments(instance, floor), RUNS, floor_bound(means, noise, floor=floor))


def test_control_a_doubled_exponent_is_refuted() -> None:
    two = INSTANCES["normal two"]
    means, noise, _ = two
    floor = pulls_until(lambda x: floor_bound(means, noise, floor=x), 0.1)
    wrong = floor_bound(means, noise, floor=floor, sigma=math.sqrt(0.5))
    assert refutes(worst_moments(two, floor), RUNS, wrong)
    errors = sum(int((counts[-1] > 0).sum()) for counts in ahead(two, floor, 20_000))
    assert refutes(errors, 20_000, cut_bound(means, noise, pulls=floor, kept=1, sigma=0.7))


@pytest.mark.parametrize("kept", [1, 2, 4])
def test_zeros_and_ones_at_any_later_moment_by_their_ranks_now(kept: int) -> None:
    crowd = Instance((0.62,) + (0.5,) * 5, BERNOULLI, zeros_and_ones)
    pulls = 40
    runs = [counts[pulls - 1 :] >= kept for counts in ahead(crowd, 20 * pulls)]
    ever = sum(int(lost.any(axis=0).sum()) for lost in runs)
    bound = cut_bound(crowd.means, BERNOULLI, pulls=pulls, kept=kept)
    assert not refutes(ever, RUNS, bound)
    now = [exact_loss(list(crowd.means), pulls, j) for j in range(1, kept + 1)]
    ranks = min(p * (kept + 1) / (kept + 1 - j) for j, p in enumerate(now, start=1))
    assert not refutes(ever, RUNS, ranks)
    assert ranks <= bound * (1 + 1e-9)
    # The control: later moments do add to the chance of now.
    assert refutes(ever, RUNS, now[-1])


def test_control_pairs_that_pull_apart_refute_the_rate_of_independent_arms() -> None:
    # X₂ − μ₂ = −(X₁ − μ₁): the difference is 2σ wide, and P(arm 2 is ahead) is known.
    pulls = 25
    truth = norm.sf(math.sqrt(pulls) / 2)
    assert truth > cut_bound([1.0, 0.0], UNIT_NORMAL, pulls=pulls, kept=1)
    assert truth < cut_bound([1.0, 0.0], UNIT_NORMAL, pulls=pulls, kept=1, paired=True)


def test_control_arms_that_move_as_one_refute_the_bound_of_independent_arms() -> None:
    # 400 copies of one arm: to keep 200 of them is no safer than to keep one.
    means, pulls = [1.0] + [0.0] * 400, 60
    truth = norm.sf(math.sqrt(pulls / 2))
    assert truth > cut_bound(means, UNIT_NORMAL, pulls=pulls, kept=200)
    assert truth < cut_bound(means, UNIT_NORMAL, pulls=pulls, kept=200, paired=True)


@pytest.mark.parametrize("kept", [3, 4, 5])
def test_the_top_k_measured(kept: int) -> None:
    means, top, runs = np.array([1.0, 0.8, 0.8, 0.0, 0.0, 0.0, -0.5, -0.5]), 3, 20_000

    def bound(pulls: int, sigma: float = 1.0) -> float:
        return cut_bound(means, UNIT_NORMAL, pulls=pulls, kept=kept, top=top, sigma=sigma)

    pulls = pulls_until(bound, 0.05)
    rng = np.random.default_rng(23)
    seen = rng.normal(means, 1 / math.sqrt(pulls), (runs, means.size))
    ranks = (-seen).argsort(axis=1).argsort(axis=1)[:, :top]
    errors = int((ranks >= kept).any(axis=1).sum())
    assert not refutes(errors, runs, bound(pulls))
    if kept == top:  # the control
        assert refutes(errors, runs, bound(pulls, sigma=0.7))


# --- closed forms, order, and Theorem 3 ---


@given(
    means=some_means,
    noise=some_noise,
    pulls=st.integers(1, 5000),
    kept=st.integers(1, 11),
    top=st.integers(1, 4),
    paired=st.booleans(),
)
def test_the_sharp_bounds_are_below_the_closed_ones(
    means: list[float], noise: Noise, pulls: int, kept: int, top: int, paired: bool
) -> None:
    top = min(top, len(means) - 1)
    difficulty = rate_hardness(rates(means, noise, top=top, paired=paired))
    least = kept + top - 1
    closed = closed_bound(pulls * kept, 1, difficulty, top=top)
    cut = cut_bound(means, noise, pulls=pulls, kept=least, top=top, paired=paired)
    assert cut <= closed * (1 + 1e-9)
    levels = (len(means) - top).bit_length()
    adaptive = floor_bound(means, noise, floor=pulls, top=top, paired=paired)
    assert adaptive <= closed_bound(pulls, levels, difficulty, top=top) * (1 + 1e-9)
    # A cut that keeps to a floor is one of those that the floor covers.
    if kept <= len(means) - top:
        exponent = pulls * 2 ** (kept.bit_length() - 1)
        everywhere = floor_bound(means, noise, floor=exponent, top=top, paired=paired)
        assert cut <= everywhere * (1 + 1e-9) + 1e-20


@given(rate=st.floats(1e-4, 5.0), pulls=st.integers(1, 200), kept=st.integers(1, 500))
def test_the_cut_lemma_where_every_gap_is_as_small_as_its_hardness_allows(
    rate: float, pulls: int, kept: int
) -> None:
    # r_i = i·rate for endlessly many arms: the case that its proof ends at.
    c = rate * pulls
    skipped = np.arange(1, kept + 1)
    sums = np.exp(-c * (skipped + 1)) / -math.expm1(-c)
    sharp = float((sums / (kept - skipped + 1)).min())
    assert min(1.0, sharp) <= closed_bound(c * kept, 1, 1.0) * (1 + 1e-12)
    if c * kept >= 1:
        chosen = kept if c >= 1 else kept + 1 - math.ceil(1 / c)
        assert 1 <= chosen <= kept
        assert sums[chosen - 1] / (kept - chosen + 1) <= math.e * math.exp(-c * kept) * (1 + 1e-9)


@given(
    means=some_means,
    noise=some_noise,
    pulls=st.integers(1, 2000),
    kept=st.integers(1, 11),
    more=st.integers(1, 500),
    paired=st.booleans(),
)
def test_more_pulls_and_wider_cuts_are_safer(
    means: list[float], noise: Noise, pulls: int, kept: int, more: int, paired: bool
) -> None:
    """Zeros and ones come in steps, and the bound with them: there, to a hundredth."""

    def lost(pulls: int, kept: int) -> float:
        return cut_bound(means, noise, pulls=pulls, kept=kept, paired=paired)

    def floored(floor: float, least: int = 0) -> float:
        return floor_bound(means, noise, floor=floor, least_pulls=least, paired=paired)

    share, slack = (1e-9, 1e-20) if paired or noise != BERNOULLI else (0.01, 1e-13)
    assert lost(pulls + more, kept) <= lost(pulls, kept) * (1 + share) + slack
    assert lost(pulls, kept + 1) <= lost(pulls, kept) * (1 + share) + slack
    assert floored(pulls + more) <= floored(pulls) * (1 + share) + slack
    assert floored(pulls, more) <= floored(pulls) * (1 + share) + slack
    assert lost(0, kept) == (0.0 if kept >= len(means) else 1.0)


@given(means=some_means, pulls=st.integers(1, 300), kept=st.integers(1, 11))
def test_order_and_scale_of_the_arms_do_not_matter(
    means: list[float], pulls: int, kept: int
) -> None:
    spread = max(means) - sorted(means)[-2]
    if spread < 1e-6:
        return
    bound = cut_bound(means, BoundedNoise(bounds=(0.0, 1.0)), pulls=pulls, kept=kept)
    stretched = BoundedNoise(bounds=(-3.0, 1.0))
    moved = [4 * mean - 3 for mean in reversed(means)]
    assert cut_bound(moved, stretched, pulls=pulls, kept=kept) == pytest.approx(bound, rel=1e-3)


@pytest.mark.parametrize("paired", [False, True])
def test_a_chain_is_no_worse_than_cuts_apart(paired: bool) -> None:
    means = np.linspace(0.1, 0.9, 9)
    cuts = [(4, 12), (2, 30), (1, 60)]
    single = [cut_bound(means, BERNOULLI, pulls=t, kept=b, paired=paired) for b, t in cuts]
    kept, pulls = zip(*cuts, strict=True)
    chain = chain_bound(means, BERNOULLI, kept=kept, pulls=pulls, paired=paired)
    apart = sum(single) if paired else 1 - math.prod(1 - loss for loss in single)
    assert 0.01 < chain == pytest.approx(apart)
    assert chain_bound(means, BERNOULLI, kept=[9], pulls=[1]) == 0.0
    assert chain_bound(means, BERNOULLI, kept=[4, 1], pulls=[1, 1]) == 1.0


@given(
    means=some_means,
    q=st.floats(0.1, 1.0),
    stretch=st.floats(1.0, 1e4),
    sigma=st.sampled_from([0.5, math.sqrt(0.5), 1.0]),
)
def test_the_floor_is_never_worse_than_theorem_3(
    means: list[float], q: float, stretch: float, sigma: float
) -> None:
    scaling, n = PowerLaw(q), len(means)
    deadline = scaling.seconds(float(n)) * stretch
    k = stages_to_combine(n, deadline, scaling)
    units = math.floor(stage_unit(n, k, deadline, scaling) * (1 + 1e-12))
    floor = max(bottleneck(n, k, deadline, scaling), n * units) / 4
    difficulty = rate_hardness(rates(means, UNIT_NORMAL, sigma=sigma))
    closed = closed_bound(floor, stage_count(n, 1), difficulty)
    theorem = success_bound(gaps_of(means), deadline, scaling, sigma=sigma)
    assert 1 - closed >= theorem - 1e-12
    assert 1 - floor_bound(means, UNIT_NORMAL, floor=floor, sigma=sigma) >= theorem - 1e-12


@given(n=st.integers(2, 5000), k=st.integers(1, 13), pulls=st.integers(1, 10**7))
def test_the_stages_of_ssh_keep_to_that_floor(n: int, k: int, pulls: int) -> None:
    stages = stage_count(n, k)
    units = pulls // (2 ** (k * stages) * (2**k - 1))
    sizes = [n]
    for _ in range(stages):
        sizes.append(-(-sizes[-1] // 2**k))
    for size, kept in pairwise(sizes):
        assert (pulls // size) * 2 ** (kept.bit_length() - 1) >= n * units / 4


# --- edges ---


@pytest.mark.parametrize("means", [[0.5, 0.5, 0.1], [0.0, 0.0], [1.0, 0.2, 1.0]])
def test_tied_best_arms_make_every_bound_1(means: list[float]) -> None:
    assert rates(means, BERNOULLI)[0] == 0
    assert rate_hardness(rates(means, BERNOULLI)) == math.inf
    assert cut_bound(means, BERNOULLI, pulls=10**6, kept=1) == 1.0
    assert floor_bound(means, BERNOULLI, floor=1e6) == 1.0
    assert closed_bound(1e6, 1, math.inf) == 1.0


def test_a_tie_counts_only_across_the_last_place() -> None:
    means = [0.9, 0.9, 0.5, 0.5]
    assert cut_bound(means, BERNOULLI, pulls=1000, kept=2, top=2) < 1e-9
    assert cut_bound(means, BERNOULLI, pulls=1000, kept=3, top=3) == 1.0


def test_a_hundred_thousand_arms_and_endless_pulls() -> None:
    means = np.random.default_rng(5).random(100_000)
    difficulty = rate_hardness(rates(means, BERNOULLI))
    assert 0 < floor_bound(means, BERNOULLI, floor=3 * difficulty) < 0.1
    assert 0 < cut_bound(means, BERNOULLI, pulls=30, kept=20_000) < 1e-3
    assert floor_bound(means, BERNOULLI, floor=1e300) == 0.0
    assert closed_bound(1e300, 17, difficulty) == 0.0


def test_low_values_that_are_good_have_the_same_bounds() -> None:
    losses = [-0.3, -0.6, -0.9]
    assert cut_bound(losses, BERNOULLI.negated(), pulls=20, kept=1) == pytest.approx(
        cut_bound([0.7, 0.4, 0.1], BERNOULLI, pulls=20, kept=1)
    )


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: rates([0.5], BERNOULLI), "below the number of arms"),
        (lambda: rates([0.5, 0.1], BERNOULLI, top=2), "below the number of arms"),
        (lambda: rates([1.5, 0.1], BERNOULLI), "between 0 and 1"),
        (lambda: rates([0.5, 0.1], NormalNoise()), "give sigma="),
        (lambda: rates([0.5, 0.1], NormalNoise(), sigma=-1.0), "above 0"),
        (lambda: cut_bound([0.5, 0.1, 0.0], BERNOULLI, pulls=9, kept=1, top=2), "at least 2"),
        (lambda: cut_bound([0.5, 0.1], BERNOULLI, pulls=-1, kept=1), "at least 0"),
        (lambda: chain_bound([0.5, 0.1], BERNOULLI, kept=[1], pulls=[]), "1 cuts and 0 pulls"),
        (lambda: floor_bound([0.5, 0.1], BERNOULLI, floor=-1.0), "at least 0"),
        (lambda: closed_bound(1.0, 0, 1.0), "at least 1"),
    ],
)
def test_bad_input_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        call()

import numpy as np
import pytest

from paceline import InvalidInput
from paceline.core.arrays import Floats
from paceline.planning.posterior import Posterior


def draws(belief: Posterior, count: int = 80) -> Floats:
    """True means as drawn, a row per world."""
    worlds = [belief.draw(np.random.default_rng(seed)).means for seed in range(count)]
    return np.array(worlds)


def test_the_spread_of_means_is_freed_of_noise() -> None:
    """Equal arms look different after few pulls: a plan that believed it would be too short."""
    rng = np.random.default_rng(0)
    values = [rng.normal(0, 1, 16) for _ in range(60)]
    seen = np.array([one.mean() for one in values])
    spread = draws(Posterior(values)).std(axis=1)
    assert np.median(spread) < 0.8 * seen.std()


def test_real_differences_stay() -> None:
    rng = np.random.default_rng(1)
    true = np.linspace(0, 10, 12)
    belief = Posterior([rng.normal(mean, 1, 25) for mean in true])
    apart = np.diff(draws(belief), axis=1)
    assert np.median(apart) == pytest.approx(10 / 11, rel=0.25)


def test_one_good_arm_among_many_is_not_drawn_in() -> None:
    rng = np.random.default_rng(2)
    values = [rng.normal(3.0 if arm == 7 else 0.0, 1, 20) for arm in range(50)]
    means = draws(Posterior(values))
    assert (means.argmax(axis=1) == 7).all()
    others = np.sort(np.delete(means - means.mean(axis=1, keepdims=True), 7, axis=1), axis=1)
    ahead = means.max(axis=1) - means.mean(axis=1) - others[:, -1]
    assert np.median(ahead) == pytest.approx(3.0, abs=0.8)


def test_true_means_are_where_the_draws_say() -> None:
    """80 % of the true means lie in the middle 80 % of their draws: neither more nor far fewer."""
    inside = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        true = rng.normal(0, 0.5, 15)
        values = [rng.normal(mean, 1, 12) for mean in true]
        offset = np.concatenate(values).mean()
        low, high = np.quantile(draws(Posterior(values)), [0.1, 0.9], axis=0)
        inside += ((true - offset >= low) & (true - offset <= high)).tolist()
    assert 0.7 < np.mean(inside) < 0.9


def test_what_seeds_share_is_not_taken_for_noise() -> None:
    rng = np.random.default_rng(3)
    shared = rng.normal(0, 20, 40)
    values = [mean + shared + rng.normal(0, 0.1, 40) for mean in (0.0, 1.0)]
    paired = Posterior(values, paired=True)
    world = paired.draw(np.random.default_rng(0))
    assert world.deviations is not None
    assert world.deviations.max() < 0.3
    assert world.common == pytest.approx(20, rel=0.4)
    assert (np.diff(draws(paired), axis=1) > 0.5).all()
    assert (np.diff(draws(Posterior(values)), axis=1) < 0).any()


def test_zeros_and_ones_stay_chances() -> None:
    means = draws(Posterior([np.zeros(9), np.ones(9), np.r_[np.ones(4), 0.0]], binary=True))
    assert ((means > 0) & (means < 1)).all()
    assert (means[:, 1] > means[:, 0]).all()


@pytest.mark.parametrize("values", [[np.ones(0), np.ones(3)], [np.ones(1), np.ones(1)]])
def test_too_few_values_are_refused(values: list[Floats]) -> None:
    with pytest.raises(InvalidInput, match="too few values"):
        Posterior(values)


def test_large_offsets_and_constant_values_do_no_harm() -> None:
    rng = np.random.default_rng(4)
    far = [1e12 + rng.normal(mean, 1, 30) for mean in (0.0, 5.0)]
    assert (np.diff(draws(Posterior(far)), axis=1) > 2).all()
    assert np.isfinite(draws(Posterior([np.ones(5), np.ones(5)]))).all()

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paceline.core.seeds import pull_seed, pull_seeds, replication_seeds


def test_seeds_are_distinct_fit_31_bits_and_never_change() -> None:
    seeds = {pull_seed(0, arm, pull) for arm in range(30) for pull in range(30)}
    assert len(seeds) == 900
    assert all(0 <= seed < 2**31 for seed in seeds)
    # Journals of old races are resumed by new versions: these are part of the format.
    assert [pull_seed(0, 0, 0), pull_seed(1, 2, 3), pull_seed(1, 2, 3, paired=True)] == [
        238126281,
        1791180610,
        1099610586,
    ]


def test_replications_do_not_share_streams() -> None:
    words = {
        int(part)
        for replication in range(50)
        for rewards, policy in [replication_seeds(3, replication)]
        for part in (rewards.generate_state(1)[0], np.uint64(policy))
    }
    assert len(words) == 100


@given(
    st.integers(0, 2**200),
    st.integers(0, 2**33),
    st.integers(0, 2**40),
    st.integers(1, 12),
    st.booleans(),
)
def test_many_seeds_at_once_are_the_same_as_one_by_one(
    race_seed: int, arm: int, first: int, count: int, paired: bool
) -> None:
    one_by_one = [pull_seed(race_seed, arm, first + i, paired=paired) for i in range(count)]
    assert pull_seeds(race_seed, arm, first, count, paired=paired) == one_by_one

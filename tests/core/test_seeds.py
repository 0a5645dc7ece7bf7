import numpy as np

from paceline.core.seeds import pull_seed, replication_seeds


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

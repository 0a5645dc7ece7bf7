"""Seeds: a pull's depends on the race, the arm and its number only, never on when it ran."""

import numpy as np


def pull_seed(race_seed: int, arm: int, pull: int, *, paired: bool = False) -> int:
    """Return the seed of the `pull`-th pull of `arm`; with `paired`, all arms share it.

    31 bits: what C programs, numpy's old generator and scikit-learn all take as a seed.

    >>> pull_seed(0, arm=3, pull=7) == pull_seed(0, arm=3, pull=7)
    True
    >>> pull_seed(0, arm=3, pull=7) == pull_seed(0, arm=4, pull=7)
    False
    >>> pull_seed(0, 3, 7, paired=True) == pull_seed(0, 4, 7, paired=True)
    True
    """
    key = (0, pull) if paired else (1, arm, pull)
    word = np.random.SeedSequence(entropy=race_seed, spawn_key=key).generate_state(1)[0]
    return int(word) >> 1


def pull_seeds(
    race_seed: int, arm: int, first: int, count: int, *, paired: bool = False
) -> list[int]:
    """The seeds of `count` pulls of `arm` from the `first` on.

    >>> pull_seeds(0, arm=3, first=7, count=2) == [pull_seed(0, 3, 7), pull_seed(0, 3, 8)]
    True
    """
    return [pull_seed(race_seed, arm, pull, paired=paired) for pull in range(first, first + count)]


def replication_seeds(seed: int, replication: int) -> tuple[np.random.SeedSequence, int]:
    """Return the seed of the rewards of a replication, and the seed of its policy's own choices.

    They depend on the replication's number only, so that any split over processes agrees.
    """
    sequence = np.random.SeedSequence(entropy=seed, spawn_key=(2, replication))
    rewards, policy = sequence.spawn(2)
    return rewards, int(policy.generate_state(1, np.uint64)[0])

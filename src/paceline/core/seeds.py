"""Seeds: that of a pull depends only on the race, the arm and its number, not on when it runs."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Words: TypeAlias = npt.NDArray[np.uint32]


# The constants of numpy's SeedSequence, which are part of its promise of reproducible streams.
_INIT_A, _MULT_A = 0x43B0D7E5, 0x931E8875
_INIT_B, _MULT_B = 0x8B51F9DD, 0x58F38DED
_MIX_LEFT, _MIX_RIGHT = 0xCA01F9DD, 0x4973F715
_WORTH_AN_ARRAY = 4


def pull_seed(race_seed: int, arm: int, pull: int, *, paired: bool = False) -> int:
    """Return the seed of the `pull`-th pull of `arm`; with `paired`, all arms share it.

    It has 31 bits, so C programs, numpy's old generator and scikit-learn all accept it.

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
    if count < _WORTH_AN_ARRAY or first + count > 2**32:
        pulls = range(first, first + count)
        return [pull_seed(race_seed, arm, pull, paired=paired) for pull in pulls]
    # A SeedSequence mixes the words of its key one after the other, with the number of the pull
    # last. Up to there it is the same for all pulls, and only its first word is needed.
    key = (0,) if paired else (1, arm)
    before = np.random.SeedSequence(entropy=race_seed, spawn_key=key)
    words = max(4, _words(race_seed)) + sum(_words(word) for word in key)
    mixes = 4 * words  # each word is mixed into each of the pool's four, itself included
    hash_a = _INIT_A * pow(_MULT_A, mixes, 2**32) % 2**32
    word: Words = np.arange(first, first + count, dtype=np.uint32)
    word = _scramble(word, hash_a, hash_a * _MULT_A)
    left = np.uint32(_MIX_LEFT * int(before.pool[0]) % 2**32)
    word = left - np.uint32(_MIX_RIGHT) * word
    word ^= word >> np.uint32(16)
    word = _scramble(word, _INIT_B, _INIT_B * _MULT_B)
    seeds: list[int] = (word >> np.uint32(1)).tolist()
    return seeds


def _scramble(word: Words, first: int, then: int) -> Words:
    word = (word ^ np.uint32(first)) * np.uint32(then % 2**32)
    return word ^ (word >> np.uint32(16))


def _words(value: int) -> int:
    return max(1, (int(value).bit_length() + 31) // 32)


def replication_seeds(seed: int, replication: int) -> tuple[np.random.SeedSequence, int]:
    """Return the seed of the rewards of a replication, and the seed of its policy's own choices.

    They depend only on the replication's number, so any split over processes gives the same.
    """
    sequence = np.random.SeedSequence(entropy=seed, spawn_key=(2, replication))
    rewards, policy = sequence.spawn(2)
    return rewards, int(policy.generate_state(1, np.uint64)[0])

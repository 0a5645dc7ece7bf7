"""The problems of the paper's experiments."""

import numpy as np

from paceline.core.arrays import Floats, non_negative, whole

SCALING_EXPONENTS = (0.9, 0.5, 0.25, 0.1)  # q of λ(m) = m^q


def linear_means(gap: float, arms: int = 16) -> Floats:
    """Figure 3: the best arm at 0.9, the second `gap` below it, the others evenly below that.

    The paper's formula falls below 0 for gaps above 0.153. No Bernoulli mean can, so the means are
    clipped to [0, 1].

    >>> linear_means(0.1).round(3)[[0, 1, 2, 15]]
    array([0.9  , 0.8  , 0.747, 0.053])
    >>> float(linear_means(0.5).min())
    0.0
    """
    non_negative(gap, "gap")
    others = np.arange(2, whole(arms, "arms", least=2) + 1)
    means: Floats = np.r_[0.9, 0.9 - gap - (0.9 - 0.1) * (others - 2) / 15]
    return means.clip(0.0, 1.0)


def uniform_means(arms: int, seed: int, run: int) -> Floats:
    """Figure 4: means drawn evenly from [0, 1], anew for every run, the same for every policy.

    >>> uniform_means(1024, seed=0, run=3).shape
    (1024,)
    """
    entropy = whole(seed, "seed", least=0)
    sequence = np.random.SeedSequence(entropy=entropy, spawn_key=(3, run))
    return np.random.default_rng(sequence).random(whole(arms, "arms", least=2))

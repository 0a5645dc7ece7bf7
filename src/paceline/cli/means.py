"""The true means of arms written as words, such as `linear:0.1`: for races in virtual time."""

import numpy as np

from paceline.core.arrays import Floats
from paceline.errors import InvalidInput, unknown_name
from paceline.notation.words import split_word, to_number, to_whole
from paceline.paper.instances import linear_means, uniform_means

ARMS_HELP = (
    "the arms' true means: 0.9,0.8,0.5; or linear:GAP[,ARMS], as in the paper's figure 3 (steps "
    "of 0.053, clipped at 0); or uniform:ARMS, drawn once from the seed"
)


def parse_means(text: str, seed: int) -> Floats:
    """Make the true means from a word such as `linear:0.1` or `0.9,0.8,0.5`.

    >>> parse_means("0.9,0.5", seed=0)
    array([0.9, 0.5])
    """
    name, values, _ = split_word(text)
    if name == "linear":
        if len(values) not in (1, 2):
            raise InvalidInput(
                f"{text!r}: write linear:GAP or linear:GAP,ARMS, as in linear:0.1,16"
            )
        return linear_means(to_number(values[0], text), *(to_whole(n, text) for n in values[1:]))
    if name == "uniform":
        if len(values) != 1:
            raise InvalidInput(f"{text!r}: write uniform:ARMS, as in uniform:1024")
        return uniform_means(to_whole(values[0], text), seed, run=0)
    if ":" in text:
        raise unknown_name("instance", name, ("linear", "uniform"))
    return np.array([to_number(word, text) for word in text.split(",") if word.strip()])

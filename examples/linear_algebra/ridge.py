"""Which penalty does a ridge regression on random features need? Scored on fresh data every time.

    python3 ridge.py --penalty 400 --seed 7

draws a data set and a hidden layer, fits the penalized weights, and prints the mean squared error
on rows that were held out. It differs from data set to data set: that is what races are for.

Nearly all of the time goes into two calls of the BLAS that numpy brings: a product of large
matrices, and a linear system. Nothing here says on how many threads: a race sets the variables that
the BLAS reads (OPENBLAS_NUM_THREADS and its like) before numpy is imported. To do it by hand:

    OPENBLAS_NUM_THREADS=2 python3 ridge.py --penalty 400 --seed 7

On another number of threads the BLAS adds in another order, so the last digits may differ.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

PENALTIES = (1.0, 5.0, 20.0, 100.0, 400.0, 1600.0, 6400.0, 25_000.0)
ROWS, HELD_OUT = 4000, 400
COLUMNS, FEATURES = 64, 1200
NOISE = 1.0  # its square is what the best of all fits would be left with


def draw(seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """A data set and a hidden layer: the columns, the target, the weights of the layer."""
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((ROWS + HELD_OUT, COLUMNS))
    # Three smooth ridges in the first few columns; the other columns only disturb.
    curve = np.tanh(columns[:, :12].reshape(-1, 3, 4).sum(axis=2)).sum(axis=1)
    target = curve + NOISE * rng.standard_normal(ROWS + HELD_OUT)
    layer = rng.standard_normal((COLUMNS, FEATURES)) / np.sqrt(COLUMNS)
    return columns, target, layer


def evaluate(penalty: float, *, seed: int) -> float:
    """The mean squared error on held-out rows of the fit with this penalty; lower is better."""
    columns, target, layer = draw(seed)
    hidden = columns @ layer
    np.maximum(hidden, 0.0, out=hidden)
    known, unknown = hidden[:ROWS], hidden[ROWS:]
    gram = known.T @ known  # most of the time
    gram[np.diag_indices(FEATURES)] += penalty
    weights = np.linalg.solve(gram, known.T @ target[:ROWS])  # most of the rest
    return float(np.mean((unknown @ weights - target[ROWS:]) ** 2))


def main() -> None:
    """Read the options, fit, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--penalty", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()
    print("error", evaluate(options.penalty, seed=options.seed))


if __name__ == "__main__":
    main()

"""How often APR errs, with its honest bound and with the paper's scaled one."""

import numpy as np
from scipy.stats import binomtest

from paceline import APR, PowerLaw, simulate
from paceline.display.table import Table

RUNS = 2000
DELTA = 0.1


def run() -> Table:
    rows = []
    for arms, gap, rewards in (
        *((64, 0.003, "bernoulli"), (16, 0.01, "bernoulli"), (2, 0.01, "bernoulli")),
        (64, 0.003, "normal"),
    ):
        means = np.r_[0.5, np.full(arms - 1, 0.5 - gap)]
        for deviation, sigma in ((1.0, None), (0.2, 0.5)):
            result = simulate(
                means,
                APR(deviation=deviation, sigma=sigma),
                PowerLaw(0.5),
                confidence=1 - DELTA,
                rewards=rewards,
                replications=RUNS,
            )
            errors = int((~result.correct).sum())
            p_value = float(binomtest(errors, RUNS, DELTA, alternative="greater").pvalue)
            rows.append((arms, gap, rewards, deviation, errors / RUNS, p_value, p_value < 1e-6))
    columns = ("arms", "gap", "rewards", "deviation", "error", "p-value of ≤ 0.1", "refuted")
    return Table(columns, rows)

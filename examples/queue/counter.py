"""A counter where customers queue: what an hour costs, for a clerk of a given speed.

    python3 counter.py --speed 1.5 --seed 7

prints the cost of waiting plus the clerk's pay. A faster clerk costs more, and customers wait less.
The hour is noisy: that is what races are for. `--threads` spreads the work over processes, as
larger simulators do.
"""

import argparse
import random
from multiprocessing import Pool

CUSTOMERS = 400
PAY = 6.0


def cost(speed: float, seed: int) -> float:
    """The mean wait of a run of customers, plus what the clerk is paid."""
    rng = random.Random(seed)
    wait = total = 0.0
    for _ in range(CUSTOMERS):
        total += wait
        service = rng.expovariate(speed)
        wait = max(0.0, wait + service - rng.expovariate(1.0))
    return total / CUSTOMERS + PAY * speed


def main() -> None:
    """Read the options, simulate, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--speed", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    seeds = [options.seed * 8 + part for part in range(8)]
    if options.threads == 1:
        costs = [cost(options.speed, seed) for seed in seeds]
    else:
        with Pool(options.threads) as team:
            costs = team.starmap(cost, [(options.speed, seed) for seed in seeds])
    print("cost", sum(costs) / len(costs))


if __name__ == "__main__":
    main()

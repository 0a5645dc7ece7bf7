"""`paceline demo`: the whole story in a minute, on real cores."""

import argparse
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from paceline import races
from paceline.cli import virtual_demo
from paceline.cli.help import tell
from paceline.core.arrays import whole
from paceline.core.words import count
from paceline.display.ending import print_result
from paceline.display.screen import make_screen
from paceline.durations import say_seconds
from paceline.machine import available_cores
from paceline.result import Result

NAME = "demo"
SUMMARY = "the whole story in a minute"
DESCRIPTION = """\
A race of a small simulator on this machine's cores, explained step by step.

  paceline demo
  paceline demo --virtual      races in virtual time: how APR and SSH choose their rounds"""

_STOCKS = (36, 40, 44, 48, 52, 56, 60, 64)
_SHOPS = 200_000
_CONFIDENCE = 0.95
_DEADLINE_SECONDS = 8.0

_STORY = """\
A shop chain asks: how much to stock? There are {candidates} candidates, and a simulator that
gives the profit of one season. Seasons differ, so one run proves nothing; and a run may
use one core or several. This machine has {cores}.

Race 1: until the best is known with 95% confidence. The first runs use different numbers
of cores, to see what more cores are worth; after that paceline decides how many runs to
do at once, on how many cores each, and which candidates are out.
"""
_NEXT = """
Next: race functions of your own (paceline.race in Python) or commands:

  paceline race 'sim --x {x} --seed {seed} -j {cores}' -L x 1,2,4 --deadline 60s

See README.md, paceline race --help, and paceline demo --virtual."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--virtual", action="store_true", help="in virtual time, with known means")
    parser.add_argument("--seed", type=int, default=0)


def season(stock: int, *, seed: int, cores: int) -> float:
    """The profit per shop of one simulated season; `cores` threads share the shops.

    The weather, the same for all shops, makes one season better than the next.
    """
    weather, *seeds = np.random.SeedSequence(seed).spawn(1 + 8)
    demand = 50 * np.exp(0.02 * np.random.default_rng(weather).standard_normal())

    def profit(part: np.random.SeedSequence) -> float:
        sold = np.minimum(np.random.default_rng(part).poisson(demand, _SHOPS // 8), stock)
        return float(sold.mean())

    with ThreadPoolExecutor(cores) as team:  # numpy draws without holding Python's lock
        return float(np.mean(list(team.map(profit, seeds)))) - 0.6 * stock


def run(options: argparse.Namespace) -> int:
    """Race to a confidence, then to a deadline."""
    whole(options.seed, "seed", least=0)
    if options.virtual:
        return virtual_demo.run(options)
    cores = available_cores().cores
    tell(_STORY.format(candidates=len(_STOCKS), cores=count(cores, "core")))
    result = _race(options.seed, confidence=_CONFIDENCE)
    print_result(result)
    _tell_scaling(result)
    tell(f"\nRace 2: the best answer within {say_seconds(_DEADLINE_SECONDS)}, whatever happens.\n")
    print_result(_race(options.seed + 1, deadline=_DEADLINE_SECONDS))
    tell(_NEXT)
    return 0


def _race(seed: int, **goal: float) -> Result:
    screen = make_screen(None, keep=False)
    return races.race(season, _STOCKS, seed=seed, progress=screen or False, **goal)  # type: ignore[arg-type]


def _tell_scaling(result: Result) -> None:
    pool = result.scaling
    if pool is None or pool.cores == 1:
        return
    alone, together = pool.runtime_seconds[0], pool.runtime_seconds[-1]
    tell(
        f"\nLearned on the way: a run takes {say_seconds(alone)} on 1 core and "
        f"{say_seconds(together)} on {pool.cores}."
    )

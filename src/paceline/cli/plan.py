"""`paceline plan`: the chain of cuts for a deadline."""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from paceline import races, theory
from paceline.cli import racing
from paceline.cli.flags import given
from paceline.cli.means import ARMS_HELP, parse_means
from paceline.core.arrays import Floats, whole
from paceline.core.noise import BERNOULLI, Noise
from paceline.core.pool import CorePool
from paceline.core.scaling import Scaling
from paceline.display.table import Table, print_table
from paceline.display.window import print_facts
from paceline.durations import seconds_of
from paceline.errors import InvalidInput
from paceline.exports import json_text
from paceline.notation import SCALING_HELP, parse_scaling
from paceline.policies.base import Policy
from paceline.theory.raceplan import too_short

NAME = "plan"
SUMMARY = "the chain of cuts for a deadline"
DESCRIPTION = """\
Print the plan of `staged`, the policy for a deadline: how many arms it keeps after
how many pulls of each, and when. Nothing is run.

  paceline plan --arms 1024 --scaling power:0.5 --deadline 500
  paceline plan --means uniform:1024 --scaling cores:64,0.5 --deadline 10m
  paceline plan race.toml --scaling power:0.5 --pull 30ms

In the table, `pulls` are the new ones of each arm, `in all` those since the start,
and `at once` those of all arms that run side by side.

The plan of a race needs the seconds of a pull. They are known if the file's scaling
is in seconds, as cores:64,0.5 is; otherwise `paceline profile` measures them."""

_FROM_FILE = ("deadline", "cores", "top")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", nargs="?", help=racing.FILE_HELP)
    parser.add_argument("-n", "--arms", type=int, metavar="N", help="how many arms there are")
    parser.add_argument(
        "-m", "--means", help=f"{ARMS_HELP}; the plan then says how likely the best is found"
    )
    parser.add_argument("-s", "--scaling", help=SCALING_HELP)
    parser.add_argument(
        "--pull",
        metavar="SPAN",
        help="how long a pull takes on the fewest cores it may have: 30s, 5m",
    )
    parser.add_argument("-d", "--deadline", metavar="SPAN", help="90 (seconds), 10m, 1h30m")
    parser.add_argument("--cores", type=int, metavar="N", help="the size of a race file's pool")
    parser.add_argument("--top", type=int, metavar="K", help="find the best K arms (default 1)")
    parser.add_argument(
        "--sigma", type=float, help="scale of the noise around the means (default: values 0 and 1)"
    )
    parser.add_argument("--seed", type=int, default=0, help="the seed of means that are drawn")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


@dataclass(frozen=True)
class _Case:
    """What is planned: how many arms, by which deadline, on which pool."""

    arms: int
    scaling: Scaling
    deadline: float
    top: int
    noise: Noise = BERNOULLI
    minimize: bool = False
    paired: bool = False
    note: str | None = None

    def plan(self) -> theory.RacePlan:
        plan = theory.plan_race(self.arms, self.scaling, self.deadline, top=self.top)
        if plan is None:
            raise too_short(self.deadline, self.arms, self.scaling)
        return plan


def run(options: argparse.Namespace) -> int:
    """Plan, and print the stages and what they are worth."""
    means = None if options.means is None else parse_means(options.means, options.seed)
    case = _of_options(options, means) if options.file is None else _of_file(options)
    if means is not None and means.size != case.arms:
        raise InvalidInput(f"there are {case.arms} arms and {means.size} means: give one for each")
    plan = case.plan()
    chain = plan.chain.merged()
    stages = _stages(chain, case.scaling)
    worth = _worth(case, plan, means, options.sigma)
    if options.json:
        print(json_text(_as_json(case, chain, stages, worth)))
        return 0
    rows = [[_cell(value) for value in stage.values()] for stage in stages]
    print_table(Table(tuple(stages[0]), rows))
    print()
    print_facts(_facts(case, chain, worth))
    return 0


def _of_options(options: argparse.Namespace, means: Floats | None) -> _Case:
    if options.arms is None and means is None:
        raise InvalidInput("say what to plan for: a race file, or --arms (or --means)")
    for name in ("scaling", "deadline"):
        if getattr(options, name) is None:
            raise InvalidInput(f"without a race file, give --{name}")
    if options.cores is not None:
        raise InvalidInput("--cores goes with a race file: here write --scaling cores:COUNT,0.5")
    scaling = parse_scaling(options.scaling)
    if options.pull is not None:
        if not isinstance(scaling, CorePool):
            raise InvalidInput(
                f"--pull goes with a race file or a pool of cores: {options.scaling} is in seconds"
            )
        scaling = _in_seconds(scaling, options.pull)
    arms = means.size if options.arms is None and means is not None else options.arms
    return _Case(
        whole(arms, "--arms", least=2),
        scaling,
        seconds_of(options.deadline, "--deadline"),
        1 if options.top is None else options.top,
    )


def _of_file(options: argparse.Namespace) -> _Case:
    if options.arms is not None:
        raise InvalidInput("--arms and a race file both say how many arms there are: leave out one")
    race = races.read_race_file(options.file)
    changed = {name: one for name, one in given(options).items() if name in _FROM_FILE}
    keywords = race.options | changed
    if "deadline" not in keywords:
        raise InvalidInput(f"{options.file} has no deadline to plan for: give --deadline")
    if options.scaling is not None:
        keywords["scaling"] = parse_scaling(options.scaling)
    known = keywords.get("scaling")
    if options.pull is not None and isinstance(known, CorePool):
        keywords["scaling"] = _in_seconds(known, options.pull)
    settings = races.prepare(race.command, race.arms, **keywords).settings
    goal = settings.goal
    assert goal.deadline is not None
    pool = settings.pool
    if settings.shape is not None and options.pull is not None:
        pool = _in_seconds(settings.shape, options.pull)
    if pool is None:
        raise InvalidInput(_what_to_measure(options.file, known))
    return _Case(
        len(settings.arms),
        pool,
        goal.deadline.seconds,
        goal.top,
        BERNOULLI if settings.noise.scale is None else settings.noise,
        goal.minimize,
        settings.pairing.shares_seeds,
        _unless_planned(settings.policy),
    )


def _unless_planned(policy: Policy) -> str | None:
    """A note for a race whose policy does not plan as `staged` does."""
    if policy.name == "staged":
        return None
    return f"the policy of the race is {policy}: this is staged's plan"


def _what_to_measure(file: str, scaling: Scaling | None) -> str:
    measure = f"run `paceline profile {file}`"
    if scaling is None:
        return (
            f"{file} has no scaling, so it is not known how long pulls take: {measure}, then give "
            "`scaling` in the file, or --scaling, and as --pull the seconds it measured on one "
            "core"
        )
    return (
        f"{scaling} says how pulls scale, not how long one takes (the race measures that): "
        f"{measure}, and give as --pull the seconds it measured on one core"
    )


def _in_seconds(pool: CorePool, pull: str) -> CorePool:
    """The same pool, scaled so that a pull takes `pull` on the fewest cores it may have."""
    table = pool.runtime_seconds
    factor = seconds_of(pull, "--pull") / float(table[np.isfinite(table)][0])
    return CorePool(pool.cores, lambda cores: factor * float(table[cores - 1]))


def _stages(chain: theory.Chain, scaling: Scaling) -> list[dict[str, Any]]:
    """The rows of the table, by column."""
    rows = []
    ends = list(accumulate(chain.seconds))
    for place, arms in enumerate(chain.sizes[:-1]):
        total = chain.pulls[place + 1]
        new = total - chain.pulls[place]
        row: dict[str, Any] = {
            "stage": place + 1,
            "arms": arms,
            "kept": chain.sizes[place + 1],
            "pulls": new,
            "in all": total,
            "at once": arms * new,
            "seconds": chain.seconds[place],
            "ends at": ends[place],
        }
        if isinstance(scaling, CorePool):
            waves = scaling.waves(arms * new)
            row["at once"] = waves[0].pulls
            row["cores"] = sorted({wave.cores for wave in waves})
        rows.append(row)
    return rows


def _worth(
    case: _Case, plan: theory.RacePlan, means: Floats | None, sigma: float | None
) -> dict[str, Any]:
    """The bottleneck, that of SSH, and how likely the best is found."""
    chain = plan.chain
    worth: dict[str, Any] = {
        "bottleneck": chain.bottleneck,
        "best_bottleneck": plan.best,
        "floor": plan.floor,
    }
    if case.top == 1:
        k = theory.stages_to_combine(case.arms, case.deadline, case.scaling)
        reached = theory.bottleneck(case.arms, k, case.deadline, case.scaling)
        worth["ssh"] = {"k": k, "bottleneck": reached}
    if means is not None:
        signed = -means if case.minimize else means
        noise = case.noise.negated() if case.minimize else case.noise
        more: dict[str, Any] = {"sigma": sigma, "paired": case.paired}
        fixed = theory.chain_bound(
            signed, noise, kept=chain.sizes[1:], pulls=chain.pulls[1:], top=case.top, **more
        )
        adaptive = plan.loss_bound(signed, noise, **more)
        worth["success"] = {"chain": 1 - fixed, "staged": 1 - adaptive}
    return worth


def _as_json(
    case: _Case, chain: theory.Chain, stages: Sequence[dict[str, Any]], worth: dict[str, Any]
) -> dict[str, Any]:
    return {
        "arms": case.arms,
        "top": case.top,
        "scaling": str(case.scaling),
        "deadline": case.deadline,
        "seconds": chain.total_seconds,
        "stages": [{name.replace(" ", "_"): row[name] for name in row} for row in stages],
        **worth,
    }


def _facts(case: _Case, chain: theory.Chain, worth: dict[str, Any]) -> list[tuple[str, str]]:
    beyond = f" beyond the top {case.top - 1}" if case.top > 1 else ""
    text = f"{chain.bottleneck}: the least, over the cuts, of pulls in all × arms kept{beyond}"
    facts = [("scaling", str(case.scaling)), ("bottleneck", text)]
    if worth["best_bottleneck"] > chain.bottleneck:
        text = "is the largest that fits; here the first stage is longer: its data improve the cuts"
        facts.append(("", f"{worth['best_bottleneck']} {text}"))
    if "ssh" in worth:
        facts.append(("SSH", "{bottleneck} with its k* = {k}".format(**worth["ssh"])))
    if "success" in worth:
        fixed, adaptive = (_at_least(worth["success"][name]) for name in ("chain", "staged"))
        text = f"{fixed} for this chain as it is, {adaptive} with staged's replanning"
        facts.append(("success", f"{text}: by bounds, for these means"))
    if case.note is not None:
        facts.append(("note", case.note))
    return facts


def _cell(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _at_least(probability: float) -> str:
    """Rounded down, so that what is written holds."""
    return f"at least {math.floor(probability * 1e4) / 1e4:g}"

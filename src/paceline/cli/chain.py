"""The chain of cuts of `staged`, and what it is worth: for `paceline plan` with a deadline."""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from paceline import races, theory
from paceline.core.arrays import Floats, whole
from paceline.core.noise import BERNOULLI, Noise
from paceline.core.pool import CorePool
from paceline.core.scaling import Scaling
from paceline.display.table import Table, print_table
from paceline.display.window import print_facts
from paceline.durations import seconds_of
from paceline.errors import InvalidInput
from paceline.notation import parse_scaling
from paceline.planning.pools import in_seconds
from paceline.policies.base import Policy
from paceline.theory.raceplan import too_short

EXPECT = (
    "say what to expect of the arms: --gap, how far the best is ahead, or --means; and --sigma, "
    "the deviation of a value, if values are not 0 and 1; or run a pilot: --pilot 30s"
)


@dataclass(frozen=True)
class Asked:
    """What was asked, in values."""

    options: argparse.Namespace
    means: Floats | None
    cores: list[int]
    confidence: list[float]

    @property
    def expects(self) -> bool:
        """Whether something is assumed about the arms."""
        return self.means is not None or self.options.gap is not None

    @property
    def learns(self) -> bool:
        """Whether a journal or a pilot tells about the arms."""
        return self.options.journal is not None or self.options.pilot is not None

    @property
    def scaling(self) -> Scaling | None:
        """The scaling, if one was given."""
        return None if self.options.scaling is None else parse_scaling(self.options.scaling)


@dataclass(frozen=True)
class Case:
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
        """The plan of `staged`; refused if the deadline is too short for any."""
        plan = theory.plan_race(self.arms, self.scaling, self.deadline, top=self.top)
        if plan is None:
            raise too_short(self.deadline, self.arms, self.scaling)
        return plan


class Outline:
    """The stages of a case, and what they are worth; `means` are the true ones, if known."""

    def __init__(self, case: Case, means: Floats | None, sigma: float | None) -> None:
        if means is not None and means.size != case.arms:
            raise InvalidInput(
                f"there are {case.arms} arms and {means.size} means: give one for each"
            )
        plan = case.plan()
        self.case = case
        self.chain = plan.chain.merged()
        self.stages = _stages(self.chain, case.scaling)
        self.worth = _worth(case, plan, means, sigma)

    def to_json(self) -> dict[str, Any]:
        """Everything, for scripts."""
        return _as_json(self.case, self.chain, self.stages, self.worth)

    def show(self) -> None:
        """Print it."""
        rows = [[_cell(value) for value in stage.values()] for stage in self.stages]
        print_table(Table(tuple(self.stages[0]), rows))
        print()
        print_facts(_facts(self.case, self.chain, self.worth))


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
    case: Case, plan: theory.RacePlan, means: Floats | None, sigma: float | None
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
    case: Case, chain: theory.Chain, stages: Sequence[dict[str, Any]], worth: dict[str, Any]
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


def _facts(case: Case, chain: theory.Chain, worth: dict[str, Any]) -> list[tuple[str, str]]:
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


def outline_of(asked: Asked, race: races.RaceFile | None) -> Outline | None:
    """The chain of cuts; None if this is not about a deadline on one pool."""
    options = asked.options
    deadline = options.deadline if race is None else race.options.get("deadline")
    if asked.learns or (
        asked.expects and (deadline is None or asked.confidence or len(asked.cores) > 1)
    ):
        return None
    if race is None and asked.cores and asked.expects:
        return None
    case = _of_options(asked) if race is None else _of_file(asked, race)
    return Outline(case, asked.means, options.sigma)


def _of_options(asked: Asked) -> Case:
    options = asked.options
    if options.arms is None and asked.means is None:
        raise InvalidInput("say what to plan for: a race file, or --arms (or --means)")
    for name in ("scaling", "deadline"):
        if getattr(options, name) is None:
            raise InvalidInput(f"without a race file, give --{name}; or {EXPECT}")
    if asked.cores:
        raise InvalidInput("--cores goes with a race file: here write --scaling cores:COUNT,0.5")
    scaling = parse_scaling(options.scaling)
    if options.pull is not None:
        if not isinstance(scaling, CorePool):
            raise InvalidInput(
                f"--pull goes with a race file or a pool of cores: {options.scaling} is in seconds"
            )
        scaling = in_seconds(scaling, seconds_of(options.pull, "--pull"))
    arms = options.arms
    if arms is None and asked.means is not None:
        arms = asked.means.size
    return Case(
        whole(arms, "--arms", least=2),
        scaling,
        seconds_of(options.deadline, "--deadline"),
        1 if options.top is None else options.top,
    )


def _of_file(asked: Asked, race: races.RaceFile) -> Case:
    file, pull, keywords = asked.options.file, asked.options.pull, dict(race.options)
    if "deadline" not in keywords:
        raise InvalidInput(f"{file} has no deadline to plan for: give --deadline; or {EXPECT}")
    if len(asked.cores) > 1:
        raise InvalidInput(f"to compare pools, {EXPECT}")
    if asked.cores:
        keywords["cores"] = asked.cores[0]
    known = keywords.get("scaling")
    if pull is not None and isinstance(known, CorePool):
        keywords["scaling"] = in_seconds(known, seconds_of(pull, "--pull"))
    settings = races.prepare(race.command, race.arms, **keywords).settings
    goal = settings.goal
    assert goal.deadline is not None
    pool = settings.pool
    if settings.shape is not None and pull is not None:
        pool = in_seconds(settings.shape, seconds_of(pull, "--pull"))
    if pool is None:
        raise InvalidInput(_what_to_measure(file, known))
    return Case(
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
    pilot = f"`paceline plan {file} --pilot 30s`"
    measure = f"let a pilot find out, {pilot}; or run `paceline profile {file}`"
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

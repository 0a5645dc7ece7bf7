"""`paceline plan`: how long a race will take, on how many cores; and the chain of cuts."""

import argparse
from dataclasses import dataclass, replace
from typing import Any

from paceline import planning, races
from paceline.cli import racing
from paceline.cli.chain import Case, Outline
from paceline.cli.flags import given
from paceline.cli.means import ARMS_HELP, parse_means
from paceline.core.arrays import Floats, whole
from paceline.core.noise import BERNOULLI
from paceline.core.pool import CorePool
from paceline.core.scaling import Scaling
from paceline.display.table import Table, print_table
from paceline.display.window import print_facts
from paceline.durations import seconds_of
from paceline.errors import InvalidInput
from paceline.exports import json_text
from paceline.notation import SCALING_HELP, parse_scaling
from paceline.notation.words import to_number, to_whole
from paceline.planning.pools import in_seconds
from paceline.policies.base import Policy

NAME = "plan"
SUMMARY = "how long a race will take, on how many cores"
DESCRIPTION = """\
Say how long a race will take, on how many cores it is worth running, and how likely
it finds the best by a deadline. Nothing is run: the race is simulated many times,
with the policy that will run it. It takes an assumption about the arms (--means, or
--gap and --sigma), and how long pulls take (--pull, or --scaling in seconds).

  paceline plan --arms 8 --gap 0.5 --sigma 1 --pull 30s --cores 1,2,4,8
  paceline plan race.toml --gap 0.1 --sigma 0.5 --pull 30ms --confidence 0.9,0.99

With a deadline, the chain of cuts of `staged` is printed too: how many arms it keeps
after how many pulls of each, and when.

  paceline plan --arms 1024 --scaling power:0.5 --deadline 500
  paceline plan --means uniform:1024 --scaling cores:64,0.5 --deadline 10m
  paceline plan race.toml --scaling power:0.5 --pull 30ms

In that table, `pulls` are the new ones of each arm, `in all` those since the start,
and `at once` those of all arms that run side by side."""

_FROM_FILE = ("deadline", "top")
_EXPECT = (
    "say what to expect of the arms: --gap, how far the best is ahead, or --means; and --sigma, "
    "the deviation of a value, if values are not 0 and 1"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", nargs="?", help=racing.FILE_HELP)
    parser.add_argument("-n", "--arms", type=int, metavar="N", help="how many arms there are")
    parser.add_argument("-m", "--means", help=ARMS_HELP)
    parser.add_argument(
        "--gap", type=float, metavar="X", help="one arm is ahead of all others by this"
    )
    parser.add_argument(
        "--sigma",
        type=float,
        help="the standard deviation of a value around its mean (default: values 0 and 1)",
    )
    parser.add_argument("-s", "--scaling", help=SCALING_HELP)
    parser.add_argument(
        "--pull",
        metavar="SPAN",
        help="how long a pull takes on the fewest cores it may have: 30s, 5m",
    )
    parser.add_argument("--cores", metavar="N,N,…", help="the pools to compare: 1,2,4,8")
    parser.add_argument(
        "-c", "--confidence", metavar="P,P,…", help="the confidences to compare (default 0.95)"
    )
    parser.add_argument("-d", "--deadline", metavar="SPAN", help="90 (seconds), 10m, 1h30m")
    parser.add_argument("--top", type=int, metavar="K", help="find the best K arms (default 1)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of all that is drawn")
    parser.add_argument(
        "--races",
        type=int,
        default=60,
        metavar="N",
        help="how many races to simulate for each row (default 60)",
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


@dataclass(frozen=True)
class _Asked:
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
    def scaling(self) -> Scaling | None:
        """The scaling, if one was given."""
        return None if self.options.scaling is None else parse_scaling(self.options.scaling)


def run(options: argparse.Namespace) -> int:
    """Plan, and print the chain, the forecasts, or both."""
    asked = _Asked(
        options,
        None if options.means is None else parse_means(options.means, options.seed),
        [to_whole(word, options.cores) for word in _words(options.cores)],
        [to_number(word, options.confidence) for word in _words(options.confidence)],
    )
    race = None if options.file is None else _race(asked)
    outline = _outline(asked, race)
    plan = _forecasts(asked, race) if asked.expects else None
    if outline is None and plan is None:
        raise InvalidInput(_EXPECT)
    if options.json:
        _print_json(outline, plan)
        return 0
    if outline is not None:
        outline.show()
    if plan is not None:
        if outline is not None:
            print()
        show_plan(plan)
    return 0


def _words(text: str | None) -> list[str]:
    return [word for word in (text or "").split(",") if word.strip()]


def _print_json(outline: Outline | None, plan: planning.Plan | None) -> None:
    if outline is None:
        assert plan is not None
        print(json_text(plan.to_json()))
        return
    more = {} if plan is None else {"forecast": plan.to_json()}
    print(json_text(outline.to_json() | more))


def show_plan(plan: planning.Plan) -> None:
    """Print the forecasts and the answer."""
    names, rows = plan.table()
    print_table(Table(tuple(names), rows))
    print()
    facts = [("answer", plan.headline()), *plan.facts()]
    print_facts(facts)


def _race(asked: _Asked) -> races.RaceFile:
    """The race of the file, with what was given beside it."""
    options = asked.options
    if options.arms is not None:
        raise InvalidInput("--arms and a race file both say how many arms there are: leave out one")
    race = races.read_race_file(options.file)
    changed = {name: one for name, one in given(options).items() if name in _FROM_FILE}
    if asked.scaling is not None:
        changed["scaling"] = asked.scaling
    return replace(race, options=race.options | changed)


def _outline(asked: _Asked, race: races.RaceFile | None) -> Outline | None:
    """The chain of cuts; None if this is not about a deadline on one pool."""
    options = asked.options
    deadline = options.deadline if race is None else race.options.get("deadline")
    if asked.expects and (deadline is None or asked.confidence or len(asked.cores) > 1):
        return None
    if race is None and asked.cores and asked.expects:
        return None
    case = _of_options(asked) if race is None else _of_file(asked, race)
    return Outline(case, asked.means, options.sigma)


def _of_options(asked: _Asked) -> Case:
    options = asked.options
    if options.arms is None and asked.means is None:
        raise InvalidInput("say what to plan for: a race file, or --arms (or --means)")
    for name in ("scaling", "deadline"):
        if getattr(options, name) is None:
            raise InvalidInput(f"without a race file, give --{name}; or {_EXPECT}")
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


def _of_file(asked: _Asked, race: races.RaceFile) -> Case:
    file, pull, keywords = asked.options.file, asked.options.pull, dict(race.options)
    if "deadline" not in keywords:
        raise InvalidInput(f"{file} has no deadline to plan for: give --deadline; or {_EXPECT}")
    if len(asked.cores) > 1:
        raise InvalidInput(f"to compare pools, {_EXPECT}")
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


def _forecasts(asked: _Asked, race: races.RaceFile | None) -> planning.Plan:
    """The race, simulated."""
    options = asked.options
    own: dict[str, Any] = {} if race is None else dict(race.options)
    sigma = own.pop("sigma", None) if options.sigma is None else options.sigma
    file = {"arms": options.arms} if race is None else {"evaluate": race.command, "arms": race.arms}
    given_options = {
        "scaling": asked.scaling,
        "deadline": options.deadline,
        "top": options.top,
        "confidence": asked.confidence or None,
        "cores": asked.cores or None,
    }
    own |= {name: value for name, value in given_options.items() if value is not None}
    return planning.plan(
        **file,
        means=asked.means,
        gap=options.gap,
        sigma=sigma,
        pull=options.pull,
        replications=options.races,
        seed=options.seed,
        **own,
    )

"""`paceline simulate`: a race in virtual time."""

import argparse
from typing import Any

import numpy as np

from paceline import theory
from paceline.cli.exits import EXIT_UNDECIDED
from paceline.cli.means import ARMS_HELP, parse_means
from paceline.core.arrays import Floats
from paceline.core.assumptions import check_assumptions
from paceline.core.statistics import standard_error
from paceline.display.window import print_hanging
from paceline.exports import json_text
from paceline.notation import (
    POLICY_HELP,
    SCALING_HELP,
    parse_policy,
    parse_scaling,
    policies_page,
)
from paceline.simulation import Simulation, simulate

NAME = "simulate"
SUMMARY = "a race in virtual time"
_MOST_LISTED = 10
_LABEL = 10  # columns
DESCRIPTION = """\
Race arms with known means in virtual time, many times over.

  paceline simulate 0.9,0.8,0.5 --confidence 0.95
  paceline simulate linear:0.1 --policy apr:deviation=0.2 --scaling power:0.9 -r 100
  paceline simulate uniform:1024 --policy ssh --deadline 500 -r 100"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = policies_page()
    parser.add_argument("arms", metavar="ARMS", help=ARMS_HELP)
    parser.add_argument("-p", "--policy", help=POLICY_HELP)
    parser.add_argument("-s", "--scaling", default="power:0.5", help=SCALING_HELP)
    parser.add_argument(
        "-c",
        "--confidence",
        type=float,
        help="stop when the best is known with this probability (default 0.95)",
    )
    parser.add_argument("-d", "--deadline", type=float, metavar="SECONDS", help="stop by then")
    parser.add_argument("--rewards", default="bernoulli", help="bernoulli (default) or normal")
    parser.add_argument(
        "--sigma", type=float, default=1.0, help="standard deviation of normal rewards (default 1)"
    )
    parser.add_argument(
        "--noise", help="what the policy assumes: normal, if it has to learn the variances"
    )
    parser.add_argument("--top", type=int, default=1, help="find the best TOP arms")
    parser.add_argument(
        "--tolerance", type=float, default=0.0, help="how much worse is good enough"
    )
    parser.add_argument(
        "-r", "--replications", type=int, default=1, help="how many races (default 1)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-pulls", type=float, help="give up after this many pulls")
    parser.add_argument(
        "--max-rounds", type=float, default=1e6, help="give up after this many rounds (default 1e6)"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def run(options: argparse.Namespace) -> int:
    """Simulate, and print the times, pulls and successes."""
    means = parse_means(options.arms, options.seed)
    scaling = parse_scaling(options.scaling)
    result = simulate(
        means,
        parse_policy(options.policy) if options.policy else None,
        scaling,
        confidence=options.confidence,
        deadline=options.deadline,
        rewards=options.rewards,
        sigma=options.sigma,
        noise=options.noise,
        top=options.top,
        tolerance=options.tolerance,
        seed=options.seed,
        replications=options.replications,
        max_pulls=options.max_pulls,
        max_rounds=options.max_rounds,
    )
    undecided = int((result.index < 0).sum())
    if options.json:
        print(json_text(_as_json(result)))
    else:
        print_hanging(f"{result.policy} on {means.size} {options.rewards} arms, {scaling}", 2)
        for failure in check_assumptions(scaling).failures:
            print_hanging(f"note: {failure}", 6)
        _print_summary(result, undecided)
        _print_oracle(means, scaling, result)
    return EXIT_UNDECIDED if undecided else 0


def _as_json(result: Simulation) -> dict[str, Any]:
    return {
        "seconds": result.seconds.tolist(),
        "index": result.index.tolist(),
        "chosen": result.chosen.tolist(),
        "correct": result.correct.tolist(),
        "pulls": result.pulls.tolist(),
        "rounds": result.rounds.tolist(),
        "still_in": [arms.tolist() for arms in result.still_in],
        "reasons": list(result.reasons),
        "confidence": result.confidence,
        "confidences": [None if np.isnan(one) else one for one in result.confidences.tolist()],
    }


def _print_summary(result: Simulation, undecided: int) -> None:
    runs = result.seconds.size
    for label, values in (
        ("seconds", result.seconds),
        ("pulls", result.pulls),
        ("rounds", result.rounds),
    ):
        error = standard_error(values.astype(np.float64))
        spread = f" ± {error:.3g}" if error > 0 else ""
        print_hanging(f"{label:<9} {values.mean():.6g}{spread}", _LABEL)
    if runs == 1 and not undecided:
        print_hanging(
            f"answer    arm {' '.join(str(arm) for arm in result.chosen[0])} (counted from 0)",
            _LABEL,
        )
    print_hanging(f"correct   {int(result.correct.sum())} of {runs}", _LABEL)
    if undecided:
        print_hanging(f"undecided {undecided} of {runs}", _LABEL)
        first = int(np.argmax(result.index < 0))
        arms = [str(arm) for arm in result.still_in[first][:_MOST_LISTED]]
        more = ", …" if result.still_in[first].size > _MOST_LISTED else ""
        example = "" if runs == 1 else "the first one: "
        print_hanging(f"          {example}{result.reasons[first]}", _LABEL)
        print_hanging(f"          still in: arms {', '.join(arms)}{more}", _LABEL)
    if undecided < runs:
        print_hanging(f"guarantee {_guarantee(result.confidences[result.index >= 0])}", _LABEL)


def _guarantee(confidences: Floats) -> str:
    """What is guaranteed for decided replications: the same, unless a deadline ended some."""
    known = confidences[~np.isnan(confidences)]
    if not known.size:
        return "none"
    least, most = f"{known.min():g}", f"{known.max():g}"
    span = least if least == most else f"{least} to {most}"
    some = "" if known.size == confidences.size else f" in {known.size} of {confidences.size}"
    return f"correct with probability {span}{some}"


def _print_oracle(means: Any, scaling: Any, result: Simulation) -> None:
    """Print T*, if there is one: it needs a unique best arm."""
    falling = np.sort(means)[::-1]
    if result.chosen.shape[1] == 1 and falling[0] > falling[1]:
        optimum = theory.optimal_seconds(theory.gaps_of(means), scaling)
        print_hanging(
            f"T*        {optimum:.6g} (how hard the instance is, with no constants)", _LABEL
        )

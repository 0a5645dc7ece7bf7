"""`paceline reproduce`: the paper's experiments."""

import argparse
import time
from pathlib import Path

from paceline.cli.output import print_table, track_on_terminal
from paceline.core.arrays import whole
from paceline.errors import InvalidInput, unknown_name
from paceline.machine import available_cores
from paceline.paper.catalog import EXPERIMENTS
from paceline.paper.index_page import write_index
from paceline.paper.report import Report, Setup, require_matplotlib

NAME = "reproduce"
SUMMARY = "a figure of the paper, from a new simulation"
DESCRIPTION = """\
Run an experiment of the paper and write its figure (PNG and SVG) and its data (CSV).

  name         runs  what
  setting         1  figure 1: pulls on shares of a divisible resource
  strategies    200  figure 2: one at a time, a fixed batch, APR
  confidence     10  figure 3: time to a confidence, APR and Batch Racing
  deadline       10  figure 4: success by a deadline, SSH, SH and UCB-E
  theory        100  worked examples, T* and bounds beside simulated times
  all                every one of them, and an index page"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("name", metavar="NAME", help="one of the above")
    parser.add_argument(
        "--runs",
        type=int,
        help="runs per setting (default: see above; figures 3 and 4 as in the paper)",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("figures"), help="folder (default: figures)"
    )


def run(options: argparse.Namespace) -> int:
    """Reproduce one experiment, or all of them."""
    if options.name != "all" and options.name not in EXPERIMENTS:
        raise unknown_name("experiment", options.name, [*EXPERIMENTS, "all"])
    setup = Setup(
        runs=None if options.runs is None else whole(options.runs, "runs"),
        seed=whole(options.seed, "seed", least=0),
        processes=available_cores().cores,
        track=track_on_terminal,
    )
    require_matplotlib()  # what is missing shows before the work, not after it
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"cannot make the folder {options.output}: {error.strerror}") from error
    names = list(EXPERIMENTS) if options.name == "all" else [options.name]
    reports = [_reproduce(name, setup, options.output) for name in names]
    if options.name == "all":
        print(f"\nindex page: {write_index(reports, options.output)}")
    return 0


def _reproduce(name: str, setup: Setup, folder: Path) -> Report:
    began = time.perf_counter()
    report = EXPERIMENTS[name](setup)
    files = report.write(folder)
    print(f"\n{report.title}\n")
    print_table(report.summary)
    print()
    for note in report.notes:
        print(f"- {note}")
    print(f"- {', '.join(str(f) for f in files)} ({time.perf_counter() - began:.1f} s)")
    return report

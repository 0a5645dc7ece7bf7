"""`paceline reproduce`: the paper's experiments."""

import argparse
import time
from pathlib import Path

from paceline.core.arrays import whole
from paceline.display.ending import print_result
from paceline.display.progress import track_on_terminal
from paceline.display.table import print_table
from paceline.display.window import print_wrapped
from paceline.errors import InvalidInput, unknown_name
from paceline.machine import available_cores
from paceline.paper.catalog import EXPERIMENTS
from paceline.paper.index_page import write_index
from paceline.paper.report import Report, Setup, require_matplotlib

NAME = "reproduce"
SUMMARY = "reproduce a figure of the paper from a new simulation"
DESCRIPTION = """\
Run an experiment of the paper and write its figure (PNG and SVG) and its data (CSV).

  name         runs  what
  setting         1  figure 1: pulls on shares of a divisible resource
  strategies    200  figure 2: one at a time, a fixed batch, APR
  confidence     10  figure 3: time to a confidence, APR and Batch Racing
  deadline       10  figure 4: success by a deadline, SSH, SH and UCB-E
  theory        100  worked examples, T* and bounds next to simulated times
  cosmology      60  parameters of the universe from supernovae, on real cores
  all                all of these, and an index page

cosmology also runs real races, on two cores and for twenty minutes;
`--real-runs 0` leaves these out, and so does `all` unless it is given --real-runs."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("name", metavar="NAME", help="one of the above")
    parser.add_argument(
        "--runs",
        type=int,
        help="runs per setting (default: see above; figures 3 and 4 as in the paper)",
    )
    parser.add_argument(
        "--real-runs",
        type=int,
        metavar="N",
        help="real races of each policy that cosmology runs (default: as many as --runs, "
        "and none with all)",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="PATH",
        help="supernovae for cosmology: a table of redshift, distance modulus, standard error "
        "(default: Union2.1 if the package ecopann is installed, else a synthetic survey)",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("figures"), help="folder (default: figures)"
    )


def run(options: argparse.Namespace) -> int:
    """Reproduce one experiment, or all of them."""
    if options.name != "all" and options.name not in EXPERIMENTS:
        raise unknown_name("experiment", options.name, [*EXPERIMENTS, "all"])
    if options.name == "all" and options.real_runs is None:
        options.real_runs = 0
    setup = Setup(
        runs=None if options.runs is None else whole(options.runs, "runs"),
        seed=whole(options.seed, "seed", least=0),
        processes=available_cores().cores,
        track=track_on_terminal,
        data=options.data,
        real_runs=None
        if options.real_runs is None
        else whole(options.real_runs, "--real-runs", least=0),
    )
    if options.name not in ("cosmology", "all"):
        for name in ("data", "real_runs"):
            if getattr(options, name) is not None:
                raise InvalidInput(
                    f"--{name.replace('_', '-')} goes with cosmology, not with {options.name}"
                )
    require_matplotlib()  # if it is missing, say so before the work, not after it
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
    for heading, table in report.more:
        print(f"{heading}\n")
        print_table(table)
        print()
    for note in report.notes:
        print_wrapped(f"- {note}")
    if report.answer is not None:
        files += [folder / f"{name}-answer.csv", folder / f"{name}-answer.json"]
        for file in files[-2:]:
            report.answer.export(file)
        print("\nA real race to a confidence:\n")
        print_result(report.answer)
        print()
    print(f"- {', '.join(str(f) for f in files)} ({time.perf_counter() - began:.1f} s)")
    return report

"""Races that are submitted to Slurm: their flags, and what is printed instead of a verdict."""

import argparse
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paceline.durations import say_seconds, seconds_of
from paceline.engines.slurm.allocation import job_here
from paceline.engines.slurm.batch import SUBMITTED, Batch, check_given
from paceline.errors import InvalidInput

_FLAGS = ("nodes", "time", "partition", "sbatch")


def add_submission(parser: argparse.ArgumentParser) -> None:
    """Declare the flags of a race that is submitted."""
    group = parser.add_argument_group(
        "a batch job (with --engine slurm, outside an allocation; see docs/engine-slurm.md)"
    )
    group.add_argument("--nodes", type=int, metavar="N", help="submit the race, on N whole nodes")
    group.add_argument(
        "--time",
        metavar="SPAN",
        help="of an allocation, such as 6h; the race requeues itself until it has a verdict",
    )
    group.add_argument("--partition", metavar="NAME", help="the partition of the job")
    group.add_argument(
        "--sbatch",
        action="append",
        metavar="OPTION",
        help="another option for sbatch, as in --sbatch=--account=physics",
    )


def is_submitted(options: argparse.Namespace, engine: Any) -> bool:
    """Whether the race is to be submitted, and not to be run here; refuses flags that say both."""
    given = [f"--{name}" for name in _FLAGS if getattr(options, name) is not None]
    if not given:
        return False
    if getattr(options, "attempt", False):
        raise InvalidInput(f"--try runs one pull here, and submits nothing: leave {given[0]} out")
    name = engine if isinstance(engine, str) else getattr(engine, "name", "")
    if name.partition(":")[0] != "slurm":
        raise InvalidInput(f"{given[0]} is for races that Slurm runs: add --engine slurm")
    job = job_here()
    if job is None:
        if options.live:
            raise InvalidInput(
                "--live is for a race that runs here, but this one is submitted: leave it out, and "
                "run paceline live JOURNAL beside it"
            )
        return True
    if os.environ.get(SUBMITTED) != job:
        raise InvalidInput(
            f"{given[0]} asks Slurm for an allocation, but this is job {job} already: leave it out"
        )
    return False  # the script of this job, which has the words that were typed


def journal_beside(path: str) -> str:
    """The journal of a race file that names none."""
    return os.path.splitext(os.path.abspath(path))[0] + ".jsonl"


def submit(options: argparse.Namespace, journal: str, more: Mapping[str, str]) -> int:
    """Submit the race as it was typed, with `more` flags; say how to follow it."""
    seconds = None
    if options.time is not None:
        seconds = seconds_of(options.time, "--time")
    typed = [word for word in options.words if word not in ("-n", "--dry-run")]
    batch = Batch(
        words=(*typed, *(word for pair in more.items() for word in pair)),
        journal=Path(journal).absolute(),
        nodes=1 if options.nodes is None else options.nodes,
        seconds=seconds,
        partition=options.partition,
        options=check_given(options.sbatch or ()),
    )
    if getattr(options, "dry_run", False):
        print(batch.script(), end="")
        return 0
    job = batch.submit()
    long = "" if seconds is None else f" for {say_seconds(seconds)}"
    nodes = f"{batch.nodes} node{'s' * (batch.nodes > 1)}"
    quoted = shlex.quote(os.path.relpath(batch.journal))
    print(f"submitted as Slurm job {job}, on {nodes}{long}; it requeues itself until it is done")
    print(f"  how it stands   paceline show {quoted}")
    print(f"  a live page     paceline live {quoted}")
    print(f"  the job         squeue -j {job}")
    print(f"  its output      {os.path.relpath(batch.output_path)}")
    print(f"  its script      {os.path.relpath(batch.script_path)}")
    print(f"  to stop it      scancel {job}")
    return 0

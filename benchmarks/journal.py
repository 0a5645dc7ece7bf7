"""Journals of a million pulls: how long they take to be shown, followed and resumed.

PACELINE_BEFORE may name the folder of another checkout, which is then measured as well. Times are
CPU seconds of child processes, so that others on the machine count for less.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from paceline import Command, race
from paceline.display.table import Table
from paceline.engines.base import Abilities
from paceline.engines.jobs import Job
from paceline.engines.simulated import Outcome, SimulatedEngine
from paceline.engines.workload import Workload
from paceline.races import Follower

_PULLS = 1_000_000
_FEW = 20
_NEW_LINES = 1000


class Quick(SimulatedEngine):
    """Passes for the engine of real races, so that the race can be resumed; runs no command."""

    name = "local"

    def __init__(self) -> None:
        super().__init__(2, script=self._play)
        self.abilities = Abilities(
            kill=True, pin=True, commands=True, group=1, survives_driver=False
        )
        self._rng = random.Random(0)

    def _play(self, workload: Workload, job: Job, arm: int, pull: int) -> Outcome:
        took = round(0.01 * self._rng.uniform(0.8, 1.2), 9)
        return took, round(self._rng.gauss(1.0, 1.0), 6)


def _no_sync(_: int) -> None:
    pass


def write_journal(path: Path, pulls: int) -> None:
    """A race of four arms that tie, up to a cap: a line per pull."""
    command = Command.parse("echo {x}", cwd=str(path.parent))
    arms = [{"x": number} for number in range(4)]
    with mock.patch("os.fsync", new=_no_sync):  # a million would take half an hour
        race(
            command,
            arms,
            engine=Quick(),
            cores=2,
            cores_per_pull=1,
            max_pulls=pulls,
            journal=path,
            progress=False,
        )


# In a small process: what a large one starts would pass for as large as that.
_MEASURE = """
import json, resource, subprocess, sys, time
began = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = time.perf_counter() - began
print(json.dumps([code, used.ru_utime + used.ru_stime, seconds, used.ru_maxrss / 1024]))
"""


def measured(source: Path, arguments: Sequence[str]) -> tuple[float, float, float]:
    """CPU seconds, seconds and the most MiB of `paceline …`, as `source` has it."""
    told = subprocess.run(
        [sys.executable, "-c", _MEASURE, sys.executable, "-m", "paceline", *arguments],
        env=os.environ | {"PYTHONPATH": str(source)},
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    code, used, seconds, most = json.loads(told)
    if code not in (0, 3):
        raise RuntimeError(f"paceline {' '.join(arguments)} failed")
    return used, seconds, most


def follow(path: Path) -> float:
    """CPU seconds to see how a race stands after some new lines, if one has followed it so far."""
    lines = path.read_bytes().splitlines(keepends=True)[:-2]  # without its warning and its end
    path.write_bytes(b"".join(lines[:-_NEW_LINES]))
    follower = Follower(path)
    follower.view()
    path.write_bytes(b"".join(lines))
    began = time.process_time()
    follower.view()
    return time.process_time() - began


def run() -> Table:
    sources = {"now": Path(__file__).parents[1] / "src"}
    if "PACELINE_BEFORE" in os.environ:
        sources["before"] = Path(os.environ["PACELINE_BEFORE"]) / "src"
    rows: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        path, other = Path(folder) / "race.jsonl", Path(folder) / "other.jsonl"
        write_journal(path, _PULLS)
        for name, source in sources.items():
            shutil.copy(path, other)
            more = ["--max-pulls", str(_PULLS + _FEW), "--quiet"]
            for what, promise, arguments in (
                ("show", "8 s, 400 MiB", ["show", str(other)]),
                (f"resume, {_FEW} pulls more", "15 s, 600 MiB", ["resume", str(other), *more]),
            ):
                rows.append((f"{what} ({name})", *measured(source, arguments), promise))
        shutil.copy(path, other)
        rows.append((f"{_NEW_LINES} new lines, followed", follow(other), "–", "–", "–"))
    return Table((f"{_PULLS:,} lines", "CPU s", "s", "MiB", "promise"), rows)

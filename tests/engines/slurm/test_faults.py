"""Races on a Slurm whose parts fail: they go on, and end as if nothing had happened."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import paceline
from paceline.commands import Command
from paceline.journal import read_records
from paceline.journal.records import ArmOut, PoolResized, PullFailed
from tests.engines.slurm.driving import agree, recorded
from tools.slurm_cluster import Cluster

pytestmark = [pytest.mark.slurm, pytest.mark.usefixtures("allocation")]

# Values depend on the seed alone. Pulls sleep: the made-up nodes have more cores than the machine.
COMMAND = Command.parse(
    "sleep 0.4; awk -v s={seed} -v x={x} 'BEGIN {{ srand(s); print x + 4 * rand() }}'", shell=True
)
ARMS = [{"x": x} for x in (1.0, 1.4, 1.8, 2.6)]
OPTIONS: dict[str, Any] = {
    "confidence": 0.9,
    "noise": "bounded",
    "bounds": (0, 7),
    "cores": 30,
    "cores_per_pull": 3,
    "engine": "slurm",
    "progress": False,
}


def race(journal: Path, **more: Any) -> paceline.Result:
    return paceline.race(COMMAND, ARMS, journal=journal, **OPTIONS | more)


def undisturbed(folder: Path) -> paceline.Result:
    """The same race on this machine."""
    return race(folder / "undisturbed.jsonl", engine="local", cores=10, cores_per_pull=1)


def check_same(result: paceline.Result, journal: Path, folder: Path) -> None:
    """The verdict is the undisturbed one, and so are the values; nobody was charged."""
    other = undisturbed(folder)
    assert (result.best, result.decided) == (other.best, other.decided)
    assert agree(recorded(journal), recorded(folder / "undisturbed.jsonl"))
    assert not [one for one in read_records(journal) if isinstance(one, ArmOut | PullFailed)]


def while_racing(journal: Path, disturb: Callable[[], None], results: int = 20) -> paceline.Result:
    """Race, and disturb it when it has some results."""

    def wait() -> None:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            text = journal.read_text() if journal.exists() else ""
            if text.count('"kind":"results"') >= results:
                disturb()
                return
            time.sleep(0.05)

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        return race(journal)
    finally:
        thread.join()


def test_steps_that_are_cancelled_are_done_again(
    allocation: str, cluster: Cluster, tmp_path: Path
) -> None:
    def cancel() -> None:
        for _ in range(5):
            steps = re.findall(r"StepId=(\d+\.\d+)", cluster.ask("scontrol", "show", "step"))
            cluster.ask("scancel", *steps[:3])
            time.sleep(0.3)

    journal = tmp_path / "race.jsonl"
    check_same(while_racing(journal, cancel), journal, tmp_path)


def test_the_controller_is_away_for_a_while(cluster: Cluster, tmp_path: Path) -> None:
    def restart() -> None:
        cluster.kill("slurmctld")
        time.sleep(15)
        cluster.start_controller()

    journal = tmp_path / "race.jsonl"
    check_same(while_racing(journal, restart), journal, tmp_path)


def test_a_node_fails(cluster: Cluster, tmp_path: Path) -> None:
    def fail() -> None:
        """A real node takes what runs on it along."""
        cluster.kill("slurmd.n2")
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                try:
                    environment = (entry / "environ").read_bytes()
                    words = (entry / "cmdline").read_bytes()
                except OSError:
                    continue
                mine = f"SLURM_CONF={cluster.configuration}".encode() in environment
                if mine and (b"SLURMD_NODENAME=n2" in environment or b"slurmstepd-n2" in words):
                    os.kill(int(entry.name), signal.SIGKILL)

    journal = tmp_path / "race.jsonl"
    try:
        result = while_racing(journal, fail)
        sizes = [one.nodes for one in read_records(journal) if isinstance(one, PoolResized)]
        assert sizes
        assert sizes[0][1] == 0
        check_same(result, journal, tmp_path)
    finally:
        cluster.start_node("n2")


SCRIPT = """
import json, sys
from pathlib import Path
from tests.engines.slurm.test_faults import race
result = race(Path(sys.argv[1]))
print(json.dumps([result.best, result.decided]))
"""


def test_the_driver_is_killed_and_goes_on_from_the_journal(
    cluster: Cluster, tmp_path: Path
) -> None:
    journal = tmp_path / "race.jsonl"
    kills = 0
    while True:
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(journal)], stdout=subprocess.PIPE, cwd=Path.cwd()
        )
        try:
            out, _ = process.communicate(timeout=5 if kills < 3 else 120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
            continue
        break
    assert process.returncode == 0
    assert kills == 3
    best, decided = json.loads(out)
    other = undisturbed(tmp_path)
    assert (best, decided) == (other.best, other.decided)
    assert agree(recorded(journal), recorded(tmp_path / "undisturbed.jsonl"))

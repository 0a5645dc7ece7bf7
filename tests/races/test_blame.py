"""Races on a machine that kills, and is short of memory and processes: no innocent arm is out."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from paceline import Command, race
from paceline.engines.local import replacing
from paceline.errors import RaceFailed
from paceline.journal import read_records
from paceline.journal.records import ArmOut, PullFailed, PullsLost, PullsReturned, Warned
from paceline.races import read_journal
from paceline.result import Result
from tests.races.processes import MARK, gone, marked
from tests.races.virtual import VirtualEngine, pulls_of


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 0.05)


def lost(result: Result) -> str:
    (text,) = (text for text in result.warnings if "lost" in text)
    return text


def test_a_kill_from_outside_is_said_once_with_a_count_and_puts_no_arm_out(tmp_path: Path) -> None:
    def killed(arm: float, *, seed: int) -> float:
        if seed % 3 == 0 and not (tmp_path / str(seed)).exists():
            (tmp_path / str(seed)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return noisy(arm, seed=seed)

    journal = tmp_path / "race.jsonl"
    options: dict[str, Any] = {"retries": 0, "progress": False, "journal": journal}
    result = race(killed, [0.0, 1.0, 0.5], max_pulls=30, **options)
    assert result.best == 1.0
    assert result.failures == ()
    records = read_records(journal)
    count = sum(len(pulls_of(one.pulls)) for one in records if isinstance(one, PullsLost))
    assert count >= 3
    were = f"{count} pulls were lost, and not because of their arms"
    why = "(the worker process was killed by signal 9); they are done again"
    assert lost(result) == f"{were} {why}"
    assert [one.text for one in records if isinstance(one, Warned)].count(lost(result)) == 1
    assert lost(result) in read_journal(journal).standing.warnings
    again = race(killed, [0.0, 1.0, 0.5], max_pulls=31, **options)
    assert lost(again).startswith(f"{count} pulls were lost"), "it is counted from the records"


def test_a_pull_that_always_gets_its_worker_killed_puts_its_arm_out() -> None:
    def greedy(arm: float, *, seed: int) -> float:
        if arm == 2.0:
            os.kill(os.getpid(), signal.SIGKILL)
        return noisy(arm, seed=seed)

    result = race(greedy, [0.0, 1.0, 2.0], max_pulls=30, retries=0, cores=2, progress=False)
    assert [record.status == "failed" for record in result.arms] == [False, False, True]
    assert result.arms[2].failure == (
        "the worker process was killed by signal 9, each of 3 times (out of memory?)"
    )
    assert result.best == 1.0


def test_a_command_that_is_killed_now_and_then_is_done_again(tmp_path: Path) -> None:
    command = Command.parse(
        "x={x}; s={seed}; "
        "if [ $((s % 3)) = 0 ] && mkdir killed-$s 2>/dev/null; then kill -9 $$; fi; "
        "echo $x.$((s % 10))",
        shell=True,
        cwd=str(tmp_path),
    )
    arms = [{"x": 1}, {"x": 5}, {"x": 3}]
    result = race(command, arms, max_pulls=20, retries=0, progress=False)
    assert result.failures == ()
    assert result.best == {"x": 5}
    assert "(was ended by signal 9)" in lost(result)


def test_what_an_arm_leaves_in_a_worker_puts_no_other_arm_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread of one arm ends the process while a pull of another runs."""
    monkeypatch.setattr(replacing, "_GRACE_SECONDS", 0.0)  # workers with threads are kept

    def leaves_a_bomb(arm: float, *, seed: int) -> float:
        if arm == 0.0 and not (tmp_path / "bomb").exists():
            (tmp_path / "bomb").touch()
            threading.Timer(0.2, os.abort).start()
        elif arm > 0.0:
            time.sleep(0.4)
        return noisy(arm, seed=seed)

    result = race(leaves_a_bomb, [0.0, 1.0], max_pulls=8, retries=0, cores=1, progress=False)
    assert result.failures == ()
    assert result.best == 1.0
    assert "(the worker process ended with signal 6)" in lost(result)


def test_damage_that_makes_other_arms_raise_puts_none_out() -> None:
    """The last attempt at a pull, which would put its arm out, has a worker of its own."""

    def damages(arm: float, *, seed: int) -> float:
        if arm == 0.0:
            os.environ["DAMAGED"] = "yes"
        elif "DAMAGED" in os.environ:
            raise RuntimeError("damaged")
        return noisy(arm, seed=seed)

    result = race(damages, [0.0, 1.0], max_pulls=12, retries=1, cores=1, progress=False)
    assert [record.status for record in result.arms].count("failed") == 0
    assert result.best == 1.0
    assert result.failures, "else nothing was tested"


def test_memory_that_others_use_is_not_charged_and_memory_that_is_never_there_is(
    tmp_path: Path,
) -> None:
    """The second arm needs memory that is there only while nothing else runs."""

    def needs_memory(arm: float, *, seed: int) -> float:
        here = tmp_path / str(os.getpid())
        here.touch()
        time.sleep(0.05)
        others = len(list(tmp_path.iterdir())) - 1
        try:
            if arm == 2.0:
                resource.setrlimit(resource.RLIMIT_AS, (1 << 29, resource.RLIM_INFINITY))
                bytearray(1 << 40)
            if arm == 1.0 and others:
                raise MemoryError
            return noisy(arm, seed=seed)
        finally:
            here.unlink()

    arms = [0.0, 1.0, 2.0]
    result = race(needs_memory, arms, max_pulls=24, retries=0, cores=2, progress=False)
    assert [record.status == "failed" for record in result.arms] == [False, False, True]
    assert "MemoryError" in result.arms[2].failure
    assert result.best == 1.0


def test_all_workers_are_killed_again_and_again_and_nothing_is_lost(tmp_path: Path) -> None:
    script = (
        "import json, random, sys, time\n"
        "import paceline\n"
        "def slow(arm, *, seed):\n"
        "    time.sleep(0.02)\n"
        "    return arm + random.Random(seed).gauss(0, 0.5)\n"
        "pool = paceline.CorePool(2, lambda cores: 0.02)\n"
        "result = paceline.race(\n"
        "    slow, [0.0, 0.1, 0.3], confidence=0.9, max_pulls=300, cores=2, retries=0,\n"
        "    sigma=0.5, scaling=pool, journal=sys.argv[1], progress=False)\n"
        "print(json.dumps([result.best, result.rounds, result.failures, result.verdict]))\n"
    )

    def start(name: str, mark: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / name)],
            env=os.environ | {MARK: mark},
            stdout=subprocess.PIPE,
        )

    def answer(process: "subprocess.Popen[bytes]") -> Any:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        return json.loads(out)

    mark = uuid.uuid4().hex
    undisturbed = answer(start("undisturbed.jsonl", mark))
    journal = tmp_path / "race.jsonl"
    process, kills, known = start("race.jsonl", mark), 0, 0
    while process.poll() is None and kills < 12:
        # Values between the kills: a pull that is killed again and again would be suspected.
        values = journal.read_bytes().count(b'"results"') if journal.exists() else 0
        if values >= known + 4:
            for pid in workers_of(process.pid, mark):
                os.kill(pid, signal.SIGKILL)
            kills, known = kills + 1, values
        time.sleep(0.01)
    assert answer(process) == undisturbed
    assert kills >= 5
    records = read_records(journal)
    assert not [one for one in records if isinstance(one, ArmOut | PullFailed)]
    assert [one for one in records if isinstance(one, PullsLost)]
    seen = Counter(
        p for one in records if isinstance(one, PullsReturned) for p in pulls_of(one.pulls)
    )
    assert set(seen.values()) == {1}
    assert gone(mark)


def workers_of(driver: int, mark: str) -> list[int]:
    """The processes below the supervisor, which is the only child of the driver."""

    def parent(pid: int) -> int:
        try:
            return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return 0

    parents = {pid: parent(pid) for pid in marked(mark)}
    supervisors = {pid for pid, above in parents.items() if above == driver}
    return [pid for pid, above in parents.items() if above in supervisors]


# A machine that has no process left.

CROWDED = """
import ctypes, json, os, resource, struct, sys, threading, time
import paceline
import paceline.pools.setbacks as setbacks
from paceline.errors import RaceFailed

def evaluate(arm, *, seed):
    return arm + seed % 10 / 100

def become_limited(uid, processes):
    # Root may always fork: be somebody else, by name, and give up what would allow it.
    libc = ctypes.CDLL(None)
    resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
    drop_from_bounds, privileges = 24, (21, 24)  # CAP_SYS_ADMIN and CAP_SYS_RESOURCE
    for one in privileges:
        assert libc.prctl(drop_from_bounds, one, 0, 0, 0) == 0
    os.setresuid(uid, 0, 0)
    version_3, mine = 0x20080522, ctypes.create_string_buffer(24)
    assert libc.capget(struct.pack("Ii", version_3, 0), mine) == 0
    sets = list(struct.unpack("6I", mine.raw))
    for place in range(3):
        sets[place] &= ~sum(1 << one for one in privileges)
    assert libc.capset(struct.pack("Ii", version_3, 0), struct.pack("6I", *sets)) == 0

journal, losses, uid = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
setbacks._MOST_IN_A_ROW = losses
become_limited(uid, processes=7)  # the driver, the supervisor, and five threads for a while

def wait_for_room():
    while not os.path.exists(journal + ".room"):
        time.sleep(0.02)

for _ in range(5):
    threading.Thread(target=wait_for_room, daemon=True).start()
try:
    result = paceline.race(
        evaluate, [0.0, 1.0], max_pulls=20, retries=0, cores=2, journal=journal, progress=False)
    print(json.dumps([result.best, result.failures, result.warnings]))
except RaceFailed as error:
    print(json.dumps(str(error)))
"""

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user of its own")


def crowded(journal: Path, losses: int) -> "subprocess.Popen[str]":
    """A race of a user who has no processes left; after so many losses in a row it stops."""
    uid = 1_900_000_000 + random.SystemRandom().randrange(10_000_000)  # of nobody else
    return subprocess.Popen(
        [sys.executable, "-c", CROWDED, str(journal), str(losses), str(uid)],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # threads count as processes
        stdout=subprocess.PIPE,
        text=True,
    )


@needs_root
def test_where_no_worker_can_be_forked_the_race_stops_and_no_arm_is_out(tmp_path: Path) -> None:
    process = crowded(tmp_path / "race.jsonl", losses=4)
    out, _ = process.communicate(timeout=60)
    text = json.loads(out)
    assert "no pull can be run on this machine: a worker could not be started" in text
    assert "Resource temporarily unavailable (4 times in a row" in text
    assert "the race can be resumed from it" in text
    records = read_records(tmp_path / "race.jsonl")
    assert not [one for one in records if isinstance(one, ArmOut | PullFailed)]
    assert {one.what for one in records if isinstance(one, PullsLost)} == {"machine"}


@needs_root
def test_a_race_goes_on_when_workers_can_be_forked_again(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    process = crowded(journal, losses=40)
    give_up = time.monotonic() + 60
    while not (journal.exists() and '"lost"' in journal.read_text()):
        assert time.monotonic() < give_up
        assert process.poll() is None
        time.sleep(0.02)
    Path(f"{journal}.room").touch()
    out, _ = process.communicate(timeout=60)
    best, failures, warnings = json.loads(out)
    assert (best, failures) == (1.0, [])
    assert any("could not be started: [Errno 11]" in text for text in warnings)


def test_workers_that_cannot_be_had_at_all_are_an_error_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(self: Any, workload: Any, cores: int) -> Any:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(VirtualEngine, "open", none)
    journal = tmp_path / "race.jsonl"
    with pytest.raises(
        RaceFailed, match=r"(?s)the workers cannot be started: .*can be resumed from it"
    ):
        race(noisy, [0.0, 1.0], engine=VirtualEngine(), journal=journal, progress=False)

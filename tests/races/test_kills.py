"""Kill the race at random moments, with -9, and resume it: nothing is lost or counts twice."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from pathlib import Path

from paceline.journal import read_records
from paceline.journal.records import PullsReturned
from tests.races.processes import MARK, gone, marked
from tests.races.virtual import pulls_of

CYCLES = int(os.environ.get("PACELINE_KILLS", "30"))

SCRIPT = """
import json, random, sys, time
import paceline

def evaluate(arm, *, seed):
    time.sleep(0.004)
    return arm + random.Random(seed).gauss(0, 0.3)

result = paceline.race(
    evaluate, [0.0, 0.1, 0.6, 0.3, 0.5], confidence=0.9, cores=4, retries=50, sigma=0.3,
    scaling=paceline.CorePool(4, lambda cores: 0.005), journal=sys.argv[1], progress=False,
)
print(json.dumps([result.best, result.rounds, result.verdict, result.confidence]))
"""


def start(journal: Path, mark: str) -> "subprocess.Popen[bytes]":
    environment = os.environ | {MARK: mark}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(journal)], env=environment, stdout=subprocess.PIPE
    )


def answer(process: "subprocess.Popen[bytes]") -> object:
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return json.loads(out)


def recorded(journal: Path) -> dict[tuple[int, int], float]:
    found: dict[tuple[int, int], float] = {}
    seen: Counter[tuple[int, int]] = Counter()
    for record in read_records(journal) if journal.exists() else []:
        if isinstance(record, PullsReturned):
            pulls = pulls_of(record.pulls)
            found |= dict(zip(pulls, record.values, strict=True))
            seen.update(pulls)
    assert all(count == 1 for count in seen.values()), "a pull was counted twice"
    return found


def test_kills_change_nothing(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    undisturbed = answer(start(tmp_path / "undisturbed.jsonl", mark))
    journal = tmp_path / "race.jsonl"
    rng = random.Random(4)
    before: dict[tuple[int, int], float] = {}
    kills = Counter[str]()
    while kills["driver"] < CYCLES:
        process = start(journal, mark)
        time.sleep(rng.uniform(0.25, 0.75))
        if process.poll() is not None:
            assert answer(process) == undisturbed
            journal = tmp_path / f"race-{kills.total()}.jsonl"  # it was done: begin another
            before = {}
            continue
        if rng.random() < 0.5:
            workers = [pid for pid in marked(mark) if pid != process.pid]
            for pid in rng.sample(workers, k=min(len(workers), 2)):
                _kill(pid)
            kills["workers"] += 1
            time.sleep(rng.uniform(0.0, 0.2))
        process.kill()
        process.communicate()
        kills["driver"] += 1
        assert gone(mark), "workers outlived their driver"
        after = recorded(journal)
        assert before.items() <= after.items(), "a recorded result was lost or changed"
        before = after
    assert answer(start(journal, mark)) == undisturbed
    assert recorded(journal).items() >= before.items()
    assert kills["workers"] >= CYCLES // 4
    assert gone(mark)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def test_an_interrupt_says_how_to_go_on_and_leaves_nothing(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    journal = tmp_path / "race.jsonl"
    script = (
        "import paceline, sys, time\n"
        "def slow(arm):\n    time.sleep(0.3)\n    return arm\n"
        "try:\n"
        "    paceline.race(slow, [1, 2], deadline=60, journal=sys.argv[1], progress=False)\n"
        "except KeyboardInterrupt as error:\n    print(error)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(journal)],
        env=os.environ | {MARK: mark},
        stdout=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 20
    while not (journal.exists() and "results" in journal.read_text()):
        assert time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert "interrupted after" in out
    assert str(journal) in out
    assert "call race again with the same arguments" in out
    assert gone(mark)

"""Kill any process of a race, at any moment, and resume it: nothing may be lost or change."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from paceline.journal import read_records
from paceline.journal.records import ArmOut, PullsReturned
from tests.chaos.account import Account
from tests.chaos.processes import MARK, by_role, end_all, gone, new_mark, send
from tests.chaos.victim import BEST
from tests.races.virtual import pulls_of

KINDS = ("function", "function with child", "command")
GOALS = ("confidence", "deadline")

# Who is killed at one moment. Without the driver, the race has to go on.
TARGETS: tuple[tuple[str, ...], ...] = (
    ("driver",),
    ("driver",),
    ("driver", "supervisor"),
    ("driver", "worker"),
    ("driver", "keeper"),
    ("supervisor",),
    ("supervisor", "worker"),
    ("template",),
    ("template", "supervisor"),
    ("template", "keeper"),
    ("driver", "template"),
    ("keeper",),
    ("worker",),
    ("worker",),
    ("pull",),
    ("pull",),
)
_EARLY_SHARE = 0.2  # of the kills that come before there are workers
_ENOUGH_PULLS = 400  # for a race with a deadline to name the best
# What a resume may change without changing who is best.
CHANGES: tuple[dict[str, Any], ...] = (
    {"cores": 1},
    {"cores": 2},
    {"cores": 7},
    {"retries": 5},
    {"timeout": 20},
    {"cores_per_pull": 1},
    {"max_pulls": 10**6},
    {"on_failure": "stop"},
)
_LONGEST_RACE_SECONDS = 90.0

Values = dict[tuple[int, int], float]


class Race:
    """A race of one kind, which is killed and resumed until it has its verdict."""

    def __init__(
        self, kind: str, goal: str, folder: Path, rng: random.Random, account: Account
    ) -> None:
        self.name = f"{kind}, {goal}"
        self._options = {"kind": kind, "goal": goal}
        self._folder = folder
        self._rng = rng
        self._account = account
        self._mark = new_mark(rng)
        # A race with a deadline answers with whatever was back by then.
        self._expected = self._undisturbed() if goal == "confidence" else None
        self._count = 0
        self._begin()

    def _begin(self) -> None:
        self._count += 1
        self._journal = self._folder / f"{self._count}.jsonl"
        self._before: Values = {}
        self._changed = False

    def attack_once(self) -> None:
        """Start or resume the race, and kill some of it, until the driver is gone or done."""
        changes: dict[str, Any] = {}
        if self._journal.exists():
            self._account.tried_one("resumed")
            if self._rng.random() < 0.15:
                changes = self._rng.choice(CHANGES)
                self._changed = True
                self._account.tried_one("resumed with a changed option")
        process = self._start(self._journal, changes)
        began = time.monotonic()
        while process.poll() is None:
            time.sleep(self._rng.uniform(0.0, 0.8))
            self._kill(process)
            if time.monotonic() - began > _LONGEST_RACE_SECONDS:
                self._account.broke(f"{self.name}: a race did not end")
                process.kill()
        self._look_after(process)

    def _kill(self, process: "subprocess.Popen[str]") -> None:
        roles, rng = by_role(process.pid), self._rng
        targets = rng.choice([one for one in TARGETS if all(roles[role] for role in one)])
        if process.poll() is not None or (not roles["worker"] and rng.random() > _EARLY_SHARE):
            return
        for role in targets:
            send(rng.choice(roles[role]), signal.SIGKILL)
        self._account.tried_one(f"killed: {' and '.join(targets)}")
        if "driver" in targets:
            process.wait()

    def _look_after(self, process: "subprocess.Popen[str]") -> None:
        """Look at what a session left."""
        out, errors = process.communicate()
        expect, where = self._account.expect, f"{self.name}, {self._journal}"
        expect(gone(self._mark), f"{where}: processes were left behind")
        end_all(self._mark)
        after = self._recorded(where)
        expect(self._before.items() <= after.items(), f"{where}: a recorded value was lost")
        self._before = after
        if process.returncode == -signal.SIGKILL:
            return
        expect(process.returncode == 0, f"{where}: status {process.returncode}: {errors[-2000:]}")
        if process.returncode == 0:
            self._account.tried_one("races that came to their verdict")
            answer = json.loads(out)
            if self._expected is not None or len(after) >= _ENOUGH_PULLS:
                expect(answer[0] == BEST, f"{where}: answered {answer}")
            if self._expected is not None and not self._changed:
                expect(answer == self._expected[0], f"{where}: {answer}, not {self._expected[0]}")
        self._begin()

    def _recorded(self, where: str) -> Values:
        found: Values = {}
        seen: Counter[tuple[int, int]] = Counter()
        for record in read_records(self._journal) if self._journal.exists() else []:
            if isinstance(record, PullsReturned):
                pulls = pulls_of(record.pulls)
                seen.update(pulls)
                found |= dict(zip(pulls, record.values, strict=True))
            self._account.expect(not isinstance(record, ArmOut), f"{where}: an arm is out")
        twice = [pull for pull, count in seen.items() if count > 1]
        self._account.expect(not twice, f"{where}: recorded twice: {twice[:3]}")
        if self._expected is not None:
            known = self._expected[1]
            wrong = [pull for pull in found.keys() & known.keys() if found[pull] != known[pull]]
            self._account.expect(not wrong, f"{where}: other values: {wrong[:3]}")
        return found

    def _undisturbed(self) -> tuple[Any, Values]:
        self._expected = None
        self._journal = self._folder / "undisturbed.jsonl"
        process = self._start(self._journal, {})
        out, errors = process.communicate()
        if process.returncode != 0:
            raise RuntimeError(f"{self.name}: an undisturbed race failed: {errors}")
        return json.loads(out), self._recorded(f"{self.name}, undisturbed")

    def _start(self, journal: Path, changes: dict[str, Any]) -> "subprocess.Popen[str]":
        words = [str(journal), json.dumps(self._options | changes)]
        return subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.victim", *words],
            env=os.environ | {MARK: self._mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

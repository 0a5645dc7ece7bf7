"""Races in which one arm does harm: `python -m tests.chaos.hostility NAME` runs one of them."""

import os
import random
import subprocess
import sys
import tempfile
from typing import Any

import paceline
from tests.chaos.account import Account
from tests.chaos.processes import MARK, end_all, gone, new_mark
from tests.races.hostile import COMMANDS, FUNCTIONS, Pull, shell_command

_LONGEST_SECONDS = 60.0


def attack_with_hostile_pulls(rng: random.Random, account: Account) -> None:
    """Run a race with a hostile arm: the best of the others is named, and nothing is left."""
    kind = rng.choice(("function", "command"))
    choice = FUNCTIONS if kind == "function" else COMMANDS
    name = rng.choice(sorted(choice))
    mark = new_mark(rng)
    account.tried_one(f"races with a hostile {kind}")
    where = f"a {kind} that {name.replace('_', ' ')}"
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "tests.chaos.hostility", kind, name, folder]
        try:
            ran = subprocess.run(
                words,
                env=os.environ | {MARK: mark},
                timeout=_LONGEST_SECONDS,
                capture_output=True,
                text=True,
            )
        except subprocess.TimeoutExpired:
            account.broke(f"{where}: the race did not end")
        else:
            best = ("2", "0") if choice[name].works else ("2",)
            good = ran.returncode == 0 and ran.stdout.strip() in best
            account.expect(good, f"{where}: {ran.returncode} {ran.stdout} {ran.stderr[-1500:]}")
        account.expect(gone(mark), f"{where}: processes were left behind")
        end_all(mark)


def race_with(kind: str, name: str, folder: str) -> paceline.Result:
    """The race: arm 0 is hostile, arm 2 the best of the others."""
    hostile = (FUNCTIONS if kind == "function" else COMMANDS)[name]
    options: dict[str, Any] = {"confidence": 0.9, "cores": 3, "retries": 1, "progress": False}
    options["timeout"] = 2 if hostile.hangs else 20
    if kind == "function":
        return paceline.race(Pull(name), [0, 1, 2], **options)
    command = paceline.Command.parse(
        shell_command(name), shell=True, cwd=folder, value=hostile.value
    )
    arms = [{"x": arm} for arm in range(3)]
    return paceline.race(command, arms, **options)


if __name__ == "__main__":
    print(race_with(*sys.argv[1:]).index)

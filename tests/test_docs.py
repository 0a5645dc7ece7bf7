"""The commands that the README shows are run, as they stand."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
VERBS = ("race", "run", "check", "profile", "plan", "simulate")


def shown(page: str) -> list[str]:
    lines = re.findall(r"^    (paceline .*)$", (ROOT / page).read_text(), re.MULTILINE)
    return [line.partition("   #")[0].strip() for line in lines if line.split()[1] in VERBS]


@pytest.mark.parametrize("line", shown("README.md"))
def test_a_command_of_the_readme_runs(line: str) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        shlex.split(line),
        cwd=ROOT,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_readme_shows_all_ways_to_race() -> None:
    verbs = {line.split()[1] for line in shown("README.md")}
    assert verbs >= {"race", "run", "check", "profile"}

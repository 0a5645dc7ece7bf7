"""Ctrl-C on engines that start a cluster of their own: it all ends, and the journal is whole."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from paceline.journal import read_records
from paceline.journal.records import PullsReturned
from paceline.races import read_journal
from tests.races.processes import MARK, gone

_COMMAND = "x={x}; sleep 0.3; echo $x"


@pytest.fixture
def short_folder() -> Iterator[str]:
    """One whose name leaves room for that of a socket."""
    with tempfile.TemporaryDirectory(prefix="r", ignore_cleanup_errors=True) as name:
        yield name


@pytest.mark.parametrize("engine", ["dask", pytest.param("ray", marks=pytest.mark.engines)])
def test_a_ctrl_c_in_a_terminal_ends_it_all_and_the_race_resumes(
    engine: str, tmp_path: Path, short_folder: str
) -> None:
    """A terminal interrupts all processes of its group; whoever waits presses it again."""
    pytest.importorskip({"dask": "distributed"}.get(engine, engine))
    journal, mark = tmp_path / "race.jsonl", uuid.uuid4().hex
    words = [_COMMAND, "--shell", "-L", "x", "1,2,3", "--max-pulls", "400", "--engine", engine]
    alone = {
        MARK: mark,
        "RAY_TMPDIR": short_folder,  # no other Ray of this machine is found there
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "disabled",
    }
    race = subprocess.Popen(
        [sys.executable, "-m", "paceline", "race", *words, "--journal", str(journal)],
        env=os.environ | alone,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    give_up = time.monotonic() + 120
    while not (journal.exists() and '"results"' in journal.read_text()):
        assert race.poll() is None, race.communicate()[1]
        assert time.monotonic() < give_up
        time.sleep(0.1)
    for _ in range(3):
        if race.poll() is None:
            os.killpg(race.pid, signal.SIGINT)
        time.sleep(0.4)
    said = race.communicate(timeout=60)[1]
    assert race.returncode == 130, said
    assert f"paceline resume {journal}" in said
    assert gone(mark, 30.0)
    known = [one for one in read_records(journal) if isinstance(one, PullsReturned)]
    standing = read_journal(journal).standing
    assert standing.pulls == sum(len(one.values) for one in known) > 0

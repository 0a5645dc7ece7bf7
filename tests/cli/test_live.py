"""`--live`: a page beside a race, for as long as the race's command runs."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from paceline.cli import main
from tests.live.servers import SECONDS, Server, Viewer
from tests.races.processes import MARK, gone

# Every pull waits for a file, so that a race lasts as long as a test wants; the value is noisy.
WAITING = (
    'awk -v x={{x}} -v s={{seed}} \'BEGIN {{{{ system("until [ -e {go} ]; do sleep 0.05; done"); '
    "srand(s); print x + rand() }}}}'"
)


@contextlib.contextmanager
def racing(words: list[str], mark: str) -> Iterator[tuple["subprocess.Popen[str]", Server, str]]:
    """A race with a live page; and what was said before that."""
    race = subprocess.Popen(
        [sys.executable, "-m", "paceline", *words, "--live", "-q"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {MARK: mark},
    )
    try:
        assert race.stderr is not None
        said = ""
        while not (found := re.search(r"live page: (http://localhost:\d+/)\n", said)):
            line = race.stderr.readline()
            assert line, said
            said += line
        server = Server(race, found[1])
        with server.connections:
            yield race, server, said
    finally:
        race.kill()
        race.communicate()
        assert gone(mark, SECONDS)


def test_a_page_until_the_race_is_over(tmp_path: Path) -> None:
    go = tmp_path / "go"
    words = ["race", WAITING.format(go=go), "-L", "x", "1,1.2", "--max-pulls", "40"]
    with racing(words, "over") as (race, server, said):
        viewer = Viewer(server)
        viewer.until("status", "running")
        go.touch()
        viewer.until("update")
        assert viewer.until("bye")["state"] == "undecided"
        assert race.wait(SECONDS) == 3
        found = re.match(r"journal: (.*/paceline-.*/race\.jsonl) \(-j FILE", said)
        assert found is not None
        journal = Path(found[1])
        assert main(["show", str(journal)]) == 0  # it can be looked at, and resumed
        journal.unlink()
        journal.parent.rmdir()


def test_a_race_that_is_killed_leaves_its_page_and_no_process(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    words = ["race", WAITING.format(go=tmp_path / "go"), "-L", "x", "1,1.2", "-j", str(journal)]
    with racing(words, "killed") as (race, server, _):
        viewer = Viewer(server)
        viewer.until("status", "running")
        race.kill()
        said = viewer.until("bye")
        assert (said["state"], said["command"]) == ("stopped", f"paceline resume {journal}")
        assert gone("killed", SECONDS)
        port = server.port
    with racing(["resume", str(journal)], "resumed") as (race, server, said):
        assert server.port == port
        assert said.startswith("live page: ")
        Viewer(server).until("status", "running")
        race.send_signal(signal.SIGINT)  # it is for the race, which says goodbye itself
        assert race.wait(SECONDS) == 130


def test_what_is_refused_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["race", "echo {x}", "-L", "x", "1,2", "--live", "--bounds", "2,1"]) == 2
    assert "bounds" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_race_that_is_submitted_is_followed_by_another_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    words = ["race", "echo {x}", "-L", "x", "1,2", "-j", str(tmp_path / "race.jsonl")]
    assert main([*words, "--engine", "slurm", "--nodes", "2", "--live"]) == 2
    assert "run paceline live JOURNAL beside it" in capsys.readouterr().err


def test_without_its_libraries_nothing_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["race", "echo {x}", "-L", "x", "1,2", "--live"]) == 2
    assert "a live page needs starlette and uvicorn and bokeh" in capsys.readouterr().err

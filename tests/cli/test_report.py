import os
import subprocess
from pathlib import Path

import pytest

from paceline.cli import main
from tests.cli.test_race import NOISY


@pytest.fixture
def journal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "race.jsonl"
    assert main(["race", NOISY, "-L", "x", "0,5", "--bounds", "0,6", "-j", str(path), "-q"]) == 0
    capfd.readouterr()
    return path


def test_the_page_of_a_journal(
    journal: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(journal.parent)
    assert main(["report", "race.jsonl"]) == 0
    said = capfd.readouterr().out
    assert said.startswith("wrote race.html (")
    text = (journal.parent / "race.html").read_text(encoding="utf-8")
    assert "x=5 has the highest mean, with probability at least 0.95" in text
    assert main(["report", str(journal), "-o", "other.html"]) == 0
    assert (journal.parent / "other.html").exists()


def test_the_page_never_replaces_its_journal(
    journal: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = journal.read_bytes()
    assert main(["report", str(journal), "-o", str(journal)]) == 2
    assert "is the journal itself" in capfd.readouterr().err
    assert journal.read_bytes() == before


def test_a_page_that_cannot_be_written(journal: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(journal), "-o", str(journal.parent)]) == 2
    assert "it is a folder" in capfd.readouterr().err
    assert main(["report", str(journal), "-o", "/nowhere/race.html"]) == 2
    assert "there is no folder /nowhere" in capfd.readouterr().err
    assert main(["report", "/nowhere/race.jsonl", "-o", str(journal.parent / "x.html")]) == 2
    assert "cannot read the journal" in capfd.readouterr().err


def test_pipes_stay_pipes_and_links_are_followed(journal: Path) -> None:
    pipe, link = journal.parent / "pipe", journal.parent / "link.html"
    os.mkfifo(pipe)
    with subprocess.Popen(["tail", "-n", "1", str(pipe)], stdout=subprocess.PIPE) as reader:
        assert main(["report", str(journal), "-o", str(pipe)]) == 0
        assert b"</html>" in reader.communicate()[0]
    assert pipe.is_fifo()
    link.symlink_to("target.html")
    assert main(["report", str(journal), "-o", str(link)]) == 0
    assert link.is_symlink()
    assert "</html>" in (journal.parent / "target.html").read_text(encoding="utf-8")

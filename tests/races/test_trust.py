"""To resume a race is to run the commands in its journal: not unasked, if others could write it."""

import os
from pathlib import Path

import pytest

import paceline
from paceline import Command, InvalidInput
from paceline.cli import main


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A race that is not over, of a command that leaves a trace."""
    path, trace = tmp_path / "race.jsonl", tmp_path / "trace"
    command = Command.parse(
        ["sh", "-c", f"echo ran >> {trace}; echo $0", "{x}"],
        cwd=tmp_path,
        environment=["MODE=very fast"],
    )
    paceline.race(command, [{"x": x} for x in range(12)], journal=path, max_pulls=12)
    trace.unlink()
    return path


def belongs_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)


def refused(journal: Path, match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        paceline.resume(journal, max_pulls=24)
    assert not (journal.parent / "trace").exists()


def test_the_journal_of_another_user_is_not_run_unasked(
    journal: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    belongs_to_another(monkeypatch)
    before = journal.read_bytes()
    refused(journal, "belongs to the user .*, and to resume it is to run its commands")
    assert main(["resume", str(journal), "--max-pulls", "24"]) == 2
    err = capfd.readouterr().err
    assert f"in {journal.parent}\n" in err
    assert "MODE='very fast'\n" in err
    assert err.count("echo ran >> ") == 10
    assert "… and 2 more" in err
    assert "say --trust, or trust=True in Python" in err
    assert journal.read_bytes() == before
    assert main(["show", str(journal)]) == 0  # reading runs nothing
    assert not (journal.parent / "trace").exists()
    assert main(["resume", str(journal), "--max-pulls", "24", "--trust"]) in (0, 3)
    assert (journal.parent / "trace").exists()


def test_in_python_trust_is_said_as_well(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    belongs_to_another(monkeypatch)
    with pytest.raises(InvalidInput, match="trust must be true or false"):
        paceline.resume(journal, trust="yes", max_pulls=24)  # type: ignore[arg-type]
    assert paceline.resume(journal, trust=True, max_pulls=24).pulls > 12


def test_a_journal_that_everybody_may_write_is_not_run_unasked(journal: Path) -> None:
    journal.chmod(0o666)
    refused(journal, "can be written by every user of this machine")
    journal.chmod(0o664)  # a group may: often that is the user alone
    assert paceline.resume(journal, max_pulls=24).pulls > 12


def test_race_with_the_same_command_needs_no_trust(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command is the user's own; that of the journal is only compared with it."""
    belongs_to_another(monkeypatch)
    with pytest.raises(InvalidInput, match="belongs to another race"):
        paceline.race(
            Command.parse("echo {x}"), [{"x": x} for x in range(12)], journal=journal, max_pulls=24
        )
    assert not (journal.parent / "trace").exists()

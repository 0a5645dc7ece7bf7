import json
from pathlib import Path
from typing import Any

import pytest

from paceline.cli import main
from tests.cli.made_up import result
from tests.cli.test_race import NOISY


def test_only_what_is_given_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def resume(path: str, progress: Any, **changes: Any) -> Any:
        asked.append({"path": path} | changes)
        return result(decided=len(asked) < 2)

    monkeypatch.setattr("paceline.races.resume", resume)
    assert main(["resume", "j"]) == 0
    assert main(["resume", "j", "-d", "5m", "--max-pulls", "9", "--cores", "2"]) == 3
    assert asked == [{"path": "j"}, {"path": "j", "deadline": "5m", "max_pulls": 9, "cores": 2}]


def test_a_race_goes_on_from_its_journal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    journal = str(tmp_path / "race.jsonl")
    options = ["--bounds", "0,6", "-j", journal, "--max-pulls", "4", "--json"]
    assert main(["race", NOISY, "-L", "x", "0,5", *options]) == 3
    before = json.loads(capfd.readouterr().out)["pulls"]
    more = ["--max-pulls", "100000"]
    assert main(["resume", journal, *more, "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["best"] == "x=5"
    assert found["pulls"] > before
    assert main(["resume", journal, *more, "-q"]) == 0  # it is over, and says the same again
    assert capfd.readouterr().out == "x=5\n"


def test_a_tolerance_may_be_lowered_and_not_raised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = str(tmp_path / "race.jsonl")
    options = ["--bounds", "0,6", "-j", journal, "--tolerance", "0.5", "--quiet"]
    assert main(["race", NOISY, "-L", "x", "0,5", *options]) == 0
    assert main(["resume", journal, "--tolerance", "0.6"]) == 2
    assert "only if it is lowered" in capsys.readouterr().err
    assert main(["resume", journal, "--tolerance", "0.25"]) == 0
    out = capsys.readouterr().out
    assert "(resumed with tolerance=0.25, was 0.5)" in out
    assert "(or is within 0.25 of it), with probability at least 0.95" in out
    with pytest.raises(SystemExit):
        main(["resume", "--help"])
    assert "may only be lowered" in " ".join(capsys.readouterr().out.split())


def test_what_is_no_journal_exits_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["resume", str(tmp_path / "nowhere")]) == 2
    assert "cannot read the journal" in capsys.readouterr().err
    (tmp_path / "text").write_text("Dear diary,\n")
    assert main(["resume", str(tmp_path / "text")]) == 2
    assert "is not a journal" in capsys.readouterr().err

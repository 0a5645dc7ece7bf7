import csv
import fcntl
import json
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


def test_a_finished_race(journal: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(journal)]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].split() == ["arm", "mean", "interval", "pulls", "status"]
    assert lines[1].split()[0] == "x=5"
    assert lines[1].split()[-1] == "best"
    assert "x=5 has the highest mean, with probability at least 0.95" in lines
    assert "state  finished" in lines


def test_a_race_that_was_killed(journal: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ending = journal.read_text().splitlines()[-1]
    assert json.loads(ending)["kind"] == "ending"
    journal.write_text(journal.read_text().removesuffix(ending + "\n"))
    assert main(["show", str(journal)]) == 0
    assert (
        f"not finished and not running; to resume it: paceline resume {journal}"
        in capfd.readouterr().out
    )
    with journal.open("rb") as stream:  # as the process that races does
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert main(["show", str(journal), "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["state"], found["verdict"]) == ("running", None)
    assert [arm["label"] for arm in found["arms"]] == ["x=0", "x=5"]
    assert found["pulls"] == sum(arm["pulls"] for arm in found["arms"])


def test_a_race_whose_arms_all_failed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    journal = tmp_path / "race.jsonl"
    options = ["-L", "x", "1,2", "--retries", "0", "-j", str(journal), "-q"]
    assert main(["race", "sh -c 'exit {x}'", *options]) == 4
    capfd.readouterr()
    assert main(["show", str(journal)]) == 0
    out = capfd.readouterr().out
    assert out.count("  failed\n") == 2
    assert f"to resume it: paceline resume {journal}" in out
    assert main(["show", "--json", str(journal)]) == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["state"], found["chosen"]) == ("unfinished", [])
    assert {arm["status"] for arm in found["arms"]} == {"failed"}


@pytest.mark.parametrize("top", ["1", "2"])
def test_an_undecided_race_names_those_who_lead(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], top: str
) -> None:
    journal = tmp_path / "race.jsonl"
    options = ["-L", "x", "1,3,2", "--bounds", "0,90", "--max-pulls", "9", "--top", top]
    assert main(["race", "echo {x}", *options, "-j", str(journal), "--json", "-q"]) == 3
    ended = json.loads(capfd.readouterr().out)
    assert main(["show", "--json", str(journal)]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert shown["state"] == "undecided"
    for key in ("chosen", "still_in", "decided", "confidence", "core_seconds", "elapsed"):
        assert shown[key] == ended[key], key
    assert shown["core_time"] == pytest.approx(ended["core_time"], abs=1e-4)
    assert ended["chosen"] == [1, 2][: int(top)]


def test_no_journal_exits_with_2(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "/nowhere/race.jsonl"]) == 2
    assert "cannot read the journal" in capfd.readouterr().err


def exported(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_standings_are_printed_in_a_format_or_written_to_a_file(
    journal: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["show", str(journal), "--export", "csv"]) == 0
    rows = exported(capfd.readouterr().out)
    assert [row["x"] for row in rows] == ["5", "0"], "the best first, with parameters"
    assert main(["show", str(journal), "--export", "md"]) == 0
    assert capfd.readouterr().out.splitlines()[0].startswith("| ")
    assert main(["show", str(journal), "--export", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["best"] == "x=5"
    files = [tmp_path / "arms.csv", tmp_path / "pulls.csv"]
    flags = ["--export", str(files[0]), "--export-values", str(files[1])]
    assert main(["show", str(journal), *flags]) == 0
    assert "state  finished" in capfd.readouterr().out, "files do not replace the standings"
    assert exported(files[0].read_text()) == rows
    pulls = exported(files[1].read_text())
    assert {row["x"] for row in pulls} == {"0", "5"}
    assert len(pulls) == sum(int(row["pulls"]) for row in rows)


def test_every_pull_is_printed(journal: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for lines in (journal.read_text(), "".join(journal.read_text().splitlines(True)[:-1])):
        journal.write_text(lines)  # ended, and as it stands
        assert main(["show", str(journal), "--export-values", "csv"]) == 0
        rows = exported(capfd.readouterr().out)
        assert all(0 <= float(row["value"]) <= 6 for row in rows)
        assert main(["show", str(journal), "--export-values", "json"]) == 0
        assert [one["seed"] for one in json.loads(capfd.readouterr().out)] == [
            int(row["seed"]) for row in rows
        ]


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (
            "--export csv --json",
            "--export csv and --json would all be printed: write some",
        ),
        ("--export csv --export-values csv", "as in --export race.csv"),
        ("--export xlsx", "its name must end in .csv, .json or .md"),
        ("--export-values md", "its name must end in .csv or .json"),
        ("--export /nowhere/a.csv", "there is no folder /nowhere"),
        ("--export-hyperfine json", "this race has the value 'last'"),
    ],
)
def test_exports_that_cannot_be_are_refused(
    flags: str, says: str, journal: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(journal), *flags.split()]) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    assert says in captured.err

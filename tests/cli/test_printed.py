"""What pulls have printed is shown on request, and when an arm fails."""

import json
from pathlib import Path

import pytest

from paceline.cli import main

SCRIPT = (
    "echo starting {x}; test {x} = 3 && for k in 1 2 3 4 5 6 7; do echo step $k; done; "
    "test {x} = 3 && printf 'no \\033[31mlicence' >&2 && exit 4; echo {x}"
)


@pytest.fixture
def journal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "race.jsonl"
    options = ["-L", "x", "1,2,3", "--max-pulls", "9", "--retries", "1", "--bounds", "0,9"]
    assert main(["race", SCRIPT, "--shell", *options, "-j", str(path)]) == 3
    return path


def test_the_end_shows_what_an_arm_printed_that_is_out(
    journal: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = capfd.readouterr().out.splitlines()
    place = out.index("  arm x=3 ended with status 4 (2 times)")
    assert out[place + 1 : place + 7] == [
        "    | …",
        "    | step 4",
        "    | step 5",
        "    | step 6",
        "    | step 7",
        "    | no \\x1b[31mlicence",
    ]


def test_of_all_pulls_of_an_arm_or_of_one(journal: Path, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    for words in (["x=2", "1"], ["1", "1"]):  # by its label, or its number
        assert main(["show", str(journal), "--printed", *words]) == 0
        assert capfd.readouterr().out == "pull 1 of arm x=2:\nstarting 2\n2\n\n"
    assert main(["show", str(journal), "--printed", "x=3"]) == 0
    out = capfd.readouterr().out
    assert "pull 0 of arm x=3, which failed (attempt 2):\nstarting 3\nstep 1\n" in out
    assert "no \\x1b[31mlicence\n" in out
    assert "x=2" not in out
    assert main(["show", str(journal), "--printed"]) == 0
    out = capfd.readouterr().out
    assert {f"starting {x}" for x in (1, 2, 3)} <= set(out.splitlines())
    assert main(["show", str(journal), "--printed", "x=1", "800"]) == 0
    assert capfd.readouterr().out == "Nothing that these pulls have printed is kept.\n"


def test_as_json_it_comes_unchanged(journal: Path, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    assert main(["show", str(journal), "--printed", "x=3", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [(one["arm"], one["label"], one["attempt"]) for one in found] == [
        (2, "x=3", 1),
        (2, "x=3", 2),
    ]
    assert found[0]["text"].endswith("no \x1b[31mlicence")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["x=9"], "unknown arm 'x=9': did you mean"),
        (["3"], "unknown arm '3'"),
        (["x=1", "one"], "the number of a pull is 0, 1, …, and not 'one'"),
        (["x=1", "1", "2"], "--printed takes an arm"),
    ],
)
def test_what_is_no_arm_or_pull_is_refused(
    journal: Path, capfd: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["show", str(journal), "--printed", *words]) == 2
    assert message in capfd.readouterr().err


def test_it_can_be_switched_off(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "race.jsonl"
    options = ["-L", "x", "1,2", "--max-pulls", "9", "--no-keep-prints", "--bounds", "0,9"]
    assert main(["race", "echo hunter; echo {x}", "--shell", *options, "-j", str(path)]) == 3
    assert "printed" not in path.read_text()
    capfd.readouterr()
    assert main(["show", str(path), "--printed"]) == 0
    assert capfd.readouterr().out == "Nothing that pulls have printed is kept.\n"

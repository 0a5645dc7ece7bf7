"""Variables of a command: with their values, or by name only."""

import json
from pathlib import Path
from typing import Any

import pytest

import paceline
from paceline import Command, InvalidInput
from paceline.cli import main
from paceline.races import read_race_file

SECRET = "s3cret {x} {{"  # braces, because it is no template


def test_the_same_variables_in_each_notation(tmp_path: Path) -> None:
    wanted = {"MODE": "fast", "EMPTY": "", "API_KEY": None, "X": "{x}=1"}
    words = ["MODE=fast", "EMPTY=", "API_KEY", "X={x}=1"]
    assert Command.parse("echo {x}", environment=wanted).environment == wanted
    command = Command.parse("echo {x}", environment=words)
    assert command.environment == wanted
    assert Command.from_json(json.loads(json.dumps(command.to_json()))) == command
    path = tmp_path / "race.toml"
    path.write_text(f'command = "echo {{x}}"\nenv = {words}\n[arms]\nx = [1, 2]\n')
    with pytest.raises(InvalidInput, match="takes API_KEY from the environment"):
        read_race_file(path)


def test_only_values_that_say_something_are_worth_hiding() -> None:
    def holds(*words: str) -> bool:
        return Command.parse("echo {x}", environment=words).holds_values

    assert not holds()
    assert not holds("API_KEY", "SEED={seed}", "EMPTY=")
    assert holds("API_KEY=s3cret")
    assert holds("LEVEL=level-{x}")


@pytest.mark.parametrize("bad", ["=1", "", "A B\0=1"])
def test_bad_names_are_refused(bad: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be the name of an environment variable"):
        Command.parse("echo {x}", environment=[bad])


def test_a_value_that_is_only_named_stays_out_of_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "race.jsonl"
    words = ["sh", "-c", 'test "$API_KEY" = "$WANTED" && echo "$0"', "{x}"]
    environment = ["API_KEY", "WANTED"]
    command = Command.parse(words, environment=environment)
    arms = [{"x": 1}, {"x": 2}]
    options: dict[str, Any] = {"bounds": (0, 3), "retries": 0, "on_failure": "stop"}
    with pytest.raises(InvalidInput, match=r"takes API_KEY from the environment.*not set: set it"):
        paceline.race(command, arms, journal=journal, **options)
    assert not journal.exists()
    monkeypatch.setenv("API_KEY", SECRET)
    monkeypatch.setenv("WANTED", SECRET)
    assert paceline.race(command, arms, journal=journal, max_pulls=4, **options).pulls == 4
    # Another value does for the rest of the race.
    monkeypatch.setenv("API_KEY", f"new {SECRET}")
    monkeypatch.setenv("WANTED", f"new {SECRET}")
    assert paceline.resume(journal, max_pulls=8).pulls == 8
    written = journal.read_text()
    assert '"API_KEY":null' in written
    assert "s3cret" not in written
    monkeypatch.delenv("API_KEY")
    with pytest.raises(InvalidInput, match="takes API_KEY from the environment"):
        paceline.resume(journal, max_pulls=12)
    assert journal.read_text() == written


def test_on_the_command_line_and_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("API_KEY", SECRET)
    journal, file = tmp_path / "a.jsonl", tmp_path / "race.toml"
    template = "sh -c 'test -n \"$API_KEY\" && echo $0$MODE' {x}"
    words = ["-L", "x", "1,2", "--env", "API_KEY", "--env", "MODE=0", "--bounds", "0,30"]
    assert main(["race", template, *words, "-j", str(journal), "-q"]) == 0
    assert capfd.readouterr().out == "x=2\n"
    file.write_text(
        f"command = {json.dumps(template)}\nenv = ['API_KEY', 'MODE=0']\n[arms]\nx = [1, 2]\n"
        "[race]\nbounds = [0, 30]\njournal = 'b.jsonl'\n"
    )
    assert main(["run", str(file), "-q"]) == 0
    assert main(["show", "--json", str(tmp_path / "b.jsonl")]) == 0
    shown = capfd.readouterr().out
    for text in (shown, journal.read_text(), (tmp_path / "b.jsonl").read_text()):
        assert "s3cret" not in text
        assert "API_KEY" in text

"""What is said of a journal, whatever happens to it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from paceline.live.watching import Watch
from tests.live.journals import RACES, Growing


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "race.jsonl"


@pytest.fixture
def growing(path: Path) -> Iterator[Growing]:
    one = Growing(path)
    yield one
    one.close()


def verdict(watch: Watch) -> str:
    parts = watch.look().parts
    assert parts is not None
    return parts.fragments["verdict"]


def test_a_race_from_before_its_journal_to_its_end(path: Path) -> None:
    watch = Watch(path)
    assert watch.news() == "turned"
    sight = watch.look()
    assert (sight.status.state, sight.parts) == ("waiting", None)
    assert str(path) in sight.status.text
    assert watch.news() == ""
    race = Growing(path)
    assert watch.news() == "turned"
    assert watch.look().status.state == "waiting"
    race.lock()
    race.write(12)
    sight = watch.look()
    assert (sight.status.state, sight.cores, sight.anew) == ("running", 2, True)
    assert sight.parts is not None
    assert "leads so far" in sight.parts.fragments["verdict"]
    race.write()
    assert watch.news() == "grown"
    race.unlock()
    sight = watch.look()
    assert (sight.status.state, sight.anew) == ("finished", False)
    assert sight.parts is not None
    assert "with probability at least 0.95" in sight.parts.fragments["verdict"]
    assert watch.news() == ""
    race.close()


def test_a_race_that_was_killed_and_goes_on(path: Path) -> None:
    race = Growing(path, "format-2-command-capped.jsonl")
    watch = Watch(path)
    race.lock()
    race.write(12)
    assert watch.look().status.state == "running"
    race.unlock()
    assert watch.news() == "turned"  # though the file has not changed
    status = watch.look().status
    assert status.state == "stopped"
    assert status.command == f"paceline resume {path}"
    race.lock()
    assert watch.news() == "turned"
    assert watch.look().status.state == "running"
    race.write()
    race.unlock()
    status = watch.look().status
    assert status.state == "undecided"
    assert status.command == f"paceline resume {path}"
    race.close()


def test_a_race_that_only_its_script_can_resume_names_no_command(growing: Growing) -> None:
    growing.write(12)
    status = Watch(growing.path).look().status
    assert (status.state, status.command) == ("stopped", "")
    assert "run its script again" in status.text


def test_a_line_that_is_half_written_is_left_for_later(growing: Growing) -> None:
    growing.write(12)
    watch = Watch(growing.path)
    before = watch.look().parts
    with growing.path.open("ab") as stream:
        stream.write(growing.lines[12][:20])
    assert watch.look().parts == before
    with growing.path.open("ab") as stream:
        stream.write(growing.lines[12][20:])
    assert watch.look().parts != before


@pytest.mark.parametrize("lines", [0, 1, 12])
def test_a_damaged_journal_says_so_and_where(growing: Growing, lines: int) -> None:
    growing.write(lines)
    watch = Watch(growing.path)
    watch.look()
    with growing.path.open("ab") as stream:
        stream.write(b"<script>alert(1)</script>\n")
    sight = watch.look()
    assert (sight.status.state, sight.parts) == ("damaged", None)
    assert "damaged: line" in sight.status.text or "is not a journal" in sight.status.text
    os.truncate(growing.path, sum(map(len, growing.lines[:lines])))  # somebody mends it
    assert watch.look().status.state == ("stopped" if lines else "waiting")


def test_a_deleted_journal_that_comes_back(growing: Growing) -> None:
    growing.write(12)
    watch = Watch(growing.path)
    before = verdict(watch)
    away = growing.path.with_name("away")
    growing.path.rename(away)
    sight = watch.look()
    assert (sight.status.state, sight.parts) == ("gone", None)
    shutil.copy(away, growing.path)
    sight = watch.look()
    assert sight.anew
    assert sight.parts is not None
    assert sight.parts.fragments["verdict"] == before


def test_another_journal_in_its_place(growing: Growing) -> None:
    growing.write()
    watch = Watch(growing.path)
    watch.look()
    other = growing.path.with_name("other")
    shutil.copy(RACES / "format-2-command-capped.jsonl", other)
    other.replace(growing.path)
    assert "no more than 18 pulls were allowed" in verdict(watch)


def test_a_journal_that_was_cut_off(growing: Growing) -> None:
    growing.write()
    watch = Watch(growing.path)
    watch.look()
    os.truncate(growing.path, sum(map(len, growing.lines[:12])))
    assert watch.look().status.state == "stopped"


def test_what_cannot_be_read_at_all(path: Path) -> None:
    os.mkfifo(path)
    status = Watch(path).look().status
    assert (status.state, "a named pipe" in status.text) == ("damaged", True)


def test_a_page_that_cannot_be_made_is_said_and_not_the_end(
    growing: Growing, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError("of all things")

    growing.write(12)
    watch = Watch(growing.path)
    with monkeypatch.context() as patched:
        patched.setattr("paceline.live.watching.parts", fail)
        assert "ZeroDivisionError: of all things" in watch.look().status.text
    assert "Traceback" in capsys.readouterr().err
    growing.write(1)
    assert watch.look().status.state == "stopped"

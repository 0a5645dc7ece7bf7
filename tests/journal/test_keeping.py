"""What happens to a journal's file while it is written: nothing that was recorded is lost."""

import contextlib
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paceline import Command, RaceWarning, race, resume
from paceline.errors import InvalidInput, RaceFailed
from paceline.journal import Journal, is_locked, read_records
from paceline.journal.records import ArmOut, RaceBegun
from paceline.races import read_journal
from tests.races.virtual import VirtualEngine

HEADER = RaceBegun(2, problem={}, options={}, labels=("a", "b"))
FIRST, SECOND, THIRD = ArmOut(1.0, 0), ArmOut(2.0, 1), ArmOut(3.0, 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "race.jsonl"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    """A journal with a record of an earlier session, and one of this session."""
    path.parent.mkdir()
    with Journal.open(path) as before:
        before.add(HEADER)
    with contextlib.closing(Journal.open(path)) as journal:
        journal.add(FIRST)
        journal.commit()
        yield journal


def unlink(path: Path) -> None:
    path.unlink()


def rename(path: Path) -> None:
    path.rename(path.with_name("elsewhere.jsonl"))


def remove_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut_off(path: Path) -> None:
    os.truncate(path, 100)


@pytest.mark.parametrize("harm", [unlink, rename, remove_folder, empty, cut_off])
def test_what_is_taken_away_is_written_again(
    journal: Journal, path: Path, harm: Callable[[Path], None]
) -> None:
    said: list[str] = []
    journal.mishap = said.append
    path.chmod(0o640)
    harm(path)
    journal.add(SECOND)
    journal.commit()
    assert read_records(path) == [HEADER, FIRST, SECOND]
    assert is_locked(path)
    with pytest.raises(InvalidInput, match="another process"):
        Journal.open(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert len(said) == 1
    assert f"the journal {path}" in said[0]
    assert "nothing is lost" in said[0]
    assert [one.name for one in path.parent.iterdir() if one.name.startswith(".")] == []
    journal.add(THIRD)  # it goes on in the new file, and says nothing again
    journal.commit()
    assert read_records(path) == [HEADER, FIRST, SECOND, THIRD]
    assert len(said) == 1


@pytest.mark.parametrize("harm", [unlink, rename, remove_folder, empty, cut_off])
def test_so_it_is_at_the_end_when_nothing_more_is_written(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    path = tmp_path / "folder" / "race.jsonl"
    path.parent.mkdir()
    with Journal.open(path) as journal:
        journal.add(HEADER)
        journal.commit()
        harm(path)
    assert read_records(path) == [HEADER]
    assert not is_locked(path)


def put_a_file(path: Path) -> None:
    path.unlink()
    path.write_text("something else\n")


def put_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def put_another_journal(path: Path) -> None:
    path.unlink()
    with Journal.open(path) as other:
        other.add(HEADER)


def overwrite(path: Path) -> None:
    path.write_text("somebody's notes\n")


def append(path: Path) -> None:
    with path.open("a") as stream:
        stream.write("somebody's notes\n")


@pytest.mark.parametrize("harm", [put_a_file, put_a_folder, put_another_journal, overwrite, append])
def test_what_stands_there_instead_is_left_alone_and_the_record_is_saved(
    journal: Journal, path: Path, harm: Callable[[Path], None]
) -> None:
    path.chmod(0o600)
    harm(path)
    there = None if path.is_dir() else path.read_bytes()
    journal.add(SECOND)
    with pytest.raises(RaceFailed, match=r"was taken away .* saved in .*race\.jsonl\.saved-"):
        journal.commit()
    assert (None if path.is_dir() else path.read_bytes()) == there
    (saved,) = path.parent.glob("race.jsonl.saved-*")
    assert journal.path == saved
    assert read_records(saved) == [HEADER, FIRST, SECOND]
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    journal.add(THIRD)  # what comes late, while the race is being stopped
    journal.commit()
    assert read_records(saved) == [HEADER, FIRST, SECOND, THIRD]


def test_without_a_copy_a_file_that_is_cut_off_is_still_noticed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(**_: object) -> None:
        raise OSError(28, "No space left on device")

    path.parent.mkdir()
    monkeypatch.setattr("paceline.journal.keeping.tempfile.TemporaryFile", no_room)
    with contextlib.closing(Journal.open(path)) as journal:
        journal.add(HEADER)
        journal.commit()
        path.unlink()
        journal.add(FIRST)
        journal.commit()
        assert read_records(path) == [HEADER, FIRST]
        empty(path)
        journal.add(SECOND)
        with pytest.raises(RaceFailed, match=r"cut it off, and there was no room to keep a copy$"):
            journal.commit()


# Races.


def pull(arm: float, *, seed: int) -> float:
    return arm + seed % 7


@pytest.mark.parametrize("harm", [unlink, empty])
def test_a_race_whose_journal_is_taken_away_ends_with_a_whole_one(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    path = tmp_path / "race.jsonl"
    harmed: list[Path] = []

    def once(_: object) -> None:
        if not harmed:
            harmed.append(path)
            harm(path)

    with pytest.warns(RaceWarning, match=r"the journal .*race\.jsonl is not what it was"):
        result = race(
            pull, [0.0, 0.5, 3.0], cores=4, journal=path, callbacks=[once],
            engine=VirtualEngine(), progress=False,
        )  # fmt: skip
    assert harmed
    assert any("nothing is lost" in text for text in result.warnings)
    view = read_journal(path)
    assert view.ending is not None
    assert (view.ending.verdict, view.standing.pulls) == (result.verdict, result.pulls)


def test_a_race_whose_journal_is_replaced_stops_and_goes_on_from_what_was_saved(
    tmp_path: Path,
) -> None:
    path = tmp_path / "race.jsonl"
    command = Command.parse("echo {x}", cwd=str(tmp_path))
    arms = [{"x": 1}, {"x": 2}]
    harmed: list[Path] = []

    def once(_: object) -> None:
        if not harmed:
            harmed.append(path)
            put_a_file(path)

    with pytest.raises(RaceFailed, match=r"another file .*\n.*\.saved-.*can be resumed"):
        race(
            command, arms, journal=path, bounds=(0, 3), max_pulls=400, progress=False, cores=1,
            callbacks=[once],
        )  # fmt: skip
    assert path.read_text() == "something else\n"
    (saved,) = tmp_path.glob("race.jsonl.saved-*")
    before = read_journal(saved).standing.pulls
    done = resume(saved, progress=False)
    assert before > 0
    assert (done.best, done.decided) == ({"x": 2}, True)
    assert done.pulls > before


# Paths that are no files.


def fifo(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def link_to(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


ODD = {
    "a named pipe": (fifo, "it is a named pipe"),
    "a socket": (unix_socket, "it is a socket"),
    "nothing": (link_to("/dev/null"), "it is a device"),
    "a full device": (link_to("/dev/full"), "it is a device"),
    "a folder": (Path.mkdir, "directory"),
    "links in a circle": (link_to("race.jsonl"), "symbolic links"),
    "a link into a missing folder": (link_to("missing/race.jsonl"), "No such file"),
}


@pytest.mark.parametrize(("make", "why"), ODD.values(), ids=ODD.keys())
def test_what_is_no_file_is_refused_before_anything_runs(
    tmp_path: Path, make: Callable[[Path], object], why: str
) -> None:
    path = tmp_path / "race.jsonl"
    ran: list[int] = []
    make(path)
    with pytest.raises(InvalidInput, match=f"cannot write the journal .*{why}"):
        race(ran.append, [1, 2], journal=path, engine=VirtualEngine(), progress=False)
    with pytest.raises(InvalidInput, match=f"cannot read the journal .*{why}"):
        read_journal(path)
    with pytest.raises(InvalidInput, match=f"cannot (read|write) the journal .*{why}"):
        resume(path)
    assert ran == []


def test_a_journal_that_is_missing_is_not_created_by_a_resume(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"cannot read the journal .*No such file"):
        resume(tmp_path / "race.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_a_file_that_is_not_there_yet_creates_it(tmp_path: Path) -> None:
    path, target = tmp_path / "race.jsonl", tmp_path / "target.jsonl"
    path.symlink_to(target)
    with Journal.open(path) as journal:
        journal.add(HEADER)
        journal.commit()
        target.unlink()
    assert path.is_symlink()
    assert read_records(target) == read_records(path) == [HEADER]


WRITER = """
import resource, sys
from pathlib import Path
from paceline import RaceFailed, race
resource.setrlimit(resource.RLIMIT_FSIZE, (8000, 8000))
sys.path.insert(0, sys.argv[2])
from tests.races.virtual import VirtualEngine
try:
    race(lambda arm, *, seed: arm + seed % 7, [0.0, 0.01], cores=4, journal=Path(sys.argv[1]),
         engine=VirtualEngine(), progress=False, max_pulls=5000)
except RaceFailed as error:
    print(error)
"""


def test_a_disk_that_is_full_in_mid_race_stops_it_and_keeps_what_was_recorded(
    tmp_path: Path,
) -> None:
    path = tmp_path / "race.jsonl"
    root = str(Path(__file__).parents[2])
    ended = subprocess.run(
        [sys.executable, "-c", WRITER, str(path), root],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "File too large" in ended.stdout
    assert "make room, and resume" in ended.stdout
    view = read_journal(path)
    assert 0 < path.stat().st_size <= 8000
    assert view.standing.pulls > 10
    assert view.ending is None


# Who may read it.


def mode_of(path: Path, command: Command) -> int:
    race(command, [{"x": 1}, {"x": 2}], bounds=(0, 3), max_pulls=2, journal=path, progress=False)
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_may_read_a_journal_that_holds_values_of_the_environment(
    tmp_path: Path,
) -> None:
    plain = Command.parse("echo {x}", cwd=str(tmp_path))
    secret = Command.parse("echo {x}", cwd=str(tmp_path), environment={"TOKEN": "1234"})
    before = os.umask(0o027)
    try:
        assert mode_of(tmp_path / "secret.jsonl", secret) == 0o600
        assert mode_of(tmp_path / "plain.jsonl", plain) == 0o640
        (tmp_path / "there.jsonl").touch(mode=0o644)
        (tmp_path / "there.jsonl").chmod(0o644)
        assert mode_of(tmp_path / "there.jsonl", secret) == 0o644
    finally:
        os.umask(before)


@pytest.mark.parametrize("when", ["in", "after"])
def test_an_interrupt_while_it_is_written_spoils_nothing(
    journal: Journal, path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Most of the time of a write is spent waiting for the disk."""
    sync = os.fsync

    def interrupted(file: int) -> None:
        if when == "in":
            raise KeyboardInterrupt
        os.kill(os.getpid(), signal.SIGINT)
        sync(file)

    journal.add(SECOND)
    with monkeypatch.context() as patch:
        patch.setattr("paceline.journal.keeping.os.fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            journal.commit()
    journal.add(THIRD)
    journal.commit()
    assert read_records(path) == [HEADER, FIRST, SECOND, THIRD]

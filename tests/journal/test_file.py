"""The journal against crashes, second writers, readers in between, and paths that are no files."""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.engines.jobs import Run
from paceline.errors import InvalidInput, PacelineError
from paceline.journal import Journal, Reader, Record, is_locked, read_records
from paceline.journal.records import ArmOut, PullsReturned, RaceBegun

HEADER = RaceBegun(2, problem={"what": "ä"}, options={}, labels=("ä", "b\n"))
RECORDS: list[Record] = [
    HEADER,
    PullsReturned(0.5, 4, (Run(0, 0, 2), Run(1, 0, 1)), [0.1, -0.0, 1e-320], [0.5, 0.1, 0.2]),
    ArmOut(2.5, 3),
]
OUT = ArmOut(3.5, 1)


def lines_of(*records: dict[str, Any], after: bytes = b"") -> list[bytes]:
    """Lines as they stand in the file: a checksum is of all that stands before it, but sums."""
    lines, chain = [], 0
    for line in after.splitlines():
        body = re.sub(rb',"sum":"\w{8}"}$', b"", line)
        chain = zlib.crc32(body, chain)
    for plain in records:
        body = json.dumps(plain, separators=(",", ":")).encode()[:-1]
        chain = zlib.crc32(body, chain)
        lines.append(body + f',"sum":"{chain:08x}"}}\n'.encode())
    return lines


LINES = lines_of(*(record.to_json() for record in RECORDS))
WHOLE = b"".join(LINES)


@pytest.fixture(autouse=True, scope="module")
def quick_disk() -> Iterator[None]:
    """No crash of the machine is tested here, and the disk takes a millisecond each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paceline.journal.file.os.fsync", lambda file: None)
        yield


def write(path: Path, records: list[Record]) -> None:
    with Journal.open(path) as journal:
        for record in records:
            journal.add(record)


def test_what_is_written_is_read_and_a_second_session_appends(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    write(path, RECORDS[:2])
    assert path.read_bytes() == b"".join(LINES[:2])
    with Journal.open(path) as journal:
        assert journal.records == RECORDS[:2]
        journal.add(RECORDS[2])
        assert read_records(path) == RECORDS[:2], "added is not yet committed"
        journal.commit()
        assert read_records(path) == RECORDS
        journal.commit()
    assert path.read_bytes() == WHOLE


def test_a_commit_reaches_the_disk_before_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "race.jsonl"
    sizes: list[int] = []
    with Journal.open(path) as journal:
        monkeypatch.setattr(
            "paceline.journal.file.os.fsync", lambda file: sizes.append(os.fstat(file).st_size)
        )
        journal.add(RECORDS[0])
        assert sizes == []
        journal.commit()
        assert sizes == [len(LINES[0])], "one fsync, after the whole line"


def test_wherever_the_file_is_cut_the_whole_lines_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    ends = [0]
    for line in LINES:
        ends.append(ends[-1] + len(line))
    for cut in range(len(WHOLE) + 1):
        path.write_bytes(WHOLE[:cut])
        count = sum(end <= cut for end in ends[1:])
        assert read_records(path) == RECORDS[:count]
        assert path.read_bytes() == WHOLE[:cut], "a reader changes nothing"
        with Journal.open(path) as journal:
            assert journal.records == RECORDS[:count]
            assert path.read_bytes() == WHOLE[: ends[count]]
            journal.add(OUT if count else RECORDS[0])
        assert read_records(path) == [*RECORDS[:count], OUT if count else RECORDS[0]]


@pytest.mark.parametrize("zeros", [1, 7, 4096, 10_000])
@pytest.mark.parametrize("torn", [b"", b'{"kind":"resu', LINES[2][:-1]])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_zero_bytes_at_the_tail_are_cut_off(
    tmp_path: Path, zeros: int, torn: bytes, end: bytes
) -> None:
    """A file system may have made the file longer before what was to be there was written."""
    path = tmp_path / "race.jsonl"
    path.write_bytes(WHOLE + torn + bytes(zeros) + end)
    assert read_records(path) == RECORDS
    write(path, [OUT])
    assert read_records(path) == [*RECORDS, OUT]


DAMAGE = {
    "half a line": LINES[1][:10] + b"\n",
    "zero bytes": bytes(20) + b"\n",
    "zero bytes and no end of the line": bytes(20),
    "a blank line": b"\n",
    "no object": b"[1,2]\n",
    "a number": b"17\n",
    "no text": b"\xff\xfe\x80\n",
    "a line that lost its end": LINES[1][:-1],
    "a line without a checksum": json.dumps(RECORDS[1].to_json()).encode() + b"\n",
    "a checksum of something else": LINES[1].replace(b'"cores":4', b'"cores":2'),
    "an unknown kind": lines_of({"kind": "pet", "name": "Rex"}, after=LINES[0])[0],
    "a record that lacks a field": lines_of({"kind": "out", "at": 1.0}, after=LINES[0])[0],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_damage_in_the_middle_is_refused_and_left_as_it_is(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "race.jsonl"
    data = LINES[0] + damage + LINES[2] + LINES[2]
    path.write_bytes(data)
    for attempt in (read_records, Journal.open):
        with pytest.raises(InvalidInput, match=r"race\.jsonl .*damaged: line 2 .*remove that line"):
            attempt(path)
    assert path.read_bytes() == data
    assert not is_locked(path)
    path.write_bytes(LINES[0])  # as the message says
    write(path, [RECORDS[2]])
    assert read_records(path) == [RECORDS[0], RECORDS[2]]


@pytest.mark.parametrize("damage", [b"[1]\n", b"nonsense\n", b"\n"])
def test_a_whole_last_line_that_is_no_record_was_not_torn_by_a_crash(
    tmp_path: Path, damage: bytes
) -> None:
    path = tmp_path / "race.jsonl"
    path.write_bytes(LINES[0] + damage)
    with pytest.raises(InvalidInput, match="line 2"):
        Journal.open(path)
    assert path.read_bytes() == LINES[0] + damage


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize(
    "foreign",
    [
        '{"my": "settings"}',
        '{"kind":"pet","name":"Rex"}',
        "dear diary",
        '{"a": 1}\n{"b": 2}',
        "\n" + WHOLE.decode(),
        "\0\0\0 ftypisom",
        LINES[1].decode() + LINES[0].decode(),
    ],
)
def test_a_file_that_is_no_journal_is_left_alone(tmp_path: Path, foreign: str, end: str) -> None:
    """A file that ends without a newline is as common as a torn line, and not ours to cut."""
    path = tmp_path / "mine.json"
    path.write_text(foreign + end)
    for attempt in (read_records, Journal.open):
        with pytest.raises(InvalidInput, match=r"mine\.json is not a journal.* another path"):
            attempt(path)
    assert path.read_text() == foreign + end
    assert not is_locked(path)


@pytest.mark.parametrize("fits", [0, 5, len(LINES[1]), len(LINES[1]) + 4])
def test_a_full_disk_leaves_a_journal_that_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fits: int
) -> None:
    """The race ends with what was written last as a whole, and goes on from there later."""
    path = tmp_path / "race.jsonl"
    real, room = os.write, [fits]

    def nearly_full(file: int, data: Any) -> int:
        if not room[0]:
            raise OSError(28, "No space left on device")
        written = real(file, bytes(data)[: room[0]])
        room[0] -= written
        return written

    with Journal.open(path) as journal:
        journal.add(RECORDS[0])
        journal.commit()
        with monkeypatch.context() as patch:
            patch.setattr("paceline.journal.file.os.write", nearly_full)
            journal.add(RECORDS[1])
            journal.add(RECORDS[2])
            with pytest.raises(
                PacelineError, match=r"race\.jsonl: No space.*make room, and resume"
            ):
                journal.commit()
        assert path.read_bytes() == LINES[0]
        journal.add(RECORDS[2])  # what comes late, when there is space again
        journal.commit()
        assert path.read_bytes() == LINES[0], "after a gap nothing is written"
    assert path.read_bytes() == LINES[0]
    assert not is_locked(path)
    write(path, RECORDS[1:])
    assert read_records(path) == RECORDS


def test_a_line_that_did_not_reach_the_disk_was_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(file: int) -> None:
        raise OSError(5, "Input/output error")

    path = tmp_path / "race.jsonl"
    with Journal.open(path) as journal:
        journal.add(RECORDS[0])
        journal.commit()
        monkeypatch.setattr("paceline.journal.file.os.fsync", broken)
        journal.add(RECORDS[1])
        with pytest.raises(PacelineError, match="Input/output error"):
            journal.commit()
    assert path.read_bytes() == LINES[0]


# Other writers and readers.


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    with Journal.open(path) as journal:
        assert is_locked(path)
        with pytest.raises(InvalidInput, match=r"another process is writing .*race\.jsonl.*wait"):
            Journal.open(path)
        journal.add(RECORDS[0])  # the first one is not disturbed
    assert not is_locked(path)
    assert read_records(path) == RECORDS[:1]
    Journal.open(path).close()


def test_the_refused_writer_changes_nothing(tmp_path: Path) -> None:
    """What looks torn may be a line that the first writer is in the middle of."""
    path = tmp_path / "race.jsonl"
    with Journal.open(path):
        path.write_bytes(WHOLE[:-4])
        with pytest.raises(InvalidInput, match="another process"):
            Journal.open(path)
        assert path.read_bytes() == WHOLE[:-4]


WRITER = """
import sys
from pathlib import Path
from paceline.journal import Journal
from paceline.journal.records import ArmOut, RaceBegun
journal = Journal.open(Path(sys.argv[1]))
journal.add(RaceBegun(2, problem={}, options={}, labels=()))
journal.commit()
journal.add(ArmOut(1.0, 0))
print("ready", flush=True)
sys.stdin.read()
"""


def test_the_lock_holds_between_processes_and_dies_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    command = [sys.executable, "-c", WRITER, str(path)]
    with Journal.open(path):
        refused = subprocess.run(command, input="", capture_output=True, text=True, timeout=30)
        assert refused.returncode == 1
        assert "another process is writing" in refused.stderr
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        try:
            assert is_locked(path)
            with pytest.raises(InvalidInput, match="another process is writing"):
                Journal.open(path)
        finally:
            writer.kill()
    assert not is_locked(path)
    with Journal.open(path) as journal:
        assert journal.records == [RaceBegun(2, {}, {}, ())], "committed is kept, added is not"


def test_the_lock_does_not_outlive_the_writer_in_a_process_it_started(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    with Journal.open(path):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        assert not is_locked(path)
        Journal.open(path).close()
    finally:
        child.kill()
        child.wait()


def test_a_reader_sees_whole_records_only_however_slowly_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "race.jsonl"
    real, seen = os.write, []

    def slow(file: int, data: Any) -> int:
        written = real(file, bytes(data)[:3])
        seen.append(read_records(path))
        return written

    monkeypatch.setattr("paceline.journal.file.os.write", slow)
    write(path, RECORDS)
    assert all(records == RECORDS[: len(records)] for records in seen)
    assert {len(records) for records in seen} == {0, 1, 2, 3}
    assert path.read_bytes() == WHOLE


# Paths and values.


def test_paths_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path, why in [
        (tmp_path, "directory"),
        (tmp_path / "missing" / "race.jsonl", "No such file"),
        (tmp_path / "file" / "race.jsonl", "Not a directory"),
    ]:
        with pytest.raises(InvalidInput, match=f"cannot write the journal .*{why}"):
            Journal.open(path)
        with pytest.raises(InvalidInput, match=f"cannot read the journal .*{why}"):
            read_records(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_without_the_right_to_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    path.write_bytes(WHOLE)
    path.chmod(0o444)
    with pytest.raises(InvalidInput, match=r"cannot write the journal .*Permission denied"):
        Journal.open(path)
    assert read_records(path) == RECORDS


def test_a_reader_of_a_missing_file_does_not_create_it(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    with pytest.raises(InvalidInput, match="cannot read"):
        read_records(path)
    assert not path.exists()


@settings(max_examples=40)
@given(st.lists(st.floats(allow_nan=False), min_size=1), st.text())
def test_floats_and_texts_come_back_to_the_last_bit(values: list[float], text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "race.jsonl")
        given = PullsReturned(0.0, 1, (Run(0, 0, len(values)),), values, [0.0] * len(values))
        write(path, [replace(HEADER, labels=(text,)), given])
        header, record = read_records(path)
    assert isinstance(header, RaceBegun)
    assert isinstance(record, PullsReturned)
    assert header.labels == (text,)
    bits = [struct.pack("<d", value) for value in values]
    assert [struct.pack("<d", value) for value in record.values] == bits


# Checksums.


def test_a_flipped_digit_anywhere_is_noticed(tmp_path: Path) -> None:
    """One digit for another, as a bad disk or a slip in an editor makes it."""
    path = tmp_path / "race.jsonl"
    digits = [place for place, byte in enumerate(WHOLE) if chr(byte).isdigit()]
    assert len(digits) > 40
    for place in digits:
        other = b"1" if WHOLE[place : place + 1] != b"1" else b"7"
        path.write_bytes(WHOLE[:place] + other + WHOLE[place + 1 :])
        with pytest.raises(InvalidInput, match=r"damaged: line|has format"):
            read_records(path)


def test_a_changed_line_says_which_one_it_is_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    path.write_bytes(LINES[0] + LINES[1].replace(b"0.1", b"0.9") + LINES[2])
    with pytest.raises(
        InvalidInput, match=r"line 2 .*after it was written, it was changed.* from a copy"
    ):
        read_records(path)


def test_a_line_that_was_removed_moved_or_repeated_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    more = lines_of(OUT.to_json(), after=WHOLE)
    whole = [*LINES, *more]
    for changed in (
        [whole[0], *whole[2:]],
        [*whole[:2], whole[3]],
        [whole[0], whole[2], whole[1], whole[3]],
        [*whole[:2], whole[1], *whole[2:]],
        [*whole, whole[3]],
    ):
        path.write_bytes(b"".join(changed))
        for attempt in (read_records, Journal.open):
            with pytest.raises(InvalidInput, match=r"damaged: line .*removed or moved"):
                attempt(path)
    path.write_bytes(b"".join(whole[:2]))  # as after a kill
    assert read_records(path) == RECORDS[:2]


# The first format, which had no checksums.

OLD = [
    b'{"kind":"race","format":1,"problem":{},"options":{},"labels":["a","b"]}\n',
    b'{"kind":"out","at":2.5,"arm":3}\n',
]


def test_the_first_format_is_read_and_goes_on_with_checksums(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    path.write_bytes(b"".join(OLD))
    old = [RaceBegun(1, {}, {}, ("a", "b")), ArmOut(2.5, 3)]
    assert read_records(path) == old
    write(path, [OUT])
    assert path.read_bytes() == b"".join(OLD) + lines_of(OUT.to_json(), after=b"".join(OLD))[0]
    assert read_records(path) == [*old, OUT]
    path.write_bytes(path.read_bytes().replace(b'"at":3.5', b'"at":4.5'))
    with pytest.raises(InvalidInput, match=r"line 3 .*checksum"):
        read_records(path)


def test_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    path.write_bytes(lines_of(replace(HEADER, format=3).to_json())[0])
    with pytest.raises(InvalidInput, match="has format 3, but this paceline reads 1 and 2"):
        read_records(path)


# Following.


def test_a_reader_follows_a_growing_journal_without_reading_it_anew(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    path.write_bytes(b"")
    reader = Reader(path)
    seen: list[Record] = []
    for end in range(len(WHOLE) + 1):
        path.write_bytes(WHOLE[:end])
        before = reader.offset
        new = reader.read()
        lines = LINES[len(seen) : len(seen) + len(new)]
        assert reader.offset == before + sum(map(len, lines))
        seen += new
        assert seen == RECORDS[: len(seen)]
    assert seen == RECORDS
    assert reader.read() == []
    blank = bytearray(path.read_bytes())
    blank[: reader.offset] = b"?" * reader.offset  # what it has read, it does not look at again
    path.write_bytes(bytes(blank) + lines_of(OUT.to_json(), after=WHOLE)[0])
    assert reader.read() == [OUT]

"""What is sent to a worker, and what is read from a command's output."""

import tempfile
import threading
from pathlib import Path

import pytest

from paceline import Command
from paceline.commands import NoValue, Value, finding, parse_value
from paceline.engines.jobs import Job, Run
from paceline.engines.local import wire
from paceline.errors import InvalidInput
from tests.engines.local.driving import opened, workload


@pytest.mark.parametrize("arms", [[0.0, 1.0], [threading.Lock(), 1.0]])
def test_what_cannot_be_sent_is_refused_with_a_remedy(arms: list[object]) -> None:
    lock = threading.Lock()

    def locks(arm: float) -> float:
        with lock:
            return arm

    with pytest.raises(InvalidInput, match=r"cannot be sent to a worker process .*: open files"):
        opened(locks, arms)


def test_a_function_that_takes_seeds_is_sent_them() -> None:
    runs = (Run(1, 3, 2), Run(0, 0, 1))
    with_seed = workload(lambda arm, seed: arm)
    assert wire.order(with_seed, Job(0, runs, 1)) == ("function", [(1, [103, 104]), (0, [0])])
    without = workload(lambda arm: arm)
    assert wire.order(without, Job(0, runs, 1)) == ("function", [(1, (None, None)), (0, (None,))])


def test_a_command_is_sent_filled_in_and_its_stale_file_is_removed(tmp_path: Path) -> None:
    command = Command.parse(
        "sim {x} -j {cores}",
        cwd=str(tmp_path),
        environment={"S": "{seed}"},
        value="file:out-{seed}",
    )
    stale = tmp_path / "out-4"
    stale.write_text("1.0")
    load = workload(command, [{"x": 0.5}, {"x": 1}])
    order = wire.order(load, Job(0, (Run(0, 4, 1),), 2))
    assert order == (
        "command",
        (
            ("sim", "0.5", "-j", "2"),
            {"S": "4"},
            str(tmp_path),
            str(stale),
            ("file", "out-{seed}", "stdout"),
            finding.__file__,
        ),
    )
    assert not stale.exists()
    assert wire.pack(load) == b""


def read(value: str, printed: bytes, file: str | None = None) -> float:
    with tempfile.TemporaryFile(buffering=0) as stdout:
        stdout.write(printed)
        where = parse_value(value)
        return finding.read(where.where, file, stdout.fileno(), seconds=1.5)


def test_values_are_read_from_what_was_printed_or_written(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("7.5")
    assert read("last", b"\xff 1 2.5\n") == 2.5
    assert read("json:a", b'{"a": 3}') == 3.0
    assert read("time", b"") == 1.5
    assert read("file:out", b"1", str(tmp_path / "out")) == 7.5


@pytest.mark.parametrize(
    ("value", "printed", "message"),
    [
        ("last", b"nan", "gave nan"),
        ("last", b"-inf", "gave -inf"),
        ("last", b"", "gave no number: the output is empty"),
        ("json:a", b"{}", "gave no number: no a in the output"),
        ("file:out", b"1", "wrote no file /nowhere/out: No such file"),
        ("json:a", b" " * (1 << 24), "printed more than 16,777,216 bytes, too many to search"),
    ],
)
def test_what_gives_no_number_says_why(value: str, printed: bytes, message: str) -> None:
    file = "/nowhere/out" if value.startswith("file") else None
    with pytest.raises(NoValue) as caught:
        read(value, printed, file)
    assert str(caught.value).startswith(message)


def test_only_the_end_of_much_output_is_read_for_the_last_number() -> None:
    assert read("last", b"1 " * (1 << 23) + b"2.5") == 2.5
    with pytest.raises(NoValue, match="with a word of more than 65,536 bytes"):
        read("last", b"7 " + b"x" * (1 << 17))
    assert Value("last") == parse_value("last")

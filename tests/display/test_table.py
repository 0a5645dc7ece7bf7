import pytest

from paceline.display.standings import arm_lines
from paceline.display.table import Table, print_table
from paceline.display.text import cell_width
from tests.cli.made_up import arm

TABLE = Table(("name", "first", "second", "third"), [("a", 1.0, 2.0, 3.0), ("b", 4.0, 5.0, 6.0)])


def test_in_a_narrow_window_the_first_column_is_repeated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(TABLE, width=20)
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines) <= 20
    assert lines[0] == "name  first  second"
    assert lines[4] == "name  third"


def test_all_key_columns_are_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(Table(TABLE.columns, TABLE.rows, keys=2), width=20)
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], lines[4]) == ("name  first  second", "name  first  third")


def test_in_a_log_nothing_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(TABLE)
    assert capsys.readouterr().out.splitlines()[0] == "name  first  second  third"


def test_an_empty_table_is_its_header(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(Table(("a", "b"), []))
    assert capsys.readouterr().out == "a  b\n"


def test_wide_and_hostile_cells_do_not_break_the_columns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [("日本語", 1.0), ("a\x1b[2J\nb\u2028c", 2.0), ("plain", 3.0), ("é", 4.0)]
    print_table(Table(("name", "value"), rows), width=80)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert {cell_width(line) for line in lines[1:]} == {cell_width(lines[0])}


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_long_labels_of_any_characters_fit_the_window(width: int) -> None:
    labels = ["日本" * 5000, "x" * 100_000, "\x1b[2J" * 3000, "e\u0301" * 4000, "😀" * 300, ""]
    arms = [arm(place, label, 0.5) for place, label in enumerate(labels)]
    lines = arm_lines(arms, width, 20)
    assert len(lines) == 7
    assert max(cell_width(line.text) for line in lines) <= width
    assert all(line.text.isprintable() for line in lines)
    ends = [line.text.split()[-1] for line in lines[1:]]
    assert len(set(ends)) == 1

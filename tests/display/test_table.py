import pytest

from paceline.display.table import Table, print_table

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

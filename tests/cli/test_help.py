import contextlib
import io

import pytest

from paceline.cli import VERBS, parser
from paceline.cli.help import refilled

NAMES = [verb.NAME for verb in VERBS]


def shown(columns: int, monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(columns))
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        parser().parse_args([*words, "--help"])
    return text.getvalue().splitlines()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_only_examples_are_wider_than_the_window(
    name: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = shown(columns, monkeypatch, name)
    assert [line for line in lines if len(line) > columns and "  paceline " not in line] == []
    if name == "race":
        assert max(map(len, lines)) > min(columns, 120) - 8, "the window is used"
    if columns == 40:
        wide = shown(200, monkeypatch, name)
        examples = [line for line in wide if line.startswith("  paceline ")]
        assert [line for line in lines if line.startswith("  paceline ")] == examples


def test_the_first_page_fits_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    assert max(map(len, shown(40, monkeypatch))) <= 40


def test_very_narrow_windows_do_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(3, monkeypatch, "race")


def test_the_usage_names_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(80, monkeypatch, "run")[0] == "usage: paceline run [option ...] FILE"
    assert shown(80, monkeypatch, "plan")[0] == "usage: paceline plan [option ...] [FILE]"


def test_paragraphs_are_filled_and_lists_stay_lists() -> None:
    text = "one two\nthree\n\n  paceline run a b c\n  one two three\n\nfour"
    wide = "one two three\n\n  paceline run a b c\n  one two three\n\nfour"
    assert refilled(text, 80) == wide
    narrow = "one two\nthree\n\n  paceline run a b c\n  one two\n  three\n\nfour"
    assert refilled(text, 12) == narrow

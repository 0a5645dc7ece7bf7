"""What a terminal would act on is shown instead, and nothing else is changed."""

import sys
import unicodedata

import pytest

from paceline import (
    Interrupted,
    InvalidInput,
    MissingExtra,
    RaceFailed,
    RaceWarning,
    ScalingWarning,
)
from paceline.characters import visible


def test_every_character_that_acts_is_shown_as_in_source() -> None:
    for code in range(sys.maxunicode + 1):
        one = chr(code)
        acts = unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") and one not in "\n\t"
        shown = visible(one)
        assert shown.isprintable() or shown in "\n\t" or unicodedata.category(shown) == "Zs"
        assert (shown != one) >= acts, hex(code)
        assert not acts or shown.startswith("\\")


@pytest.mark.parametrize(
    "text", ["x=4 mode=fast", "λ … ± √", "naïve 日本語 😀", "a\n\tb", "\\x1b", ""]
)
def test_what_does_not_act_stays(text: str) -> None:
    assert visible(text) == text
    assert visible(visible("\x1b" + text)) == visible("\x1b" + text)


def test_layout_stays_only_where_it_may() -> None:
    assert visible("a\nb\tc\rd") == "a\nb\tc\\rd"
    assert visible("a\nb\tc", keep="") == "a\\nb\\tc"


@pytest.mark.parametrize(
    "kind", [InvalidInput, RaceFailed, MissingExtra, Interrupted, RaceWarning, ScalingWarning]
)
def test_errors_and_warnings_of_our_own_show_what_they_quote(kind: type[BaseException]) -> None:
    error = kind("unknown arm \x1b[2J\u202e:\ntry another")
    assert str(error) == "unknown arm \\x1b[2J\\u202e:\ntry another"
    assert isinstance(error, kind)

"""What a prompt and a notebook show: short, harmless, and in the colours of the page."""

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import paceline
from tests.cli.made_up import ARMS, arm, result, standing
from tests.races.virtual import VirtualEngine

HOSTILE = [
    "<script>alert(1)</script>",
    "\"' onmouseover='x",
    "a\x1b[2J\u202eb",
    "&lt;<!--",
    "x" * 10_000,
    "שלום",
]
MANY = [arm(place, f"x={place}", place / 1000, "out") for place in range(1000)]


def raced(arms: Any = (1.0, 2.0, 4.0), **options: Any) -> paceline.Result:
    def noisy(arm: float, *, seed: int) -> float:
        return arm + seed % 100 / 100

    given: dict[str, Any] = {"engine": VirtualEngine(), "cores": 4, "progress": False} | options
    return paceline.race(noisy, arms, **{"max_pulls": 60} | given)


class Tags(HTMLParser):
    """The elements and the text of a page; every one that was opened must be closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.open: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.open.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("name", ["standing", "values", "timeline", "story", "result"])
def test_a_million_pulls_or_arms_fill_no_screen(name: str) -> None:
    big = result(MANY, still_in=tuple(range(1000)), chosen=tuple(range(990)), decided=False)
    one: Any = {"result": big, "story": big.story, "standing": big.standing}.get(name)
    if one is None:
        many = np.arange(100_000)
        number = many.astype(np.float64)
        values = paceline.Values(many % 7, many // 7, number, number, many % 2 + 1, number)
        one = {"values": values, "timeline": big.timeline}[name]
    text = repr(one)
    assert len(text.splitlines()) <= 8
    assert len(text) < 1500
    page = one._repr_html_()
    assert Tags(page).names.count("tr") <= 21
    assert len(page) < 40_000


def test_a_result_says_what_was_found_and_what_it_took() -> None:
    race = raced(max_pulls=30, labels=["low", "middle", "high"])
    lines = repr(race).splitlines()
    assert lines[0] == f"Result: {race.verdict}"
    assert lines[1].startswith("  high: ")
    assert lines[1].endswith(" pulls") == (race.arms[2].pulls != 1)
    assert lines[2].startswith(f"  {race.pulls} pulls of 3 arms in {race.rounds} round")
    page = Tags(race._repr_html_())
    for text in (race.verdict, "high", "middle", "low", "interval", lines[2].strip()):
        assert text in page.text


def test_what_looks_wrong_is_pointed_at() -> None:
    odd = result(warnings=("the values never vary",), failures=("pull 0 of x=1 died",) * 3)
    assert "  1 warning: see result.warnings\n  3 failures: see result.failures" in repr(odd)
    page = Tags(odd._repr_html_()).text
    assert "Warning: the values never vary" in page
    assert "3 failed attempts, such as: pull 0 of x=1 died" in page


def test_of_many_arms_the_best_are_shown() -> None:
    page = Tags(standing(MANY)._repr_html_())
    assert "x=999" in page.text
    assert "x=979" not in page.text
    assert "… and 980 more" in page.text


def test_arms_without_a_value_are_shown_as_well() -> None:
    page = Tags(standing(ARMS)._repr_html_())
    assert "–" in page.text
    assert page.text.count("failed") == 1


@pytest.mark.parametrize("label", HOSTILE)
def test_names_are_text_and_nothing_else(label: str) -> None:
    arms = [arm(0, label, 0.4, "out"), arm(1, f"{label} 2", 0.5, "best")]
    ended = result(arms, verdict=f"{label} is best", warnings=(label,), failures=(label,))
    for one in (ended, ended.standing, ended.story):
        page = one._repr_html_()
        tags = Tags(page)
        assert set(tags.names) <= {"div", "table", "tr", "th", "td", "bdi"}
        assert tags.attributes <= {"style"}
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", page)
        assert len(page) < 12_000
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", repr(one))


def test_pages_dark_and_light_keep_their_colours() -> None:
    page = result()._repr_html_()
    assert not re.search(r"(?<![-\w])color:|background:(?!none)|#[0-9a-f]{3}", page)


def test_values_have_labels() -> None:
    race = raced(labels=["low", "middle", "high"])
    tags = Tags(race.values._repr_html_())
    assert tags.names.count("tr") == 21
    assert "middle" in tags.text
    assert f"… and {len(race.values) - 20} more" in tags.text


def test_a_timeline_says_what_the_cores_did() -> None:
    page = Tags(raced().timeline._repr_html_()).text
    assert "counted" in page
    assert "%" in page


def test_a_profile_shows_what_was_measured() -> None:
    profile = paceline.profile(
        lambda arm: arm, [1, 2], cores=2, engine=VirtualEngine(cores=2), repeats=2
    )
    assert repr(profile).startswith("<Profile of 4 pulls on 1 and 2 cores: ")
    page = Tags(profile._repr_html_())
    assert page.names.count("tr") == 3
    assert profile.runtime.describe() in page.text


def test_a_scaling_of_many_points_is_short() -> None:
    points = np.arange(1, 5000)
    assert repr(paceline.Measured(points[:2], points[:2])).startswith("Measured(pulls=[1.0, 2.0]")
    found = paceline.Measured(points[::100], points[::100] ** 0.5)
    assert repr(found) == "<Measured at 50 numbers of pulls, from 1 to 4901>"

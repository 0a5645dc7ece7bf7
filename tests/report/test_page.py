"""The page of a race: what it says, and that what users wrote does not act."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import paceline
from paceline.report import Parts, page, parts
from paceline.report.charts import charts_as_json
from paceline.report.extra import check_bokeh
from tests.report.stories import HOSTILE, made, raced


class Elements(HTMLParser):
    """Which elements and attributes a page has, and its text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found[-1:] and self.found[-1][0] not in ("script", "style"):
            self.text += data


def test_the_page_says_who_won_and_how_sure_it_is() -> None:
    story = raced()
    text = Elements(page(parts(story))).text
    assert "c has the highest mean, with probability at least 0.95" in text.replace('"', "")
    assert "Guaranteed: the verdict is right with probability at least 95\u00a0%" in text
    assert f"assuming {story.assumed}" in text
    for arm in story.standing.arms:
        assert f"{arm.pulls:,}" in text


def test_a_result_writes_its_page_and_says_where(tmp_path: Path) -> None:
    result = paceline.race(
        lambda arm: arm, [0.0, 1.0], confidence=0.9, bounds=(0, 1), progress=False, cores=1
    )
    written = result.report(tmp_path / "race.html")
    assert written.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [written]
    with pytest.raises(paceline.InvalidInput, match="cannot write the report"):
        result.report(tmp_path / "nowhere" / "race.html")


def test_parts_are_plain_and_have_the_same_names_for_every_story() -> None:
    one, other = parts(raced()), parts(raced(HOSTILE, max_pulls=40))
    assert Parts(**json.loads(json.dumps(one.to_json()))) == one
    assert one.fragments.keys() == other.fragments.keys()
    assert one.data.keys() == other.data.keys()
    assert [list(one.data[name]) for name in one.data] == [
        list(other.data[name]) for name in one.data
    ]


def test_every_fragment_and_source_has_its_place_in_the_page() -> None:
    made = parts(raced())
    places = {attributes.get("id") for _, attributes in Elements(page(made)).found}
    assert set(made.fragments) <= places


def test_names_of_users_are_shown_and_do_nothing() -> None:
    plain, hostile = (
        Elements(page(parts(raced(labels)))) for labels in (list("abcdefghij"), HOSTILE)
    )
    kinds = {tag for tag, _ in plain.found}
    assert {tag for tag, _ in hostile.found} <= kinds
    assert not any(name.startswith("on") for _, given in hostile.found for name in given)
    assert "<script>alert(1)</script>" in hostile.text
    assert "\u202e" not in hostile.text
    assert "\\u202e" in hostile.text
    assert "x" * 200 not in hostile.text


def test_a_page_fetches_nothing() -> None:
    elements = Elements(page(parts(raced())))
    loading = ("src", "srcset", "data", "action", "poster")
    assert not [one for _, given in elements.found for one in given if one in loading]
    links = [given["href"] or "" for _, given in elements.found if "href" in given]
    assert all(link.startswith("#") for link in links)
    policy = next(given["content"] or "" for _, given in elements.found if "http-equiv" in given)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src 'none'" in policy


def test_a_live_page_runs_its_script_and_may_ask_its_own_server_only() -> None:
    made = parts(raced())
    text = page(made, live="paceline.update({fragments: {live: '</script>'}});")
    assert "connect-src 'self'" in text
    assert r"paceline.update({fragments: {live: '<\/script>'}});</script>" in text
    assert len(re.findall(r"'sha256-", text)) == len(re.findall(r"'sha256-", page(made))) + 1
    assert 'id="live"' in text
    assert 'id="live"' not in page(made)


def test_every_chart_has_its_place_and_a_table_with_the_same_numbers() -> None:
    elements = Elements(page(parts(made()))).found
    drawn = {given["id"] for _, given in elements if given.get("class") == "chart"}
    assert drawn == set(json.loads(charts_as_json())["items"][0]["roots"].values())
    assert all(
        given.get("aria-label") or given.get("aria-labelledby")
        for _, given in elements
        if given.get("class") == "chart"
    )
    tables = {given["id"] for tag, given in elements if tag == "table" and "id" in given}
    assert tables == {
        "standings-table", "table-race", "table-pool", "table-scaling", "table-rounds",
    }  # fmt: skip
    text = Elements(page(parts(made()))).text
    for words in ("Arms in", "idle", "90 % below", "Cores of a pull: least"):
        assert words in text


def test_headings_and_landmarks_lead_through_the_page() -> None:
    elements = Elements(page(parts(made()))).found
    tags = [tag for tag, _ in elements]
    assert tags.count("h1") == tags.count("main") == tags.count("header") == 1
    assert tags.count("h2") == tags.count("section") == 8
    ids = {given["id"] for _, given in elements if "id" in given}
    for _, given in elements:
        for name in ("aria-labelledby", "for"):
            assert given.get(name) is None or given[name] in ids


def test_what_failed_and_what_it_printed() -> None:
    story = made()
    html = parts(story).fragments["failures"]
    assert "</pre><script>" not in html
    text = Elements(html).text
    assert "ended with status 3" in text
    assert "</pre><script>alert(4)</script>" in text
    assert f"{len(story.troubles)} attempts at pulls failed" in text
    assert parts(made(failing=0.0)).fragments["failures"] == ""


def test_how_to_repeat_it() -> None:
    text = Elements(parts(made()).fragments["repeat"]).text
    for words in ("python train.py --rate {rate}", "\\u202e", "sigma", "0.08", "2.1.0", "node17"):
        assert words in text
    assert "/home/user/races/</script>/race.jsonl" in text


def test_an_undecided_race_promises_nothing() -> None:
    fragments = parts(made(24, 600, decided=False)).fragments
    assert "undecided" in fragments["state"]
    assert fragments["guarantee"].startswith("Nothing is guaranteed about the verdict.")
    assert (
        parts(raced(confidence=None, deadline="1s")).fragments["state"].count("no guarantee") == 1
    )
    late = made(24, 600)
    late = replace(late, outcome=replace(late.outcome, confidence=0.8))  # of 0.95 asked for
    fragments = parts(late).fragments
    assert "no guarantee" in fragments["state"]
    assert fragments["guarantee"].startswith("Nothing is guaranteed about the verdict.")
    assert "would have been reached" in fragments["facts"]


def test_a_page_of_many_arms_and_pulls_can_be_mailed() -> None:
    text = page(parts(made(1000, 50_000, (64, 64, 32), hostile=True)))
    assert len(text.encode()) < 4_000_000


def test_without_bokeh_it_says_what_to_install() -> None:
    script = "import sys; sys.modules['bokeh'] = None\nimport paceline.report"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert "MissingExtra" in done.stderr
    assert "pip install 'paceline[report]'" in done.stderr


def test_an_old_bokeh_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paceline.report.extra.version", lambda name: "3.4.1")
    with pytest.raises(paceline.MissingExtra, match=r"needs bokeh 3.8 or newer, and bokeh 3.4.1"):
        check_bokeh()

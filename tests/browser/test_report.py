"""The page of a race as a reader has it: 1,000 arms with hostile names, and failures."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paceline.report import page, parts, write
from tests.report.stories import made

pytestmark = pytest.mark.browser

_RANGES = """name => {
    const chart = Bokeh.documents[0].get_model_by_name(`chart-${name}`);
    return [chart.x_range.start, chart.x_range.end, chart.y_range.start, chart.y_range.end];
}"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    story = made(1000, 20_000, (64, 64, 32), hostile=True)
    return write(story, tmp_path_factory.mktemp("report") / "race.html")


class Reader:
    """A page that is open; whatever it asks of a network or says in its console is kept."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        given = {"viewport": {"width": 1280, "height": 900}} | options
        self.page = browser.new_page(**given)
        self.asked: list[str] = []
        self.said: list[str] = []
        self.page.on("request", lambda one: self.asked.append(one.url))
        self.page.on("console", lambda one: self._hear(one.type, one.text))
        self.page.on("pageerror", lambda one: self.said.append(str(one)))
        self.page.on("dialog", lambda one: self.said.append(f"dialog: {one.message}"))
        self.page.goto(f"file://{path}")
        self.page.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)

    def _hear(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.said.append(text)

    def rows(self) -> list[str]:
        """The labels of the arms that are shown, in their order."""
        script = "all => all.filter(one => !one.hidden).map(one => one.cells[1].textContent)"
        found: list[str] = self.page.eval_on_selector_all("#standings tr", script)
        return found

    def cells(self, column: int) -> list[str]:
        """What a column has, in the order of the rows."""
        script = "(all, column) => all.map(one => one.cells[column].textContent)"
        found: list[str] = self.page.eval_on_selector_all("#standings tr", script, column)
        return found


@pytest.fixture
def reader(browser: Any, large: Path) -> Iterator[Reader]:
    opened = Reader(browser, large)
    yield opened
    opened.page.close()


def test_nothing_is_fetched_and_nothing_of_a_user_runs(reader: Reader, large: Path) -> None:
    page = reader.page
    assert page.is_hidden("#trouble")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    for name in ("race", "pool", "parallel"):
        chart = page.locator(f"#chart-{name}")
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        for step in range(12):  # tooltips show labels
            page.mouse.move(box["x"] + 80 + 40 * step, box["y"] + box["height"] / 2)
    assert reader.asked == [f"file://{large}"]
    assert reader.said == []
    assert page.locator("body script").count() == 2  # Bokeh, and the page's own
    assert "<script>alert(1)</script>" in reader.rows()


def test_sorting_by_a_click_and_by_keys(reader: Reader) -> None:
    page = reader.page
    pulls = page.get_by_role("columnheader", name="Pulls")
    pulls.get_by_role("button").click()
    numbers = [int(one.replace(",", "")) for one in reader.cells(7)]
    assert numbers == sorted(numbers)
    assert pulls.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert [int(one.replace(",", "")) for one in reader.cells(7)] == sorted(numbers, reverse=True)
    assert pulls.get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="Mean").click()
    means = [float(one) for one in reader.cells(3) if one != "–"]
    assert means == sorted(means)
    assert reader.cells(3)[-1] == "–" or "–" not in reader.cells(3)  # what is unknown comes last


def test_searching(reader: Reader) -> None:
    page = reader.page
    page.get_by_label("Search").fill("failed")
    assert 0 < len(reader.rows()) < 100
    assert page.text_content("#found").endswith("of 1,000 arms")
    page.get_by_label("Search").fill("OPTIMIZER=SGD depth=4")
    assert reader.rows()
    assert all("sgd" in one and "depth=4" in one for one in reader.rows())
    page.get_by_label("Search").fill("")
    assert len(reader.rows()) == 1000


def test_a_phone_shows_all_of_it_without_sliding_sideways(browser: Any, large: Path) -> None:
    phone = Reader(browser, large, viewport={"width": 390, "height": 844})
    assert phone.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert phone.page.locator("#chart-pool canvas").first.is_visible()
    phone.page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_follow_the_colours_of_the_page(browser: Any, large: Path, scheme: str) -> None:
    opened = Reader(browser, large, color_scheme=scheme)
    is_painted = """() => {
        const chart = Bokeh.documents[0].get_model_by_name("chart-race");
        const axis = chart.left.find(one => one.major_label_text_color);
        const wanted = getComputedStyle(document.documentElement).getPropertyValue("--muted");
        return axis.major_label_text_color === wanted.trim() && wanted.trim();
    }"""
    first = opened.page.wait_for_function(is_painted).json_value()
    opened.page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
    changed = f"() => {{ const now = ({is_painted})(); return now !== '{first}' && now; }}"
    assert opened.page.wait_for_function(changed).json_value() != first
    opened.page.close()


def test_everything_can_be_reached_by_keys(reader: Reader) -> None:
    page = reader.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the standings"
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert {"search", "sort-0", "sort-7", "table long"} <= seen
    summary = page.locator("#details-pool summary")
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("#table-pool").is_visible()


def test_an_update_leaves_the_reader_where_he_is(browser: Any, tmp_path: Path) -> None:
    before, after = made(64, 1000), made(64, 4000)
    path = tmp_path / "race.html"
    path.write_text(page(parts(before)), encoding="utf-8")
    reader = Reader(browser, path)
    shown = reader.page
    shown.get_by_role("button", name="Pulls").click()
    shown.get_by_label("Search").fill("adam")
    shown.locator("#failures details summary").first.click()
    shown.locator("#details-race summary").click()
    shown.locator("#chart-scaling").scroll_into_view_if_needed()
    box = shown.locator("#chart-scaling").bounding_box()
    shown.mouse.move(box["x"] + 120, box["y"] + 80)
    shown.mouse.down()
    shown.mouse.move(box["x"] + 300, box["y"] + 180, steps=8)
    shown.mouse.up()
    shown.evaluate("document.getElementById('sort-7').focus({ preventScroll: true })")
    shown.wait_for_timeout(500)
    zoomed, ranges = (shown.evaluate(_RANGES, name) for name in ("scaling", "race"))
    scrolled = shown.evaluate("scrollY")
    update = json.loads(json.dumps(parts(after).to_json()))
    shown.evaluate("update => paceline.update(update)", update)
    shown.wait_for_timeout(500)
    assert shown.evaluate(_RANGES, "scaling") == zoomed
    assert shown.evaluate(_RANGES, "race") != ranges  # which nobody has zoomed
    assert shown.evaluate("scrollY") == pytest.approx(scrolled, abs=2)
    assert shown.evaluate("document.activeElement.id") == "sort-7"
    assert shown.locator("#failures details").first.get_attribute("open") is not None
    assert shown.locator("#details-race").get_attribute("open") is not None
    assert len(reader.rows()) < 64
    numbers = [int(one.replace(",", "")) for one in reader.cells(7)]
    assert numbers == sorted(numbers)
    text = shown.text_content("#facts")
    assert f"{after.standing.pulls:,}" in text
    assert reader.said == []
    shown.close()


def test_a_browser_without_what_charts_need_still_has_the_tables(browser: Any, large: Path) -> None:
    old = browser.new_page()
    old.add_init_script("delete globalThis.DecompressionStream")
    old.goto(f"file://{large}")
    old.wait_for_selector("html[data-ready]", state="attached")
    assert "cannot be drawn" in old.text_content("#trouble")
    assert old.locator("#standings tr").count() == 1000
    old.close()

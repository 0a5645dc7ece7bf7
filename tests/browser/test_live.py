"""The live page in a real browser, while real races run, die and go on."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Visits
from tests.live.journals import Growing
from tests.live.servers import serving

pytestmark = pytest.mark.browser

# The arms are so close, and their noise so much their own, that no race of theirs ends by itself.
PULL = (
    "awk -v x={x} -v s={seed} "
    "'BEGIN {{ srand(s % 99991 + x * 7919); system(\"sleep 0.05\"); print x / 999 + rand() }}'"
)
RACE = ["race", PULL, "-L", "x", "1..6", "-c", "0.999999", "--cores", "2"]
HOSTILE = [
    "<script>document.title='owned'; alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "'; alert(3); '",
    "</title></script><svg onload=alert(4)>",
    "\u202egnp.exe \u0000\u001b[31m",
    "javascript:alert(5)",
    "x" * 10_000,
]


class Races:
    """Starts races as users do, and ends what is left of them."""

    def __init__(self) -> None:
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        race = subprocess.Popen(
            [sys.executable, "-m", "paceline", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.running.append(race)
        return race


@pytest.fixture
def races() -> Iterator[Races]:
    started = Races()
    yield started
    for race in started.running:
        race.kill()
        race.wait()


def becomes(page: Any, state: str, link: str = "there") -> None:
    page.wait_for_selector(f"#live[data-state={state}][data-link={link}]")


def pulls(page: Any) -> int:
    found = re.search(r"Pulls\s+([\d,]+)", page.inner_text("#facts"))
    return int(found[1].replace(",", "")) if found else 0


def grows(page: Any, beyond: int) -> int:
    """Wait until the page shows more pulls, without a visit to it; how many those are."""
    page.wait_for_function(
        "count => Number(/Pulls\\s+([\\d,]+)/.exec(document.getElementById('facts').innerText)[1]"
        ".replaceAll(',', '')) > count",
        arg=beyond,
    )
    return pulls(page)


def stay(page: Any) -> None:
    """Mark the page, to see that it is not loaded again."""
    page.evaluate("window.stays = true")


def stayed(page: Any) -> bool:
    return bool(page.evaluate("window.stays === true"))


def test_two_viewers_of_a_race_that_begins_is_killed_and_goes_on(
    visit: Visits, races: Races, tmp_path: Path
) -> None:
    journal = tmp_path / "race.jsonl"
    with serving(journal) as server:
        desk = visit(server.url)
        becomes(desk, "waiting")
        assert str(journal) in desk.inner_text("#live")
        race = races.start(*RACE, "-j", str(journal))
        desk.wait_for_selector("#verdict")
        becomes(desk, "running")
        phone = visit(server.url, viewport={"width": 390, "height": 800}, color_scheme="dark")
        becomes(phone, "running")
        for page in (desk, phone):
            stay(page)
            grows(page, grows(page, pulls(page)))
        race.send_signal(signal.SIGKILL)
        for page in (desk, phone):
            becomes(page, "stopped")
            assert f"paceline resume {journal}" in page.inner_text("#live code")
        before = pulls(desk)
        resumed = races.start("resume", str(journal))
        for page in (desk, phone):
            becomes(page, "running")
            grows(page, before)
        resumed.send_signal(signal.SIGINT)
        for page in (desk, phone):
            becomes(page, "stopped")
        races.start("resume", str(journal), "--max-pulls", str(pulls(desk) + 5)).wait()
        for page in (desk, phone):
            becomes(page, "undecided")
            assert "undecided" in page.inner_text("#verdict").lower()
            assert stayed(page)
        server.end()
        becomes(desk, "undecided", link="ended")
        assert "no longer updated" in desk.inner_text("#live")


def test_what_the_reader_does_to_the_page_stays(visit: Visits, tmp_path: Path) -> None:
    race = Growing(tmp_path / "race.jsonl")
    race.lock()
    race.write(12)
    with serving(race.path) as server:
        page = visit(server.url)
        becomes(page, "running")
        before = pulls(page)
        page.fill("#search", "1.0")
        page.evaluate("window.scrollTo(0, 100)")
        race.write(6)
        grows(page, before)
        assert page.input_value("#search") == "1.0"
        assert page.locator("#standings tr:visible").count() == 1
        assert page.evaluate("window.scrollY") == 100
        assert page.evaluate("document.activeElement.id") == "search"
    race.close()


def test_a_server_that_is_killed_and_comes_back(visit: Visits, tmp_path: Path) -> None:
    race = Growing(tmp_path / "race.jsonl")
    race.lock()
    race.write(12)
    with serving(race.path) as server:
        page = visit(server.url)
        becomes(page, "running")
        before = pulls(page)
        server.process.send_signal(signal.SIGKILL)
        becomes(page, "running", link="lost")
        assert "No connection to the server" in page.inner_text("#live")
        server.process.wait()
    race.write(6)
    with serving(race.path, "--port", str(server.port)):
        becomes(page, "running", link="there")
        grows(page, before)
    race.close()


def test_a_journal_that_is_damaged_and_deleted(visit: Visits, tmp_path: Path) -> None:
    race = Growing(tmp_path / "race.jsonl")
    race.write(12)
    with serving(race.path) as server:
        page = visit(server.url)
        becomes(page, "stopped")
        verdict = page.inner_text("#verdict")
        with race.path.open("ab") as stream:
            stream.write(b"<img src=x onerror=alert(1)>\n")
        becomes(page, "damaged")
        assert "line 13 is b'<img src=x" in page.inner_text("#live")
        race.path.unlink()
        becomes(page, "gone")
        assert page.inner_text("#verdict") == verdict
    race.close()


def test_a_token_is_asked_for_and_leaves_the_address(visit: Visits, tmp_path: Path) -> None:
    race = Growing(tmp_path / "race.jsonl")
    race.write(12)
    with serving(race.path, "--token", "a b&c=d/é-token") as server:
        page = visit(server.url)
        becomes(page, "stopped")
        assert page.url == f"http://localhost:{server.port}/"
        race.write(6)
        grows(page, 0)
        page.reload()
        becomes(page, "stopped")
        assert "token" not in page.evaluate("document.cookie")
        status = page.evaluate("fetch('/', {credentials: 'omit'}).then(answer => answer.status)")
        assert status == 403
        assert "Forbidden" in visit.seen.pop()
    race.close()


def hostile_race(path: Path) -> None:
    """A race whose labels, and what its pulls print when they fail, try to act."""
    arms = json.dumps([{"name": name} for name in HOSTILE])
    code = (
        "import json, sys, paceline\n"
        f"arms = json.loads({arms!r})\n"
        "def evaluate(arm, *, seed):\n"
        "    if len(arm['name']) % 2: raise ValueError(arm['name'])\n"
        "    return seed % 7 + len(arm['name'])\n"
        f"paceline.race(evaluate, arms, max_pulls=60, cores=2, journal={str(path)!r})\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ, capture_output=True)


def test_names_are_data(visit: Visits, tmp_path: Path) -> None:
    whole, path = tmp_path / "whole.jsonl", tmp_path / "<b>&'\" race.jsonl"
    hostile_race(whole)
    lines = whole.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: len(lines) // 2]))
    with serving(path) as server:
        page = visit(server.url)
        becomes(page, "stopped")
        with path.open("ab") as stream:
            stream.write(b"".join(lines[len(lines) // 2 :]))
        becomes(page, "undecided")
        assert page.locator("#standings tr").count() == len(HOSTILE)
        assert page.locator("img, svg[onload], #standings script").count() == 0
        assert "owned" not in page.evaluate("document.title").partition("·")[0][:5]
        assert "<script>" in page.inner_text("#standings")
        assert "\u202e" not in page.inner_text("body")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_the_line_whole(visit: Visits, tmp_path: Path, scheme: str) -> None:
    race = Growing(tmp_path / ("long-name-" * 12 + ".jsonl"), "format-2-command-capped.jsonl")
    race.write(12)
    with serving(race.path) as server:
        page = visit(server.url, viewport={"width": 360, "height": 740}, color_scheme=scheme)
        becomes(page, "stopped")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 360
        box = page.locator("#live").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
    race.close()


def test_nothing_of_a_page_leaves_this_machine(visit: Visits, tmp_path: Path) -> None:
    """`visit` sees to that for all tests. Here a page tries, and its policy forbids it."""
    race = Growing(tmp_path / "race.jsonl")
    race.write(12)
    with serving(race.path) as server:
        page = visit(server.url)
        becomes(page, "stopped")
        blocked = page.evaluate(
            "fetch('http://127.0.0.1:1/').then(() => 'sent', error => error.name)"
        )
        assert blocked == "TypeError"
        broken = page.evaluate(
            "new Promise(tell => {"
            " addEventListener('securitypolicyviolation', one => tell(one.effectiveDirective));"
            " const image = Object.assign(new Image(), {src: 'http://127.0.0.1:1/x.png'});"
            " document.body.append(image); })"
        )
        assert broken == "img-src"
        assert visit.seen
        assert all("Content Security Policy" in text or "Fetch API" in text for text in visit.seen)
        visit.seen.clear()
    race.close()

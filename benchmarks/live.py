"""A live page: how soon a result shows in a browser, and what following costs the race."""

import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paceline import race
from paceline.display.table import Table
from paceline.errors import MissingExtra

_RESULTS = 40  # whose time to the page is measured
_PAIRS = 5  # races with and without a viewer, in turn
_PULLS = 400
_BEGINNING = 3.0  # seconds in which the page is loaded, and what the first one needs
_TICKS = os.sysconf("SC_CLK_TCK")

# The page itself notes when its facts change: in milliseconds since 1970.
_NOTE = """
window.noted = [];
const facts = document.getElementById("facts");
const note = () => window.noted.push(Date.now());
new MutationObserver(note).observe(facts, {childList: true, subtree: true, characterData: true});
"""


@contextlib.contextmanager
def serving(journal: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    server = subprocess.Popen(
        [sys.executable, "-m", "paceline", "live", str(journal)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None
        yield server, found[0]
    finally:
        server.terminate()
        server.wait()


def used(process: int) -> float:
    """CPU seconds of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def sleeping(arm: float, *, seed: int) -> float:
    time.sleep(0.05)
    return arm + seed % 1000 / 1000


def computing(arm: float, *, seed: int) -> float:
    until = time.thread_time() + 0.05
    while time.thread_time() < until:
        pass
    return arm + seed % 1000 / 1000


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise MissingExtra("it needs a browser: make test-browser installs one") from error
    with sync_playwright() as playwright:
        where = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=where, args=["--no-sandbox"])
        yield browser
        browser.close()


def delays() -> list[float]:
    """Seconds from a line in the journal to the page that shows it, one result at a time."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        whole, path = Path(folder) / "whole.jsonl", Path(folder) / "race.jsonl"
        race(sleeping, [0.1, 0.2, 0.3, 0.4], max_pulls=2 * _RESULTS, cores=1, journal=whole)
        lines = whole.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:10]))
        found: list[float] = []
        with serving(path) as (_, url), path.open("ab", buffering=0) as stream:
            page = browser.new_page()
            page.goto(url)
            page.wait_for_selector("#live[data-state=stopped]")
            page.evaluate(_NOTE)
            for line in lines[10:]:
                if len(found) == _RESULTS:
                    break
                if not line.startswith(b'{"kind":"results"'):
                    stream.write(line)
                    continue
                time.sleep(1.0)
                page.evaluate("window.noted = []")
                stream.write(line)
                wrote = time.time()
                page.wait_for_function("() => window.noted.length > 0")
                found.append(page.evaluate("window.noted[0]") / 1000 - wrote)
        return found


def cost(evaluate: Any, *, watched: bool) -> tuple[float, float, float]:
    """Seconds of a race; CPU seconds of its server at first, and per second from then on."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        path = Path(folder) / "race.jsonl"
        spent = [0.0, 0.0]
        if watched:
            server, url = stack.enter_context(serving(path))
            viewer = subprocess.Popen(
                [sys.executable, "-c", _VIEWER, url], stdout=subprocess.PIPE, text=True
            )
            stack.callback(viewer.communicate)
            stack.callback(viewer.kill)
            assert viewer.stdout is not None
            viewer.stdout.readline()
            spent[:] = 2 * [used(server.pid)]

            def note() -> None:
                spent[1] = used(server.pid)

            later = threading.Timer(_BEGINNING, note)
            later.start()
        began = time.perf_counter()
        race(evaluate, [0.1, 0.2, 0.3, 0.4], max_pulls=_PULLS, journal=path, progress=False)
        seconds = time.perf_counter() - began
        if not watched:
            return seconds, 0.0, 0.0
        later.join()
        following = (used(server.pid) - spent[1]) / (seconds - _BEGINNING)
        return seconds, spent[1] - spent[0], following


# A viewer that takes no time itself: a browser would race for the same cores.
_VIEWER = """
import re, sys, urllib.request
def read():
    page = urllib.request.urlopen(sys.argv[1]).read().decode()
    place = re.search(r'place = "([^"]*)"', page)[1]
    events = urllib.request.urlopen(f"{sys.argv[1]}events?since={place}")
    print("there", flush=True)
    for line in events:
        if line == b"event: reload\\n":
            return
while True:
    read()
"""


def run() -> Table:
    rows: list[tuple[object, ...]] = []
    seen = sorted(delays())
    rows.append(("a result to the page, median", f"{statistics.median(seen):.2f} s", "1 s"))
    rows.append((f"the same, worst of {len(seen)}", f"{seen[-1]:.2f} s", "1 s"))
    for name, evaluate in (("sleeping", sleeping), ("computing", computing)):
        ratios, once, shares = [], [], []
        for _ in range(_PAIRS):
            alone = cost(evaluate, watched=False)[0]
            seconds, beginning, following = cost(evaluate, watched=True)
            ratios.append(seconds / alone)
            once.append(beginning)
            shares.append(100 * following)
        what = f"{_PULLS} {name} pulls of 50 ms"
        ratio = f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
        rows.append((f"{what}, time with a viewer / without", ratio, "1.02"))
        first = f"{statistics.median(once):.2f} s"
        rows.append((f"{what}, CPU time of the server for the first page", first, ""))
        share = f"{statistics.median(shares):.1f} % of one core"
        rows.append((f"{what}, CPU time of the server from then on", share, "2 % of all cores"))
    return Table(("what", "seen", "promise"), rows)

"""The page of a race: how long it takes to make, how large it is, and how soon a browser shows it.

Chromium is measured where it is installed (`apt-get install chromium`, or CHROMIUM names another)
and playwright as well (`pip install playwright`).
"""

import importlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paceline.display.table import Table
from paceline.report import page, parts, write
from tests.report.stories import made

_CASES = ((64, 4_000), (1000, 50_000), (1000, 1_000_000))
_NODES = (64, 64, 32)
_QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
_DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def run() -> Table:
    page(parts(made(4, 40)))  # imports, and charts without data, which are made once
    return Table(
        (
            "arms", "pulls", "parts s", "whole page s", "MB", "chromium: drawn s", "sorted ms",
            "updated ms",
        ),
        [_measured(arms, pulls) for arms, pulls in _CASES],
    )  # fmt: skip


def _measured(arms: int, pulls: int) -> tuple[Any, ...]:
    story = made(arms, pulls, _NODES, hostile=True)
    made_parts, parts_seconds = _timed(lambda: parts(story))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "race.html"
        _, seconds = _timed(lambda: write(story, path))
        size = path.stat().st_size / 1e6
        shown = _in_chromium(path, made_parts.to_json())
    return (
        arms,
        len(story.values),
        f"{parts_seconds:.2f}",
        f"{seconds:.2f}",
        f"{size:.2f}",
        *shown,
    )


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    return call(), time.perf_counter() - began


def _in_chromium(path: Path, update: dict[str, Any]) -> tuple[str, str, str]:
    """Seconds until all is drawn; milliseconds to sort the table, and to update everything."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    try:
        started: Any = importlib.import_module("playwright.sync_api").sync_playwright()
    except ImportError:
        return ("–", "–", "–")
    if chromium is None:
        return ("–", "–", "–")
    with started as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_QUIET)
        opened = browser.new_page(viewport={"width": 1280, "height": 900})
        began = time.perf_counter()
        opened.goto(f"file://{path}")
        opened.wait_for_selector("html[data-ready]", state="attached", timeout=300_000)
        opened.evaluate(_DRAWN)
        drawn = time.perf_counter() - began
        call = (
            "update => { const began = performance.now(); %s; return performance.now() - began; }"
        )
        pulls = "document.getElementById('sort-7').click()"
        by_pulls = opened.evaluate(call % pulls)
        update["fragments"] = {name: f"{text} " for name, text in update["fragments"].items()}
        updated = opened.evaluate(call % "paceline.update(update)", update)
        browser.close()
    return f"{drawn:.2f}", f"{by_pulls:.0f}", f"{updated:.0f}"

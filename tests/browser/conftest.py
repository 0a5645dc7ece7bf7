"""A real Chromium, which may talk to nobody but this machine."""

import os
import shutil
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--no-sandbox",  # tests may run as root, in a container
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-sync",
    "--disable-component-update",
)
SECONDS = 60.0  # until a test gives up: machines are loaded


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        where = os.environ.get("CHROMIUM") or shutil.which("chromium")
        one = playwright.chromium.launch(executable_path=where, headless=True, args=[*FLAGS])
        yield one
        one.close()


class Visits:
    """Opens addresses, each in a window of its own; `seen` has what went wrong in any."""

    def __init__(self, browser: Any) -> None:
        self.seen: list[str] = []
        self.contexts: list[Any] = []
        self._browser = browser

    def __call__(self, address: str | Path, **options: Any) -> Any:
        context = self._browser.new_context(**options)
        context.set_default_timeout(1000 * SECONDS)
        self.contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: self.seen.extend(elsewhere(request.url)))
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.seen.append(str(error)))
        page.on("dialog", lambda dialog: self.seen.append(f"dialog: {dialog.message}"))
        page.goto(address.as_uri() if isinstance(address, Path) else address)
        return page

    def _hear(self, message: Any) -> None:
        if message.type == "error" and "net::ERR_" not in message.text:  # a lost connection
            self.seen.append(message.text)


@pytest.fixture
def visit(browser: Any) -> Iterator[Visits]:
    """Pages that must see no error, and no other machine."""
    visits = Visits(browser)
    yield visits
    for context in visits.contexts:
        context.close()
    assert visits.seen == []


def elsewhere(address: str) -> list[str]:
    """The address, if it is of another machine."""
    parts = urllib.parse.urlsplit(address)
    here = parts.scheme in ("data", "blob", "file") or parts.hostname in ("localhost", "127.0.0.1")
    return [] if here else [address]

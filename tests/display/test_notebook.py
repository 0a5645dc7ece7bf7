"""Races in a notebook, in a real Jupyter kernel: what is shown below the cell, and what is left."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client import manager

from paceline.display.notebook import NotebookTable, in_notebook
from paceline.display.screen import make_screen
from tests.cli.made_up import ARMS, result, standing

ROOT = Path(__file__).parents[2]

SETUP = """
import random, time
import paceline
def noisy(arm, *, seed):
    time.sleep(0.05)
    return arm + random.Random(seed).gauss(0, 0.1)
"""


class Kernel:
    """A kernel, and all that it has sent since the last question."""

    def __init__(self, kernel: Any, client: Any) -> None:
        self.kernel = kernel
        self.client = client
        self.sent: list[dict[str, Any]] = []

    def run(self, code: str) -> str:
        """Run a cell; return how it ended."""
        self.sent = []
        reply = self.client.execute_interactive(
            code, output_hook=self._take, timeout=120, allow_stdin=False
        )
        return str(reply["content"].get("ename", reply["content"]["status"]))

    def pages(self, kind: str) -> list[str]:
        """The HTML that messages of this kind have shown."""
        found = [one["content"] for one in self.sent if one["header"]["msg_type"] == kind]
        return [str(one["data"].get("text/html", "")) for one in found]

    def text(self) -> str:
        """What was printed."""
        named = [one for one in self.sent if one["header"]["msg_type"] == "stream"]
        return "".join(one["content"]["text"] for one in named)

    def _take(self, message: dict[str, Any]) -> None:
        self.sent.append(message)
        page = message["content"].get("data", {}).get("text/html", "")
        if self.interrupts and "pulls" in page:
            self.interrupts = False
            self.kernel.interrupt_kernel()

    interrupts = False


@pytest.fixture(scope="module")
def notebook() -> Iterator[Kernel]:
    kernel, client = manager.start_new_kernel(cwd=str(ROOT))
    found = Kernel(kernel, client)
    assert found.run(SETUP) == "ok"
    yield found
    client.stop_channels()
    kernel.shutdown_kernel(now=True)


def test_a_race_shows_how_it_stands_and_leaves_its_result(notebook: Kernel) -> None:
    race = "result = paceline.race(noisy, [0.0, 0.2, 0.3], cores=2, max_pulls=60)"
    assert notebook.run(race) == "ok"
    first, updates = notebook.pages("display_data"), notebook.pages("update_display_data")
    assert len(first) == 1  # one place below the cell
    assert "<table" in first[0]
    assert len(updates) >= 2
    assert "<details><summary>" in updates[-1]  # the verdict, which unfolds
    assert not any("<script" in page for page in [*first, *updates])
    plain = [
        one["content"]["data"]["text/plain"] for one in notebook.sent if "data" in one["content"]
    ]
    assert all("arms in" in text for text in plain[:-1])  # for a console, which shows no HTML
    assert "<" not in "".join(plain)
    places = {
        one["content"]["transient"]["display_id"]
        for one in notebook.sent
        if "display" in one["header"]["msg_type"]
    }
    assert len(places) == 1
    assert notebook.text() == ""
    assert notebook.run("print(result.pulls, len(result.values))\nresult") == "ok"
    assert notebook.text() == "60 60\n"
    (shown,) = notebook.pages("execute_result")
    assert "<table" in shown


def test_an_interrupted_race_leaves_how_it_stood(notebook: Kernel) -> None:
    notebook.interrupts = True
    assert notebook.run("paceline.race(noisy, [0.0, 0.0], cores=2)") == "Interrupted"
    last = [*notebook.pages("display_data"), *notebook.pages("update_display_data")][-1]
    assert "<table" in last
    assert "2/2 arms in" in last


def test_nothing_is_shown_if_nobody_wants_it(notebook: Kernel) -> None:
    race = "paceline.race(noisy, [0.0, 1.0], cores=2, max_pulls=6, progress=False).best"
    assert notebook.run(race) == "ok"
    assert notebook.pages("display_data") == []


def test_pictures_are_shown_below_the_cell(notebook: Kernel) -> None:
    assert notebook.run("result.plot.race();") == "ok"
    sent = [one["content"] for one in notebook.sent if one["header"]["msg_type"] == "display_data"]
    assert len(sent) == 1
    assert "image/png" in sent[0]["data"]


class Display:
    """In place of IPython's."""

    def __init__(self) -> None:
        self.pages: list[str] = []

    def update(self, known: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.pages.append(known["text/html"])


def test_tables_that_come_too_soon_wait_and_the_last_one_is_shown() -> None:
    table, display = NotebookTable(), Display()
    table._display = display
    for rounds in range(100):
        table.update(standing(ARMS, rounds=rounds))
    assert len(display.pages) < 50
    table.close(None)
    assert "99 rounds" in display.pages[-1]
    table.close(None)
    many = len(display.pages)
    table.close(result())
    assert len(display.pages) == many + 1
    assert result().verdict in display.pages[-1]


def test_a_browser_that_is_gone_ends_no_race() -> None:
    class Gone:
        def update(self, _: Any, *, raw: bool) -> None:
            raise RuntimeError("no connection")

    table = NotebookTable()
    table._display = Gone()
    table.update(standing(ARMS))
    table.close(result())


class Shell:
    kernel: Any = object()


@pytest.mark.parametrize(("shell", "is_one"), [(Shell(), True), (object(), False), (None, False)])
def test_a_kernel_is_a_notebook_and_a_terminal_of_ipython_is_not(
    monkeypatch: pytest.MonkeyPatch, shell: Any, is_one: bool
) -> None:
    class IPython:
        @staticmethod
        def get_ipython() -> Any:
            return shell

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert in_notebook() is is_one
    assert isinstance(make_screen(None), NotebookTable) is is_one
    assert make_screen(False) is None


def test_ipython_is_not_imported_to_find_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not in_notebook()
    assert "IPython" not in sys.modules

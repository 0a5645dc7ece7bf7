"""A table of a race under way in a notebook, replaced in place."""

import contextlib
import math
import sys
import time
from typing import Any

from paceline.characters import visible
from paceline.display.standings import headline
from paceline.result import Result
from paceline.story.brief import describe_standing
from paceline.story.markup import folded, of_result, of_standing
from paceline.story.standing import Standing

_PAUSE = 0.4  # seconds between two tables: each of them travels to a browser


def in_notebook() -> bool:
    """Whether this is a Jupyter kernel: of a notebook, of VS Code, of Colab.

    IPython is not imported for this: a kernel has imported it.
    """
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = get_ipython() if callable(get_ipython) else None
    return getattr(shell, "kernel", None) is not None


class NotebookTable:
    """Shows the standings below the cell that races; what came last stays, also if it is stopped.

    There is no thread: the race calls often enough, and tables that come too soon wait for the
    next.
    """

    def __init__(self) -> None:
        self._display: Any = None
        self._waiting: Standing | None = None
        self._shown_at = -math.inf

    def update(self, standing: Standing) -> None:
        """Show how the race stands now."""
        self._waiting = standing
        if time.monotonic() - self._shown_at >= _PAUSE:
            self._show_waiting()

    def close(self, result: Result | None) -> None:
        """Leave the verdict, which unfolds to the table, or else the last standing."""
        if result is not None:
            self._waiting = None
            page = of_result(result.standing, result.story.outcome, result.failures)
            self._show(folded(result.verdict, page), result.verdict)
        self._show_waiting()

    def _show_waiting(self) -> None:
        standing, self._waiting = self._waiting, None
        if standing is not None:
            page = of_standing(standing, " · ".join(headline(standing)))
            self._show(page, describe_standing(standing))

    def _show(self, page: str, text: str) -> None:
        self._shown_at = time.monotonic()
        known = {"text/html": page, "text/plain": visible(text)}  # a console shows no HTML
        with contextlib.suppress(Exception):  # a browser that is gone must not end a race
            from IPython.display import display

            if self._display is None:
                self._display = display(known, raw=True, display_id=True)
            else:
                self._display.update(known, raw=True)

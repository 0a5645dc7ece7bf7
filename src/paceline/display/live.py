"""A table of a race under way, rewritten in place on a terminal."""

import contextlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from paceline.characters import clean, visible
from paceline.display.standings import Line, arm_lines, standing_lines
from paceline.display.stream import styled
from paceline.result import Result
from paceline.story.standing import Standing

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

_MOST_KEPT = 12  # lines of the table left on the terminal at the end


class LiveTable:
    """A table of the standings, rewritten in place; its lines always fit the window."""

    def __init__(self, stream: TextIO, *, keep: bool = True) -> None:
        self.stream = stream
        self._keep = keep
        self._live: Live | None = None

    def update(self, standing: Standing) -> None:
        """Show how the race stands now."""
        with contextlib.suppress(OSError):  # a terminal that is gone must not end a race
            live = self._live or self._start()
            size = live.console.size
            # One line is left free: a newline below a full window would scroll it.
            lines = standing_lines(standing, size.width, size.height - 1)
            live.update(_text(lines), refresh=True)

    def close(self, result: Result | None) -> None:
        """Remove the table, or leave the final one behind; may be called twice."""
        live, self._live = self._live, None
        if live is None:
            return
        with contextlib.suppress(OSError):
            live.stop()
            if self._keep and result is not None:
                lines = arm_lines(result.ranked(), live.console.size.width, _MOST_KEPT)
                live.console.print(_text([*lines, Line(clean(result.verdict))]))

    def _start(self) -> "Live":
        from rich.console import Console
        from rich.live import Live

        # It needs no thread of its own: the race calls often enough. What is printed meanwhile goes
        # above the table; but stdout must not end up in stderr when somebody reads stdout.
        self._live = Live(
            console=Console(file=styled(self.stream), highlight=False),
            auto_refresh=False,
            transient=True,
            vertical_overflow="crop",
            redirect_stdout=sys.stdout.isatty(),
        )
        self._live.start()
        return self._live


def _text(lines: "Sequence[Line]") -> "Text":
    from rich.text import Text

    return Text("\n").join(Text(visible(line.text, ""), style=line.style) for line in lines)

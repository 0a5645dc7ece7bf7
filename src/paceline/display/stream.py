"""Streams that show text and obey nothing in it."""

import contextlib
import io
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TextIO, cast

from paceline.characters import visible


class OutputLost(OSError):
    """What was to be printed cannot be written: perhaps a disk is full."""


class CleanStream:
    r"""A stream whose text is made visible before it is written; all else is the stream's own.

    >>> shown = io.StringIO()
    >>> CleanStream(shown).write("\x1b[2Jgone?\n")
    10
    >>> shown.getvalue()
    '\\x1b[2Jgone?\n'
    """

    def __init__(self, stream: TextIO, *, needed: bool = True) -> None:
        self.styled = stream  # for colours and a moving cursor, with text that is clean already
        self._needed = needed  # whether anybody misses what cannot be written

    def write(self, text: str) -> int:
        """Write the text as a terminal may see it."""
        with self._told():
            self.styled.write(visible(text))
        return len(text)

    def flush(self) -> None:
        """Write what was held back."""
        with self._told():
            self.styled.flush()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Tell a stream that fails from other errors of the system."""
        try:
            yield
        except BrokenPipeError:  # the reader has seen enough
            raise
        except OSError as error:
            if self._needed:
                raise OutputLost(error.errno, error.strerror) from error

    def writelines(self, lines: Iterable[str]) -> None:
        """Write the lines likewise."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.styled, name)


def styled(stream: Any) -> Any:
    """The stream to which colours may be written. Text for it must be made visible first."""
    return stream.styled if isinstance(stream, CleanStream) else stream


@contextlib.contextmanager
def clean_streams() -> Iterator[None]:
    """Print to stdout and stderr through clean streams, which never refuse a character."""
    clean = []
    # A stream that was closed before the start is None; a race goes on without a reader.
    nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream, needed in ((sys.stdout or nowhere, True), (sys.stderr or nowhere, False)):
        # In a log that cannot show '…' or 'λ', a '?' is better than no verdict.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
        clean.append(cast(TextIO, CleanStream(stream, needed=needed)))
    with nowhere, contextlib.redirect_stdout(clean[0]), contextlib.redirect_stderr(clean[1]):
        yield

"""Streams that show text and obey nothing in it."""

import contextlib
import io
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TextIO, cast

from paceline.characters import visible


class CleanStream:
    r"""A stream whose text is made visible before it is written; all else is the stream's own.

    >>> shown = io.StringIO()
    >>> CleanStream(shown).write("\x1b[2Jgone?\n")
    10
    >>> shown.getvalue()
    '\\x1b[2Jgone?\n'
    """

    def __init__(self, stream: TextIO) -> None:
        self.styled = stream  # for colours and a moving cursor, with text that is clean already

    def write(self, text: str) -> int:
        """Write the text as a terminal may see it."""
        self.styled.write(visible(text))
        return len(text)

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
    for stream in (sys.stdout, sys.stderr):
        # In a log that cannot show '…' or 'λ', a '?' is better than no verdict.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
        clean.append(None if stream is None else cast(TextIO, CleanStream(stream)))
    with contextlib.redirect_stdout(clean[0]), contextlib.redirect_stderr(clean[1]):
        yield

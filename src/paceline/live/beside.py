"""A live page beside a race of this process: served by another one, which ends with it."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from paceline.live import LOOPBACK, check_server
from paceline.live.listening import TOKEN, address, listen, token_for

_END_SECONDS = 6.0  # for the last look, and for viewers to be told


@contextlib.contextmanager
def page_beside(journal: Path) -> Iterator[str]:
    """The address of a page that follows this journal from now on, whether it exists or not."""
    check_server()
    token = token_for(LOOPBACK, os.environ.get(TOKEN))
    with listen(journal) as sock:  # here, so that the race need not wait for the child
        url, number = address(sock, token), sock.fileno()
        words = ["-P", "-m", "paceline.live", str(number), str(journal.absolute())]
        child = subprocess.Popen(
            [sys.executable, *words],
            stdin=subprocess.PIPE,  # ends also if this process is killed
            stdout=subprocess.DEVNULL,
            pass_fds=(number,),
            start_new_session=True,  # a Ctrl-C is for the race
        )
    assert child.stdin is not None
    try:
        yield url
    finally:
        child.stdin.close()
        try:
            child.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()

"""`paceline live`: a page that follows a race."""

import argparse
import contextlib
import os
from pathlib import Path

from paceline.errors import InvalidInput
from paceline.journal import Reader
from paceline.live import LOOPBACK, check_server
from paceline.live.listening import TOKEN, address, listen, new_token, token_for
from paceline.races import checks

NAME = "live"
SUMMARY = "a page that follows a race while it runs"
DESCRIPTION = """\
Serve a page that follows the race of a journal while it runs: in any number of
browsers, until Ctrl-C. The race itself is left alone, and nothing can be changed
from the page. The journal need not exist yet.

  paceline live race.jsonl
  paceline live race.jsonl --port 8000            # then: ssh -L 8000:localhost:8000 HOST
  paceline live race.jsonl --host 0.0.0.0         # asks for a token, which it prints"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("journal", metavar="JOURNAL", help="the file given to the race as -j")
    parser.add_argument(
        "--host",
        default=LOOPBACK,
        help="the address to listen on (default: this machine only); any other needs a token",
    )
    parser.add_argument(
        "--port",
        type=int,
        help="the port (default: one that is free; for a journal, the same one if possible)",
    )
    parser.add_argument(
        "--token",
        help="what a viewer must know; 'new' makes one up. Others on this machine can read it "
        "here, but not in $PACELINE_TOKEN",
    )


def run(options: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    journal = Path(checks.path(options.journal, "the journal"))
    check_server()
    from paceline.live.serving import serve

    if journal.is_dir():
        raise InvalidInput(f"{journal} is a folder: give the journal of a race")
    if journal.exists():
        next(Reader(journal).records(), None)  # refuses what is no journal
    given = new_token() if options.token == "new" else options.token
    token = token_for(options.host, (os.environ.get(TOKEN) or None) if given is None else given)
    sock = listen(journal, options.host, options.port)
    with contextlib.suppress(KeyboardInterrupt):
        print(f"live page of {journal}: {address(sock, token)}")
        if not journal.exists():
            print("There is no such file yet: the page waits for it.")
        print("Ctrl-C ends the page; a race goes on.", flush=True)
        serve(journal, sock, token)
    return 0

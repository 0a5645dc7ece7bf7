"""Write docs/cli.md from the commands' own help, so that the page cannot go stale."""

import contextlib
import io
import os
from pathlib import Path
from unittest import mock

from paceline.cli import VERBS, parser


def cli_page() -> str:
    """The page: every command's help, as an 80-column terminal shows it."""
    parts = ["# Commands\n", _block(["--help"])]
    for verb in VERBS:
        parts += [f"## paceline {verb.NAME}\n", _block([verb.NAME, "--help"])]
    return "\n".join(parts)


def _block(arguments: list[str]) -> str:
    text = io.StringIO()
    columns = mock.patch.dict(os.environ, COLUMNS="80")  # argparse wraps to it
    with columns, contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        parser().parse_args(arguments)
    return f"```text\n{text.getvalue()}```\n"


if __name__ == "__main__":
    Path("docs/cli.md").write_text(cli_page(), encoding="utf-8")

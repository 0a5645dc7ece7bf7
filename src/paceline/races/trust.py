"""Whose commands a resume runs: a journal that others can write is not run unasked.

A journal is not only data. It holds the command of the race, and resuming the race runs it. Reading
a journal runs nothing.
"""

import os
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

from paceline.commands import Command
from paceline.errors import InvalidInput
from paceline.races.settings import Settings

_MOST_SHOWN = 10  # commands


def check_trust(path: Path, settings: Settings) -> None:
    """Refuse the journal of another user, or one that everybody may write; say what it would run.

    A group may write it: in many places that is the user alone, and else people who share work.
    """
    if not hasattr(os, "geteuid"):  # Windows: who may write a file is not in its mode
        return
    found = path.stat()
    if found.st_uid != os.geteuid():
        whose = f"belongs to {_name(found.st_uid)}"
    elif found.st_mode & stat.S_IWOTH:
        whose = "can be written by every user of this machine"
    else:
        return
    commands = "\n".join(f"  {line}" for line in _would_run(settings))
    raise InvalidInput(
        f"{path} {whose}, and to resume it is to run its commands:\n{commands}\n"
        "If you trust them all, say --trust, or trust=True in Python"
    )


def _would_run(settings: Settings) -> Iterator[str]:
    command = settings.evaluate
    assert isinstance(command, Command)
    if command.cwd is not None:
        yield f"in {command.cwd}"
    for name, value in command.environment.items():
        yield name if value is None else f"{name}={shlex.quote(value)}"
    for arm in settings.arms[:_MOST_SHOWN]:
        yield shlex.join(command.fill(arm, seed=0, cores=1).argv)
    more = len(settings.arms) - _MOST_SHOWN
    if more > 0:
        yield f"… and {more} more: `paceline show --json` shows all arms"


def _name(user: int) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(user).pw_name}"
    except KeyError:
        return f"the user with the number {user}"

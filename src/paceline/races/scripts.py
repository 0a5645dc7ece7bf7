"""The files that a command consists of: its scripts and its settings, known by their content."""

import hashlib
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from paceline.commands import Command

_MOST_BYTES = 16 * 2**20  # of larger files, the size and the time of the last change count
_SUFFIXES = (
    ".awk", ".bash", ".cfg", ".conf", ".ini", ".jar", ".jl", ".js", ".lua", ".m", ".php", ".pl",
    ".py", ".r", ".rb", ".sh", ".sql", ".toml", ".ts", ".yaml", ".yml",
)  # fmt: skip
# Programs of the system, and those found on PATH, are known by their names, as libraries are.
_SYSTEM = ("/bin/", "/lib/", "/lib64/", "/opt/", "/sbin/", "/usr/", sys.prefix + os.sep)


def files_of(command: Command, arms: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """A hash of every file that a command names and that looks like a part of it.

    These are programs and scripts. Other files may well be written by the command itself.

    >>> files_of(Command.parse("python3 sim.py {x}"), [{"x": 1}])      # there is no such file
    {}
    """
    words = {word: None for arm in arms for word in _words(command, arm)}
    found = {}
    for word in words:
        path = Path(command.cwd or "", word)
        if _is_part(path):
            found[word] = _hash(path)
    return found


def _words(command: Command, arm: Mapping[str, Any]) -> Iterator[str]:
    """The words of a filled command; what a shell will be given is split, too."""
    for word in command.fill(arm, seed=0, cores=1).argv:
        yield word
        if any(blank in word for blank in " \t\n;|&"):
            try:
                yield from shlex.shlex(word, posix=True, punctuation_chars=True)
            except ValueError:  # a quote that is not closed: the shell will say so
                continue


def _is_part(path: Path) -> bool:
    try:
        if not path.is_file() or os.path.abspath(path).startswith(_SYSTEM):
            return False
        return path.suffix.lower() in _SUFFIXES or os.access(path, os.X_OK)
    except (OSError, ValueError):  # a word that is too long for a path, say
        return False


def _hash(path: Path) -> str:
    try:
        state = path.stat()
        if state.st_size > _MOST_BYTES:
            return f"{state.st_size} bytes of {state.st_mtime_ns}"
        return hashlib.blake2b(path.read_bytes()).hexdigest()[:16]
    except OSError:  # it may be run, but not be read
        return "unreadable"

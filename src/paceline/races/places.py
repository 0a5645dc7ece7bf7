"""Where in a race file something is wrong: its line, found by the key that was refused."""

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paceline.errors import InvalidInput, seen

_MOST_NAMED = 3
_KINDS = {  # of files that are taken for a race file
    ".json": "JSON",
    ".yaml": "YAML",
    ".yml": "YAML",
    ".py": "Python",
    ".csv": "CSV",
    ".jsonl": "a journal",
}
_INSTEAD = "a race file is TOML, as in command = 'sim {x}', [arms] and below it x = [1, 2]"


class AtKey(InvalidInput):
    """What is wrong with the value of a key, in a table; the top of the file is ''."""

    def __init__(self, table: str, key: str, message: str) -> None:
        super().__init__(message)
        self.table = table
        self.key = key


@contextmanager
def at(table: str, key: str) -> Iterator[None]:
    """Let a refusal say that it is about this key."""
    try:
        yield
    except AtKey:
        raise
    except InvalidInput as error:
        raise AtKey(table, key, str(error)) from error


def line_of(text: str, table: str, key: str) -> int | None:
    """The line of a key, from 1 on; None if it is written in a way that is not looked for.

    >>> line_of("command = 'sim'\\n[race]\\nseed = 1\\n'deadline'='1m'", "race", "deadline")
    4
    >>> line_of("race.seed = 1", "race", "seed"), line_of("[arms]", "", "arms")
    (1, 1)
    """
    here = ""
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.strip()
        header = re.match(r"\[\[?\s*([^\]]+?)\s*\]", words)
        if header:
            here = header[1].strip("\"'")
            if not table and here == key:
                return number
            continue
        name = re.match(r"(\"[^\"]*\"|'[^']*'|[\w.-]+)\s*=", words)
        if name:
            full = f"{here}.{name[1]}" if here else name[1]
            if full.replace('"', "").replace("'", "") == (f"{table}.{key}" if table else key):
                return number
    return None


def unreadable(path: Path, error: OSError) -> InvalidInput:
    """Why a file cannot be read, and which one may be meant."""
    if path.is_dir():
        known = sorted(one.name for one in path.glob("*.toml"))[:_MOST_NAMED]
        hint = f", such as {', '.join(known)}" if known else ""
        return InvalidInput(f"cannot read {path}: it is a folder; give a race file in it{hint}")
    if isinstance(error, FileNotFoundError):
        near = _near(path)
        hint = f"; did you mean {near}?" if near else ""
        return InvalidInput(f"cannot read {path}: there is no such file{hint}")
    return InvalidInput(f"cannot read {path}: {error.strerror or error}")


def not_toml(path: Path, content: bytes, error: ValueError) -> InvalidInput:
    """Why a file is no TOML; if it is something else by intent, what to do with that."""
    kind = _KINDS.get(path.suffix.lower())
    begin = content.lstrip()[:1]
    if kind == "a journal" or (begin == b"{" and b'"kind"' in content[:4_000]):
        return InvalidInput(
            f"{path} is a journal: paceline show says how its race stands, paceline resume "
            "goes on with it"
        )
    if kind is None and begin == b"{":
        kind = "JSON"
    if kind is not None:
        return InvalidInput(f"{path} is {kind}, but {_INSTEAD}")
    line = re.search(r"at line (\d+)", str(error))
    lines = content.decode(errors="replace").splitlines()
    shown = ""
    if line and 0 < int(line[1]) <= len(lines):
        shown = f", in {seen(lines[int(line[1]) - 1].strip())}"
    return InvalidInput(f"{path} is not valid TOML: {error}{shown}")


def _near(path: Path) -> str:
    try:
        names = [one.name for one in path.parent.iterdir() if one.suffix == ".toml"]
    except OSError:
        return ""
    return (difflib.get_close_matches(path.name, names, n=1, cutoff=0.5) or [""])[0]

"""Journals that grow, line by line, as those of races do."""

import fcntl
from pathlib import Path

RACES = Path(__file__).parents[1] / "races" / "journals"


class Growing:
    """The journal of a race that was, written again; `begin` it, and `write` the lines by hand."""

    def __init__(self, path: Path, name: str = "format-2-function-ended.jsonl") -> None:
        self.path = path
        self.lines = (RACES / name).read_bytes().splitlines(keepends=True)
        self.written = 0
        self._file = path.open("ab", buffering=0)

    def write(self, count: int | None = None) -> None:
        """The next lines; or all that are left."""
        end = len(self.lines) if count is None else self.written + count
        self._file.write(b"".join(self.lines[self.written : end]))
        self.written = end

    def lock(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def unlock(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        self._file.close()

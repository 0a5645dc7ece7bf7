"""Reading a journal, which may be growing: block by block, so that a long one takes no memory."""

import json
import math
import os
import shlex
import stat
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

from paceline.errors import InvalidInput
from paceline.journal.joining import are_values, joined
from paceline.journal.lines import HEADER_START, parsed, unchanged
from paceline.journal.records import READABLE, Record, record_of
from paceline.journal.system import FLAGS, is_free

_BLOCK_BYTES = 1 << 20
# What a line that somebody has changed may lead to when it is read.
UNREADABLE = (ValueError, KeyError, TypeError, RecursionError)


class Damaged(InvalidInput):
    """A line of a journal is not as it was written: which one, why, and what can be kept."""

    def __init__(self, path: Path, line: int, why: str, pulls: int | None = None) -> None:
        self.path, self.line, self.why, self.pulls = path, line, why, pulls
        super().__init__(f"{path} is damaged: line {line} {why}. {self._advice(pulls)}")

    def _advice(self, pulls: int | None) -> str:
        before = self.line - 1
        if before == 0:
            return "Restore the file from a copy, or give another path"
        mended = self.path.with_name(f"{self.path.stem}.mended{self.path.suffix}")
        keep = f"head -n {before} {shlex.quote(str(self.path))} > {shlex.quote(str(mended))}"
        held = "" if pulls is None else f", with {pulls} pulls,"
        return (
            "Restore the file from a copy, or remove that line and all after it: what stands "
            f"before it{held} is sound, and can be shown and resumed after {keep}"
        )


class _Foreign(InvalidInput):
    """A journal of another version."""


class Reader:
    """Reads a journal that may be growing: every `read` gives the new records.

    A last line that is not complete yet, or was torn by a crash, is left for later.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0  # the bytes of all records read so far
        self.chain = 0  # the checksum of the last line
        self.line = 0  # the number of the last line that was read, counting from 1
        self.lines = 0  # how many lines the last record is made of
        self._format = 0
        self._latest = -math.inf  # when the last record was made

    def read(self) -> list[Record]:
        """The records since the last time, one per line."""
        return list(self.records())

    def records(self, *, together: bool = False) -> Iterator[Record]:
        """The records since the last time, as they are read.

        If `together`, lines of one pull each may form one record (see `joined`).
        """
        for lines in self._blocks():
            some = lines
            if not self.line and some:
                yield self._header(some[0])
                some = some[1:]
            must = self._format != 1
            good, self.chain, why = unchanged(some, self.chain, must=must)
            for record, count in self._made(some[:good], together):
                self.line += count
                self.lines = count
                at = getattr(record, "at", self._latest)
                self._latest = at if isinstance(at, float) else math.inf
                yield record
            if why:
                raise self._damaged(why, some[good])
            self.offset += sum(map(len, lines)) + len(lines)

    def _blocks(self) -> Iterator[list[bytes]]:
        """The whole lines since the last time, many at once."""
        try:
            with open_to_read(self.path) as stream:
                size = os.fstat(stream.fileno()).st_size
                stream.seek(self.offset)
                if size < self.offset:
                    raise InvalidInput(f"{self.path} was cut off or replaced since it was read")
                rest, is_last = b"", False
                while not is_last:
                    block = stream.read(min(_BLOCK_BYTES, size - stream.tell()))
                    is_last = not block or stream.tell() >= size
                    data = rest + block
                    if not self.line:
                        self._check_beginning(data)
                    *whole, rest = data.split(b"\n")
                    if is_last and whole and not rest and b"\0" in whole[-1]:
                        whole.pop()  # a crash of the machine left a hole
                    yield whole
        except OSError as error:
            raise InvalidInput(f"cannot read the journal {self.path}: {error.strerror}") from error

    def _check_beginning(self, data: bytes) -> None:
        # Otherwise any file without a newline at its end would pass for a torn journal.
        beginning = data[: len(HEADER_START)].rstrip(b"\0")
        if not HEADER_START.startswith(beginning):
            raise InvalidInput(
                f"{self.path} is not a journal: it begins with {data[:60]!r}. Give another path"
            )

    def _header(self, line: bytes) -> Record:
        """The record of the first line, which says how the others are written."""
        try:
            plain = _plain(line)
            self._format = plain["format"]
            _, self.chain, why = unchanged([line], self.chain, must=self._format != 1)
            if why:
                raise ValueError(why)
            self._check_format()
            record = record_of(plain)
        except _Foreign:
            raise
        except (KeyError, TypeError) as error:
            raise InvalidInput(
                f"{self.path} does not begin like a journal: give another path"
            ) from error
        except UNREADABLE as error:
            raise self._damaged(error, line) from error
        self.line = self.lines = 1
        return record

    def _check_format(self) -> None:
        if self._format not in READABLE:
            raise _Foreign(
                f"{self.path} has format {self._format}, but this paceline reads "
                f"{' and '.join(map(str, READABLE))}: use the version that wrote it"
            )

    def _made(self, lines: list[bytes], together: bool) -> Iterator[tuple[Record, int]]:
        """Records, with the number of lines of each."""
        if not together:
            yield from self._one_by_one(lines)
            return
        for can_join, group in groupby(lines, are_values):
            some = list(group)
            yield from (can_join and joined(some, self._latest)) or self._one_by_one(some)

    def _one_by_one(self, lines: list[bytes]) -> Iterator[tuple[Record, int]]:
        plains = parsed(lines)
        for place, line in enumerate(lines):
            try:
                record = record_of(_plain(line) if plains is None else plains[place])
            except UNREADABLE as error:
                raise self._damaged(error, line) from error
            yield record, 1

    def _damaged(self, error: Exception | str, line: bytes) -> Damaged:
        """The error for the line after the last one."""
        return Damaged(self.path, self.line + 1, f"is {line[:60]!r} ({error})")


def read_records(path: Path) -> list[Record]:
    """Read all records of a journal, which may still be growing."""
    return Reader(path).read()


def open_to_read(path: Path) -> BinaryIO:
    """Open a file; what is no file, such as a named pipe, is refused rather than waited for."""
    check_kind(path)
    return open(os.open(path, os.O_RDONLY | FLAGS), "rb")


def check_kind(path: Path | int) -> None:
    """Refuse what is there and no file; devices must not even be opened."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # to open a folder says what is wrong
        raise OSError(0, f"it is {_KINDS.get(stat.S_IFMT(mode), 'no file')}, not a file")


_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def is_locked(path: Path) -> bool:
    """Whether some process is writing the journal."""
    with open_to_read(path) as stream:
        return not is_free(stream.fileno())


def _plain(line: bytes) -> dict[str, Any]:
    plain = json.loads(line)
    if not isinstance(plain, dict):
        raise ValueError("it is not a record")
    return plain

"""Damage the journal of a finished race: the answer stays, or the damage is named."""

import random
from collections.abc import Callable
from pathlib import Path

import paceline
from paceline.races import read_journal
from tests.chaos.account import Account
from tests.chaos.victim import run

Damage = Callable[[bytes, random.Random], bytes]


def truncated(data: bytes, rng: random.Random) -> bytes:
    """Cut off, as by a crash."""
    return data[: rng.randrange(len(data))]


def flipped_digit(data: bytes, rng: random.Random) -> bytes:
    """With another digit somewhere."""
    places = [place for place, byte in enumerate(data) if chr(byte).isdigit()]
    place = rng.choice(places)
    other = rng.choice(b"0123456789".replace(data[place : place + 1], b""))
    return data[:place] + other.to_bytes() + data[place + 1 :]


def flipped_bit(data: bytes, rng: random.Random) -> bytes:
    """With another bit somewhere."""
    place = rng.randrange(len(data))
    return data[:place] + (data[place] ^ 1 << rng.randrange(8)).to_bytes() + data[place + 1 :]


def without_a_line(data: bytes, rng: random.Random) -> bytes:
    """Without one of its lines."""
    lines = data.splitlines(keepends=True)
    del lines[rng.randrange(len(lines) - 1)]
    return b"".join(lines)


def with_a_line_twice(data: bytes, rng: random.Random) -> bytes:
    """With one of its lines repeated somewhere below it."""
    lines = data.splitlines(keepends=True)
    place = rng.randrange(len(lines))
    lines.insert(rng.randrange(place, len(lines)) + 1, lines[place])
    return b"".join(lines)


def with_a_hole(data: bytes, rng: random.Random) -> bytes:
    """With zeros where a block was never written."""
    place = rng.randrange(len(data))
    return data[:place] + bytes(rng.randrange(1, 600)) + data[place + 600 :]


DAMAGES: tuple[Damage, ...] = (
    truncated,
    flipped_digit,
    flipped_bit,
    without_a_line,
    with_a_line_twice,
    with_a_hole,
)


class Damaged:
    """The journal of a finished race, to be damaged again and again."""

    def __init__(self, kind: str, goal: str, folder: Path, account: Account) -> None:
        self.name = f"{kind}, {goal}"
        self._kind, self._goal = kind, goal
        self._account = account
        self._path = folder / f"{kind}-{goal}.jsonl"
        self._path.unlink(missing_ok=True)
        self._answer = self._run()
        self._whole = self._path.read_bytes()

    def attack_once(self, rng: random.Random) -> None:
        """Damage it in some way, and read and resume it."""
        damage = rng.choice(DAMAGES)
        self._path.write_bytes(damage(self._whole, rng))
        self._account.tried_one(f"journals {damage.__name__.replace('_', ' ')}")
        kept = self._path.with_name(f"broken-{len(self._account.broken)}.jsonl")
        try:
            if damage is not truncated:  # of an empty file there is nothing to show
                read_journal(self._path)
            answer = self._run()
        except paceline.InvalidInput:
            self._account.expect(damage is not truncated, f"{self.name}: refused a cut-off journal")
        except Exception as error:
            kept.write_bytes(self._path.read_bytes())
            self._account.broke(f"{self.name}: {damage.__name__}: {error!r}, see {kept}")
        else:
            if answer != self._answer:
                self._account.broke(f"{self.name}: {damage.__name__}: {answer}")

    def _run(self) -> tuple[object, ...]:
        result = run(str(self._path), self._kind, self._goal)
        if self._goal == "deadline":  # what was back by then depends on the machine
            return ()
        return result.index, result.rounds, result.verdict, result.confidence

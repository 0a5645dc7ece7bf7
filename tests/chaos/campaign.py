"""The whole attack: several lanes side by side, for a chosen time."""

import os
import random
import threading
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from tests.chaos.account import Account
from tests.chaos.damage import Damaged
from tests.chaos.hostility import attack_with_hostile_pulls
from tests.chaos.kills import GOALS, KINDS, Race
from tests.chaos.load import disturb
from tests.chaos.processes import MARK, new_mark

_KILLING_LANES = 3
_REPORT_SECONDS = 60.0

Attack = Callable[[], None]


def attack(seconds: float, seed: int, folder: Path, *, say: Callable[[str], None]) -> Account:
    """Attack races for that long; the account says what was tried and what broke."""
    account = Account()
    rng = random.Random(seed)
    os.environ[MARK] = new_mark(rng)
    until, done = time.monotonic() + seconds, threading.Event()

    def work(lane: Callable[[], Attack]) -> None:
        try:
            once = lane()
            while time.monotonic() < until:
                once()
        except Exception as error:
            account.broke(f"the attack itself failed: {error!r}")
            raise

    def own() -> random.Random:
        return random.Random(rng.random())

    lanes: list[Callable[[], Attack]] = [
        partial(_killing, own(), folder / f"kills-{number}", account)
        for number in range(_KILLING_LANES)
    ]
    lanes.append(partial(_damaging, own(), folder / "damage", account))
    lanes.append(lambda: partial(attack_with_hostile_pulls, own(), account))
    threads = [threading.Thread(target=work, args=[lane]) for lane in lanes]
    load = threading.Thread(target=disturb, args=[done, own()])
    for thread in [*threads, load]:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(_REPORT_SECONDS)
            say(f"{max(0.0, until - time.monotonic()):.0f} s left, {account.kills} kills")
    done.set()
    load.join()
    return account


def _killing(rng: random.Random, folder: Path, account: Account) -> Attack:
    @cache  # a race is first run undisturbed, which takes a while
    def race(kind: str, goal: str) -> Race:
        own = folder / f"{kind}-{goal}".replace(" ", "-")
        own.mkdir(parents=True)
        return Race(kind, goal, own, rng, account)

    return lambda: race(rng.choice(KINDS), rng.choice(GOALS)).attack_once()


def _damaging(rng: random.Random, folder: Path, account: Account) -> Attack:
    folder.mkdir(parents=True)
    journal = cache(partial(Damaged, folder=folder, account=account))
    return lambda: journal(rng.choice(KINDS), rng.choice(GOALS)).attack_once(rng)

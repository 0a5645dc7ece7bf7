"""The attack of `make chaos`, for a few seconds; and that it notices what is broken."""

import os
import random
from pathlib import Path

import pytest

from tests.chaos import kills
from tests.chaos.account import Account
from tests.chaos.campaign import attack
from tests.chaos.damage import DAMAGES
from tests.chaos.processes import MARK

SECONDS = float(os.environ.get("PACELINE_CHAOS_SECONDS", "20"))


@pytest.fixture(autouse=True)
def _mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARK, "0")  # so that the attack's own is taken back


def test_nothing_breaks(tmp_path: Path) -> None:
    account = attack(SECONDS, seed=random.randrange(10**9), folder=tmp_path, say=lambda _: None)
    assert not account.broken
    assert account.tried  # how much depends on the machine


def test_a_race_that_was_killed_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    account = Account()
    race = kills.Race("function", "deadline", tmp_path, random.Random(0), account)
    monkeypatch.setattr(kills, "TARGETS", (("driver",),))
    while not account.tried["resumed"]:  # a driver may be killed before it has a journal
        race.attack_once()
    assert account.kills > 0
    assert not account.broken


def test_a_lost_value_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    account = Account()
    race = kills.Race("function", "confidence", tmp_path, random.Random(1), account)
    race._before = {(0, 0): 0.5}
    monkeypatch.setattr(kills, "TARGETS", (("driver",),))
    race.attack_once()
    assert any("a recorded value was lost" in what for what in account.broken)


def test_what_is_left_behind_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    account = Account()
    race = kills.Race("function", "confidence", tmp_path, random.Random(2), account)
    monkeypatch.setattr(kills, "gone", lambda _: False)
    race.attack_once()
    assert any("left behind" in what for what in account.broken)


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_damages(damage: object) -> None:
    data = b'{"kind":"race","at":1}\n{"kind":"out","at":22}\n{"kind":"out","at":3}\n'
    rng = random.Random(3)
    assert all(damage(data, rng) != data for _ in range(50))  # type: ignore[operator]

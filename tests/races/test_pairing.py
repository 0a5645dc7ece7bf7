"""Seeds are shared by default where that can help and cannot hurt."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from benchmarks.inprocess import in_process
from paceline import APR, InvalidInput, Staged, race
from paceline.commands import Command
from paceline.core.seeds import pull_seed
from paceline.races import prepare
from tests.races.virtual import VirtualEngine, pulls_of, watched


def seeded(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 1) + random.Random(f"{seed} {arm}").gauss(0, 0.3)


def unseeded(arm: float) -> float:
    return arm


ARMS = [0.0, 0.5, 1.0]
CONFIDENCE = {"confidence": 0.95}
DEADLINE = {"deadline": 10.0}


@pytest.mark.parametrize(
    ("evaluate", "options", "shared", "paired"),
    [
        (seeded, CONFIDENCE, True, True),
        (seeded, CONFIDENCE | {"noise": "normal"}, True, True),
        (seeded, CONFIDENCE | {"noise": "bernoulli"}, True, True),
        (seeded, CONFIDENCE | DEADLINE, True, True),
        (seeded, CONFIDENCE | {"noise": "normal", "sigma": 1.0}, False, False),
        (seeded, CONFIDENCE | {"sigma": 1.0}, False, False),
        (seeded, CONFIDENCE | {"bounds": (0, 1)}, False, False),
        (seeded, CONFIDENCE | {"policy": APR(), "noise": "bernoulli"}, False, False),
        (seeded, DEADLINE, True, False),  # a stage does not wait for both of a pair
        (unseeded, CONFIDENCE, False, False),
        (unseeded, DEADLINE, False, False),
        (seeded, CONFIDENCE | {"paired": False}, False, False),
        (seeded, DEADLINE | {"paired": False}, False, False),
        (seeded, DEADLINE | {"paired": True}, True, True),
        (seeded, CONFIDENCE | {"bounds": (0, 1), "paired": True}, True, True),
    ],
)
def test_who_shares_seeds_and_is_judged_by_pairs(
    evaluate: Any, options: dict[str, Any], shared: bool, paired: bool
) -> None:
    settings = prepare(evaluate, ARMS, **options).settings
    pairing = settings.pairing
    assert (pairing.shares_seeds, pairing.judges_pairs) == (shared, paired)


def test_commands_share_seeds_unless_they_would_write_the_same_file() -> None:
    arms = [{"x": 1}, {"x": 2}]

    def shares(words: str, **more: Any) -> bool:
        settings = prepare(Command.parse(words, **more), arms, confidence=0.95).settings
        return settings.pairing.shares_seeds

    assert shares("echo {x} {seed}")
    assert not shares("echo {x}")
    assert not shares("echo {x} {seed}", value="file:out-{seed}")
    assert shares("echo {x} {seed}", value="file:out-{x}-{seed}")


@pytest.mark.parametrize("paired", ["yes", 1, 0.5])
def test_anything_but_yes_no_or_none_is_refused(paired: Any) -> None:
    with pytest.raises(InvalidInput, match="paired must be True, False or None"):
        prepare(seeded, ARMS, confidence=0.95, paired=paired)
    with pytest.raises(InvalidInput, match="evaluate takes none"):
        prepare(unseeded, ARMS, confidence=0.95, paired=True)


def records_of(journal: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal.read_text().splitlines()]


@pytest.mark.parametrize("goal", [CONFIDENCE, DEADLINE])
def test_the_kth_pulls_of_all_arms_get_one_seed(goal: dict[str, Any], tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    race(seeded, ARMS, engine=VirtualEngine(), journal=journal, progress=False, seed=3, **goal)
    results = [record for record in records_of(journal) if record["kind"] == "results"]
    assert results
    for record in results:
        for (arm, pull), value in zip(pulls_of(record["pulls"]), record["values"], strict=True):
            assert value == seeded(ARMS[arm], seed=pull_seed(3, 0, pull, paired=True))


def test_what_was_left_open_is_as_in_the_journal(tmp_path: Path) -> None:
    """Journals were unpaired by default once: such a race goes on as it was."""
    journal = tmp_path / "race.jsonl"
    options: dict[str, Any] = {"engine": in_process(), "journal": journal, "progress": False}
    first = race(seeded, ARMS, confidence=0.95, max_pulls=12, paired=False, **options)
    assert not first.decided
    result = race(seeded, ARMS, confidence=0.95, **options)
    assert result.best == 1.0
    for record in records_of(journal):
        if record["kind"] == "results":
            for (arm, pull), value in zip(pulls_of(record["pulls"]), record["values"], strict=True):
                assert value == seeded(ARMS[arm], seed=pull_seed(0, arm, pull))
    with pytest.raises(InvalidInput, match="that one has paired=False, this one has paired=True"):
        race(seeded, ARMS, confidence=0.95, paired=True, **options)
    lines = dict(prepare(seeded, ARMS, confidence=0.95, journal=journal).describe())
    assert lines["journal"].endswith("exists; the race will resume from it")


def test_to_a_deadline_a_straggler_is_not_waited_for(tmp_path: Path) -> None:
    """Shared seeds cost the time box nothing."""

    def slow_now_and_then(rng: random.Random, cores: int) -> float:
        return 30.0 if rng.random() < 0.05 else 0.2

    arms = [0.1 * arm for arm in range(8)]
    pulls: dict[bool | None, int] = {}
    for paired in (None, False, True):
        for seed in range(5):
            host = VirtualEngine(cores=8, duration=slow_now_and_then, seed=seed)
            policy, pacers = watched(Staged())
            result = race(
                seeded, arms, deadline=20, paired=paired, policy=policy, engine=host,
                backups=False, progress=False,
            )  # fmt: skip
            assert result.elapsed <= 20.5
            pulls[paired] = pulls.get(paired, 0) + int(pacers[-1].tally.pulls.sum())
    assert pulls[None] > 0.8 * pulls[False]
    assert pulls[None] > 1.15 * pulls[True]  # those wait, but work ahead meanwhile

"""The laws of the design, over random problems, policies, faults and orders of completion."""

import json
import math
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline import (
    APR,
    SSH,
    BatchRacing,
    CorePool,
    LilUCB,
    Policy,
    Racing,
    SequentialHalving,
    Staged,
    Uniform,
    race,
)
from paceline.core.evidence.base import Evidence
from paceline.core.rounds import Conditions
from paceline.core.seeds import pull_seed
from paceline.engines.jobs import Job, Run
from paceline.engines.simulated import Outcome, SimulatedEngine
from paceline.engines.workload import Workload
from paceline.errors import RaceFailed
from paceline.journal import Journal
from paceline.journal.meaning import Meaning, Unsound
from paceline.journal.records import (
    PullsReturned,
    RaceBegun,
    RoundEnded,
    SessionBegun,
    record_of,
)
from paceline.policies.base import Task
from paceline.policies.racing import RacingPacer
from paceline.pools.ledger import Ledger
from paceline.races import read_journal
from paceline.result import Result
from tests.races.virtual import VirtualEngine, pulls_of

POLICIES: dict[str, tuple[Policy, dict[str, Any]]] = {
    "apr": (APR(), {"confidence": 0.9}),
    "apr to a deadline": (APR(), {"confidence": 0.99, "deadline": 60.0}),
    "batch racing": (BatchRacing(batch=7), {"confidence": 0.9}),
    "uniform": (Uniform(), {"deadline": 40.0}),
    "ssh": (SSH(rule="bottleneck", keep_samples=True), {"deadline": 60.0}),
    "sequential halving": (SequentialHalving(too_short="blind"), {"deadline": 50.0}),
    "staged": (Staged(best_effort=True), {"deadline": 60.0}),
    "lil-ucb": (LilUCB(), {"confidence": 0.9, "noise": "bernoulli"}),
}


@pytest.fixture(autouse=True, scope="module")
def quick_disk() -> Iterator[None]:
    """No crash of the machine is tested here, and the disk takes a millisecond each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paceline.journal.file.os.fsync", lambda file: None)
        yield


def evaluate(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 0.1)


def flip(arm: float, *, seed: int) -> float:
    return float(random.Random(seed).random() < arm)


def durations(kind: str) -> Any:
    return {
        "even": lambda rng, cores: 1.0 / cores**0.5,
        "uneven": lambda rng, cores: rng.lognormvariate(0, 1) / cores,
        "stragglers": lambda rng, cores: 20.0 if rng.random() < 0.02 else 0.5,
    }[kind]


@st.composite
def races(draw: Any) -> dict[str, Any]:
    name = draw(st.sampled_from(sorted(POLICIES)))
    policy, goal = POLICIES[name]
    binary = goal.get("noise") == "bernoulli" or draw(st.booleans())
    count = draw(st.integers(2, 7))
    means = [0.9, 0.1, 0.2, 0.3, 0.05, 0.15, 0.25][:count]
    cores = draw(st.integers(1, 9))
    known = draw(st.booleans())
    return {
        "evaluate": flip if binary else evaluate,
        "arms": draw(st.permutations(means)),
        "policy": policy,
        "cores": cores,
        "scaling": CorePool(cores, lambda c: 1.0 / c**0.5) if known else None,
        "seed": draw(st.integers(0, 1000)),
        "max_pulls": 600,
        "retries": draw(st.integers(0, 3)),
        "timeout": 30.0,
        **goal,
    }


def host_for(draw_seed: int, faults: float, kind: str, cores: int) -> VirtualEngine:
    return VirtualEngine(cores=cores, duration=durations(kind), faults=faults, seed=draw_seed)


def run(options: dict[str, Any], host: VirtualEngine, journal: Path | None) -> Result | RaceFailed:
    given_options = dict(options)
    what, arms = given_options.pop("evaluate"), given_options.pop("arms")
    try:
        return race(what, arms, engine=host, journal=journal, progress=False, **given_options)
    except RaceFailed as error:
        return error


def records_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


hosts = st.tuples(
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.0, 0.05, 0.3]),
    st.sampled_from(["even", "uneven", "stragglers"]),
)


@settings(max_examples=60)
@given(races(), hosts)
def test_the_laws_hold(options: dict[str, Any], weather: tuple[int, float, str]) -> None:
    host = host_for(*weather, options["cores"])
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder, "race.jsonl")
        result = run(options, host, journal)
        records = records_of(journal)
    # Law 4: never more cores than there are (the workers assert it), never two results for a pull.
    recorded = Counter(p for r in records if r["kind"] == "results" for p in pulls_of(r["pulls"]))
    assert all(count == 1 for count in recorded.values())
    assert host.workers[0].most_in_use <= options["cores"]
    assert host.workers[0].closed
    # Law 3: the value of a pull depends on the race's seed, the arm and its number only; if pulls
    # are paired, on the number alone.
    shared = bool(records[0]["problem"]["paired"])
    assert shared == (options["policy"].judges_pairs or "confidence" not in options)
    for record in (r for r in records if r["kind"] == "results"):
        for (arm, pull), value in zip(pulls_of(record["pulls"]), record["values"], strict=True):
            seed = pull_seed(options["seed"], arm, pull, paired=shared)
            assert value == options["evaluate"](options["arms"][arm], seed=seed)
    # Law 6: a failed pull is tried again or its arm is out, and the result says so.
    failed = Counter((r["arm"], r["pull"]) for r in records if r["kind"] == "failure")
    out = {r["arm"] for r in records if r["kind"] == "out"}
    assert all(count <= options["retries"] + 1 for count in failed.values())
    assert out == {arm for (arm, _), count in failed.items() if count > options["retries"]}
    if isinstance(result, RaceFailed):
        assert out == set(range(len(options["arms"])))
        return
    assert {record.index for record in result.arms if record.status == "failed"} == out
    assert len(result.failures) == sum(failed.values())
    assert result.index not in out
    # The race keeps its word about time and caps.
    deadline = options.get("deadline", math.inf)
    assert result.elapsed <= deadline + max(1.0, 0.02 * deadline)
    assert sum(recorded.values()) <= options["max_pulls"] + SLACK
    if result.confidence is not None:
        assert result.decided


SLACK = 4 * 9  # pulls under way when the cap is reached are recorded too


@settings(max_examples=40)
@given(races(), hosts, st.data())
def test_a_resumed_race_ends_as_the_undisturbed_one(
    options: dict[str, Any], weather: tuple[int, float, str], data: Any
) -> None:
    """Kill it after any record (or in the middle of one), resume: the verdict is the same.

    With λ given and no deadline a race is a function of its values. With λ learned or a deadline it
    depends on the clock too, and then at least nothing recorded is lost.
    """
    options = options | {"retries": 3}
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder, "race.jsonl")
        whole = run(options, host_for(*weather, options["cores"]), journal)
        lines = journal.read_bytes().splitlines(keepends=True)
        cut = data.draw(st.integers(1, len(lines)))
        torn = data.draw(st.integers(0, len(lines[cut]) - 1)) if cut < len(lines) else 0
        kept = b"".join(lines[:cut])
        journal.write_bytes(kept + (lines[cut][:torn] if torn else b""))
        other_order = host_for(weather[0] + 1, weather[1], weather[2], options["cores"])
        again = run(options, other_order, journal)
        assert journal.read_bytes().startswith(kept)
        recorded = Counter(
            p for r in records_of(journal) if r["kind"] == "results" for p in pulls_of(r["pulls"])
        )
        assert all(count == 1 for count in recorded.values())
        view = read_journal(journal)
    if isinstance(whole, RaceFailed) or isinstance(again, RaceFailed):
        return
    assert view.ending is not None
    assert view.ending.verdict == again.verdict
    assert [a.pulls for a in view.standing.arms] == [a.pulls for a in again.arms]
    clockless = options["scaling"] is not None and "deadline" not in options
    if clockless and weather[1] == 0.0:
        assert again.chosen == whole.chosen
        assert again.decided == whole.decided
        assert again.rounds == whole.rounds


@settings(max_examples=40)
@given(races(), hosts, hosts)
def test_the_order_of_completion_decides_nothing(
    options: dict[str, Any], one: tuple[int, float, str], other: tuple[int, float, str]
) -> None:
    """Where λ is given, and no deadline or timeout, two hosts with other durations agree."""
    options = options | {"scaling": CorePool(options["cores"], lambda c: 1.0 / c), "timeout": None}
    options.pop("deadline", None)
    if "confidence" not in options:
        options |= {"confidence": 0.9, "policy": APR()}
    results = [
        run(options, host_for(seed, 0.0, kind, options["cores"]), None)
        for seed, _, kind in (one, other)
    ]
    first, second = results
    assert isinstance(first, Result)
    assert isinstance(second, Result)
    assert first.chosen == second.chosen
    assert first.still_in == second.still_in
    assert first.rounds == second.rounds


def slow_arms(seed: int, slow: tuple[int, ...]) -> SimulatedEngine:
    """Pulls of some arms take ten times as long; with another seed, times differ a little."""

    def play(workload: Workload, job: Job, arm: int, pull: int) -> Outcome:
        times = random.Random(hash((seed, arm, pull))).lognormvariate(0.0, 0.2)
        times *= 10.0 if arm in slow else 1.0
        return 0.2 * times / job.cores**0.5, float(workload.call(arm, pull, job.cores))

    return SimulatedEngine(6, script=play, group=4)


class Noting(RacingPacer):
    """Notes the costs that it is told at the end of each round."""

    def __init__(self, task: Task, evidence: Evidence) -> None:
        super().__init__(task, evidence)
        self.told: list[tuple[float, ...]] = []

    def adjust(self, conditions: Conditions) -> None:
        self.told.append(conditions.costs)
        super().adjust(conditions)


class NotingRacing(Racing):
    """Racing, whose last pacer can be asked."""

    pacers: ClassVar[list[Noting]] = []

    def _pacer(self, task: Task) -> Noting:
        self.pacers.append(Noting(task, self._evidence(task)))
        return self.pacers[-1]


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 0.5)


def race_of_unequal(
    seed: int, journal: Path | None, slow: tuple[int, ...], scaling: CorePool | None = None
) -> Noting:
    race(
        noisy,
        [0.0, 0.1, 0.2, 0.3, 0.4, 0.62, 0.5],
        engine=slow_arms(seed, slow),
        policy=NotingRacing(),
        confidence=0.99,
        noise="normal",
        paired=False,
        scaling=scaling,
        journal=journal,
        progress=False,
    )
    return NotingRacing.pacers[-1]


def test_costs_are_replayed_as_they_were_told(tmp_path: Path) -> None:
    """Cut after any round, and resumed where other arms are slow: what was told is told again."""
    journal = tmp_path / "race.jsonl"
    whole = race_of_unequal(1, journal, (5,))
    lines = journal.read_bytes().splitlines(keepends=True)
    kinds = [json.loads(line)["kind"] for line in lines]
    planned = kinds.index("plan")
    rounds = [at for at, kind in enumerate(kinds) if kind == "round" and at > planned]
    written = [at for at in rounds if "costs" in json.loads(lines[at])]
    assert 1 <= len(written) < len(rounds), "they are written when they have changed"
    assert max(whole.told[-1]) / min(whole.told[-1]) > 5
    for count, at in enumerate(rounds[:-1], start=1):
        journal.write_bytes(b"".join(lines[: at + 1]))
        again = race_of_unequal(2, journal, (0, 1, 2))
        assert again.verdict is not None
        assert journal.read_bytes().startswith(b"".join(lines[: at + 1]))
        assert again.told[:count] == whole.told[:count]


def test_journals_without_costs_are_read_as_those_of_arms_that_are_alike(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    assert race_of_unequal(1, journal, ()).told[-1] == ()
    assert b"costs" not in journal.read_bytes()
    old = {"kind": "round", "at": 2.0, "seconds": 1.5}
    assert record_of(old) == RoundEnded(2.0, 1.5)
    new = RoundEnded(2.0, 1.5, costs=(0.25, 2.5, 0.25))
    assert record_of(json.loads(json.dumps(new.to_json()))) == new
    alike = RoundEnded(2.0, 1.5, costs=())
    assert record_of(json.loads(json.dumps(alike.to_json()))) == alike


@pytest.mark.parametrize("costs", [[1.0] * 9, [0.0, 1.0], [-1.0, 1.0], [math.inf], ["a"]])
def test_costs_that_cannot_be_are_refused(costs: list[Any]) -> None:
    meaning = Meaning()
    meaning.take(RaceBegun(2, {}, {}, labels=tuple("abc")))
    meaning.take(SessionBegun(0.0, {}, cores=4))
    meaning.take(PullsReturned(1.0, 1, (Run(0, 0, 1),), [0.5], [0.5]))
    with pytest.raises(Unsound, match="cost"):
        meaning.take(RoundEnded(2.0, 1.5, costs=tuple(costs)))
    meaning.take(RoundEnded(2.0, 1.5, costs=(0.5, 1.5)))


def test_a_given_scaling_leaves_times_no_say() -> None:
    """The same values then give the same race, whichever arms are slow."""
    scaling = CorePool(6, lambda cores: 0.2 / cores**0.5)
    which = ((), (5,), (0, 1, 2))
    ended = [race_of_unequal(seed, None, slow, scaling) for seed, slow in enumerate(which)]
    assert {pacer.costs for pacer in ended} == {()}
    first, *others = (pacer.tally.pulls.tolist() for pacer in ended)
    assert all(pulls == first for pulls in others)


def test_the_journal_has_a_result_before_the_policy_hears_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Law 5, with its control: put before written, and the test sees it."""
    journal = tmp_path / "race.jsonl"
    unwritten: list[tuple[int, int]] = []
    put = Ledger.put

    def spy(self: Ledger, arm: int, first: int, values: Any) -> None:
        on_disk = {
            p for r in records_of(journal) if r["kind"] == "results" for p in pulls_of(r["pulls"])
        }
        unwritten.extend(
            (arm, first + i) for i in range(len(values)) if (arm, first + i) not in on_disk
        )
        put(self, arm, first, values)

    monkeypatch.setattr(Ledger, "put", spy)
    options = {"confidence": 0.9, "cores": 4, "scaling": CorePool(4, lambda c: 1.0 / c)}
    race(evaluate, [0.1, 0.5], engine=VirtualEngine(), journal=journal, progress=False, **options)  # type: ignore[arg-type]
    assert unwritten == []
    monkeypatch.setattr(Journal, "commit", lambda self: None)
    other = tmp_path / "other.jsonl"
    journal = other
    race(evaluate, [0.1, 0.5], engine=VirtualEngine(), journal=other, progress=False, **options)  # type: ignore[arg-type]
    assert unwritten

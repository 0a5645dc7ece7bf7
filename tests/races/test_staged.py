"""Races to a deadline on cores whose pulls take as long as they like."""

import json
import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from paceline import CorePool, PowerLaw, Staged, race
from paceline.cli import main
from paceline.core.rounds import Round
from paceline.engines.jobs import Job
from paceline.engines.simulated import Outcome
from paceline.engines.workload import Workload
from paceline.journal import Record, read_records
from paceline.journal.records import PullsReturned, RoundEnded
from paceline.races import prepare, read_journal
from paceline.races.history import History
from paceline.races.replaying import replayed
from paceline.races.session import Session
from paceline.races.telling import Phase, Teller
from tests.races.virtual import VirtualEngine, pulls_of, watched

CORES = 16


@pytest.fixture(autouse=True, scope="module")
def quick_disk() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paceline.journal.file.os.fsync", lambda file: None)
        yield


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 0.3)


def flip(arm: float, *, seed: int) -> float:
    return float(random.Random(seed).random() < arm)


def uneven(rng: random.Random, cores: int) -> float:
    """Log-normal, and one in fifty takes 20 times as long."""
    return rng.lognormvariate(0, 0.4) * (20 if rng.random() < 0.02 else 1) / float(cores**0.7)


def host_of(seed: int = 0, **options: Any) -> VirtualEngine:
    given: dict[str, Any] = {"cores": CORES, "duration": uneven, "seed": seed}
    return VirtualEngine(**(given | options))


def pool() -> CorePool:
    return CorePool(CORES, lambda cores: 1.5 / cores**0.7)


def means(arms: int) -> list[float]:
    return [i / arms for i in range(arms)]


scenes = st.fixed_dictionaries(
    {
        "arms": st.sampled_from([2, 5, 12, 30]),
        "deadline": st.sampled_from([9.0, 25.0, 70.0]),
        "known": st.booleans(),
        "faults": st.sampled_from([0.0, 0.0, 0.05]),
        "binary": st.booleans(),
        "top": st.sampled_from([1, 1, 3]),
        "stragglers": st.sampled_from(["cut", "cut", "wait"]),
        "direction": st.sampled_from(["maximize", "minimize"]),
        "seed": st.integers(0, 1000),
    }
)


def options_of(scene: dict[str, Any]) -> dict[str, Any]:
    return {
        "deadline": scene["deadline"],
        "policy": Staged(stragglers=scene["stragglers"]),
        "cores": CORES,
        "scaling": pool() if scene["known"] else None,
        "top": min(scene["top"], scene["arms"] - 1),
        "direction": scene["direction"],
        "seed": scene["seed"],
        "timeout": 30.0,
        "retries": 3,
        "progress": False,
    }


def run_scene(scene: dict[str, Any], journal: Path, seed: int) -> Any:
    what = flip if scene["binary"] else noisy
    host = host_of(seed, faults=scene["faults"])
    return race(what, means(scene["arms"]), engine=host, journal=journal, **options_of(scene))


def pulls_in(records: list[Record]) -> list[tuple[int, int]]:
    return [
        pull
        for record in records
        if isinstance(record, PullsReturned)
        for pull in pulls_of(record.pulls)
    ]


@settings(max_examples=25)
@given(scenes)
def test_it_ends_by_its_deadline_with_an_answer(
    tmp_path_factory: pytest.TempPathFactory, scene: dict[str, Any]
) -> None:
    journal = tmp_path_factory.mktemp("race") / "race.jsonl"
    result = run_scene(scene, journal, scene["seed"])
    assert result.elapsed <= scene["deadline"] * (1 + 1e-9)
    recorded = Counter(pulls_in(read_records(journal)))
    assert all(count == 1 for count in recorded.values())
    assert result.decided or not recorded
    assert len(result.chosen) == options_of(scene)["top"]
    assert main(["show", str(journal)]) == 0
    view = read_journal(journal)
    assert view.ending is not None
    assert view.ending.verdict == result.verdict
    assert [arm.status for arm in view.standing.arms] == [arm.status for arm in result.arms]


# Replays.


def state_of(session: Session) -> dict[str, Any]:
    pacer = session.phase.pacer
    assert pacer is not None
    wanted = pacer.ask()
    pulls = (wanted.pulls.tolist(), wanted.how) if isinstance(wanted, Round) else ()
    return {
        "alive": session.phase.alive,
        "rounds": pacer.rounds,
        "told": pacer.tally.pulls.tolist(),
        "sums": pacer.tally.sums.tolist(),
        "asked": (wanted.arms.tolist(), *pulls),
    }


@settings(max_examples=20)
@given(scenes, st.data())
def test_cut_off_anywhere_it_replays_to_where_it_was(
    tmp_path_factory: pytest.TempPathFactory, scene: dict[str, Any], data: Any
) -> None:
    """Every round of the race has been noted as it went: the replay of a journal that ends there
    finds the same arms alive, the same told, the same asked for next."""
    journal = tmp_path_factory.mktemp("race") / "race.jsonl"
    noted: dict[int, dict[str, Any]] = {}
    seen: list[Session] = []

    def note(standing: Any) -> None:
        lines = journal.read_bytes().count(b"\n")
        noted[lines] = state_of(seen[0])

    init = Session.__init__

    def catch(self: Session, *given: Any, **more: Any) -> None:
        init(self, *given, **more)
        seen[:] = [self]

    what = flip if scene["binary"] else noisy
    arms, options = means(scene["arms"]), options_of(scene)
    host = host_of(scene["seed"], faults=scene["faults"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "__init__", catch)
        whole = race(what, arms, engine=host, journal=journal, callbacks=[note], **options)
    records = read_records(journal)
    prepared = prepare(what, arms, engine=host, journal=journal, **options)
    ends = data.draw(st.lists(st.sampled_from(sorted(noted)), max_size=4)) if noted else []
    for end in ends:
        session = replayed(
            prepared.settings, History(len(arms), prepared.settings.sign, records[:end])
        )
        ended: dict[int, Any] = {}  # it may go on from there, with what was done ahead

        def at_end(
            teller: Teller, phase: Phase, ended: dict[int, Any] = ended, session: Session = session
        ) -> bool:
            ended[phase.rounds] = state_of(session)
            return False

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Teller, "round_ended", at_end)
            session.run()
        assert ended[noted[end]["rounds"]] == noted[end]
    # The whole of it, read again, is the same race; and nothing is run.
    again = race(what, arms, engine=host_of(), journal=journal, **options)
    assert (again.verdict, again.chosen, again.rounds) == (
        whole.verdict,
        whole.chosen,
        whole.rounds,
    )
    assert again.pulls == whole.pulls
    assert read_records(journal) == records


@settings(max_examples=15)
@given(scenes, st.data())
def test_killed_anywhere_it_goes_on_and_ends_in_time(
    tmp_path_factory: pytest.TempPathFactory, scene: dict[str, Any], data: Any
) -> None:
    journal = tmp_path_factory.mktemp("race") / "race.jsonl"
    run_scene(scene, journal, scene["seed"])
    for _ in range(2):
        lines = journal.read_bytes().splitlines(keepends=True)
        cut = data.draw(st.integers(1, len(lines)))
        torn = lines[cut][: data.draw(st.integers(0, 20))] if cut < len(lines) else b""
        kept = b"".join(lines[:cut])
        journal.write_bytes(kept + torn)
        assert main(["show", str(journal)]) == 0
        again = run_scene(scene, journal, scene["seed"] + 1)
        assert journal.read_bytes().startswith(kept)
        recorded = Counter(pulls_in(read_records(journal)))
        assert all(count == 1 for count in recorded.values())
        assert again.elapsed <= scene["deadline"] * (1 + 1e-6)
        view = read_journal(journal)
        assert view.ending is not None
        assert view.ending.verdict == again.verdict
        assert view.standing.rounds == again.rounds
        twice = run_scene(scene, journal, scene["seed"] + 2)
        assert (twice.verdict, twice.rounds) == (again.verdict, again.rounds)


def test_the_time_of_a_round_without_results_at_its_end_is_not_forgotten(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    options: dict[str, Any] = {
        "deadline": 60, "cores": CORES, "scaling": pool(), "journal": journal, "progress": False,
        "noise": "normal",
    }  # fmt: skip
    race(noisy, means(30), engine=host_of(3), **options)
    records = read_records(journal)
    ends = [
        (place, record) for place, record in enumerate(records) if isinstance(record, RoundEnded)
    ]
    assert len(ends) > 2
    for place, record in ends:
        before = max(getattr(one, "at", 0.0) for one in records[: place + 1])
        assert before == pytest.approx(record.seconds, abs=1e-5)


# Trouble.


def test_arms_that_fail_in_mid_race_are_left_out() -> None:
    for seed in range(6):
        host = host_of(seed, fatal=lambda arm, pull: arm in (7, 11) and pull == 2)
        result = race(
            noisy, means(12), deadline=60, cores=CORES, engine=host, seed=seed, progress=False
        )
        assert result.elapsed <= 60 * (1 + 1e-9)
        assert result.arms[11].status == "failed"
        assert result.index >= 8


@pytest.mark.parametrize("deadline", [1.3, 1.35, 1.4, 1.6, 2.4, 3.1])
def test_an_arm_that_fails_when_hardly_any_time_is_left_does_not_stop_the_race(
    tmp_path: Path, deadline: float
) -> None:
    """A policy may then find what is left too short to begin with: what is known is the answer."""
    path, seconds = tmp_path / "race.jsonl", iter([1.0, 1.0, 1.0, 1.29])
    host = VirtualEngine(
        cores=4,
        duration=lambda rng, cores: next(seconds, 1.0),
        fatal=lambda arm, pull: arm == 3,
    )
    options: dict[str, Any] = {
        "deadline": deadline, "cores": 4, "retries": 0, "journal": path, "progress": False,
        "cores_per_pull": 1, "scaling": CorePool(4, lambda cores: 1.0), "noise": "normal",
    }  # fmt: skip
    result = race(noisy, means(4), engine=host, **options)
    assert result.elapsed <= deadline * (1 + 1e-9)
    assert (result.decided, result.arms[3].status) == (True, "failed")
    assert result.index == max(range(3), key=lambda arm: result.arms[arm].mean)
    before = path.read_bytes()
    again = race(noisy, means(4), engine=VirtualEngine(), **options)
    assert (again.verdict, path.read_bytes()) == (result.verdict, before)
    assert main(["show", str(path)]) == 0


def test_nothing_back_by_the_deadline_names_nobody(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    host = host_of(duration=lambda rng, cores: 500.0)
    result = race(
        noisy, means(6), deadline=20, cores=CORES, scaling=pool(), engine=host, journal=path,
        progress=False,
    )  # fmt: skip
    assert (result.index, result.decided) == (-1, False)
    assert result.still_in == tuple(range(6))
    assert result.elapsed <= 20.0 * (1 + 1e-9)
    assert main(["show", str(path)]) == 0


class SlowEngine(VirtualEngine):
    """Arm 0 takes ten times as long as the others; a job has one pull."""

    def __init__(self, seed: int) -> None:
        super().__init__(CORES, uneven, seed=seed)
        self.abilities = replace(self.abilities, group=1)

    def outcome(self, workload: Workload, job: Job, arm: int, number: int) -> Outcome:
        seconds, value = super().outcome(workload, job, arm, number)
        return seconds * (10.0 if arm == 0 else 1.0), value


def test_an_arm_is_not_lost_for_being_slow() -> None:
    """It is pulled less often, and so it may fall by chance; but not because it was late."""
    found, races = 0, 25
    for seed in range(races):
        host = SlowEngine(seed)
        result = race(
            noisy, [1.6, *means(14)], deadline=120, cores=CORES, scaling=pool(), seed=seed,
            engine=host, progress=False,
        )  # fmt: skip
        assert result.elapsed <= 120 * (1 + 1e-9)
        assert result.arms[0].pulls > 0
        found += result.index == 0
    assert binomtest(found, races, 0.9, alternative="less").pvalue > 1e-6
    assert found >= 20


def test_with_stragglers_cut_off_more_is_heard_by_the_deadline() -> None:
    def heard(how: Any, seed: int) -> int:
        policy, pacers = watched(Staged(how))
        race(
            noisy, means(16), deadline=60, policy=policy, cores=CORES, scaling=pool(),
            seed=seed, engine=host_of(seed), backups=False, progress=False,
        )  # fmt: skip
        return int(pacers[-1].tally.pulls.sum())

    heard_by = {how: sum(heard(how, seed) for seed in range(5)) for how in ("cut", "wait")}
    assert heard_by["cut"] > 1.3 * heard_by["wait"]


def test_waiting_hears_whole_rounds(tmp_path: Path) -> None:
    for number, (policy, paired) in enumerate(((Staged("wait"), False), (Staged(), True))):
        path = tmp_path / f"race-{number}.jsonl"
        result = race(
            noisy, means(12), deadline=200, policy=policy, paired=paired, cores=CORES,
            engine=host_of(1), scaling=pool(), journal=path, progress=False,
        )  # fmt: skip
        assert result.index >= 9
        rounds = [record for record in read_records(path) if isinstance(record, RoundEnded)]
        assert not any(record.boxed for record in rounds)
        assert len(rounds) == result.rounds > 0


def test_a_cap_on_pulls_is_kept_to() -> None:
    for most in (16, 40, 200):
        result = race(
            noisy, means(16), deadline=60, max_pulls=most, cores=CORES, engine=host_of(2),
            scaling=pool(), progress=False,
        )  # fmt: skip
        assert result.pulls <= most
        assert result.index >= 0


def test_a_shape_of_lambda_will_do_and_a_wrong_level_too() -> None:
    for scaling in (PowerLaw(0.3, 1e6), CorePool(CORES, lambda cores: 1e-5)):
        result = race(
            noisy, means(8), deadline=60, cores=CORES, scaling=scaling, engine=host_of(4),
            progress=False,
        )  # fmt: skip
        assert result.elapsed <= 60 * (1 + 1e-9)
        assert result.index >= 5


def test_the_record_of_a_round_says_how_pulls_keep_to_lambda(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    race(
        noisy, means(16), deadline=60, cores=CORES, scaling=pool(), engine=host_of(5),
        noise="normal", journal=path, progress=False,
    )  # fmt: skip
    records = [json.loads(line) for line in path.read_text().splitlines()]
    (plan,) = [record for record in records if record["kind"] == "plan"]
    assert len(plan["delays"]) == 41
    rounds = [record for record in records if record["kind"] == "round"]
    assert all(record["boxed"] for record in rounds)
    assert all(math.isfinite(record["seconds"]) for record in rounds)
    assert any("delays" in record for record in rounds)

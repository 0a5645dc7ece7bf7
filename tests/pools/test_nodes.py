"""Pools of several nodes: what runs where, and what happens when nodes come and go."""

import random
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import paceline
from paceline import races
from paceline.core.pool import CorePool
from paceline.engines.jobs import Job, Run
from paceline.engines.simulated import SimulatedEngine
from paceline.engines.workload import Workload
from paceline.errors import InvalidInput
from paceline.journal import read_records
from paceline.journal.records import PoolResized, PullsReturned, SessionBegun
from paceline.pools.assignments import Assignments
from paceline.pools.room import Asked
from paceline.pools.rules import Rules

ARMS = [0.0, 0.3, 0.6, 0.9]


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0.0, 1.0)


def values_by_pull(path: Path) -> dict[tuple[int, int], float]:
    found: dict[tuple[int, int], float] = {}
    for record in read_records(path):
        if isinstance(record, PullsReturned):
            values = iter(record.values)
            for run in record.pulls:
                for number in range(run.first, run.first + run.pulls):
                    assert (run.arm, number) not in found, "a second value for one pull"
                    found[run.arm, number] = next(values)
    return found


# λ of nodes.


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.floats(0.0, 1.0),
    st.integers(1, 40),
)
def test_waves_fit_into_the_nodes(nodes: list[int], exponent: float, pulls: int) -> None:
    pool = CorePool(sum(nodes), lambda cores: cores**-exponent, nodes)
    waves = pool.waves(pulls)
    assert sum(wave.pulls * wave.repeat for wave in waves) == pulls
    for wave in waves:
        assert sum(node // wave.cores for node in nodes) >= wave.pulls
    assert sum(wave.seconds * wave.repeat for wave in waves) == pytest.approx(pool.seconds(pulls))


@given(st.lists(st.integers(1, 9), min_size=2, max_size=4), st.integers(1, 40))
def test_borders_between_nodes_never_help(nodes: list[int], pulls: int) -> None:
    whole = CorePool(sum(nodes), lambda cores: cores**-0.5)
    divided = CorePool(sum(nodes), lambda cores: cores**-0.5, nodes)
    assert divided.seconds(pulls) >= whole.seconds(pulls) * (1 - 1e-12)


def test_a_pool_of_nodes_is_written_and_read() -> None:
    pool = CorePool(7, lambda cores: 3 / cores, (4, 3))
    assert CorePool.from_json(pool.to_json()) == pool
    assert pool != CorePool(7, lambda cores: 3 / cores)
    with pytest.raises(InvalidInput, match="nodes of CorePool have 6 cores in all, not 7"):
        CorePool(7, lambda cores: 1.0, (3, 3))


# Who runs where.


def test_a_job_gets_the_node_with_the_least_room_that_suffices() -> None:
    assignments = Assignments(8, lambda: 0.0, (5, 3))
    assert assignments.free == 5
    assert assignments.add([Run(0, 0, 1)], 3, 1.0).node == 1
    assert assignments.add([Run(0, 1, 1)], 3, 1.0).node == 0
    assert (assignments.free, assignments.free_on) == (2, [2, 0])


def test_a_node_that_is_gone_takes_no_jobs_and_a_new_one_does() -> None:
    assignments = Assignments(6, lambda: 0.0, (3, 3))
    first = assignments.add([Run(0, 0, 1)], 3, 1.0)
    second = assignments.add([Run(1, 0, 1)], 3, 1.0)
    assignments.resize((0, 3, 4))
    assert (assignments.cores, assignments.free) == (7, 4)
    assignments.remove(first.number)
    assert assignments.free_on == [0, 0, 4]
    assignments.remove(second.number)
    assert assignments.free_on == [0, 3, 4]


def test_a_wide_pull_waits_for_the_node_that_is_free_first() -> None:
    assignments = Assignments(8, lambda: 0.0, (4, 4))
    assignments.add([Run(0, 0, 1)], 4, 5.0)
    assignments.add([Run(1, 0, 1)], 3, 9.0)
    found = assignments.soonest(4)
    assert [(one.node, one.cores) for one in found] == [(0, 4)]


# Rules.


def test_the_cap_holds_whatever_nodes_come() -> None:
    race = SimulatedEngine(nodes=(4, 4), changes=[(2.5, (4, 4, 8))])
    result = paceline.race(noisy, ARMS, engine=race, cores=6, progress=False)
    assert {cores for _, cores in result.timeline.pool} == {6}


def test_without_nodes_nothing_is_usable() -> None:
    rules = Rules(8, 2, 4, nodes=(4, 4), asked=Asked(least=2))
    assert not rules.on((1, 0)).is_usable
    assert rules.on((1, 2)).is_usable


def test_more_cores_than_all_nodes_have_are_refused() -> None:
    engine = SimulatedEngine(nodes=(4, 4))
    with pytest.raises(InvalidInput, match="cores=9, but there are 8 cores"):
        paceline.race(noisy, ARMS, engine=engine, cores=9)
    with pytest.raises(InvalidInput, match="a pull wants 5 cores and no node has so many"):
        paceline.race(noisy, ARMS, engine=engine, cores_per_pull=5)


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.integers(1, 8),
    st.integers(0, 8),
    st.integers(1, 50),
)
def test_as_many_pulls_fit_as_may_run_at_once_and_never_more(
    nodes: list[int], least: int, more: int, at_once: int
) -> None:
    for most in (None, least + more):
        before = Asked(least=least, most=most).room(nodes)
        after = Asked(least=least, most=most, at_once=at_once).room(nodes)
        fitting = sum(node // before.least for node in before.nodes)
        assert sum(node // after.least for node in after.nodes) == min(at_once, fitting)
        assert all(now <= was for now, was in zip(after.nodes, before.nodes, strict=True))
        assert after.least >= before.least
        assert after.most <= before.most


def test_a_limit_on_pulls_at_once_is_known_to_the_scaling() -> None:
    """Two pulls on two cores at once take 1 s; one after the other, each on both, 2 · 0.7 s."""

    def seconds(**options: Any) -> float:
        race = races.prepare(noisy, ARMS, engine=SimulatedEngine(cores=2), **options)
        return float(race.settings.rules.pool(lambda cores: cores**-0.5).seconds(2))

    assert seconds() == 1.0
    assert seconds(at_once=1) == pytest.approx(2 * 0.5**0.5)
    assert seconds(at_once=1, cores_per_pull=1) == 2.0
    assert seconds(at_once=2) == 1.0


@pytest.mark.parametrize("at_once", [1, 3, 5])
def test_no_more_pulls_run_at_once_than_allowed_whatever_nodes_come(at_once: int) -> None:
    engine = SimulatedEngine(nodes=(4, 4), changes=[(2.5, (4, 4, 8)), (6.0, (4, 0, 8))])
    result = paceline.race(noisy, ARMS, engine=engine, at_once=at_once, progress=False)
    starts = [(span.start, 1) for span in result.timeline]
    moves = sorted(starts + [(span.end - 1e-5, -1) for span in result.timeline])
    assert max(accumulate(change for _, change in moves)) == at_once


def test_a_job_has_to_wait_though_cores_are_free() -> None:
    assignments = Assignments(8, lambda: 0.0, at_once=2)
    jobs = [assignments.add([Run(0, k, 1)], 1, 1.0) for k in range(2)]
    assert assignments.free == 0
    assignments.remove(jobs[0].number)
    assert assignments.free == 7


# Races on nodes.


@pytest.mark.parametrize("goal", [{"confidence": 0.95}, {"deadline": 60.0}])
def test_never_more_than_a_node_has(goal: dict[str, Any]) -> None:
    engine = SimulatedEngine(nodes=(5, 3, 2))  # its workers assert it
    result = paceline.race(noisy, ARMS, engine=engine, progress=False, **goal)
    assert result.best == 0.9
    assert result.timeline.cores.max() <= 5


CHANGES: dict[str, list[tuple[float, tuple[int, ...]]]] = {
    "one goes": [(2.2, (6, 0))],
    "one goes, another comes": [(2.2, (6, 0)), (4.1, (6, 0, 6))],
    "all go, one comes back": [(2.2, (0, 0)), (6.0, (0, 3))],
    "in the opening": [(0.3, (6, 0)), (0.9, (6, 6))],
    "one that is larger comes": [(1.7, (6, 6, 12))],
}


@pytest.mark.parametrize("name", CHANGES)
def test_nodes_that_come_and_go_change_no_value_and_no_verdict(name: str, tmp_path: Path) -> None:
    scaling = CorePool(12, lambda cores: cores**-0.5, (6, 6))
    answers, found = [], []
    undisturbed: list[tuple[float, tuple[int, ...]]] = []
    for number, changes in enumerate((undisturbed, CHANGES[name])):
        path = tmp_path / f"{number}.jsonl"
        engine = SimulatedEngine(nodes=(6, 6), changes=changes)
        options: dict[str, Any] = {
            "engine": engine,
            "scaling": scaling,
            "journal": path,
            "progress": False,
        }
        result = paceline.race(noisy, ARMS, **options)
        answers.append((result.best, result.confidence, result.failures))
        found.append(values_by_pull(path))
        resized = [one for one in read_records(path) if isinstance(one, PoolResized)]
        assert [(one.at, one.nodes) for one in resized] == [
            (at, nodes) for at, nodes in changes if at <= result.elapsed
        ]
        assert paceline.race(noisy, ARMS, **options).timeline.pool == result.timeline.pool
    assert answers[0] == answers[1]
    shared = found[0].keys() & found[1].keys()
    assert len(shared) > 50
    assert all(found[0][pull] == found[1][pull] for pull in shared)


def test_a_journal_knows_the_nodes_of_a_session(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    options: dict[str, Any] = {"journal": path, "max_pulls": 30, "progress": False}
    paceline.race(noisy, ARMS, engine=SimulatedEngine(nodes=(4, 2)), **options)
    sessions = [one for one in read_records(path) if isinstance(one, SessionBegun)]
    assert [(one.cores, one.nodes) for one in sessions] == [(6, (4, 2))]
    more = {**options, "max_pulls": 5000}
    result = paceline.race(noisy, ARMS, engine=SimulatedEngine(nodes=(8,)), **more)
    assert result.best == 0.9
    assert [cores for _, cores in result.timeline.pool] == [6, 8]


def test_a_simulated_node_that_is_overfull_is_noticed() -> None:
    workload = Workload(noisy, ARMS, lambda arm, first, pulls: [0] * pulls)
    workers = SimulatedEngine(nodes=(2, 2)).open(workload, 4)
    workers.start(Job(0, (Run(0, 0, 1),), 2, node=1))
    with pytest.raises(AssertionError, match="more cores are in use than a node has"):
        workers.start(Job(1, (Run(0, 1, 1),), 1, node=1))

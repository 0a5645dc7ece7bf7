"""What the Dask engine does besides keeping the laws of engines."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import paceline
from paceline.engines.catalog import find_engine, spec_of
from paceline.engines.events import Began, Finished, Loading, Lost
from paceline.engines.jobs import Run
from paceline.engines.workload import Workload
from paceline.errors import InvalidInput
from paceline.journal.reading import read_records
from paceline.journal.records import PullsReturned
from paceline.testing.driving import ARMS, Driver, seeds
from tests.engines.dask.pulls import hangs_at_one, long, noisy

distributed = pytest.importorskip("distributed", reason="pip install 'paceline[dask]'")


def opened(client: Any, evaluate: Callable[..., Any], cores: int = 40) -> Driver:
    engine = find_engine(client)
    return Driver(engine, engine.open(Workload(evaluate, ARMS, seeds), cores), patience=60.0)


def until(holds: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Whether it holds before so many seconds have passed."""
    give_up = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < give_up:
        time.sleep(0.05)
    return held


def below(process: int) -> list[int]:
    """The living descendants of a process."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as stream:
                state, parent = stream.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == process and state != "Z":
            found += [int(name), *below(int(name))]
    return found


def pulls_below(client: Any) -> int:
    return sum(len(below(process)) for process in client.run(os.getpid).values())


def tasks_of(client: Any) -> int:
    return int(client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))


def free_cores(client: Any) -> list[float]:
    def free(dask_worker: Any) -> float:
        return float(dask_worker.state.available_resources["cores"])

    return sorted(client.run(free).values())


def values_in(journal: Path) -> dict[tuple[int, int], float]:
    """The value of every pull that was recorded, none of them twice."""
    found: dict[tuple[int, int], float] = {}
    for record in read_records(journal):
        if isinstance(record, PullsReturned):
            pulls = [(run.arm, run.first + k) for run in record.pulls for k in range(run.pulls)]
            assert not found.keys() & set(pulls), "a pull has two results"
            assert len(set(pulls)) == len(pulls), "a pull has two results"
            found.update(zip(pulls, record.values, strict=True))
    return found


def test_a_client_or_an_address_is_an_engine(client: Any) -> None:
    address = client.scheduler.address
    by_client, by_address = find_engine(client), find_engine(f"dask:{address}")
    assert spec_of(by_client) == spec_of(by_address) == f"dask:{address}"
    for engine in (by_client, by_address):
        assert engine.available().nodes == (20, 20)


def test_what_cannot_be_connected_to_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no Dask scheduler answers at 'nonsense://x'"):
        find_engine("dask:nonsense://x").available()


def test_workers_of_another_version_are_refused(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paceline.engines.dask.host.versions", lambda: "Python 3.9")
    with pytest.raises(InvalidInput, match=r"and the race has Python 3\.9: functions can be sent"):
        opened(client, noisy)
    assert until(lambda: pulls_below(client) == 0)


def test_dask_is_imported_only_if_it_is_chosen_and_missed_only_then() -> None:
    program = """
import sys
sys.modules["distributed"] = None
import paceline
from paceline.engines.catalog import find_engine
try:
    find_engine("dask")
except paceline.errors.MissingExtra as error:
    print(error)
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'paceline[dask]'" in told.stdout, told.stderr


def test_a_job_has_its_resources_in_dask_as_long_as_it_runs(client: Any) -> None:
    driver = opened(client, long)
    try:
        job = driver.start(Run(0, 0, 1), cores=7, node=1)
        assert until(lambda: free_cores(client) == [13, 20])
        driver.workers.end(job.number)
        driver.finish(job)
        assert until(lambda: free_cores(client) == [20, 20])
    finally:
        driver.workers.close()


def test_nothing_is_left_behind(client: Any) -> None:
    driver = opened(client, long)
    for arm in (0, 1, 2):
        driver.start(Run(arm, 0, 1), cores=10, node=arm % 2)
    assert until(lambda: free_cores(client) == [0, 10])
    assert pulls_below(client) > 0
    driver.workers.close()
    assert until(lambda: pulls_below(client) == 0)
    assert until(lambda: tasks_of(client) == 0)
    assert until(lambda: free_cores(client) == [20, 20])


@pytest.mark.engines
def test_a_job_that_dask_lets_wait_is_loading_and_can_be_ended(client: Any) -> None:
    """Others may use the cluster, too; their tasks have the cores then."""
    # The later test of the same key would find this one, hence pure=False.
    places = list(client.scheduler_info()["workers"])
    others = client.submit(
        time.sleep, 4.0, pure=False, workers=[places[0]], resources={"cores": 20}
    )
    assert until(lambda: free_cores(client) == [0, 20])
    driver = opened(client, noisy)
    try:
        ended, waits = driver.start(Run(0, 0, 1)), driver.start(Run(1, 0, 1))
        for _ in range(5):  # they may be told of one after the other
            if not driver.heard[waits.number]:
                driver.listen(5.0)
        assert driver.heard[waits.number] == [Loading(waits.number)]
        driver.workers.end(ended.number)
        driver.finish(ended)
        assert driver.heard[ended.number] == [Loading(ended.number), Lost(ended.number)]
        driver.finish(waits)
        assert Began(waits.number) in driver.heard[waits.number]
        assert isinstance(driver.heard[waits.number][-1], Finished)
    finally:
        driver.workers.close()
        others.result()


def test_a_task_that_somebody_cancels_is_lost_and_its_arm_is_not_to_blame(client: Any) -> None:
    driver = opened(client, long)
    try:
        job = driver.start(Run(0, 0, 1))
        assert until(lambda: free_cores(client) == [19, 20])
        client.cancel([driver.workers._tasks[job.number].future])  # type: ignore[attr-defined]
        driver.finish(job)
        last = driver.heard[job.number][-1]
        assert isinstance(last, Lost)
        assert "its Dask task was cancelled" in last.why
        assert until(lambda: free_cores(client) == [20, 20])
    finally:
        driver.workers.close()


def test_values_are_those_of_the_local_engine(client: Any, tmp_path: Path) -> None:
    how: dict[str, Any] = {"confidence": 0.95, "progress": False, "paired": False, "seed": 3}
    there = paceline.race(noisy, ARMS, engine=client, journal=tmp_path / "there", **how)
    here = paceline.race(noisy, ARMS, engine="local", cores=2, journal=tmp_path / "here", **how)
    assert (there.best, there.verdict, there.decided) == (here.best, here.verdict, True)
    one, other = values_in(tmp_path / "there"), values_in(tmp_path / "here")
    common = one.keys() & other.keys()
    assert len(common) >= len(ARMS)
    assert {pull: one[pull] for pull in common} == {pull: other[pull] for pull in common}


def test_without_a_cluster_it_starts_one_and_closes_it() -> None:
    before = set(below(os.getpid()))
    result = paceline.race(noisy, ARMS, engine="dask", cores=2, progress=False)
    assert (result.best, result.cores) == (30.0, 2)
    assert until(lambda: set(below(os.getpid())) <= before)


def test_a_pull_that_hangs_in_a_loaded_worker_has_begun(client: Any) -> None:
    """It says nothing; taken for one that loads, it would hold the race for a minute."""
    given: dict[str, Any] = {"cores": 4, "cores_per_pull": 1, "timeout": 1, "retries": 0}
    result = paceline.race(hangs_at_one, [0, 2, 1], engine=client, progress=False, **given)
    assert result.best == 2
    assert result.elapsed < 30.0
    assert all("loading" not in trouble.message for trouble in result.story.troubles)

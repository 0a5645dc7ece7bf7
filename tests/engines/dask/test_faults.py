"""Dask workers that die, come, forget or have few threads: races go on, and nothing is lost."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import paceline
from paceline.engines.dask import host
from paceline.engines.events import Finished, Lost
from paceline.engines.jobs import Run
from paceline.errors import RaceFailed
from paceline.journal.reading import read_records
from paceline.journal.records import PoolResized
from tests.engines.dask.conftest import SHAPE
from tests.engines.dask.pulls import long, slow
from tests.engines.dask.test_dask import opened, pulls_below, tasks_of, until, values_in

distributed = pytest.importorskip("distributed", reason="pip install 'paceline[dask]'")


@pytest.fixture
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(**SHAPE) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    """A client of a cluster of its own, which a test may damage."""
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.mark.engines
@pytest.mark.parametrize("after", [1, 200])  # pulls
def test_a_worker_that_is_killed_costs_only_what_it_was_doing(
    client: Any, tmp_path: Path, after: int
) -> None:
    arms = [0.5 * k for k in range(16)]
    how: dict[str, Any] = {"confidence": 0.95, "progress": False, "paired": False}
    calm = paceline.race(slow, arms, engine=client, journal=tmp_path / "calm", **how)
    victim = next(iter(client.run(os.getpid).values()))
    recorded: list[dict[tuple[int, int], float]] = []

    def kill(standing: Any) -> None:
        if standing.pulls >= after and not recorded:
            recorded.append(values_in(tmp_path / "killed"))
            os.kill(victim, signal.SIGKILL)

    killed = paceline.race(
        slow, arms, engine=client, journal=tmp_path / "killed", callbacks=[kill], **how
    )
    assert recorded, "nobody was killed"
    assert (killed.best, killed.verdict, killed.decided) == (calm.best, calm.verdict, True)
    before, values = values_in(tmp_path / "calm"), values_in(tmp_path / "killed")
    assert recorded[0].items() <= values.items(), "a recorded result was lost"
    common = before.keys() & values.keys()
    assert {pull: values[pull] for pull in common} == {pull: before[pull] for pull in common}
    assert not killed.failures, "an arm was charged with it"
    resized = [one for one in read_records(tmp_path / "killed") if isinstance(one, PoolResized)]
    assert any(0 in one.nodes for one in resized), "the record says when the pool shrank"
    assert until(lambda: pulls_below(client) == 0)
    assert until(lambda: tasks_of(client) == 0)


@pytest.mark.engines
def test_jobs_of_a_worker_that_is_killed_are_lost_and_its_successor_is_a_new_node(
    client: Any,
) -> None:
    driver = opened(client, long)
    try:
        addresses = list(client.run(os.getpid).items())
        job = driver.start(Run(0, 0, 1), node=0)
        assert until(lambda: pulls_below(client) > 4)
        first = driver.workers._nodes[0].address  # type: ignore[attr-defined]
        os.kill(dict(addresses)[first], signal.SIGKILL)
        driver.finish(job)
        last = driver.heard[job.number][-1]
        assert isinstance(last, Lost)
        assert last.why.startswith("its node is gone")
        assert (0, 20) in [one.nodes for one in driver.resized]
        for _ in range(60):  # the nanny starts another one
            if driver.resized[-1].nodes == (0, 20, 20):
                break
            driver.listen(0.5)
        assert driver.resized[-1].nodes == (0, 20, 20)
        gone = driver.start(Run(1, 0, 1), node=0)
        driver.finish(gone)
        assert isinstance(driver.heard[gone.number][-1], Lost), "nothing runs on a dead node"
    finally:
        driver.workers.close()


@pytest.mark.engines
def test_a_worker_that_comes_is_used(cluster: Any, client: Any) -> None:
    driver = opened(client, lambda arm: arm)
    try:
        cluster.scale(3)
        for _ in range(60):
            driver.listen(0.5)
            if driver.resized:
                break
        assert driver.resized[-1].nodes == (20, 20, 20)
        assert isinstance(driver.run(Run(0, 0, 1), node=2), Finished)
    finally:
        driver.workers.close()


def expire(dask_worker: Any) -> None:
    for one in list(host._hosts.values()):
        one._called -= 2 * host.LEASE_SECONDS


@pytest.mark.engines
def test_a_host_whose_driver_does_not_call_ends_its_pulls(client: Any) -> None:
    """And a driver that was only suspended loses jobs, and no more."""
    driver = opened(client, long)
    try:
        job = driver.start(Run(0, 0, 1))
        assert until(lambda: pulls_below(client) > 4)
        client.run(expire)
        driver.finish(job)
        assert isinstance(driver.heard[job.number][-1], Lost)
        for _ in range(20):
            if driver.resized and driver.resized[-1].nodes[2:]:
                break
            driver.listen(0.5)
        assert sum(driver.resized[-1].nodes) >= 20, "it is opened again, at another place"
    finally:
        driver.workers.close()
    assert until(lambda: pulls_below(client) == 0)


@pytest.mark.engines
def test_messages_that_are_lost_are_sent_again(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from paceline.engines.dask.line import _Ears

    driver = opened(client, lambda arm: arm)
    try:
        monkeypatch.setattr(_Ears, "_hear", lambda *_: None)
        client.unsubscribe_topic(f"paceline-{client.id}")
        assert isinstance(driver.run(Run(0, 0, 1)), Finished)
        assert driver.values(0) == [10.0]
    finally:
        driver.workers.close()


@pytest.mark.engines
def test_cores_count_and_not_threads_where_cores_are_declared() -> None:
    shape = SHAPE | {"n_workers": 1, "threads_per_worker": 1, "resources": {"cores": 4}}
    with (
        distributed.LocalCluster(**shape) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        driver = opened(client, long, cores=4)
        try:
            for number in range(4):
                driver.start(Run(0, number, 1))

            def free(dask_worker: Any) -> float:
                return float(dask_worker.state.available_resources["cores"])

            assert until(lambda: list(client.run(free).values()) == [0.0])
        finally:
            driver.workers.close()


@pytest.mark.engines
def test_a_race_whose_scheduler_is_killed_stops_and_goes_on_with_another(tmp_path: Path) -> None:
    where = tmp_path / "scheduler.json"
    how = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
    found = ["--scheduler-file", str(where)]
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--resources", "cores=8"]
    environment = os.environ | {"PYTHONPATH": os.getcwd()}  # where the function is found
    journal = tmp_path / "race"
    race: dict[str, Any] = {"confidence": 0.95, "progress": False, "paired": False}

    def address() -> str:
        assert until(where.exists, 60.0)
        return str(json.loads(where.read_text())["address"])

    with contextlib.ExitStack() as running:

        def start(words: list[str]) -> "subprocess.Popen[bytes]":
            process = subprocess.Popen([*words, *how, *found], env=environment)
            running.callback(process.wait)
            running.callback(process.kill)
            return process

        first = start(scheduler)
        address()
        start(worker)

        def kill(standing: Any) -> None:
            first.kill()

        arms = [0.5 * k for k in range(16)]
        with distributed.Client(address(), set_as_default=False) as client:
            client.wait_for_workers(1, timeout=60)
            with pytest.raises(RaceFailed, match="scheduler does not answer any more"):
                paceline.race(slow, arms, engine=client, journal=journal, callbacks=[kill], **race)
        before = values_in(journal)
        assert before
        where.unlink()
    with distributed.LocalCluster(**SHAPE) as cluster, distributed.Client(cluster) as client:
        result = paceline.race(slow, arms, engine=client, journal=journal, **race)
    assert (result.best, result.decided) == (arms[-1], True)
    assert before.items() <= values_in(journal).items()

"""What the engine of Ray clusters does besides the laws of engines."""

import os
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

import paceline
from paceline.engines.catalog import find_engine, spec_of
from paceline.engines.events import Event, Finished, Lost
from paceline.engines.jobs import Job, Run
from paceline.engines.ray import RayEngine, workers
from paceline.engines.ray.tasks import Tasks
from paceline.engines.ray.workers import RayWorkers
from paceline.engines.workload import Workload
from paceline.errors import InvalidInput, MissingExtra
from paceline.testing.driving import Driver, seeds

ray: Any = pytest.importorskip("ray", reason="Ray is not installed: pip install 'paceline[ray]'")


def marked(text: str) -> list[int]:
    """The processes whose environment has this text."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if text.encode() in Path("/proc", name, "environ").read_bytes():
                found.append(int(name))
        except OSError:
            continue
    return found


def eventually_none(text: str, seconds: float = 20.0) -> bool:
    until = time.monotonic() + seconds
    while marked(text) and time.monotonic() < until:
        time.sleep(0.1)
    return not marked(text)


class Remembers(RayEngine):
    """Keeps the workers that it has opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[RayWorkers] = []

    def open(self, workload: Workload, cores: int) -> RayWorkers:
        self.opened.append(super().open(workload, cores))
        return self.opened[-1]


def test_nothing_of_ray_is_imported_before_it_is_chosen() -> None:
    program = "import paceline, paceline.cli, sys; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'paceline\[ray\]'"):
        find_engine("ray")


def test_an_address_is_kept_in_journals_and_a_ray_client_is_refused() -> None:
    assert spec_of(find_engine("ray:10.0.0.7:6379")) == "ray:10.0.0.7:6379"
    assert spec_of(RayEngine()) == "ray"
    with pytest.raises(InvalidInput, match="Ray Client"):
        RayEngine("ray://10.0.0.7:10001")


def test_an_address_where_nothing_answers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with socket.socket() as bound:  # and never listens: nobody else gets the port
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        with pytest.raises(InvalidInput, match=f"no Ray cluster answers at '{address}'"):
            RayEngine(address).available()
        monkeypatch.setenv("RAY_ADDRESS", address)
        for said in (None, "auto"):
            with pytest.raises(InvalidInput, match=f"no Ray cluster answers at '{address}'"):
                RayEngine(said).available()
    with pytest.raises(InvalidInput, match="no Ray cluster answers"):
        RayEngine("127.0.0.1:99999").available()
    for said in ("127.0.0.1", "head:", "a" * 10_000):
        with pytest.raises(InvalidInput, match="give its host and port"):
            RayEngine(said).available()


def test_localhost_is_looked_for_where_ray_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(address: str, **_: Any) -> None:
        raise ConnectionError(f"came to {address}")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr("ray.util.get_node_ip_address", lambda: "127.0.0.2")
    with socket.create_server(("127.0.0.2", 0)) as server:
        for host in ("localhost", "127.0.0.1"):
            address = f"{host}:{server.getsockname()[1]}"
            with pytest.raises(InvalidInput, match=f"came to {address}"):
                RayEngine(address).available()


@pytest.mark.usefixtures("one_node")
def test_what_no_node_can_give_is_refused_before_anything_runs() -> None:
    for given in ({"cores": 5}, {"cores_per_pull": 5}, {"memory_per_pull": "900TB"}):
        with pytest.raises(InvalidInput, match="lower"):
            paceline.race(lambda arm: arm, [1.0, 2.0], engine=RayEngine(), **given)


@pytest.mark.usefixtures("one_node")
def test_memory_is_asked_for_and_nothing_is_left_behind() -> None:
    engine = Remembers()
    given: dict[str, Any] = {"memory_per_pull": "100MB", "progress": False}
    result = paceline.race(lambda arm, *, seed: arm + seed % 7, [1.0, 50.0], engine=engine, **given)
    assert result.best == 50.0
    (opened,) = engine.opened
    assert opened._tasks.workload.memory == 100_000_000
    assert eventually_none(opened._tasks.race)


@pytest.mark.usefixtures("one_node")
def test_a_job_that_does_not_heed_an_interrupt_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its Ray worker is killed then; what that leaves is gone before the job is."""
    monkeypatch.setattr(workers, "_PATIENCE_SECONDS", 0.5)
    cancel = Tasks.cancel

    def only_forced(self: Tasks, stream: Any, *, force: bool) -> None:
        if force:
            cancel(self, stream, force=True)

    monkeypatch.setattr(Tasks, "cancel", only_forced)
    engine = RayEngine()

    def long(arm: float) -> float:
        if os.fork() == 0:
            time.sleep(600.0)
        time.sleep(600.0)
        return arm

    opened = engine.open(Workload(long, [1.0, 2.0], seeds), 2)
    try:
        driver = Driver(engine, opened, 60.0)
        job = driver.start(Run(0, 0, 1))
        until = time.monotonic() + 30.0
        while len(marked(opened._tasks.race)) < 4 and time.monotonic() < until:
            driver.listen(0.1)
        opened.end(job.number)
        driver.finish(job)
        assert driver.heard[job.number][-1] == Lost(job.number)
        assert not marked(opened._tasks.race)
    finally:
        opened.close()


@pytest.mark.usefixtures("one_node")
def test_a_ray_worker_that_is_killed_costs_no_arm_anything() -> None:
    """Pulls do not run in it: whoever killed it, they did not."""
    engine = RayEngine()

    def kills_above(arm: float) -> float:
        pid = os.getpid()
        while arm == 1.0:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::"):
                os.kill(pid, 9)
                time.sleep(600.0)
        return arm

    opened = engine.open(Workload(kills_above, [1.0, 2.0], seeds), 2)
    try:
        driver = Driver(engine, opened, 60.0)
        last = driver.run(Run(0, 0, 1))
        assert isinstance(last, Lost)
        assert "its Ray task failed" in last.why
        assert isinstance(driver.run(Run(1, 0, 1)), Finished)
        assert not driver.resized
    finally:
        opened.close()


@pytest.mark.engines
@pytest.mark.usefixtures("one_node")
def test_a_race_may_run_inside_a_ray_task() -> None:
    def inside() -> Any:
        def evaluate(arm: float, *, seed: int) -> float:
            return arm + seed % 7

        result = paceline.race(evaluate, [1.0, 50.0], engine="ray", cores=2, progress=False)
        return result.best

    assert ray.get(ray.remote(num_cpus=1)(inside).remote(), timeout=120) == 50.0


DRIVER = """
import sys, time, types, paceline
from paceline.engines.ray import RayEngine, tasks

tasks.uuid = types.SimpleNamespace(uuid4=lambda: types.SimpleNamespace(hex=sys.argv[2]))

def evaluate(arm):
    time.sleep(600.0)
    return arm

paceline.race(evaluate, [1.0, 2.0], engine=RayEngine(sys.argv[1]), cores=2, progress=False)
"""


@pytest.mark.engines
@pytest.mark.usefixtures("one_node")
def test_if_the_driver_is_killed_its_pulls_end() -> None:
    address = ray.get_runtime_context().gcs_address
    race = uuid.uuid4().hex
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, address, race])
    try:
        until = time.monotonic() + 60.0
        while len(marked(f"PACELINE_RAY_RACE={race}")) < 7 and time.monotonic() < until:
            time.sleep(0.1)
        assert len(marked(f"PACELINE_RAY_RACE={race}")) > 6, "no pull has begun"
    finally:
        driver.kill()
        driver.wait()
    assert eventually_none(f"PACELINE_RAY_RACE={race}")


GPUS = """
import os, ray, paceline
from paceline.engines.ray import RayEngine

def evaluate(arm, *, seed, gpus):
    assert gpus == 1 and os.environ["CUDA_VISIBLE_DEVICES"] in ("0", "1")
    return arm + seed % 7

engine = RayEngine("local", num_cpus=1, num_gpus=2, include_dashboard=False,
                   object_store_memory=80 << 20)
result = paceline.race(evaluate, [1.0, 50.0], engine=engine, unit="gpus", cores_per_pull=1,
                       progress=False)
assert engine.available().gpus == (2,)
print(result.best)
"""


@pytest.mark.engines
def test_pulls_are_given_devices() -> None:
    """Ray counts them: there need not be any."""
    ran = subprocess.run(
        [sys.executable, "-c", GPUS], capture_output=True, text=True, timeout=200, check=False
    )
    assert ran.stdout.strip() == "50.0", ran.stderr


def test_events_of_a_race_on_a_node_that_is_gone(one_node: None) -> None:
    engine = RayEngine()
    engine.available()
    opened = engine.open(Workload(lambda arm: arm, [1.0], seeds), 1)
    try:
        opened._roster.lose(0)
        opened.start(Job(0, (Run(0, 0, 1),), 1))
        events: list[Event] = opened.wait(0)
        assert isinstance(events[0], Lost)
        assert events[0].why.startswith("its node is gone")
    finally:
        opened.close()

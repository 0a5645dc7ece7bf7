"""Pulls as job steps: on exactly their cores and memory, on several nodes, with MPI or devices."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import paceline
from paceline.engines.events import Began, Lost
from paceline.engines.jobs import Run
from paceline.engines.slurm import SlurmEngine
from paceline.errors import InvalidInput
from tests.engines.slurm.conftest import allocate
from tests.engines.slurm.driving import failure, opened, value
from tools.slurm_cluster import CORES_PER_NODE, MEMORY_MB_PER_NODE, Cluster

pytestmark = [pytest.mark.slurm, pytest.mark.usefixtures("allocation")]


def steps(cluster: Cluster, job: str) -> dict[str, str]:
    """What the controller has of the steps of a job, by the nodes they are on."""
    text = cluster.ask("scontrol", "--oneliner", "show", "step", job)
    found = (re.search(r"StepId=\d+\.\d+ .*NodeList=(\S+)", line) for line in text.splitlines())
    return {one[1]: one[0] + one.string[one.end() :] for one in found if one}


def test_it_knows_what_the_job_has() -> None:
    here = SlurmEngine().available()
    assert here.nodes == (CORES_PER_NODE, CORES_PER_NODE)
    assert here.memory == (MEMORY_MB_PER_NODE << 20,) * 2
    assert SlurmEngine("pmix").available().nodes == (2 * CORES_PER_NODE,)


def test_a_command_has_its_cores_and_its_share_of_memory(allocation: str, cluster: Cluster) -> None:
    with opened(
        "sleep {x}00; echo $PACELINE_CORES$SLURM_CPUS_ON_NODE${{SLURMD_NODENAME#n}}"
    ) as one:
        jobs = [one.start(Run(1, 0, 1), cores=4 * (node + 1), node=node) for node in (0, 1)]
        while not all(Began(job.number) in one.heard[job.number] for job in jobs):
            one.listen(1.0)
        seen = steps(cluster, allocation)
        assert seen.keys() == {"n1", "n2"}
        for node, cores in (("n1", 4), ("n2", 8)):
            assert f"CPUs={cores} " in seen[node]
            memory = MEMORY_MB_PER_NODE * cores // CORES_PER_NODE
            assert re.search(rf"mem={memory}M\b", seen[node]), seen[node]
        assert value(one, cores=3, node=1) == 332.0


def test_the_memory_that_was_asked_for_is_that_of_the_step(
    allocation: str, cluster: Cluster
) -> None:
    with opened("sleep {x}00; echo 0", memory=700 << 20) as driver:
        job = driver.start(Run(1, 0, 1), cores=2)
        while Began(job.number) not in driver.heard[job.number]:
            driver.listen(1.0)
        assert "mem=700M" in steps(cluster, allocation)["n1"]


def test_the_whole_pool_is_in_use_at_once() -> None:
    with opened("sleep 2; echo {x}") as driver:
        began = time.monotonic()
        jobs = [driver.start(Run(0, k, 1), cores=5, node=k % 2) for k in range(8)]
        driver.finish(*jobs)
        assert time.monotonic() - began < 3.9, "two waves of them take 4 s"


def test_the_time_of_a_command_is_its_own_and_not_that_of_its_step() -> None:
    with opened("sleep 0.3; echo {x}") as driver:
        job = driver.start(Run(0, 0, 1))
        driver.finish(job)
        (values,) = [event for event in driver.heard[job.number] if hasattr(event, "seconds")]
        assert 0.3 <= values.seconds[0] < 0.35


def test_what_goes_wrong_is_said_as_by_local_workers(tmp_path: Path) -> None:
    with opened("echo too much >&2; exit 3{x}") as driver:
        why = failure(driver, 1)
        assert (why.kind, why.message) == ("exit status", "ended with status 31")
        assert why.printed == "too much\n"
    with opened("echo none {x} | tr -d 01") as driver:
        assert failure(driver).kind == "no number"
    with opened("echo {x}; kill -9 $$") as driver:
        assert (failure(driver).kind, failure(driver).message) == (
            "killed",
            "was ended by signal 9",
        )


def test_large_outputs_are_read() -> None:
    with opened("head -c 50000000 /dev/zero | tr '\\0' x; echo; echo 4{x}") as driver:
        assert value(driver, 1) == 41.0
    with opened("head -c 20000000 /dev/zero | tr '\\0' x >&2; echo 4{x}") as driver:
        assert value(driver, 1) == 41.0


def test_functions_of_changing_widths_find_room_on_every_node() -> None:
    def where(arm: float, *, cores: int) -> float:
        return 100.0 * cores + int(os.environ["SLURMD_NODENAME"][1:]) + arm / 10

    with opened(where) as driver:
        for cores in (20, 5, 20, 1):
            for node in (0, 1):
                assert value(driver, 1, cores, node) == 100 * cores + node + 1 + 0.1
        jobs = [driver.start(Run(0, k, 1), cores=10, node=k // 2) for k in range(4)]
        driver.finish(*jobs)
        assert [driver.values(job.number) for job in jobs] == [[1001.0]] * 2 + [[1002.0]] * 2


def test_workers_are_reused() -> None:
    def process(arm: float) -> float:
        return float(os.getpid()) + 0 * arm

    with opened(process) as driver:
        assert len({value(driver, arm, cores=2) for arm in (0, 1, 0, 1)}) == 1


def test_a_pull_has_devices(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    job = os.environ["SLURM_JOB_ID"]
    cluster.ask("scancel", job)
    cluster.wait_until_idle()
    devices = allocate(cluster, "--gres=gpu:2")
    monkeypatch.setenv("SLURM_JOB_ID", devices)
    try:
        assert SlurmEngine().available().gpus == (2, 2)
        with opened("sleep 1; echo {x}$CUDA_VISIBLE_DEVICES", unit="gpus") as driver:
            began = time.monotonic()
            jobs = [driver.start(Run(1, k, 1), cores=1) for k in range(2)]
            driver.finish(*jobs)
            assert sorted(driver.values(job.number)[0] for job in jobs) == [10.0, 11.0]
            assert time.monotonic() - began < 1.9, "they run side by side"
        with opened("sleep 0.5; echo {x}", unit="cores") as driver:
            began = time.monotonic()
            driver.finish(*(driver.start(Run(1, k, 1)) for k in range(4)))
            assert time.monotonic() - began < 1.5, "the first step has not taken the devices"
    finally:
        cluster.ask("scancel", devices)


PROGRAM = """
#include <mpi.h>
#include <stdio.h>
int main(int n, char **words) {
    int ranks, rank, one = 1, sum = 0;
    MPI_Init(&n, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d\\n", sum);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture
def mpi_program(tmp_path: Path) -> Path:
    """An MPI program that prints how many ranks it has, if it can be compiled."""
    if shutil.which("mpicc") is None:
        pytest.skip("no mpicc: apt-get install libopenmpi-dev libpmix-dev")
    (tmp_path / "ranks.c").write_text(PROGRAM)
    words = ["mpicc", "-o", str(tmp_path / "ranks"), str(tmp_path / "ranks.c")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"mpicc does not work: {done.stderr[-300:]}")
    return tmp_path / "ranks"


def test_an_mpi_program_has_as_many_ranks_as_cores_and_may_span_nodes(
    mpi_program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_MCA_btl", "self,tcp")  # the nodes are one, but share no memory
    with opened(f"x={{x}} {mpi_program}", SlurmEngine("pmix")) as driver:
        assert value(driver, cores=3) == 3.0
        # With more ranks than the machine has cores, PMIx now and then gives up a step.
        assert value(driver, cores=24, tries=4) == 24.0
    with pytest.raises(InvalidInput, match="starts MPI programs"):
        paceline.race(lambda arm: arm, [1, 2], engine="slurm:pmix", progress=False)


def test_a_rank_that_fails_ends_the_others() -> None:
    with opened("test $SLURM_PROCID -ne 1 || exit 4; sleep {x}00", SlurmEngine("mpi")) as driver:
        job = driver.start(Run(1, 0, 1), cores=3)
        driver.finish(job)
        assert driver.heard[job.number][-1].failure.message == "ended with status 4"  # type: ignore[union-attr]


def test_a_command_may_call_mpirun_itself(mpi_program: Path) -> None:
    run = "mpirun --allow-run-as-root --oversubscribe --bind-to none -n {cores}"
    with opened(f"x={{x}}; {run} {mpi_program}") as driver:
        assert value(driver, cores=3) == 3.0


SCRIPT = """
import paceline, sys, time
from paceline.commands import Command

_, kind, folder = sys.argv
command = Command.parse(f"touch {folder}/began.{{x}}; sleep 500; echo {{seed}}", shell=True)

def evaluate(arm, *, seed):
    open(f"{folder}/began.{arm}", "w").close()
    time.sleep(500)

what = (command, [{"x": 1}, {"x": 2}]) if kind == "command" else (evaluate, [1, 2])
paceline.race(*what, engine="slurm", cores=2, progress=False)
"""


@pytest.mark.parametrize("kind", ["command", "function"])
def test_a_race_that_is_killed_leaves_no_steps(
    kind: str, allocation: str, cluster: Cluster, tmp_path: Path
) -> None:
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, kind, str(tmp_path)])
    until = time.monotonic() + 60
    while not list(tmp_path.glob("began*")) and time.monotonic() < until:
        time.sleep(0.1)
    assert steps(cluster, allocation)
    process.send_signal(signal.SIGKILL)
    process.wait()
    until = time.monotonic() + 20
    while steps(cluster, allocation) and time.monotonic() < until:
        time.sleep(0.1)
    assert not steps(cluster, allocation)


def test_a_step_that_is_cancelled_is_lost_and_its_arm_is_not_charged(
    allocation: str, cluster: Cluster
) -> None:
    def long(arm: float) -> float:
        time.sleep(600.0 * arm)
        return arm

    for evaluate in ("sleep {x}00; echo 1", long):
        with opened(evaluate) as driver:
            job = driver.start(Run(1, 0, 1))
            while Began(job.number) not in driver.heard[job.number]:
                driver.listen(1.0)
            (step,) = re.findall(
                r"StepId=(\d+\.\d+)", cluster.ask("scontrol", "show", "step", allocation)
            )
            cluster.ask("scancel", step)
            driver.finish(job)
            assert driver.heard[job.number][-1] == Lost(
                job.number, "its step was cancelled from outside"
            )
            assert value(driver) in (0.0, 1.0)

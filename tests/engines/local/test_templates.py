"""Workers are forked from a template where that is safe, and only there."""

import os
import pkgutil
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paceline import race
from paceline.engines.events import Began, Finished, Lost
from paceline.engines.local.process.killing import KEEPER, TEMPLATE, WORKER
from paceline.engines.local.workers import LocalWorkers
from paceline.machine import available_cores
from tests.engines.local.driving import ends, failure, job, opened, run, until, values
from tests.races.processes import alive, below, soon

TEMPLATE_KILLED = "the process from which the workers are forked was killed"

Module = Callable[[str], Any]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Module:
    """Write a module as a user does; its function `evaluate` is imported by workers."""
    monkeypatch.syspath_prepend(str(tmp_path))
    count = 0

    def write(text: str) -> Any:
        nonlocal count
        count += 1
        name = f"users_{tmp_path.name.replace('-', '_')}_{count}"
        (tmp_path / f"{name}.py").write_text(f"{text}\n")
        # What it does when it is imported is for the workers only.
        return Imported(name)

    return write


class Imported:
    """A function that workers import from a module, which this process does not import."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __reduce__(self) -> Any:
        return pkgutil.resolve_name, (f"{self.module}:evaluate",)

    def __call__(self, arm: float) -> float:
        raise AssertionError("it is replaced when it is loaded")


class Seeded(Imported):
    """One that is given a seed."""

    def __call__(self, arm: float, *, seed: int = 0) -> float:
        raise AssertionError("it is replaced when it is loaded")


def templates(workers: LocalWorkers) -> list[int]:
    return below(workers._supervision._process.pid, TEMPLATE)


PLAIN = "def evaluate(arm):\n    return arm"
SAFE = [
    "",
    "import numpy",
    "import numpy, scipy.linalg; numpy.ones((300, 300)) @ numpy.ones((300, 300))",
    "import numpy; rng = numpy.random.default_rng()",
    "import numpy; rng = numpy.random.default_rng(7)",
    "import numpy; rng = numpy.random.RandomState()",
    "import random; random.random()",
    "import random; rng = random.SystemRandom()",
    "import os; os.environ['OMP_NUM_THREADS']",
]
UNSAFE = [
    "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()",
    "import subprocess; child = subprocess.Popen(['sleep', '1000'])",
    "import subprocess; subprocess.run(['sh', '-c', 'setsid sleep 1000 & true'])",
    "file = open(__file__)",
    "import socket; ends = socket.socketpair()",
    "import mmap; shared = mmap.mmap(-1, 4096)",
    "import tempfile; name = tempfile.mktemp()",
    "import random; random.seed(3)",
    "import random; rng = random.Random()",
    "import random; rng = random.Random(3)",
    "import numpy; numpy.random.seed(3)",
    "import numpy; rng = numpy.random.RandomState(3)",
    "import signal; signal.signal(signal.SIGTERM, lambda *_: None)",
    "import signal; signal.setitimer(signal.ITIMER_REAL, 1000)",
    "import os; processors = os.sched_getaffinity(0)",
    "import time; time.sleep = lambda seconds: None",
    "import os; os.fork()",
]


@pytest.mark.parametrize("text", SAFE)
def test_what_forks_may_share_is_loaded_once(module: Module, text: str) -> None:
    with opened(module(f"{text}\n{PLAIN}")) as workers:
        assert values(run(workers, job(0, arm=1), job(1, arm=1))) == [1.0, 1.0]
        (template,) = templates(workers)
        assert len(below(template, KEEPER)) == len(below(template, WORKER)) == 2


@pytest.mark.parametrize("text", UNSAFE)
def test_what_forks_may_not_share_is_loaded_by_every_worker(module: Module, text: str) -> None:
    with opened(module(f"{text}\n{PLAIN}")) as workers:
        assert values(run(workers, job(0, arm=1), job(1, arm=1))) == [1.0, 1.0]
        assert soon(lambda: not templates(workers))
        assert len(below(workers._supervision._process.pid, WORKER)) == 2
        assert values(run(workers, job(2, arm=1, cores=2))) == [1.0]
        assert templates(workers) == []


@pytest.mark.parametrize("seeded", [True, False])
def test_a_compiled_module_that_nobody_knows_may_draw_random_numbers(
    module: Module, tmp_path: Path, seeded: bool
) -> None:
    """Unless the function is given a seed for them. It may also have read its number of threads."""
    mapped = Path("/proc/self/maps").read_text().splitlines()
    library = next(line.split()[-1] for line in mapped if "/libm" in line)
    shutil.copy(library, tmp_path / "unknown.so")
    text = f"import ctypes; ctypes.CDLL({str(tmp_path / 'unknown.so')!r})\n"
    text += f"def evaluate(arm{', *, seed' * seeded}):\n    return arm"
    function = module(text)
    with opened(Seeded(function.module) if seeded else function, cores=4) as workers:
        assert values(run(workers, job(0, arm=1), job(1, arm=1, cores=2))) == [1.0, 1.0]
        assert soon(lambda: len(templates(workers)) == 2 * seeded)


def test_it_can_be_turned_off() -> None:
    with opened(lambda arm: arm, share=False) as workers:
        assert values(run(workers, job(0, arm=1))) == [1.0]
        assert templates(workers) == []


# Random numbers


def draws(expression: str, setup: str) -> str:
    """A module whose function gives a random number; each pull needs a worker of its own."""
    return f"import time\n{setup}\ndef evaluate(arm):\n    time.sleep(0.3)\n    return {expression}"


def drawn_by_six(function: Any, *, share: bool = True) -> tuple[set[float], int]:
    with opened(function, cores=6, share=share) as workers:
        found = values(run(workers, *(job(number) for number in range(6))))
        assert len(below(workers._supervision._process.pid, WORKER)) == 6
        return set(found), len(templates(workers))


@pytest.mark.parametrize(
    ("expression", "setup"),
    [
        ("random.random()", "import random"),
        ("numpy.random.random()", "import numpy"),
        ("numpy.random.normal()", "import numpy"),
        ("rng.random()", "import numpy; rng = numpy.random.default_rng()"),
        ("rng.random()", "import numpy; rng = numpy.random.Generator(numpy.random.Philox())"),
        ("rng.normal()", "import numpy; rng = numpy.random.RandomState(); rng.normal()"),
        ("uuid.uuid4().int / 2**128", "import uuid"),
    ],
)
def test_forked_workers_draw_different_random_numbers(
    module: Module, expression: str, setup: str
) -> None:
    found, shared = drawn_by_six(module(draws(expression, setup)))
    assert shared == 1
    assert len(found) == 6


@pytest.mark.parametrize("share", [True, False])
def test_control_with_a_seed_all_workers_draw_the_same(module: Module, share: bool) -> None:
    """So it was without forks, and so it stays; and equal numbers are noticed."""
    setup = "import numpy; rng = numpy.random.default_rng(7)"
    found, shared = drawn_by_six(module(draws("rng.random()", setup)), share=share)
    assert len(found) == 1
    assert shared == share


def test_control_forks_that_are_not_renewed_draw_the_same(module: Module) -> None:
    """A module that hides its generator shows what a fork shares."""
    setup = (
        "import itertools, numpy\n"
        "rng = numpy.random.default_rng()\n"
        "numbers = iter([float(rng.random()) for _ in range(100)])"
    )
    found, shared = drawn_by_six(module(draws("next(numbers)", setup)))
    assert shared == 1
    assert len(found) == 1


# Cores


def test_each_worker_is_told_its_cores() -> None:
    def told(arm: float) -> float:
        return float(os.environ["OMP_NUM_THREADS"]) + float(os.environ["PACELINE_CORES"]) / 100

    with opened(told, cores=7) as workers:
        events = run(workers, job(0), job(1, cores=2), job(2, cores=4))
        assert sorted(values(events)) == [1.01, 2.02, 4.04]
        assert len(templates(workers)) == 1


def test_a_module_that_looks_for_its_cores_is_loaded_for_each_number_of_them(
    module: Module,
) -> None:
    text = "import os\nCORES = float(os.environ.get('OMP_NUM_THREADS'))\n"
    with opened(module(f"{text}def evaluate(arm):\n    return CORES"), cores=8) as workers:
        jobs = [job(0), job(1, cores=2), job(2, cores=4), job(3)]
        assert sorted(values(run(workers, *jobs))) == [1.0, 1.0, 2.0, 4.0]
        assert len(templates(workers)) == 3


BLAS = """
import ctypes, os, numpy
(path,) = {line.split()[-1] for line in open('/proc/self/maps') if 'openblas' in line}
library = ctypes.CDLL(path)
names = [f'{one}openblas_get_num_threads{two}' for one in ('', 'scipy_') for two in ('', '64_')]
def evaluate(arm):
    numpy.ones((400, 400)) @ numpy.ones((400, 400))
    (threads,) = [getattr(library, name)() for name in names if hasattr(library, name)]
    return float(threads + 100 * len(os.listdir('/proc/self/task')))
"""


@pytest.mark.skipif(available_cores().cores < 2, reason="needs two cores")
@pytest.mark.parametrize("cores", [1, 2])
def test_blas_has_as_many_threads_as_without_forks(module: Module, cores: int) -> None:
    function = module(BLAS)
    found = []
    for share in (True, False):
        with opened(function, share=share) as workers:
            found += values(run(workers, job(0, cores=cores)))
            assert len(templates(workers)) == share
    assert found == [101.0 * cores] * 2


# Memory


def shared_bytes(process: int) -> int:
    """What is charged to a process: of what it shares with others, its part."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    (line,) = [line for line in text.splitlines() if line.startswith("Pss:")]
    return 1024 * int(line.split()[1])


def test_a_large_closure_is_in_memory_once() -> None:
    import numpy as np

    large = np.random.default_rng(1).random(25_000_000)  # 200 MB

    def reads(arm: float) -> float:
        time.sleep(0.2)
        return float(large[::1000].sum())

    with opened(reads, cores=20) as workers:
        found = values(run(workers, *(job(number) for number in range(20))))
        assert set(found) == {float(large[::1000].sum())}
        (template,) = templates(workers)
        all_of_them = [template, *below(template, KEEPER), *below(template, WORKER)]
        assert len(all_of_them) == 41
        assert sum(map(shared_bytes, all_of_them)) < 2 * large.nbytes


# What goes wrong while modules are loaded


@pytest.mark.parametrize("text", ["import nothing_of_that_name", "1 / 0", "raise SystemExit(3)"])
def test_an_error_is_told_as_without_forks(module: Module, text: str) -> None:
    function = module(f"print('hello', flush=True)\n{text}")
    found = []
    for share in (True, False):
        with opened(function, share=share) as workers:
            found += [failure(run(workers, job(number))) for number in range(2)]
    assert found[0].message == "could not be loaded"
    assert all(one == found[0] for one in found)


def test_a_module_that_ends_its_process_is_charged_as_without_forks(module: Module) -> None:
    with opened(module("import os; os._exit(5)")) as workers:
        message = failure(run(workers, job(0))).message
    assert message == "the worker process ended with status 5"


def test_what_a_module_prints_is_printed_once(module: Module) -> None:
    text = "print('loading', end=' ')\ndef evaluate(arm):\n    return None"
    with opened(module(text), cores=3) as workers:
        workers.start(job(0))
        first = failure(until(workers, ends))
        second = failure(run(workers, job(1, cores=2)))
    assert (first.printed, second.printed) == ("", "")  # it is no pull that prints it


def hangs_at_first(tmp_path: Path, seconds: float = 1000.0) -> str:
    """A module that hangs when it is imported, but only once."""
    return (
        "import os, time\n"
        f"if not os.path.exists({str(tmp_path / 'begun')!r}):\n"
        f"    open({str(tmp_path / 'begun')!r}, 'w').close()\n"
        f"    time.sleep({seconds})\n"
        f"{PLAIN}"
    )


def test_a_job_that_waits_for_an_import_can_be_ended(module: Module, tmp_path: Path) -> None:
    with opened(module(hangs_at_first(tmp_path))) as workers:
        workers.start(job(0))
        workers.start(job(1))
        assert soon((tmp_path / "begun").exists)
        workers.end(0)
        events = until(workers, ends)
        assert ends(events) == {0: Lost(0)}
        (template,) = templates(workers)
        assert alive(template)
    assert soon(lambda: not alive(template)), "the supervisor ends it, if closing did not wait"


GIVES_UP = """
import os, signal, socket, subprocess, sys, time
from paceline.engines.local.process.sharing import RaceSupervisor, Template

hanging = subprocess.Popen(["sleep", "1000"])
mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
supervisor = RaceSupervisor(its, [os.pidfd_open(os.getppid())])
template = Template(hanging.pid, mine, 1, None, began=time.monotonic() - float(sys.argv[1]))
supervisor.templates[hanging.pid] = template
for number in (5, 6):
    supervisor.spawn({"spawn": number, "cores": 1, "path": [], "share": True}, [os.dup(0)])
supervisor.kill(5)
print(mine.recv(1000).decode(), [order["spawn"] for order, _ in supervisor.waiting], end=" ")
time.sleep(0.2)
print(hanging.poll(), supervisor.starts_templates)
hanging.kill()
"""


@pytest.mark.parametrize(("seconds", "outcome"), [(1.0, "[6] None True"), (60.0, "[6] -9 False")])
def test_an_import_that_hangs_is_given_up_with_those_who_wait(seconds: float, outcome: str) -> None:
    words = [sys.executable, "-c", GIVES_UP, str(seconds)]
    said = subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout
    ended = '{"ended": 5, "status": -9, "why": "exit", "text": ""}'
    assert said.strip() == f"{ended} {outcome}"


# Kills


def test_a_template_that_is_killed_while_it_loads_costs_nothing(
    module: Module, tmp_path: Path
) -> None:
    with opened(module(hangs_at_first(tmp_path))) as workers:
        workers.start(job(0, arm=1))
        assert soon((tmp_path / "begun").exists)
        (template,) = templates(workers)
        os.kill(template, signal.SIGKILL)
        assert values(until(workers, ends)) == [1.0]
        assert templates(workers) not in ([], [template])


def test_a_template_that_is_killed_takes_its_workers_along_and_nobody_is_blamed() -> None:
    def waits(arm: float) -> float:
        time.sleep(1000 * arm)
        return arm

    with opened(waits, cores=3) as workers:
        workers.start(job(0, arm=1))
        workers.start(job(1, arm=1))
        until(workers, lambda events: Began(0) in events and Began(1) in events)
        run(workers, job(2))
        (template,) = templates(workers)
        before = [template, *below(template, KEEPER), *below(template, WORKER)]
        os.kill(template, signal.SIGKILL)
        events = until(workers, lambda _: not workers._workers)
        assert ends(events) == {0: Lost(0, TEMPLATE_KILLED), 1: Lost(1, TEMPLATE_KILLED)}
        assert soon(lambda: not any(map(alive, before)))
        assert ends(run(workers, job(3))) == {3: Finished(3)}
        assert templates(workers) not in ([], [template])


def test_a_stopped_template_goes_on() -> None:
    with opened(lambda arm: arm, cores=4) as workers:
        run(workers, job(0))
        (template,) = templates(workers)
        os.kill(template, signal.SIGSTOP)
        assert ends(run(workers, job(1), job(2))) == {1: Finished(1), 2: Finished(2)}
        os.kill(template, signal.SIGSTOP)
        began = time.monotonic()
    assert time.monotonic() - began < 3
    assert soon(lambda: not alive(template))


def test_after_three_kills_workers_load_by_themselves() -> None:
    with opened(lambda arm: arm) as workers:
        for number in range(3):
            assert ends(run(workers, job(number))) == {number: Finished(number)}
            (template,) = templates(workers)
            os.kill(template, signal.SIGKILL)
            until(workers, lambda _: not workers._workers)
        assert ends(run(workers, job(3))) == {3: Finished(3)}
        assert templates(workers) == []


def test_a_race_goes_on_whenever_its_template_is_killed() -> None:
    killed = []
    over = threading.Event()

    def kill() -> None:
        pause = 0.001
        while not over.wait(pause):
            pause = min(2 * pause, 0.2)
            for pid in below(os.getpid(), TEMPLATE):
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)

    def evaluate(arm: float, *, seed: int) -> float:
        time.sleep(0.01)
        return arm + seed % 1000 / 1000

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        result = race(evaluate, [0.0, 0.4, 0.5], confidence=0.9, sigma=0.3, cores=4, progress=False)
    finally:
        over.set()
        killer.join()
    assert result.best == 0.5
    assert not result.failures
    assert killed
    assert soon(lambda: not any(map(alive, killed)))
    assert soon(lambda: not below(os.getpid(), KEEPER))

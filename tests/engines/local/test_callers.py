"""Odd callers: what the driver's own process is like must not matter to its workers."""

import functools
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import pytest

from paceline import Command
from paceline.engines.events import Finished
from paceline.engines.local import descriptors
from paceline.engines.local.process import orders
from paceline.errors import InvalidInput, RaceFailed
from tests.engines.local.driving import ends, job, opened, run, values

RACE = """
if __name__ == "__main__":
    result = paceline.race(evaluate, [1, 2, 3], deadline=2, cores=1, seed=1, progress=False)
    assert not result.failures, result.failures
    assert result.best == 3
    open(sys.argv[1], "w").write("fine")
"""


def script(tmp_path: Path, text: str, **how: Any) -> None:
    """Run a script as users do; it says when all is well."""
    program, said = tmp_path / "program.py", tmp_path / "said"
    program.write_text(textwrap.dedent(text))
    subprocess.run([sys.executable, str(program), str(said)], check=True, timeout=120, **how)
    assert said.read_text() == "fine"


@pytest.mark.parametrize(
    "how", ["functools.cache", "functools.lru_cache(maxsize=3)", "functools.lru_cache"]
)
def test_a_cached_function_of_the_main_script_is_sent(tmp_path: Path, how: str) -> None:
    text = f"import functools, sys, paceline\n@{how}\ndef evaluate(arm):\n    return helper(arm)\n"
    helper = "@functools.lru_cache\ndef helper(arm):\n    return float(arm)\n"
    script(tmp_path, text + helper + RACE)


def test_a_cached_method_and_a_cached_local_function_are_sent() -> None:
    class Model:
        @functools.lru_cache  # noqa: B019 - the worker's copy dies with it
        def value(self, arm: float) -> float:
            return 2 * arm

        def __call__(self, arm: float) -> float:
            return self.value(arm)

    with opened(Model(), [1.0, 2.0]) as workers:
        assert values(run(workers, job(0, arm=1))) == [4.0]

    @functools.lru_cache
    def local(arm: float) -> float:
        return 3 * arm

    with opened(local, [1.0, 2.0]) as workers:
        assert values(run(workers, job(0, arm=1))) == [6.0]


def test_a_race_in_a_process_that_was_spawned(tmp_path: Path) -> None:
    """There the main script is called `__mp_main__`."""
    text = """
        import functools, multiprocessing, sys, paceline

        class Base:
            pass

        class Arm(Base):
            factor = 1

        @functools.cache
        def evaluate(arm):
            return float(arm * Arm.factor)

        def start(_):
            return paceline.race(
                evaluate, [1, 2, 3], deadline=2, cores=1, seed=1, progress=False
            ).best

        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                assert pool.map(start, [0]) == [3]
            open(sys.argv[1], "w").write("fine")
    """
    script(tmp_path, text)


def test_paths_that_imports_ignore(tmp_path: Path) -> None:
    odd = "import sys, pathlib, paceline\nsys.path += [pathlib.Path('/nowhere'), b'/nowhere', 3]\n"
    script(tmp_path, odd + "def evaluate(arm):\n    return float(arm)\n" + RACE)


@pytest.mark.parametrize("closed", [[1], [2], [1, 2], [0, 1, 2]])
def test_standard_streams_that_are_closed(tmp_path: Path, closed: list[int]) -> None:
    def close() -> None:
        for stream in closed:
            os.close(stream)

    text = (
        "import os, sys, paceline\ndef evaluate(arm):\n    os.write(1, b'hello')\n    print(arm)\n"
    )
    script(tmp_path, text + "    return float(arm)\n" + RACE, preexec_fn=close)


def test_streams_that_are_closed_when_the_race_begins(tmp_path: Path) -> None:
    text = """
        import os, sys, paceline
        os.close(1)
        os.close(2)
        sys.stdout = sys.stderr = None
        def evaluate(arm):
            return float(arm)
    """
    script(tmp_path, textwrap.dedent(text) + RACE)


def test_what_is_shared_never_has_the_number_of_a_standard_stream() -> None:
    text = (
        "import os\n"
        "from paceline.engines.local.descriptors import file_with, pair, scratch\n"
        "os.closerange(0, 3)\n"
        "made = [*pair(), file_with(b'x'), scratch()]\n"
        "os._exit(int(any(one.fileno() < 3 for one in made)))\n"
    )
    assert subprocess.run([sys.executable, "-c", text]).returncode == 0


def test_a_temporary_folder_that_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """/dev/full takes nothing: so does the disk then."""

    def full(*_: Any, **__: Any) -> Any:
        return open("/dev/full", "wb+", buffering=0)

    monkeypatch.setattr(tempfile, "TemporaryFile", full)

    def prints(arm: float) -> float:
        print("hello", flush=True)
        return arm

    with opened(prints) as workers:
        assert values(run(workers, job(0, arm=1))) == [1.0]
    with opened(Command.parse("echo {x}"), [{"x": 1}]) as workers:
        assert values(run(workers, job(0))) == [1.0]
    monkeypatch.delattr(os, "memfd_create")
    with pytest.raises(RaceFailed, match=r"no file .* could be made, .*No space left.* set TMPDIR"):
        opened(prints)


def test_a_temporary_folder_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere/at/all")
    with opened(Command.parse("echo {x}"), [{"x": 1}]) as workers:
        assert values(run(workers, job(0))) == [1.0]


def test_without_files_in_memory_the_folder_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create")
    with opened(lambda arm, big="x" * 300_000: arm) as workers:
        assert values(run(workers, job(0, arm=1))) == [1.0]


def test_an_order_larger_than_the_socket_takes() -> None:
    many = {f"NAME_{number}": "x" * 100_000 for number in range(12)}
    command = Command.parse("sh -c 'echo ${{#NAME_7}} {x}'", environment=many)
    with opened(command, [{"x": 1}, {"x": 2}]) as workers:
        assert values(run(workers, job(0, arm=1))) == [2.0]
        assert values(run(workers, job(1, arm=0))) == [1.0]


def test_a_group_with_seeds_larger_than_the_socket_takes() -> None:
    from paceline.engines.local.processors import Processors
    from paceline.engines.local.workers import LocalWorkers
    from paceline.engines.workload import Workload

    def long_seeds(arm: int, first: int, pulls: int) -> list[int]:
        return [1 << 30_000] * pulls

    load = Workload(lambda arm, *, seed: float(seed.bit_length()), [0, 1], long_seeds)
    with LocalWorkers(load, Processors((), 1), 1) as workers:
        events = run(workers, job(0, pulls=128))
        assert ends(events) == {0: Finished(0)}
        assert values(events) == [30_001.0] * 128


@pytest.mark.parametrize(
    ("variables", "says"),
    [({"NAME": "x" * 140_000}, "of 140,005 bytes"), (dict.fromkeys("ABCD", "x" * 130_000), "")],
)
def test_commands_that_no_program_could_be_given_are_refused(
    variables: dict[str, str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sysconf", lambda _: 500_000)
    command = Command.parse("echo {x}", environment=variables)
    with pytest.raises(InvalidInput, match=f"arm 0 has .*{says}.* into a file"):
        opened(command, [{"x": 1}])


def test_what_is_loaded_may_be_larger_than_one_read_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel gives at most 2 GiB at once; here it gives a kilobyte."""
    import pickle

    reads = os.pread
    monkeypatch.setattr(os, "pread", lambda file, size, at: reads(file, min(size, 1000), at))
    content = pickle.dumps("x" * 100_000)
    with descriptors.file_with(content) as file:
        assert orders.load(file.fileno()) == "x" * 100_000


def test_a_pull_cannot_change_the_function_that_others_load() -> None:
    def writes(arm: float) -> float:
        for name in os.listdir("/proc/self/fd"):
            try:
                if "memfd:" in os.readlink(f"/proc/self/fd/{name}"):
                    os.pwrite(int(name), b"junk", 0)
            except OSError:
                continue
        return arm

    with opened(writes, cores=2) as workers:
        assert values(run(workers, job(0, arm=1))) == [1.0]
        assert values(run(workers, job(1, arm=1, cores=2))) == [1.0]

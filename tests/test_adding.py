"""To add an option or an engine takes three places each: shown on a copy of the package."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


class Copy:
    """The package as somebody has changed it; `touched` counts where."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.touched: set[str] = set()
        shutil.copytree(ROOT / "src" / "paceline", folder / "paceline")
        shutil.copytree(ROOT / "tools", folder / "tools")

    def write(self, name: str, text: str) -> None:
        self.touched.add(name)
        (self.folder / "paceline" / name).write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.folder / "paceline" / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name} has changed: {old!r}"
        self.write(name, text.replace(old, new))

    def run(self, code: str) -> Any:
        """What a script prints last, as JSON."""
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=self.folder,
            env={"PYTHONPATH": str(self.folder), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_an_option_takes_three_places(copy: Copy) -> None:
    """Its description, the argument of `race`, and whoever acts on it: here the verdict's words."""
    copy.edit(
        "races/options.py",
        """    Option(
        "journal",""",
        """    Option(
        "motto",
        "",
        "TEXT",
        "what stands before the verdict",
        lambda value, what: str(value),
        RECORD,
        kept="session",
    ),
    Option(
        "journal",""",
    )
    copy.edit(
        "races/__init__.py",
        "    max_pulls: float | None = None,\n",
        '    max_pulls: float | None = None,\n    motto: str = "",\n',
    )
    copy.edit(
        "races/snapshot.py",
        "        verdict=sentence(settings, verdict, chosen, arms),\n",
        "        verdict=settings.options['motto'] + sentence(settings, verdict, chosen, arms),\n",
    )
    assert len(copy.touched) == 3
    found = copy.run(
        """
import contextlib, inspect, io, json
from pathlib import Path
import paceline
from paceline.cli import main
from paceline.journal import read_records
from paceline.races.options import OPTIONS
from tools.write_options_page import options_page
Path("race.toml").write_text('''
command = "echo {x}"
arms = [{x = 1}, {x = 2}]
[race]
bounds = [0, 5]
max_pulls = 4
motto = "from the file: "
journal = "file.jsonl"
''')
def verdict(*words):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        main([*words, "--json", "-q"])
    return json.loads(out.getvalue())["verdict"]
found = {"signature": {n: p.default for n, p in inspect.signature(paceline.race).parameters.items()
                       if p.kind is p.KEYWORD_ONLY} == {n: o.default for n, o in OPTIONS.items()}}
found["python"] = paceline.race(abs, [1, 2], motto="hear: ", max_pulls=4, bounds=(0, 5)).verdict
found["file"] = verdict("run", "race.toml")
found["kept"] = read_records(Path("file.jsonl"))[0].options["motto"]
found["resumed"] = verdict("resume", "file.jsonl", "--max-pulls", "6")
found["changed"] = verdict("resume", "file.jsonl", "--max-pulls", "8", "--motto", "changed: ")
found["flag"] = verdict("race", "echo {x}", "-L", "x", "1,2", "--bounds", "0,5", "--max-pulls", "4",
                        "--motto", "flag: ")
row = "| `motto` | `''` | what stands before the verdict | `--motto TEXT` | session |"
found["page"] = row in options_page()
print(json.dumps(found))
"""
    )
    assert found.pop("signature") is True
    assert found.pop("page") is True
    assert found.pop("kept") == "from the file: "
    words = {name: text.partition("undecided")[0] for name, text in found.items()}
    assert words == {
        "python": "hear: ",
        "file": "from the file: ",
        "resumed": "from the file: ",
        "changed": "changed: ",
        "flag": "flag: ",
    }


ENGINE = '''
"""Pulls in threads of this process."""

import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from paceline.engines.base import Abilities
from paceline.engines.events import Event, Failed, Failure, Finished, Values
from paceline.engines.jobs import Job, in_turn
from paceline.engines.pulling import pull
from paceline.engines.workload import Workload
from paceline.machine import AvailableCores, available_cores


@dataclass(frozen=True)
class ThreadEngine:
    """Threads, which cannot be ended."""

    name: str = "threads"
    abilities: Abilities = Abilities(
        kill=False, pin=False, commands=True, group=8, survives_driver=False
    )

    def available(self) -> AvailableCores:
        return available_cores()

    def open(self, workload: Workload, cores: int) -> "ThreadWorkers":
        return ThreadWorkers(workload, cores)

    def now(self) -> float:
        return time.monotonic()


class ThreadWorkers:
    def __init__(self, workload: Workload, cores: int) -> None:
        self.workload = workload
        self.executor = ThreadPoolExecutor(cores)
        self.jobs: dict[Future[list[Event]], int] = {}

    def start(self, job: Job) -> None:
        self.jobs[self.executor.submit(self.work, job)] = job.number

    def work(self, job: Job) -> list[Event]:
        values, seconds, last = [], [], Finished(job.number)
        for arm, number in in_turn(job.runs):
            began = time.perf_counter()
            value = pull(self.workload, arm, number, job.cores)
            if isinstance(value, Failure):
                last = Failed(job.number, value)
                break
            values.append(value)
            seconds.append(time.perf_counter() - began)
        return [Values(job.number, values, seconds), last] if values else [last]

    def end(self, job: int) -> None:
        raise NotImplementedError

    def wait(self, seconds: float | None) -> list[Event]:
        done, _ = wait(self.jobs, seconds, "FIRST_COMPLETED")
        for future in done:
            del self.jobs[future]
        return [event for future in done for event in future.result()]

    def close(self) -> None:
        self.executor.shutdown(cancel_futures=True)
'''

CONTRACT = """
from paceline.engines.threads import ThreadEngine
from paceline.testing import EngineContract

class TestThreads(EngineContract):
    has_processes = False

    def engine(self):
        return ThreadEngine()
"""


def test_an_engine_takes_three_places(copy: Copy) -> None:
    """Its file, a line in the catalog, and its contract class."""
    copy.write("engines/threads.py", ENGINE)
    text = (copy.folder / "paceline/engines/catalog.py").read_text(encoding="utf-8")
    line = '    "local": _later("local", "make"),\n'
    assert line in text
    copy.write(
        "engines/catalog.py",
        text.replace(line, line + '    "threads": ThreadEngine,\n').replace(
            "from paceline.errors",
            "from paceline.engines.threads import ThreadEngine\nfrom paceline.errors",
            1,
        ),
    )
    copy.write("../test_threads.py", CONTRACT)
    assert len(copy.touched) == 3
    laws = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_threads.py"],
        cwd=copy.folder,
        env={"PYTHONPATH": str(copy.folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert laws.returncode == 0, laws.stdout
    assert " passed" in laws.stdout
    found = copy.run(
        """
import contextlib, io, json
from pathlib import Path
import paceline
from paceline.cli import main
Path("race.toml").write_text('''
command = "echo {x}"
arms = [{x = 1}, {x = 2}]
[race]
bounds = [0, 5]
max_pulls = 4
engine = "threads"
journal = "file.jsonl"
''')
def said(*words):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main([*words])
    return code, out.getvalue()
found = {"python": paceline.race(abs, [1, 2], engine="threads", max_pulls=4, bounds=(0, 5)).pulls}
found["file"] = said("run", "race.toml", "-q")[0]
from paceline.journal import read_records
found["kept"] = read_records(Path("file.jsonl"))[0].options["engine"]
found["resume"] = said("resume", "file.jsonl", "--max-pulls", "8", "-q")[0]
found["profile"] = said("profile", "race.toml", "--json")[0]
with contextlib.suppress(SystemExit):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        main(["race", "--help"])
found["help"] = "local, threads" in out.getvalue()
print(json.dumps(found))
"""
    )
    assert found == {
        "python": 4,
        "file": 3,
        "kept": "threads",
        "resume": 3,
        "profile": 0,
        "help": True,
    }

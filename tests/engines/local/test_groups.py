"""Control groups: what is in one ends with it, and a race ends those of dead drivers."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from paceline.engines.events import Lost
from paceline.engines.local import groups
from paceline.engines.local.groups import Group
from tests.engines.local.driving import ends, job, opened, run, until
from tests.engines.local.test_keepers import begun, hanging, keeper, living, supervisor
from tests.races.processes import alive, soon


@pytest.fixture
def group() -> Iterator[Group]:
    made = Group.create()
    if made is None:
        pytest.skip("this system lets us make no control groups")
    yield made
    made.kill(until=time.monotonic() + 20)
    made.close()
    assert not made.folder.exists()


def sleeper(group: Group) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(["sleep", "1000"])
    (group.folder / "cgroup.procs").write_text(str(process.pid))
    return process


def test_what_is_in_it_is_killed(group: Group) -> None:
    process = sleeper(group)
    group.kill(until=0.0)
    assert process.wait(20) == -signal.SIGKILL


def test_one_in_use_is_left_alone(group: Group) -> None:
    process = sleeper(group)
    another = Group.create()
    assert another is not None
    another.close()
    assert not another.folder.exists()
    assert process.poll() is None
    process.kill()
    process.wait()


def test_one_of_a_dead_driver_is_ended_by_the_next_race(group: Group) -> None:
    script = (
        "import os\n"
        "from paceline.engines.local.groups import Group\n"
        "group = Group.create()\n"
        "pid = os.posix_spawn('/bin/sleep', ['sleep', '1000'], {})\n"
        "(group.folder / 'cgroup.procs').write_text(str(pid))\n"
        "print(pid, group.folder, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as driver:
        assert driver.stdout is not None
        pid, folder = driver.stdout.readline().decode().split()
    assert alive(int(pid))

    def is_removed() -> bool:
        with opened(lambda arm: arm) as workers:
            run(workers, job(0))
        return not Path(folder).exists()

    assert soon(is_removed)
    assert soon(lambda: not alive(int(pid)))


def test_all_that_watch_may_be_killed_at_once(group: Group, tmp_path: Path) -> None:
    with begun(hanging(tmp_path), tmp_path) as workers:
        for pid in (keeper(workers), supervisor(workers)):
            os.kill(pid, signal.SIGKILL)
        (end,) = until(workers, ends)
        assert isinstance(end, Lost)
        assert living(tmp_path) == []


@pytest.mark.parametrize("missing", ["cgroup.controllers", "elsewhere", "shared out"])
def test_where_none_can_be_made_there_is_none(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "cgroup.controllers": "",
        "cgroup.subtree_control": "",
        "cgroup.procs": f"1\n{os.getpid()}\n",
    }
    if missing == "shared out":
        files["cgroup.subtree_control"] = "cpu memory"
    elif missing == "elsewhere":
        files["cgroup.procs"] = "1\n"
    else:
        del files[missing]
    line = Path("/proc/self/cgroup").read_text().splitlines()[-1]
    folder = tmp_path / line.removeprefix("0::/")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(content)
    monkeypatch.setattr(groups, "_MOUNTS", (tmp_path,))
    assert Group.create() is None
    assert [one.name for one in folder.iterdir() if one.is_dir()] == []

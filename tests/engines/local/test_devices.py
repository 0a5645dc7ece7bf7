"""GPUs on this machine, made up: each pull has devices of its own, and all are used."""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from paceline import Command, InvalidInput, race
from paceline.engines.local import LocalEngine
from paceline.engines.local.processors import Devices
from paceline.machine import available_gpus

MODULE = """
import os, random, time
SEEN = os.environ["CUDA_VISIBLE_DEVICES"]  # as a library does that asks for devices once
FOLDER = {folder!r}

def evaluate(arm, *, seed, gpus):
    mine = os.environ["CUDA_VISIBLE_DEVICES"].split(",")
    assert ",".join(mine) == SEEN, "it has other devices than when it was imported"
    assert len(mine) == gpus == int(os.environ["PACELINE_GPUS"])
    for device in mine:
        os.mkdir(os.path.join(FOLDER, device))  # fails if another pull is on it
    time.sleep(0.01)
    for device in mine:
        os.rmdir(os.path.join(FOLDER, device))
    with open(os.path.join(FOLDER, "used"), "a") as stream:
        stream.write(SEEN + " ")
    return arm + random.Random(seed).gauss(0, 0.3)
"""


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    folder = tmp_path / "devices"
    folder.mkdir()
    (tmp_path / "on_devices.py").write_text(MODULE.format(folder=str(folder)))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,6,GPU-8f2c,9")
    yield import_module("on_devices")
    sys.modules.pop("on_devices")


@pytest.mark.parametrize("per_pull", [None, 1, 2])
def test_no_two_pulls_are_on_one_device_and_every_device_is_used(
    per_pull: int | None, made_up: Any
) -> None:
    arms = [0.0, 0.2, 0.5]
    result = race(
        made_up.evaluate, arms, unit="gpus", cores_per_pull=per_pull, max_pulls=60, progress=False
    )
    assert result.failures == ()
    assert result.cores == 4
    used = Path(made_up.FOLDER, "used").read_text().replace(" ", ",").strip(",").split(",")
    assert set(used) == {"4", "6", "GPU-8f2c", "9"}
    assert os.listdir(made_up.FOLDER) == ["used"]


def test_commands_are_told_their_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    command = Command.parse("echo {x}$CUDA_VISIBLE_DEVICES$PACELINE_GPUS", shell=True)
    arms = [{"x": 1}, {"x": 2}]
    result = race(command, arms, unit="gpus", max_pulls=2, progress=False, bounds=(0, 999))
    assert [one.mean for one in result.arms] == [111.0, 211.0]


def test_cores_are_shared_out_among_devices(made_up: Any) -> None:
    devices = Devices(("0", "1"), 2, threads_each=8)
    assert (devices.threads(1), devices.threads(2)) == (8, 16)
    devices.close()


def test_devices_are_found_or_as_many_as_the_user_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        (tmp_path / f"proc/driver/nvidia/gpus/0000:0{number}:00.0").mkdir(parents=True)
    assert available_gpus({}, tmp_path) == ("0", "1", "2")
    assert available_gpus({"CUDA_VISIBLE_DEVICES": "3,-1,2"}, tmp_path) == ("3",)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert LocalEngine().available().gpus == ()
    with pytest.raises(InvalidInput, match="there are no GPUs here"):
        race(abs, [1, 2], unit="gpus")

    def which(arm: float) -> float:
        return arm + int(os.environ["CUDA_VISIBLE_DEVICES"]) / 10

    result = race(which, [1.0, 2.0], unit="gpus", cores=2, cores_per_pull=1, max_pulls=8)
    assert {round(one.mean % 1, 1) for one in result.arms} <= {0.0, 0.1}


def test_more_devices_than_there_are_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    with pytest.raises(InvalidInput, match="there are 2 GPUs"):
        race(abs, [1, 2], unit="gpus", cores=3)

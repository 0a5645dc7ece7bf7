"""A race in files: its arms, every value, and times as hyperfine writes them."""

import csv
import json
import math
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paceline
from tests.cli.made_up import result as made_up
from tests.races.virtual import VirtualEngine

HOSTILE = "=1+1|<script>"


def noisy(arm: dict[str, Any], *, seed: int) -> float:
    return float(arm["x"]) + (seed % 100) / 100


def raced(arms: list[Any], **options: Any) -> paceline.Result:
    given: dict[str, Any] = {"engine": VirtualEngine(), "cores": 2, "progress": False} | options
    return paceline.race(noisy, arms, **{"max_pulls": 40, "seed": 5} | given)


ARMS: list[dict[str, Any]] = [
    {"x": 1, "mean": 7, "name": HOSTILE},
    {"x": 5, "mean": 8, "deep": True},
]


def test_arms_are_exported_with_their_parameters_the_best_first(tmp_path: Path) -> None:
    result = raced(ARMS)
    result.export(tmp_path / "a.csv")
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert [row["x"] for row in rows] == ["5", "1"]
    assert [row["mean (parameter)"] for row in rows] == ["8", "7"]
    assert [row["name"] for row in rows] == ["", f"'{HOSTILE}"]
    assert float(rows[0]["mean"]) == result.arms[1].mean
    result.export(tmp_path / "a.json")
    found = json.loads((tmp_path / "a.json").read_text())
    assert [arm["parameters"] for arm in found["arms"]] == ARMS
    assert found == result.to_json()
    result.export(tmp_path / "a.md")
    assert len((tmp_path / "a.md").read_text().splitlines()) == 4


def test_values_are_exported_pull_by_pull_so_that_any_can_be_repeated(tmp_path: Path) -> None:
    result = raced(ARMS)
    for name in ("v.csv", "v.json"):
        result.export_values(tmp_path / name)
    plain = json.loads((tmp_path / "v.json").read_text())
    rows = list(csv.DictReader((tmp_path / "v.csv").read_text().splitlines()))
    assert len(plain) == len(rows) == result.pulls
    for row, one in zip(rows, plain, strict=True):
        arm = ARMS[int(row["arm"])]
        assert noisy(arm, seed=int(row["seed"])) == float(row["value"]) == one["value"]
        assert (one["x"], one["label"]) == (arm["x"], result.arms[one["arm"]].label)
        assert row["name"] == ("" if "name" not in arm else f"'{HOSTILE}")


def test_arms_without_names_for_their_parameters_have_labels(tmp_path: Path) -> None:
    result = paceline.race(
        abs, [1, -2], max_pulls=6, engine=VirtualEngine(), cores=2, progress=False
    )
    result.export_values(tmp_path / "v.csv")
    rows = list(csv.DictReader((tmp_path / "v.csv").read_text().splitlines()))
    assert {(row["label"], row["value"]) for row in rows} == {("1", "1.0"), ("-2", "2.0")}


def test_a_race_without_a_value_leaves_files_that_can_be_read(tmp_path: Path) -> None:
    whole, number = np.array([], dtype=np.int64), np.array([])
    values = paceline.Values(whole, whole, number, number, whole, number)
    nothing = made_up(values=values)
    nothing.export_values(tmp_path / "v.json")
    nothing.export_values(tmp_path / "v.csv")
    assert json.loads((tmp_path / "v.json").read_text()) == []
    assert (tmp_path / "v.csv").read_text() == "arm,number,seed,value,seconds,cores,at\n"


@pytest.mark.parametrize(
    ("export", "name", "why"),
    [
        (paceline.Result.export, "a.pdf", "must end in .csv, .json or .md"),
        (paceline.Result.export, "none/a.csv", "there is no folder"),
        (paceline.Result.export_values, "a.md", "must end in .csv or .json"),
        (paceline.Result.export_hyperfine, "a.csv", "must end in .json"),
        (paceline.Result.export, "a\0.csv", "a zero byte"),
        (paceline.Result.export, "folder.csv", "it is a folder"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused(
    tmp_path: Path, export: Callable[..., None], name: str, why: str
) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(paceline.InvalidInput, match=why):
        export(made_up(), f"{tmp_path}/{name}")


def test_something_else_than_a_path_is_refused() -> None:
    anything: Any = 7
    with pytest.raises(paceline.InvalidInput, match="must be a path, got 7"):
        made_up().export(anything)


def timed(template: str | list[str], arms: list[Any], **options: Any) -> paceline.Result:
    command = paceline.Command.parse(template, value="time", **options)
    given: dict[str, Any] = {"direction": "minimize", "cores": 1, "progress": False}
    return paceline.race(command, arms, max_pulls=5, cores_per_pull=1, noise="normal", **given)


def test_times_of_commands_are_written_as_hyperfine_writes_them(tmp_path: Path) -> None:
    result = timed("sh -c true {x}", [{"x": "1"}, {"x": "2 a"}])
    result.export_hyperfine(tmp_path / "h.json")
    plain = json.loads((tmp_path / "h.json").read_text())
    assert [one["command"] for one in plain["results"]] == ["sh -c true 1", "sh -c true '2 a'"]
    for place, one in enumerate(plain["results"]):
        times = result.values.of(place).tolist()
        assert one["times"] == times
        assert one["exit_codes"] == [0] * len(times)
        assert math.isclose(one["mean"], statistics.fmean(times))
        assert (one["min"], one["max"], one["median"]) == (
            min(times),
            max(times),
            statistics.median(times),
        )
        if len(times) > 1:
            assert math.isclose(one["stddev"], statistics.stdev(times))
        assert one["user"] is one["system"] is None
        assert one["parameters"] == dict(result.story.parameters_of(place))


def test_several_commands_have_no_parameters(tmp_path: Path) -> None:
    arms = [{"command": "sleep 0.01 | cat"}, {"command": "true"}]
    result = timed(["/bin/sh", "-c", "{command}"], arms)
    result.export_hyperfine(tmp_path / "h.json")
    found = json.loads((tmp_path / "h.json").read_text())["results"]
    assert [one["command"] for one in found] == ["sleep 0.01 | cat", "true"]
    assert not any("parameters" in one for one in found)


def test_other_values_are_not_times(tmp_path: Path) -> None:
    with pytest.raises(paceline.InvalidInput, match="this race has a function: export the values"):
        raced(ARMS).export_hyperfine(tmp_path / "h.json")

"""Data frames of a race: tidy, with parameters as they are."""

import builtins
from typing import Any

import numpy as np
import pandas
import pytest

import paceline
from tests.races.virtual import VirtualEngine

ARMS: list[dict[str, Any]] = [
    {"lr": 0.1, "depth": 3, "name": "a", "fast": True, "mean": 1},
    {"lr": 0.2, "depth": 4, "name": "b", "fast": False, "mean": 2, "degree": 2},
    {"lr": 0.3, "depth": 5, "name": "b", "fast": False, "mean": 3},
]


def noisy(arm: dict[str, Any], *, seed: int) -> float:
    return float(arm["depth"]) + seed % 100 / 30


def raced() -> paceline.Result[dict[str, Any]]:
    engine = VirtualEngine()
    return paceline.race(noisy, ARMS, engine=engine, cores=4, max_pulls=30, progress=False)


def test_arms_are_ranked_and_have_a_column_per_parameter_of_its_own_type() -> None:
    result = raced()
    found = result.to_frame()
    assert found["depth"].tolist() == [arm["depth"] for arm in (ARMS[i] for i in found["index"])]
    assert found["mean"].is_monotonic_decreasing
    assert found["lr"].dtype == np.float64
    assert found["depth"].dtype == np.int64
    assert found["fast"].dtype == np.bool_
    assert found["mean (parameter)"].dtype == np.int64
    assert str(found["degree"].dtype) == "Int64"  # whole, though most arms have none
    assert found["degree"].isna().sum() == 2
    assert list(found["status"].cat.categories) == ["best", "in", "out", "failed"]
    assert found.sort_values("status", kind="stable").index.tolist() == [0, 1, 2]


def test_values_have_the_label_and_the_parameters_of_their_arms() -> None:
    result = raced()
    found = result.values.to_frame()
    assert len(found) == result.pulls
    for row in found.itertuples():
        arm = ARMS[row.arm]
        assert (row.lr, row.depth, row.name) == (arm["lr"], arm["depth"], arm["name"])
        assert row.value == noisy(arm, seed=row.seed)
        assert row.label == result.arms[row.arm].label
    assert str(found["degree"].dtype) == "Int64"
    means = found.groupby("depth")["value"].mean()
    assert means.tolist() == pytest.approx([arm.mean for arm in result.arms])


def test_without_pandas_the_error_says_what_else_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    result, imported = raced(), builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return imported(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(paceline.MissingExtra, match=r"pip install pandas, or use result\.arms"):
        result.to_frame()


def test_no_values_are_a_frame_with_the_same_columns() -> None:
    some = raced().values
    none = paceline.Values(
        some.arm[:0],
        some.number[:0],
        some.value[:0],
        some.seconds[:0],
        some.cores[:0],
        some.at[:0],
        labels=some.labels,
        parameters=some.parameters,
    )
    assert list(none.to_frame().columns) == list(some.to_frame().columns)
    assert isinstance(none.to_frame(), pandas.DataFrame)

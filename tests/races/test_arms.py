"""Arms in whatever form users have them, and what they are called."""

import random
import subprocess
import sys
import threading
from collections import deque
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pandas
import pytest

import paceline
from paceline import InvalidInput, races
from paceline.engines.simulated import SimulatedEngine
from paceline.races.labels import label_of, labels_of, told_apart
from tests.races.virtual import VirtualEngine


def value_of(arm: Any) -> float:
    return 0.0


def prepared(arms: Any, **options: Any) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    settings = races.prepare(value_of, arms, engine=SimulatedEngine(2), **options).settings
    return settings.arms, settings.labels


# Forms.


def test_a_dict_names_its_arms() -> None:
    result = paceline.race(
        lambda arm, seed: arm + random.Random(seed).gauss(0, 0.01),
        {"slow": 0.1, "fast": 0.5},
        engine=VirtualEngine(),
        progress=False,
    )
    assert (result.best, result.label) == (0.5, "fast")
    assert [arm.label for arm in result.arms] == ["slow", "fast"]
    assert str(result.verdict).startswith('"fast" has the highest mean')
    assert list(result.to_frame()["label"]) == ["fast", "slow"]


def test_names_in_a_dict_may_be_anything_and_are_told_apart() -> None:
    assert prepared({1: "a", "1": "b", (2, 3): "c"})[1] == ("1 #0", "1 #1", "(2, 3)")


def test_rows_of_a_data_frame_are_dicts() -> None:
    frame = pandas.DataFrame({"lr": [0.1, 0.2], "layers": [2, 3], "kind": ["a", "b"]})
    arms, labels = prepared(frame)
    assert arms == ({"lr": 0.1, "layers": 2, "kind": "a"}, {"lr": 0.2, "layers": 3, "kind": "b"})
    assert [type(part) for part in arms[0].values()] == [float, int, str]
    assert labels == ("lr=0.1 layers=2 kind=a", "lr=0.2 layers=3 kind=b")
    assert prepared(frame[frame["layers"] > 1].reset_index(drop=True)) == (arms, labels)


def test_the_index_of_a_data_frame_names_its_rows_unless_it_only_counts() -> None:
    frame = pandas.DataFrame({"lr": [0.1, 0.2, 0.3]}, index=["small", "big", "small"])
    assert prepared(frame)[1] == ("small #0", "big", "small #2")
    assert prepared(frame, labels=["a", "b", "c"])[1] == ("a", "b", "c")
    two = frame.set_index(pandas.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))
    assert prepared(two)[1] == ("a 1", "a 2", "b 1")
    assert prepared(two.rename_axis(["net", "size"]))[1][0] == "net=a size=1"
    assert prepared(frame.reset_index(drop=True)[1:])[1] == ("lr=0.2", "lr=0.3")


def test_a_data_frame_with_equal_or_no_columns_is_refused() -> None:
    with pytest.raises(InvalidInput, match="two columns of the arms are called 'x': rename one"):
        prepared(pandas.DataFrame([[1, 2], [3, 4]], columns=["x", "x"]))
    with pytest.raises(InvalidInput, match="has no columns"):
        prepared(pandas.DataFrame(index=["a", "b"]))
    with pytest.raises(InvalidInput, match="there is only one arm"):
        prepared(pandas.DataFrame({"x": [1]}))


def test_series_indexes_and_arrays() -> None:
    assert prepared(pandas.Series([1, 2], index=["a", "b"])) == ((1, 2), ("a", "b"))
    assert prepared(pandas.Series([1.5, 2])) == ((1.5, 2.0), ("1.5", "2.0"))
    assert prepared(pandas.Index(["x", "y"])) == (("x", "y"), ("x", "y"))
    rows, labels = prepared(np.array([[1, 2], [3, 4]]))
    assert [row.tolist() for row in rows] == [[1, 2], [3, 4]]
    assert labels == ("[1, 2]", "[3, 4]")
    assert prepared(deque([1, 2]))[0] == (1, 2)
    table = np.array([(0.1, 2), (0.2, 3)], dtype=[("lr", "f8"), ("layers", "i4")])
    assert prepared(table)[1] == ("lr=0.1 layers=2", "lr=0.2 layers=3")


def test_pandas_is_imported_by_nobody_else() -> None:
    code = (
        "import sys, paceline\n"
        "paceline.races.prepare(abs, {'a': 1, 'b': 2})\n"
        "assert 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_labels_may_be_any_list(tmp_path: Path) -> None:
    for labels in (["a", "b"], ("a", "b"), pandas.Series(["a", "b"]), np.array(["a", "b"])):
        assert prepared([1, 2], labels=labels)[1] == ("a", "b")
    assert prepared([1, 2], labels=(name for name in ["x", "x"]))[1] == ("x #0", "x #1")
    result = paceline.race(
        value_of, [1, 2], labels=["a", "b"], engine=VirtualEngine(), max_pulls=4, progress=False
    )
    assert [arm.label for arm in result.arms] == ["a", "b"]


def test_ask_and_tell_and_profile_take_the_same_forms() -> None:
    with paceline.Race({"a": 1, "b": 5}, max_pulls=6, bounds=(0, 9)) as race:
        while not race.done:
            for pull in race.ask():
                assert pull.label == {1: "a", 5: "b"}[pull.arm]
                race.tell(pull, pull.arm)
        assert race.result.label == "b"
    with paceline.Race([1, 5], labels=["x", "y"]) as race:
        assert race.ask()[0].label in ("x", "y")
    frame = pandas.DataFrame({"x": [1, 2]})
    profile = paceline.profile(lambda arm: float(arm["x"]), frame, engine=SimulatedEngine(2))
    assert profile.measured


def test_a_race_goes_on_under_other_labels(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    options: dict[str, Any] = {"engine": VirtualEngine(), "journal": path, "progress": False}
    paceline.race(value_of, {"a": 1, "b": 2}, max_pulls=4, **options)
    result = paceline.race(value_of, [1, 2], labels=["c", "d"], max_pulls=4, **options)
    assert "nothing was run" in result.notes[0]
    assert [arm.label for arm in result.arms] == ["c", "d"]
    with pytest.raises(InvalidInput, match="unknown argument 'labels'"):
        paceline.resume(path, labels=["e", "f"])


# Labels.


class Plain:
    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class Slotted:
    __slots__ = ("rate", "unset")

    def __init__(self, rate: float) -> None:
        self.rate = rate


class Hidden:
    def __init__(self, rate: float) -> None:
        self._rate = rate


class Functor:
    def __init__(self, rate: float) -> None:
        self.rate = rate

    def __call__(self, x: float) -> float:
        return x

    def act(self) -> None:
        pass


class Speaking:
    def __repr__(self) -> str:
        return "Pipeline(steps=[('a', A()),\n                ('b', B())])"


class Tagged:
    def __repr__(self) -> str:
        return f"<Tagged {id(self):#x} {id(self)}>"


class Written:
    def __str__(self) -> str:
        return "written"


class Colour(Enum):
    RED = 1


class Point(NamedTuple):
    x: float
    tags: frozenset[str]


@dataclass
class Config:
    rate: float
    loss: Any = None
    secret: str = field(default="", repr=False)


def rule(x: float, rate: float = 1.0) -> float:
    return x


LABELS = [
    (Plain(rate=0.1, _cache={}), "Plain(rate=0.1)"),
    (Plain(net=Plain(depth=3, opt="adam")), "Plain(net=Plain(depth=3, opt='adam'))"),
    (Plain(), "Plain"),
    (Slotted(0.1), "Slotted(rate=0.1)"),
    (Hidden(0.1), "Hidden(_rate=0.1)"),
    (Functor(0.1), "Functor(rate=0.1)"),
    (Functor(0.1).act, "Functor(rate=0.1).act"),
    (Speaking(), "Pipeline(steps=[('a', A()), ('b', B())])"),
    (Tagged(), "<Tagged >"),
    (Written(), "written"),
    (Config(0.1), "Config(rate=0.1, loss=None)"),
    (Config(0.1, Plain(k=2)), "Config(rate=0.1, loss=Plain(k=2))"),
    (Config(0.1, {"b", "a"}), "Config(rate=0.1, loss={'a', 'b'})"),
    (Config(0.1, rule), "Config(rate=0.1, loss=rule)"),
    (Point(1.0, frozenset({"b", "a", "c"})), "x=1.0 tags={'a', 'b', 'c'}"),
    ({"loss": rule, "net": Plain(k=2)}, "loss=rule net=Plain(k=2)"),
    ({"sizes": [64, (32,), "x"], "path": PurePosixPath("/a")}, "sizes=[64, (32,), 'x'] path=/a"),
    ({}, "{}"),
    (partial(rule, 2, rate=0.1), "rule(2, rate=0.1)"),
    (rule, "rule"),
    (Config, "Config"),
    (np.float64(0.5), "0.5"),
    (np.array(3), "3"),
    (Colour.RED, "Colour.RED"),
    (Decimal("0.1"), "0.1"),
    ("at 0x7fff0000", "at 0x7fff0000"),
    (None, "None"),
]


@pytest.mark.parametrize(("arm", "label"), LABELS, ids=[label for _, label in LABELS])
def test_labels_say_what_an_arm_is(arm: Any, label: str) -> None:
    assert label_of(arm) == label


def test_a_class_is_called_by_its_own_name_wherever_it_was_made() -> None:
    @dataclass
    class Local:
        rate: float

    assert label_of(Local(0.1)) == f"{Local.__name__}(rate=0.1)"


def test_objects_that_hold_each_other_or_very_much_have_labels() -> None:
    one = Plain(name="one")
    vars(one)["other"] = Plain(back=one)
    assert label_of(one) == "Plain(name='one', other=Plain(…', other=Plain(back=Plain))))"
    assert len(label_of(Plain(weights=list(range(10**5))))) <= 60
    assert len(label_of({"text": "x" * 10_000})) <= 60
    assert label_of(Plain(rows=np.zeros((100, 100)))).startswith("Plain(rows=array([[0., 0.,")
    assert "0x" not in label_of(Plain(lock=threading.Lock()))


def test_classes_of_other_libraries() -> None:
    attrs = pytest.importorskip("attr")
    made = attrs.make_class("Made", {"rate": attrs.ib(), "loss": attrs.ib()}, slots=True)
    assert label_of(made(0.1, {"b", "a"})) == "Made(rate=0.1, loss={'a', 'b'})"
    assert races.prepare(value_of, [made(0.1, 1), made(0.2, 2)]).settings.parameters == (
        {"rate": 0.1, "loss": 1},
        {"rate": 0.2, "loss": 2},
    )


def test_pydantic() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", rate=(float, 0.1), name=(str, "a"))
    assert label_of(model()) == "Model(rate=0.1, name='a')"
    assert races.prepare(value_of, [model(), model(rate=2)]).settings.parameters[1] == {
        "rate": 2.0,
        "name": "a",
    }


def test_scikit_learn() -> None:
    svm, pipeline = pytest.importorskip("sklearn.svm"), pytest.importorskip("sklearn.pipeline")
    arms = [svm.SVC(C=c, gamma=0.1) for c in (1, 2.0)]
    assert labels_of(arms)[1] == "SVC(C=2.0, gamma=0.1)"
    piped = pipeline.make_pipeline(svm.SVC(C=3))
    assert label_of(piped) == "Pipeline(steps=[('svc', SVC(C=3))])"


def test_equal_labels_are_told_apart_whatever_users_call_their_arms() -> None:
    assert labels_of([Plain(), Plain()]) == ("Plain #0", "Plain #1")
    assert labels_of([lambda x: x, lambda x: x]) == ("<lambda> #0", "<lambda> #1")
    for labels in (["a", "a", "a #0", "a #1"], ["a #1", "a", "a", "a #1 #0"], ["", ""]):
        assert len(set(told_apart(labels))) == len(labels)


def test_labels_are_the_same_in_every_process(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from dataclasses import dataclass\n"
        "from functools import partial\n"
        "from paceline.races.labels import labels_of\n"
        "class A:\n"
        "    def __init__(self, **fields): self.__dict__.update(fields)\n"
        "@dataclass\n"
        "class D:\n"
        "    tags: object\n"
        "words = {'cat', 'dog', 'emu', 'fox'}\n"
        "print(labels_of([A(tags=words), A(a=A(w=words)), D(words), D(A(x=1)), D(open), D([A()]),\n"
        "    words, {'w': [words]}, partial(print, words), A().__init__, object(), A, len]))\n"
    )
    said = {
        subprocess.run(
            [sys.executable, str(script)],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1
    assert "0x" not in said.pop()


# Parameters.


def test_fields_of_objects_are_columns_of_the_table() -> None:
    for arms in (
        [Plain(rate=0.1, net=Plain()), Plain(rate=0.2, net=Plain())],
        [Slotted(0.1), Slotted(0.2)],
        [Functor(0.1), Functor(0.2)],
        [partial(rule, rate=0.1), partial(rule, rate=0.2)],
        [Config(0.1), Config(0.2)],
        np.array([(0.1,), (0.2,)], dtype=[("rate", "f8")]),
        pandas.DataFrame({"rate": [0.1, 0.2]}, index=["a", "b"]),
    ):
        given = races.prepare(value_of, arms).settings.parameters
        assert [one["rate"] for one in given if one] == [0.1, 0.2]


def test_what_a_column_holds_is_the_same_in_every_process() -> None:
    arms = [{"net": Plain(k=2), "loss": rule, "tags": {"b", "a"}, "lock": Plain()}, {"net": 1}]
    assert races.prepare(value_of, arms).settings.parameters[0] == {
        "net": "Plain(k=2)",
        "loss": "rule",
        "tags": "{'a', 'b'}",
        "lock": "Plain",
    }


def test_functions_and_numbers_have_no_columns() -> None:
    for arms in ([1, 2], ["a", "b"], [rule, len], [Config, Plain], [Hidden(1), Hidden(2)]):
        assert not races.prepare(value_of, arms).settings.parameters

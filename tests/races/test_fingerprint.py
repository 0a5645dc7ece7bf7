"""Fingerprints: the same for the same content in any process, another for any other content."""

import collections
import functools
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from paceline.races.code import source_of
from paceline.races.fingerprint import differs, fingerprint, fingerprints, parts_of


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass
class Setting:
    rate: float
    layers: list[int] = field(default_factory=lambda: [8, 8])


class Slotted:
    __slots__ = ("low",)

    def __init__(self, low: int) -> None:
        self.low = low


class Plain:
    def __init__(self, **state: Any) -> None:
        self.__dict__ |= state

    def __call__(self, arm: float) -> float:
        return arm

    def score(self, arm: float) -> float:
        return arm


Pair = collections.namedtuple("Pair", "low high")
LONG = np.arange(5000.0)
OTHER = LONG.copy()
OTHER[2500] += 1e-9


def cyclic(value: int) -> list[Any]:
    made: list[Any] = [value]
    made.append(made)
    return made


# Each is made twice: the fingerprints of one row are the same, those of different rows differ.
ROWS: list[Callable[[], Any]] = [
    lambda: None,
    lambda: True,
    lambda: 1,
    lambda: -1,
    lambda: 10**5000,
    lambda: 1.0,
    lambda: 1.0 + 2**-52,
    lambda: 0.0,
    lambda: -0.0,
    lambda: math.nan,
    lambda: math.inf,
    lambda: 1j,
    lambda: "1",
    lambda: "é\ud800",
    lambda: b"1",
    lambda: bytearray(b"1"),
    lambda: [1, 2],
    lambda: [2, 1],
    lambda: (1, 2),
    lambda: [[1], 2],
    lambda: [1, [2]],
    list,
    tuple,
    dict,
    lambda: {"a": 1, "b": 2},
    lambda: {"a": 2, "b": 1},
    lambda: {1: "a", (2, 3): "b"},
    lambda: {"x", "y", "zebra"},
    lambda: {"x", "y", "zebr"},
    lambda: frozenset({frozenset({1}), frozenset({2})}),
    lambda: LONG.copy(),
    lambda: OTHER.copy(),
    lambda: LONG.reshape(2, -1).copy(),
    lambda: LONG.astype("float32"),
    lambda: LONG[::2],
    lambda: np.array([], dtype=float),
    lambda: np.array(3.0),
    lambda: np.array(["2030-01-01"], dtype="M8[D]"),
    lambda: np.array([{"a": 1}, None], dtype=object),
    lambda: np.array([{"a": 2}, None], dtype=object),
    lambda: np.ma.array([1, 2], mask=[False, True]),
    lambda: np.ma.array([1, 2], mask=[True, False]),
    lambda: np.float64(1.0),
    lambda: np.int8(1),
    lambda: pathlib.Path("a/b"),
    lambda: pathlib.Path("a/c"),
    lambda: date(2030, 1, 1),
    lambda: datetime(2030, 1, 1, tzinfo=UTC),
    lambda: timedelta(1),
    lambda: Decimal("1.0"),
    lambda: Decimal("1.00"),
    lambda: Fraction(1, 3),
    lambda: range(3),
    lambda: Colour.RED,
    lambda: Colour.BLUE,
    lambda: Setting(0.1),
    lambda: Setting(0.2),
    lambda: Setting(0.1, [8]),
    lambda: Slotted(1),
    lambda: Slotted(2),
    lambda: Plain(a=1, b=2),
    lambda: Plain(a=1, b=3),
    lambda: Pair(1, 2),
    lambda: Pair(2, 1),
    lambda: SimpleNamespace(a=1),
    lambda: collections.OrderedDict(a=1),
    lambda: collections.Counter("aab"),
    lambda: collections.Counter("aabb"),
    lambda: collections.deque([1, 2]),
    lambda: random.Random(1),
    lambda: random.Random(2),
    lambda: np.random.default_rng(1),
    lambda: np.random.default_rng(2),
    lambda: cyclic(1),
    lambda: cyclic(2),
    lambda: lambda x: x + 1,
    lambda: lambda x: x + 2,
    lambda: functools.partial(max, 1),
    lambda: functools.partial(max, 2),
    lambda: functools.partial(min, 1),
    lambda: functools.cache(lambda x: x + 3),
    lambda: Plain(a=1).score,
    lambda: Plain(a=2).score,
    lambda: math.sin,
    lambda: np.sin,
    lambda: int,
    lambda: Plain,
    lambda: math,
]


def test_the_same_content_has_the_same_fingerprint_and_any_other_another() -> None:
    first = [fingerprint(make()) for make in ROWS]
    assert fingerprints(make() for make in ROWS) == first
    assert [one.unknown for one in first] == [()] * len(ROWS)
    assert len({one.text for one in first}) == len(ROWS)


def test_another_process_finds_the_same() -> None:
    """Whatever its hash seed is, on which the order of sets depends."""
    code = (
        "import json; from tests.races.test_fingerprint import ROWS;"
        "from paceline.races.fingerprint import fingerprint;"
        "print(json.dumps([fingerprint(make()).text for make in ROWS]))"
    )
    found = []
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            check=True,
            text=True,
        )
        found.append(json.loads(done.stdout))
    assert found[0] == found[1] == [fingerprint(make()).text for make in ROWS]


def test_what_does_not_say_what_it_is_is_named() -> None:
    with open(os.devnull) as stream:
        found = fingerprint({"lock": threading.Lock(), "file": stream, "x": 1})
    assert found.unknown == ("TextIOWrapper", "lock")
    assert found.text == fingerprint({"lock": threading.Lock(), "file": stream, "x": 1}).text
    assert found.text != fingerprint({"lock": threading.Lock(), "file": stream, "x": 2}).text

    class Secret:
        def __reduce_ex__(self, protocol: Any) -> Any:
            raise OSError("not here")

    assert fingerprint([Secret()]).unknown == (Secret.__qualname__,)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert fingerprint(deep).unknown == ("list",)
    assert fingerprint([1]) == fingerprints([deep, [1]])[1]


def test_objects_that_are_arrays_to_numpy_count_by_their_values() -> None:
    class Tensor:
        dtype = "float32"

        def __init__(self, *values: float) -> None:
            self.values = values
            self.handle = threading.Lock()

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array(self.values)

    assert fingerprint(Tensor(1.0, 2.0)) == fingerprint(Tensor(1.0, 2.0))
    assert fingerprint(Tensor(1.0, 2.0)) != fingerprint(Tensor(1.0, 3.0))


def test_tables_of_pandas_count_by_their_cells() -> None:
    pandas = pytest.importorskip("pandas")

    def frame(cell: Any, name: str = "b") -> Any:
        return pandas.DataFrame({"a": [1, 2], name: ["x", cell]})

    assert fingerprint(frame("y")) == fingerprint(frame("y"))
    assert fingerprint(frame("y")) != fingerprint(frame("z"))
    assert fingerprint(frame("y")) != fingerprint(frame("y", "c"))
    assert fingerprint(frame("y")["b"]) != fingerprint(frame("z")["b"])
    assert fingerprint(frame("y").index).unknown == ()


def test_it_is_cheap() -> None:
    def best_of_three(values: Any) -> float:
        seconds = []
        for _ in range(3):
            began = time.process_time()
            fingerprints(values)
            seconds.append(time.process_time() - began)
        return min(seconds)

    dicts = [
        {"rate": 0.1 * k, "depth": k, "name": f"m{k}", "more": {"a": [1, 2]}} for k in range(1000)
    ]
    assert best_of_three(dicts) < 0.1  # 0.02 on an idle core
    assert best_of_three([Setting(k) for k in range(1000)]) < 0.3
    assert best_of_three([np.zeros(13_000_000)]) < 0.8  # 100 MB: 0.15 on an idle core


# Functions.


def made_from(text: str, name: str = "evaluate", **known: Any) -> Any:
    """A function of a script; its source is known, as that of a cell of a notebook is."""
    import linecache

    text = textwrap.dedent(text)
    file = f"<cell {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"__name__": "__main__"} | known
    exec(compile(text, file, "exec"), space)
    return space[name]


BASE = """
    SCALE = 3
    import math
    def helper(x):
        return inner(x) + 1
    def inner(x):
        return x * 2
    def evaluate(arm, *, bias=1):
        return helper(arm) * SCALE + bias
"""


def changes(before: Any, after: Any) -> set[str]:
    old = {name: one.text for name, one in parts_of(before).items()}
    new = {name: one.text for name, one in parts_of(after).items()}
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("return helper(arm) *", "return helper(arm)  *  ", set()),
        ("return helper(arm) *", "# so\n        return helper(arm) *", set()),
        ("return helper(arm) *", "'''Doc.'''\n        return helper(arm) *", set()),
        ("return helper(arm) *", "print('at', arm)\n        return helper(arm) *", set()),
        ("def evaluate(arm,", "def evaluate(arm: float,", set()),
        ("import math", "import math, sys, logging\n    UNUSED = 3", set()),
        ("* SCALE", "/ SCALE", {"its code"}),
        ("bias=1", "bias=2", {"its defaults"}),
        ("SCALE = 3", "SCALE = 4", {"SCALE"}),
        ("inner(x) + 1", "inner(x) + 2", {"helper"}),
        ("x * 2", "x * 4", {"helper"}),  # two levels deep
        ("x * 2", "math.sin(x)", {"helper"}),
    ],
)
def test_a_function_is_its_code_its_defaults_and_what_it_uses(
    old: str, new: str, expected: set[str]
) -> None:
    assert BASE.count(old) == 1
    assert changes(made_from(BASE), made_from(BASE.replace(old, new))) == expected


def test_a_logger_does_not_count_but_what_is_done_besides_logging_does() -> None:
    text = "def evaluate(arm):\n    return arm"
    logs = f"import logging\nlogger = logging.getLogger()\n{text}"
    logs = logs.replace("    return", "    logger.info(arm)\n    return")
    assert changes(made_from(text), made_from(logs)) == set()
    does = logs.replace("logger.info(arm)", "arm.reset()")
    assert changes(made_from(text), made_from(does)) == {"its code"}


def test_what_a_function_closes_over_counts_by_content() -> None:
    def close_over(data: Any) -> Callable[[float], float]:
        return lambda arm: arm + data.sum()

    assert changes(close_over(LONG), close_over(LONG.copy())) == set()
    assert changes(close_over(LONG), close_over(OTHER)) == {"data"}


def test_lambdas_of_one_line_are_told_apart() -> None:
    made: Any = (lambda x: x + 1), (lambda x: x + 2), (lambda x: x + 1)
    one, two, same = made
    assert changes(one, two) == {"its code"}
    assert changes(one, same) == set()
    assert all(source_of(each) is not None for each in (one, two, same))


def test_partials_methods_and_callables() -> None:
    def power(arm: float, by: int) -> float:
        return float(arm**by)

    assert changes(functools.partial(power, by=2), functools.partial(power, by=3)) == {
        "its arguments"
    }
    assert changes(Plain(a=1).score, Plain(a=2).score) == {"its object"}
    assert changes(Plain(a=1), Plain(a=2)) == {"its state"}
    assert changes(Plain(a=1), Plain(a=1)) == set()
    cached, other = functools.cache(power), functools.cache(lambda arm, by: arm)
    assert changes(cached, other) == {"its code"}
    assert parts_of(math.sin).keys() == parts_of(math.cos).keys()


def test_a_class_counts_by_the_code_of_its_methods() -> None:
    text = "class Model:\n    def __call__(self, arm):\n        return arm\nevaluate = Model()"
    mended = text.replace("return arm", "return -arm")
    assert changes(made_from(text), made_from(text + "  # so")) == set()
    assert "the code of its class" in changes(made_from(text), made_from(mended))


def test_an_object_that_a_function_uses_counts_by_its_class_alone() -> None:
    """It may be a generator of random numbers that nobody has seeded."""
    text = "def evaluate(arm):\n    return arm + rng.random()"
    assert (
        changes(made_from(text, rng=random.Random(1)), made_from(text, rng=random.Random(2)))
        == set()
    )
    assert changes(made_from(text, rng=random.Random(1)), made_from(text, rng=[1])) == {"rng"}


def test_a_module_beside_the_function_s_own_is_looked_into_and_a_library_is_not(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "import my_tools, my_library\n"
        "def evaluate(arm):\n    return my_tools.score(arm) + my_library.score(arm)\n"
    )
    found = []
    for number, (factor, other) in enumerate([(2, 5), (3, 5), (2, 6)]):
        folder = tmp_path / str(number)
        (folder / "lib").mkdir(parents=True)
        (folder / "my_race.py").write_text(text)
        (folder / "my_tools.py").write_text(f"def score(x):\n    return {factor} * x\n")
        (folder / "lib" / "my_library.py").write_text(f"def score(x):\n    return {other} * x\n")
        monkeypatch.syspath_prepend(folder)
        monkeypatch.syspath_prepend(folder / "lib")
        for name in ("my_race", "my_tools", "my_library"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        parts = parts_of(__import__("my_race").evaluate)
        found.append({name: one.text for name, one in parts.items()})
    assert "my_tools.score" in found[0]
    assert {name for name in found[0] if found[0][name] != found[1][name]} == {"my_tools.score"}
    assert found[0] == found[2]


def test_without_source_the_bytecode_has_to_do_and_says_so() -> None:
    space: dict[str, Any] = {}
    exec("def one(x):\n    return x + 1\ndef two(x):\n    return x + 2", space)
    one, two = (parts_of(space[name])["its code"].text for name in ("one", "two"))
    version = f"cpython-3.{sys.version_info.minor}:"
    assert one.startswith(version) or sys.implementation.name != "cpython"
    assert differs(one, two)
    assert not differs(one, two.replace(version, "cpython-3.99:"))  # nobody can tell
    assert not differs(one, "0123456789abcdef")


def test_recursive_functions_end() -> None:
    text = "def helper(x):\n    return evaluate(x)\ndef evaluate(arm):\n    return helper(arm)"
    function = made_from(text)
    assert isinstance(function, FunctionType)
    assert changes(function, made_from(text)) == set()
    assert changes(function, made_from(text.replace("evaluate(x)", "evaluate(-x)"))) == {"helper"}

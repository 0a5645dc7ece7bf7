"""Bad input is refused before anything runs, by name, and with InvalidInput only."""

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paceline
from paceline import Command, InvalidInput, races
from paceline.races.options import OPTIONS, check_options


class NoText:
    """Something that cannot even be shown in a message."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


class NoComparison:
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")


ODD: dict[str, Any] = {
    "true": True,
    "zero": 0,
    "one": 1,
    "minus one": -1,
    "half": 1.5,
    "nan": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "2**200": 2**200,
    "10**400": 10**400,
    "10**5000": 10**5000,
    "-10**5000": -(10**5000),
    "1e155": 1e155,
    "1e300": 1e300,
    "tiny": 5e-324,
    "int64": np.int64(3),
    "float32": np.float32(0.5),
    "bool_": np.bool_(True),
    "float64 nan": np.float64(math.nan),
    "array of none": np.array(3),
    "array": np.array([0, 1]),
    "matrix": np.array([[1.0]]),
    "empty": "",
    "blank": " ",
    "yes": "yes",
    "zero byte": "a\0b",
    "half of a pair": "\ud800",
    "long": "x" * 10_000,
    "bytes": b"x",
    "list": [],
    "dict": {},
    "set": {1},
    "one bound": (0,),
    "bounds": (0, 1),
    "swapped": (1, 0),
    "nan bound": (math.nan, 1),
    "infinite bound": (0, math.inf),
    "large bounds": (-1e155, 1e155),
    "far too large bounds": (10**400, 10**401),
    "close bounds": (0.0, 1e-200),
    "words": ("a", "b"),
    "nested": [[0, 1]],
    "decimal": Decimal(1),
    "fraction": Fraction(1, 3),
    "complex": 1j,
    "object": object(),
    "no text": NoText(),
    "no comparison": NoComparison(),
    "class": int,
    "function": print,
    "functions": [print],
    "number in a list": [5],
    "last moment": datetime.max,
    "first moment": datetime.min,
    "last moment in UTC": datetime.max.replace(tzinfo=UTC),
    "first moment in UTC": datetime.min.replace(tzinfo=UTC),
    "longest": timedelta.max,
    "shortest": timedelta.min,
    "no time": timedelta(0),
    "day": date(2030, 1, 1),
    "last moment as text": "9999-12-31T23:59",
    "first moment as text": "0001-01-01T00:00",
    "too much": "1e400",
    "much": "1e308d",
    "range": range(3),
    "policy without options": "apr:=1",
    "policy of nan": "apr:beta=nan",
    "scaling of nan": "power:nan",
    "scaling too large": "cores:99999999999999999,0.5",
    "scaling nowhere": "measured:/nowhere/a.csv",
    "scaling of a zero byte": "measured:a\0b",
}
calls = 0


def evaluate(arm: Any, *, seed: int) -> float:
    global calls
    calls += 1
    return float(seed % 7)


@contextlib.contextmanager
def naming(what: str) -> Iterator[None]:
    """Says which value it was that something went wrong with."""
    try:
        yield
    except Exception as error:
        error.add_note(f"with the value {what!r}")
        raise


def refused(attempt: Callable[[], Any], name: str) -> bool:
    """Whether an attempt is refused; if so, in a short message that names the culprit."""
    try:
        attempt()
    except InvalidInput as error:
        message = str(error)
    else:
        return False
    assert name in message
    assert len(message) < 1500
    return True


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_takes_or_refuses_every_value(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = calls
    for what in ODD:
        with naming(what):
            refused(partial(races.prepare, evaluate, ["a", "b"], **{name: ODD[what]}), name)
    assert calls == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "whats"),
    [
        ("journal", "one; zero; bytes; list; zero byte; half of a pair; long; empty"),
        ("callbacks", "one; empty; dict; function; number in a list"),
        ("bounds", "one; one bound; swapped; nan bound; large bounds; close bounds; words; bytes"),
        ("paired", "yes; one; zero"),
        ("deadline", "last moment; first moment; last moment in UTC; first moment in UTC; longest"),
        ("deadline", "shortest; true; day; nan; infinity; 1e300; much; too much"),
        ("progress", "one; yes; object"),
        ("seed", "half; minus one; 10**5000; true; nan"),
        ("cores", "true; zero; 2**200; half"),
        ("cores_per_pull", "true; zero; 2**200; half; swapped; words"),
        ("retries", "nan; true; half; minus one; 2**200"),
        ("timeout", "nan; infinity; zero; true; longest"),
        ("max_pulls", "true; nan; infinity; half; 10**400"),
        ("top", "true; zero; 2**200"),
        ("sigma", "true; zero; nan; 1e155; tiny"),
        ("tolerance", "true; nan; 1e155; minus one"),
        ("confidence", "one; zero; true; nan; 10**400"),
        ("direction", "yes; array; no comparison"),
        ("scaling", "one; scaling of a zero byte; scaling nowhere; scaling of nan"),
        ("policy", "one; policy of nan; class"),
        ("engine", "one; class"),
        ("memory_per_pull", "true; zero; nan; infinity; 10**400; minus one"),
        ("unit", "yes; one"),
    ],
)
def test_what_is_refused(name: str, whats: str) -> None:
    for what in whats.split("; "):
        odd = {name: ODD[what]}
        assert refused(partial(races.prepare, evaluate, ["a", "b"], **odd), name), what


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("seed", np.int64(3), 3),
        ("seed", 2**200, 2**200),
        ("confidence", np.float32(0.5), 0.5),
        ("paired", np.bool_(True), True),
        ("bounds", np.array([0, 1]), (0.0, 1.0)),
        ("cores", np.int8(3), 3),
        ("timeout", np.float64(2.5), 2.5),
        ("deadline", datetime(2099, 1, 1), datetime(2099, 1, 1)),
        ("max_pulls", 1e3, 1000),
    ],
)
def test_numbers_of_numpy_and_large_ones_are_taken(name: str, value: Any, wanted: Any) -> None:
    found = check_options({name: value})[name]
    assert found == wanted
    assert type(found) is type(wanted)


def test_arms() -> None:
    views = {"a": 1, "b": 2}
    for good in (views, views.keys(), views.items(), views.values(), np.array([1, 2]), range(2)):
        assert len(races.prepare(evaluate, good).settings.arms) == 2
    bad: list[Any]
    bad = ["ab", b"ab", {"a", "b"}, 5, None, np.array(3), list, NoText(), [NoText()] * 2]
    for one in bad:
        assert refused(partial(races.prepare, evaluate, one), "arm")
    with pytest.raises(InvalidInput, match="a set has no order, so sort it"):
        races.prepare(evaluate, {"a", "b"})


def test_what_can_be_read_only_once_is_refused_by_its_type() -> None:
    once: list[Any] = [(one for one in "ab"), iter([1, 2]), map(str, [1, 2]), itertools.count()]
    for one, kind in zip(once, ("generator", "list_iterator", "map", "count"), strict=True):
        with pytest.raises(InvalidInput, match=rf"got a {kind}, .*only once: write list\(arms\)"):
            races.prepare(evaluate, one)


def test_arms_without_an_end_are_too_many() -> None:
    class Endless:
        def __iter__(self) -> Any:
            return itertools.count()

    with pytest.raises(InvalidInput, match="more than 1,000,000 arms"):
        races.prepare(evaluate, Endless())


def test_labels() -> None:
    bad: list[Any]
    bad = ["ab", {"a", "b"}, {"a": 1, "b": 2}, 5, ["a"], ["a", "b", "c"], ["a", ""], [NoText()] * 2]
    for one in bad:
        assert refused(partial(races.prepare, evaluate, [1, 2], labels=one), "label")
    with pytest.raises(InvalidInput, match="there are 3 labels for 2 arms"):
        races.prepare(evaluate, [1, 2], labels=["a", "b", "c"])
    with pytest.raises(InvalidInput, match="the arms have names already"):
        races.prepare(evaluate, {"a": 1, "b": 2}, labels=["c", "d"])


PATHS: list[Any] = [
    None,
    5,
    True,
    b"x",
    "",
    "a\0b",
    "\ud800",
    "x" * 10_000,
    [],
    {},
    NoText(),
    "/",
    "/nowhere",
]


@pytest.mark.parametrize("read", [paceline.resume, races.read_journal, races.read_race_file])
@pytest.mark.parametrize("path", PATHS, ids=range(len(PATHS)))
def test_files_that_cannot_be_read(read: Callable[[Any], Any], path: Any) -> None:
    with pytest.raises(InvalidInput):
        read(path)


PARTS: dict[str, Callable[[Any], Any]] = {
    "command": lambda odd: Command.parse(odd),
    "first word": lambda odd: Command.parse([odd, "{x}"]),
    "word": lambda odd: Command.parse(["echo", odd, "{x}"]),
    "folder": lambda odd: Command.parse("echo {x}", cwd=odd),
    "environment": lambda odd: Command.parse("echo {x}", environment=odd),
    "variable": lambda odd: Command.parse("echo {x}", environment=[odd]),
    "value of a variable": lambda odd: Command.parse("echo {x}", environment={"A": odd}),
    "name of a variable": lambda odd: Command.parse("echo {x}", environment=[(odd, "a")]),  # type: ignore[list-item]
    "shell": lambda odd: Command.parse("echo {x}", shell=odd),
    "value": lambda odd: Command.parse("echo {x}", value=odd),
    "parameter": lambda odd: races.prepare(Command.parse("echo {x}"), [{"x": odd}, {"x": 1}]),
    "arms": lambda odd: races.prepare(Command.parse("echo {x}"), odd),
    "arm": lambda odd: races.prepare(Command.parse("echo {x}"), [odd, {"x": 1}]),
}


@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_a_command_takes_or_refuses_every_value(part: str) -> None:
    for what in ODD:
        with naming(what):
            refused(partial(PARTS[part], ODD[what]), "")


@pytest.mark.parametrize("part", ["first word", "word", "folder", "variable", "parameter"])
@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_no_text_of_a_command_has_what_no_system_passes_on(part: str, text: str) -> None:
    with pytest.raises(InvalidInput, match=r"zero byte|cannot write"):
        PARTS[part](f"A={text}" if part == "variable" else text)

"""A race described in a TOML file: the command, its arms, and how to race them."""

import csv
import itertools
import math
import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from paceline.commands import Command
from paceline.core.arrays import failure_probability, finite_floats, non_negative, positive, whole
from paceline.core.noise.catalog import NOISES
from paceline.durations import deadline_of, seconds_of
from paceline.errors import InvalidInput, unknown_name
from paceline.templates import check_name, written
from paceline.values import parse_value

MOST_ARMS = 1_000_000  # a grid of more is a slip, and would fill the memory before anybody is told

Arm = dict[str, Any]


@dataclass(frozen=True)
class RaceFile:
    """What a file says: a command, arms that fit it, and keyword arguments for `paceline.race`.

    Paths in it are absolute. Policy and scaling are words, and times are as they were given.
    """

    command: Command
    arms: tuple[Arm, ...]
    options: dict[str, Any]


def read_race_file(path: str | os.PathLike[str]) -> RaceFile:
    """Read a race from a TOML file and check all that can be checked without running it.

    >>> from tempfile import TemporaryDirectory
    >>> text = '''
    ... command = "echo {x} {seed}"
    ... [arms]
    ... x = [1, 2]
    ... [race]
    ... deadline = "10m"
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "race.toml")
    ...     _ = path.write_text(text)
    ...     race = read_race_file(path)
    >>> race.command.words, race.arms, race.options
    (('echo', '{x}', '{seed}'), ({'x': 1}, {'x': 2}), {'deadline': '10m'})
    """
    path = Path(os.path.abspath(path))
    try:
        with path.open("rb") as stream:
            content = tomllib.load(stream)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:  # of TOML, which names the line, or of UTF-8
        raise InvalidInput(f"{path} is no valid TOML: {error}") from error
    try:
        return _race_of(content, path.parent)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


def grid(parameters: Mapping[str, Sequence[Any]]) -> tuple[Arm, ...]:
    """Make an arm of every combination of values; the last parameter changes fastest.

    >>> grid({"x": [1, 2], "mode": ["fast", "slow"]})[:2]
    ({'x': 1, 'mode': 'fast'}, {'x': 1, 'mode': 'slow'})
    """
    if not parameters:
        raise InvalidInput("there are no parameters: give at least one with its values")
    for name, values in parameters.items():
        if not values:
            raise InvalidInput(f"{name} has no values: give at least one")
    count = math.prod(len(values) for values in parameters.values())
    if count > MOST_ARMS:
        raise InvalidInput(
            f"the grid has {count:,} arms, more than {MOST_ARMS:,}: give fewer values"
        )
    combinations = itertools.product(*parameters.values())
    return tuple(dict(zip(parameters, values, strict=True)) for values in combinations)


def parse_list(name: str, text: str) -> tuple[str, ...]:
    r"""Read the values of a parameter, as `-L name a,b,c` gives them; they stay texts.

    Numbers may be given as a range, `first..last` or `first..last..step`. A comma that is meant
    is written `\,`.

    >>> parse_list("x", "1,2,4"), parse_list("x", "1..4"), parse_list("rate", "0.1..0.4..0.1")
    (('1', '2', '4'), ('1', '2', '3', '4'), ('0.1', '0.2', '0.3', '0.4'))
    """
    check_name(name)
    words = [word.strip().replace("\\,", ",") for word in re.split(r"(?<!\\),", text)]
    if "" in words:
        raise InvalidInput(
            f"{name} has an empty value in {text!r}: write its values with one comma between, as "
            "in 1,2,4"
        )
    values = tuple(value for word in words for value in _range(name, word))
    value, times = Counter(values).most_common(1)[0]
    if times > 1:
        raise InvalidInput(f"{name} has the value {value!r} twice in {text!r}: remove one")
    return values


def check_arms(arms: Sequence[Mapping[str, Any]]) -> None:
    """Refuse arms that cannot be raced: fewer than two, with different parameters, or the same.

    >>> check_arms([{"x": 1}, {"x": 1.0}])
    Traceback (most recent call last):
        ...
    paceline.errors.InvalidInput: arms 0 and 1 are the same, {'x': 1}: remove one
    """
    if len(arms) < 2:
        raise InvalidInput(f"a race needs at least two arms, got {len(arms)}: give more values")
    seen: dict[Any, int] = {}
    for index, arm in enumerate(arms):
        if arm.keys() != arms[0].keys():
            raise InvalidInput(
                f"arm {index} has the parameters {', '.join(arm) or '(none)'}, but arm 0 has "
                f"{', '.join(arms[0]) or '(none)'}: give all arms the same"
            )
        for name, value in arm.items():
            check_name(name)
            _check_parameter(name, value)
        # 1 and 1.0 are the same, but 1 and true are not, though Python finds them equal.
        key = tuple((isinstance(arm[name], bool), arm[name]) for name in arms[0])
        first = seen.setdefault(key, index)
        if first != index:
            raise InvalidInput(
                f"arms {first} and {index} are the same, {dict(arms[first])}: remove one"
            )


# --- the parts of a file -------------------------------------------------------------------------

_PARTS = ("command", "shell", "cwd", "value", "env", "arms", "race")


def _race_of(content: Mapping[str, Any], folder: Path) -> RaceFile:
    for name in content:
        if name in _OPTIONS:
            raise InvalidInput(f"{name!r} belongs under [race]: move it there")
        if name not in _PARTS:
            raise unknown_name("key", name, _PARTS)
    options = _options(_table(content.get("race", {}), "[race]"), folder)
    arms = _arms(content, folder)
    check_arms(arms)
    command = _command(content, folder)
    command.check(arms, paired=options.get("paired", False))
    return RaceFile(command, arms, options)


def _command(content: Mapping[str, Any], folder: Path) -> Command:
    template = content.get("command")
    if template is None:
        raise InvalidInput("there is no command: write one, as in command = 'sim {x} {seed}'")
    is_list = isinstance(template, list) and all(isinstance(word, str) for word in template)
    if not (is_list or isinstance(template, str)):
        raise InvalidInput(f"command must be a text or a list of texts, got {template!r}")
    environment = _table(content.get("env", {}), "[env]")
    for name, value in environment.items():
        if not isinstance(value, str | int | float):
            raise InvalidInput(f"{name} in [env] must be a text, got {value!r}")
    return Command.parse(
        template,
        shell=_truth(content.get("shell", False), "shell"),
        cwd=_path(content.get("cwd", "."), "cwd", folder),
        environment={name: written(value) for name, value in environment.items()},
        value=parse_value(_text(content.get("value", "last"), "value")),
    )


def _arms(content: Mapping[str, Any], folder: Path) -> tuple[Arm, ...]:
    if "arms" not in content:
        raise InvalidInput(
            "there are no arms: write [arms] and under it x = [1, 2, 4], or name a CSV file, as in "
            "arms = 'arms.csv'"
        )
    arms = content["arms"]
    if isinstance(arms, str):
        return _arms_of_csv(Path(_path(arms, "arms", folder)))
    if isinstance(arms, list):
        return tuple(_table(arm, "each of [[arms]]") for arm in arms)
    for name, values in _table(arms, "[arms]").items():
        if not isinstance(values, list):
            # Whatever stands below [arms] belongs to it, as is easily forgotten.
            hint = " (or move it above [arms], where it would be no parameter)"
            raise InvalidInput(
                f"{name} in [arms] must be a list of values, got {values!r}: write "
                f"{name} = [{values!r}]{hint if name in (*_PARTS, *_OPTIONS) else ''}"
            )
    return grid(arms)


def _arms_of_csv(path: Path) -> tuple[Arm, ...]:
    try:
        # Spreadsheets begin a file with a byte order mark, which is no part of the first name.
        with path.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream, skipinitialspace=True, strict=True)
            rows = [(reader.line_num, row) for row in reader if row]
    except (OSError, ValueError, csv.Error) as error:
        raise InvalidInput(f"cannot read the arms in {path}: {error}") from error
    if not rows:
        raise InvalidInput(
            f"{path} is empty: its first row names the parameters, the others are arms"
        )
    names = [name.strip() for name in rows[0][1]]
    for name in names:
        check_name(name)
        if names.count(name) > 1:
            raise InvalidInput(f"{path} has the column {name!r} twice: rename one")
    for line, row in rows[1:]:
        if len(row) != len(names):
            raise InvalidInput(
                f"line {line} of {path} has {len(row)} values, but there are {len(names)} columns"
            )
    return tuple(dict(zip(names, row, strict=True)) for _, row in rows[1:])


def _options(table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, value in table.items():
        if name not in _OPTIONS:
            if name in _PARTS:
                raise InvalidInput(f"{name!r} does not belong under [race]: move it to the top")
            raise unknown_name("option in [race]", name, _OPTIONS)
        options[name] = _OPTIONS[name](value, name)
    if "journal" in options:
        options["journal"] = _path(options["journal"], "journal", folder)
    return options


# --- checks of one value: each returns it as `paceline.race` takes it -----------------------------


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{what} must be a text in quotes, got {value!r}")
    return value


def _truth(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{what} must be true or false, got {value!r}")
    return value


def _table(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{what} must be a table of name = value, got {value!r}")
    return value


def _path(value: Any, what: str, folder: Path) -> str:
    """A path that starts at the file's folder, wherever the race is started or resumed."""
    return os.path.abspath(folder / os.path.expanduser(_text(value, what)))


def _one_of(*known: str) -> Callable[[Any, str], str]:
    def check(value: Any, what: str) -> str:
        if value not in known:
            raise unknown_name(what, value, known)
        return str(value)

    return check


def _count(least: int) -> Callable[[Any, str], int]:
    return lambda value, what: whole(value, what, least=least)


def _confidence(value: Any, _what: str) -> float:
    failure_probability(value)
    return float(value)


def _deadline(value: Any, what: str) -> Any:
    # Whether a date has passed is found when the race starts; here, only whether it is one.
    deadline_of(value, datetime(1970, 1, 2, tzinfo=UTC), what)
    return value


def _timeout(value: Any, what: str) -> Any:
    seconds_of(value, what)
    return value


def _bounds(value: Any, what: str) -> tuple[float, float]:
    bounds = finite_floats(value if isinstance(value, list) else [], what)
    if bounds.size != 2 or not bounds[0] < bounds[1]:
        raise InvalidInput(f"{what} must be [lowest, highest], as in [0, 1], got {value!r}")
    return float(bounds[0]), float(bounds[1])


def _cores_per_pull(value: Any, what: str) -> int | tuple[int, int]:
    if not isinstance(value, list):
        return whole(value, f"{what}, if it is no [fewest, most],")
    cores = tuple(whole(number, what) for number in value)
    if len(cores) != 2 or cores[0] > cores[1]:
        raise InvalidInput(
            f"{what} must be a number or [fewest, most], as in [1, 8], got {value!r}"
        )
    return cores[0], cores[1]


_OPTIONS: dict[str, Callable[[Any, str], Any]] = {
    "confidence": _confidence,
    "deadline": _deadline,
    "direction": _one_of("maximize", "minimize"),
    "top": _count(1),
    "tolerance": non_negative,
    "noise": _one_of(*NOISES),
    "bounds": _bounds,
    "sigma": positive,
    "paired": _truth,
    "cores": _count(1),
    "cores_per_pull": _cores_per_pull,
    "policy": _text,
    "scaling": _text,
    "journal": _text,
    "seed": _count(0),
    "retries": _count(0),
    "timeout": _timeout,
    "on_failure": _one_of("drop-arm", "stop"),
    "max_pulls": _count(1),
}


def _check_parameter(name: str, value: Any) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        # It equals nothing, not even itself, and a journal cannot hold it.
        raise InvalidInput(f"{name} is {value}: write it as a text, '{value}'")
    if not isinstance(value, str | int | float):
        raise InvalidInput(f"{name} must be a text, a number, true or false, got {value!r}")


# --- ranges --------------------------------------------------------------------------------------

_DECIMAL = r"([+-]?[0-9]+(?:\.[0-9]+)?)"
_RANGE = re.compile(rf"{_DECIMAL}\.\.{_DECIMAL}(?:\.\.{_DECIMAL})?")
_RANGE_LIKE = re.compile(rf"{_DECIMAL}\.\..*")


def _range(name: str, word: str) -> tuple[str, ...]:
    found = _RANGE.fullmatch(word)
    if found is None:
        if _RANGE_LIKE.fullmatch(word):
            raise InvalidInput(
                f"{name}: {word!r} is no range: write first..last or first..last..step, as in "
                "1..8..2"
            )
        return (word,)
    texts = [found[1], found[2], found[3] or "1"]
    if found[3] is None and "." in found[1] + found[2]:
        raise InvalidInput(f"{name}: say the step of {word!r}, as in {word}..0.1")
    # In whole steps of the last decimal: as floats, 0.1..0.3..0.1 would miss its end.
    decimals = max(len(text.partition(".")[2]) for text in texts)
    first, last, step = (int(Fraction(text) * 10**decimals) for text in texts)
    if step == 0 or (last - first) * step < 0:
        raise InvalidInput(
            f"{name}: from {texts[0]}, steps of {texts[2]} never come to {texts[1]}: the step is "
            "above 0, or below 0 to count down, as in 8..1..-1"
        )
    if (last - first) // step >= MOST_ARMS:
        raise InvalidInput(
            f"{name}: {word!r} has more than {MOST_ARMS:,} values: take larger steps"
        )
    steps = range(first, last + (1 if step > 0 else -1), step)
    return tuple(f"{Decimal(f'{number}e-{decimals}'):f}" for number in steps)

"""Arms of a command: dictionaries of parameters, made from lists of values or from a CSV file."""

import csv
import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paceline.commands.ranges import MOST_ARMS, expand_range
from paceline.commands.template import check_name
from paceline.errors import InvalidInput

Arm = dict[str, Any]


def grid(parameters: Mapping[str, Sequence[Any]]) -> tuple[Arm, ...]:
    """Make an arm for every combination of values; the last parameter changes fastest.

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
    r"""Read the values of a parameter, as in `-L name a,b,c`; they stay texts.

    Numbers may be given as a range, `first..last` or `first..last..step`. A literal comma is
    written `\,`.

    >>> parse_list("x", "1,2,4"), parse_list("x", "1..4"), parse_list("rate", "0.1..0.4..0.1")
    (('1', '2', '4'), ('1', '2', '3', '4'), ('0.1', '0.2', '0.3', '0.4'))
    """
    check_name(name)
    words = [word.strip().replace("\\,", ",") for word in re.split(r"(?<!\\),", text)]
    if "" in words:
        raise InvalidInput(
            f"{name} has an empty value in {text!r}: separate its values by single commas, as in "
            "1,2,4"
        )
    values = tuple(value for word in words for value in expand_range(name, word))
    value, times = Counter(values).most_common(1)[0]
    if times > 1:
        raise InvalidInput(f"{name} has the value {value!r} twice in {text!r}: remove one")
    return values


def check_arms(arms: Sequence[Mapping[str, Any]]) -> None:
    """Refuse arms that cannot be raced: fewer than two, equal, or with different parameters.

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
        # 1 and 1.0 are the same; 1 and true are not, though they are equal in Python.
        key = tuple((isinstance(arm[name], bool), arm[name]) for name in arms[0])
        first = seen.setdefault(key, index)
        if first != index:
            raise InvalidInput(
                f"arms {first} and {index} are the same, {dict(arms[first])}: remove one"
            )


def read_csv(path: Path) -> tuple[Arm, ...]:
    r"""Read arms from a file: the first row names the parameters, every other row is an arm.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "arms.csv")
    ...     _ = path.write_text("x,mode\n1,fast\n2,slow\n")
    ...     read_csv(path)
    ({'x': '1', 'mode': 'fast'}, {'x': '2', 'mode': 'slow'})
    """
    try:
        # Spreadsheets begin a file with a byte order mark, which is not part of the first name.
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


def _check_parameter(name: str, value: Any) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        # NaN does not even equal itself, and a journal cannot hold it.
        raise InvalidInput(f"{name} is {value}: write it as a string, '{value}'")
    if not isinstance(value, str | int | float):
        raise InvalidInput(f"{name} must be a string, a number, true or false, got {value!r}")

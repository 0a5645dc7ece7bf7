"""A race described in a TOML file: the command, its arms, and how to race them."""

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from paceline.commands import Arm, Command, check_arms, grid, parse_value
from paceline.commands.arms import read_csv
from paceline.commands.template import written
from paceline.core.arrays import failure_probability, finite_floats, non_negative, positive, whole
from paceline.durations import deadline_of, seconds_of
from paceline.errors import InvalidInput, unknown_name


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
        raise InvalidInput(f"{path} is not valid TOML: {error}") from error
    try:
        return _race_of(content, path.parent)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


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
        raise InvalidInput(f"command must be a string or a list of strings, got {template!r}")
    environment = _table(content.get("env", {}), "[env]")
    for name, value in environment.items():
        if not isinstance(value, str | int | float):
            raise InvalidInput(f"{name} in [env] must be a string, got {value!r}")
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
        return read_csv(Path(_path(arms, "arms", folder)))
    if isinstance(arms, list):
        return tuple(_table(arm, "each of [[arms]]") for arm in arms)
    for name, values in _table(arms, "[arms]").items():
        if not isinstance(values, list):
            # Whatever stands below [arms] belongs to it, as is easily forgotten.
            hint = " (or move it above [arms], where it would not be a parameter)"
            raise InvalidInput(
                f"{name} in [arms] must be a list of values, got {values!r}: write "
                f"{name} = [{values!r}]{hint if name in (*_PARTS, *_OPTIONS) else ''}"
            )
    return grid(arms)


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
        raise InvalidInput(f"{what} must be a string in quotes, got {value!r}")
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
        return whole(value, f"{what}, unless it is [fewest, most],")
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
    "noise": _one_of("auto", "bernoulli", "bounded", "normal", "subgaussian"),
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

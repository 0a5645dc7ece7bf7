"""A race described in a TOML file: the command, its arms, and how to race them."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paceline.commands import Arm, Command, check_arms, grid, parse_value
from paceline.commands.arms import read_csv
from paceline.commands.template import written
from paceline.errors import InvalidInput, unknown_name
from paceline.races import checks, places
from paceline.races.options import OPTIONS
from paceline.races.places import at


@dataclass(frozen=True)
class RaceFile:
    """What a file says: a command, arms that fit it, and keyword arguments for `paceline.race`.

    `race(file.command, file.arms, **file.options)` runs it. Paths are absolute.
    """

    command: Command
    arms: tuple[Arm, ...]
    options: dict[str, Any]


def read_race_file(path: str | os.PathLike[str]) -> RaceFile:
    """Read a race from a TOML file, and check everything that can be checked without running it.

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
    path = Path(os.path.abspath(checks.path(path, "the race file")))
    try:
        content = path.read_bytes()
    except OSError as error:
        raise places.unreadable(path, error) from error
    try:
        text = content.decode("utf-8-sig")  # some editors begin a file with a mark
        table = tomllib.loads(text)
    except ValueError as error:  # bad TOML, where the message names the line, or bad UTF-8
        raise places.not_toml(path, content, error) from error
    try:
        return _race_of(table, path.parent)
    except places.AtKey as error:
        line = places.line_of(text, error.table, error.key)
        where = path if line is None else f"{path}, line {line}"
        raise InvalidInput(f"{where}: {error}") from error
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


_PARTS = ("command", "shell", "cwd", "value", "env", "arms", "race")
_KEYS = tuple(name for name, option in OPTIONS.items() if option.words is not None)


def _race_of(content: Mapping[str, Any], folder: Path) -> RaceFile:
    for name in content:
        with at("", name):
            if name in _KEYS:
                raise InvalidInput(f"{name!r} belongs under [race]: move it there")
            if name not in _PARTS:
                raise unknown_name("key", name, _PARTS)
    with at("", "race"):
        options = _options(_table(content.get("race", {}), "[race]"), folder)
    with at("", "arms"):
        arms = _arms(content, folder)
        check_arms(arms)
    with at("", "command"):
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
    with at("", "shell"):
        shell = checks.truth(content.get("shell", False), "shell")
    with at("", "cwd"):
        cwd = _path(content.get("cwd", "."), "cwd", folder)
    with at("", "env"):
        environment = _environment(content.get("env", {}))
    with at("", "value"):
        value = parse_value(_text(content.get("value", "last"), "value"))
    return Command.parse(template, shell=shell, cwd=cwd, environment=environment, value=value)


def _environment(given: Any) -> Any:
    """A table of values; or a list of NAME=VALUE and NAME, as on the command line."""
    if isinstance(given, list):
        return given
    environment = _table(given, "[env]")
    for name, value in environment.items():
        with at("env", name):
            if not isinstance(value, str | int | float):
                raise InvalidInput(f"{name} in [env] must be a string, got {value!r}")
    return {name: written(value) for name, value in environment.items()}


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
        with at("arms", name):
            if not isinstance(values, list):
                # Every line below [arms] belongs to it, which is easily forgotten.
                hint = " (or move it above [arms], where it would not be a parameter)"
                raise InvalidInput(
                    f"{name} in [arms] must be a list of values, got {values!r}: write "
                    f"{name} = [{values!r}]{hint if name in (*_PARTS, *_KEYS) else ''}"
                )
    return grid(arms)


def _options(table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, value in table.items():
        with at("race", name):
            if name not in _KEYS:
                if name in _PARTS:
                    raise InvalidInput(f"{name!r} does not belong under [race]: move it to the top")
                raise unknown_name("option in [race]", name, _KEYS)
            options[name] = OPTIONS[name].checked(_at(folder, name, value))
    return options


def _at(folder: Path, name: str, value: Any) -> Any:
    """The value of an option; if it has a path in it, this starts at the file's folder."""
    if name == "journal":
        return _path(value, name, folder)
    if name == "scaling" and isinstance(value, str) and value.startswith("measured:"):
        return f"measured:{_path(value.removeprefix('measured:'), name, folder)}"
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{what} must be a string in quotes, got {value!r}")
    return value


def _table(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{what} must be a table of name = value, got {value!r}")
    return value


def _path(value: Any, what: str, folder: Path) -> str:
    """A path relative to the file's folder, wherever the race is started or resumed."""
    return os.path.abspath(folder / os.path.expanduser(_text(value, what)))

"""Commands as arms: what to run for an arm, a seed and a number of cores. Nothing is run here."""

import os
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import PurePath
from typing import Any

from paceline.commands import environment as variables_of
from paceline.commands.shell import check_shell, split
from paceline.commands.template import RESERVED, check_text, fill, names, pieces, quote, written
from paceline.commands.value import Value, parse_value
from paceline.errors import InvalidInput, seen, unknown_name


@dataclass(frozen=True)
class Invocation:
    """One pull of a command, ready to be run: nothing is left to fill in."""

    argv: tuple[str, ...]
    environment: dict[str, str]  # on top of the process's own
    cwd: str | None
    file: str | None  # to be read when the command has ended; what is there before is stale


@dataclass(frozen=True)
class Command:
    """A command with placeholders: `{name}` of the arms' parameters, `{seed}` and `{cores}`.

    >>> command = Command.parse("sim --x {x} --seed {seed} -j {cores}")
    >>> command.fill({"x": 0.5}, seed=7, cores=2).argv
    ('sim', '--x', '0.5', '--seed', '7', '-j', '2')

    Words are split before they are filled, so a value is never split. Literal braces are written
    `{{` and `}}`.

    A variable of the environment whose value is None is known by name only. It has the value that
    the race finds in its own environment, and this is not written to the journal.
    """

    words: tuple[str, ...]  # with `shell`, one text for /bin/sh -c
    shell: bool = False
    cwd: str | None = None  # None: that of the process
    environment: Mapping[str, str | None] = field(default_factory=dict)
    value: Value = field(default_factory=Value)

    def __post_init__(self) -> None:
        # Copies: a list or dict that the caller changes later must not change a race.
        object.__setattr__(self, "words", _words(self.words))
        object.__setattr__(self, "cwd", _folder(self.cwd))
        object.__setattr__(self, "environment", variables_of.variables(self.environment))
        _check_shell_flag(self.shell)
        if not isinstance(self.value, Value):
            raise InvalidInput(f"the value must be a text such as 'last', got {seen(self.value)}")
        if not self.words or not self.words[0].strip():
            raise InvalidInput("the command is empty: write one, as in 'sim --x {x} --seed {seed}'")
        if self.shell and len(self.words) != 1:
            raise InvalidInput(f"a command for the shell is one text, got {len(self.words)} words")
        for template in self.words:
            pieces(template)
        if self.shell:
            check_shell(self.words[0])

    @classmethod
    def parse(
        cls,
        template: str | Sequence[str],
        *,
        shell: bool = False,
        cwd: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str | None] | Sequence[str] | None = None,
        value: Value | str = "last",
    ) -> "Command":
        """Make a command from one text, or from a list of words.

        >>> Command.parse("sim --name '{x} {y}'").words
        ('sim', '--name', '{x} {y}')
        >>> Command.parse("sim {x}", environment=["MODE=fast", "API_KEY"]).environment
        {'MODE': 'fast', 'API_KEY': None}
        """
        _check_shell_flag(shell)
        words = split(template, shell) if isinstance(template, str) else _words(template)
        how = parse_value(value) if isinstance(value, str) else value
        known = variables_of.variables({} if environment is None else environment)
        return cls(words, shell, _folder(cwd), known, how)

    @property
    def placeholders(self) -> frozenset[str]:
        """The names used in the command, its environment or its file.

        >>> sorted(Command.parse("sim {x} {seed}", value="file:{y}.txt").placeholders)
        ['seed', 'x', 'y']
        """
        known = (value for value in self.environment.values() if value is not None)
        return frozenset(names(*self.words, *known, self._file_template))

    @property
    def is_timed(self) -> bool:
        """Whether its value is the time that it takes."""
        return self.value.kind == "time"

    @property
    def holds_values(self) -> bool:
        """Whether it holds values of its environment: a journal that keeps it may be private."""
        return variables_of.holds_values(self.environment)

    def with_values(self) -> "Command":
        """The same command, with the values of this process for variables that are only named."""
        return replace(self, environment=variables_of.with_values(self.environment, os.environ))

    def fill(self, arm: Mapping[str, Any], *, seed: int, cores: int) -> Invocation:
        """Fill the template with the values of one arm, its seed and its cores.

        >>> Command.parse("echo {x} | wc -c", shell=True).fill({"x": "a b"}, seed=0, cores=1).argv
        ('/bin/sh', '-c', "echo 'a b' | wc -c")
        """
        values = {name: written(value) for name, value in arm.items()}
        values |= {"seed": str(seed), "cores": str(cores)}
        if self.shell:
            quoted = {name: shlex.quote(value) for name, value in values.items()}
            argv: tuple[str, ...] = ("/bin/sh", "-c", fill(self.words[0], quoted))
        else:
            argv = tuple(fill(word, values) for word in self.words)
        # A variable that is only named is inherited.
        environment = {
            name: fill(text, values) for name, text in self.environment.items() if text is not None
        }
        file = None
        if self._file_template:
            file = os.path.join(self.cwd or "", fill(self._file_template, values))
        return Invocation(argv, environment, self.cwd, file)

    def check(self, arms: Sequence[Mapping[str, Any]], *, paired: bool = False) -> None:
        """Refuse what could not be run on this machine, or would not compare the arms.

        >>> Command.parse("echo {rat}").check([{"rate": 1}, {"rate": 2}])
        Traceback (most recent call last):
            ...
        paceline.errors.InvalidInput: unknown placeholder 'rat': did you mean 'rate'? ...
        """
        if self.cwd is not None and not os.path.isdir(self.cwd):
            raise InvalidInput(f"the folder to run in, {self.cwd!r}, does not exist: create it")
        variables_of.check_source(self.environment, os.environ)
        self._check_names(arms)
        if paired and "seed" not in self.placeholders:
            raise InvalidInput(
                "paired pulls share their seeds, but the command does not use {seed}: add it"
            )
        # A seed that hardly occurs in a value by chance, which could make commands look the same.
        invocations = [self.fill(arm, seed=2_971_215_073, cores=1) for arm in arms]
        self._check_differences(arms, invocations, paired)
        programs = {
            (filled.argv[0], filled.environment.get("PATH")): None for filled in invocations
        }
        for name, search_path in programs:
            self._check_executable(name, search_path)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, from which `from_json` makes an equal command."""
        return {
            "words": list(self.words),
            "shell": self.shell,
            "cwd": self.cwd,
            "environment": dict(self.environment),
            "value": str(self.value),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Command":
        """Make the command from what `to_json` returned.

        >>> command = Command.parse("sim {x}", value="time")
        >>> Command.from_json(command.to_json()) == command
        True
        """
        try:
            words, shell, cwd = plain["words"], plain["shell"], plain["cwd"]
            environment, value = plain["environment"], plain["value"]
        except (KeyError, TypeError) as error:
            raise InvalidInput(f"not a recorded command (no {error}): {plain!r}") from error
        is_sound = (
            _are_texts(words)
            and isinstance(shell, bool)
            and isinstance(cwd, str | None)
            and isinstance(environment, dict)
            and _are_texts([one for pair in environment.items() for one in pair if one is not None])
            and isinstance(value, str)
        )
        if not is_sound:
            raise InvalidInput(f"not a recorded command: {plain!r}")
        return cls(tuple(words), shell, cwd, environment, parse_value(value))

    @property
    def _file_template(self) -> str:
        return self.value.argument if self.value.kind == "file" else ""

    def _check_names(self, arms: Sequence[Mapping[str, Any]]) -> None:
        for index, arm in enumerate(arms):
            for name, value in arm.items():
                if not isinstance(name, str):
                    raise InvalidInput(f"a parameter of arm {index} has no name, got {seen(name)}")
                if name in RESERVED:
                    raise InvalidInput(
                        f"{name!r} is filled in for every pull, so it cannot be a parameter of "
                        "the arms: give yours another name"
                    )
                if not isinstance(value, str | Real | PurePath):
                    raise InvalidInput(
                        f"{name} of arm {index} is {seen(value)}: only strings and numbers can be "
                        "written into a command"
                    )
                check_text(written(value), f"{name} of arm {index}")
        known = list(dict.fromkeys(name for arm in arms for name in arm))
        for name in sorted(self.placeholders):
            if name not in (*known, *RESERVED):
                error = unknown_name("placeholder", name, (*known, *RESERVED))
                raise InvalidInput(f"{error}. Literal braces are written {{{{{name}}}}}")
            for index, arm in enumerate(arms):
                if name not in arm and name not in RESERVED:
                    raise InvalidInput(f"the command uses {{{name}}}, but arm {index} has none")
        for name in known:
            if name not in self.placeholders:
                raise InvalidInput(
                    f"the command never uses {name!r}: put {{{name}}} where it belongs, or remove "
                    "it from the arms"
                )

    def _check_differences(
        self,
        arms: Sequence[Mapping[str, Any]],
        invocations: Iterable[Invocation],
        paired: bool,
    ) -> None:
        if self._file_template and "seed" not in names(self._file_template):
            raise InvalidInput(
                f"pulls that run at once would overwrite {self._file_template!r}: put {{seed}} in "
                "its name"
            )
        commands: dict[Any, int] = {}
        files: dict[str, int] = {}
        for index, filled in enumerate(invocations):
            first = commands.setdefault((filled.argv, tuple(filled.environment.items())), index)
            if first != index:
                raise InvalidInput(
                    f"arms {first} and {index} give the same command, "
                    f"{quote(shlex.join(filled.argv))}, for {dict(arms[first])} and "
                    f"{dict(arms[index])}: remove one"
                )
            # Seeds differ from pull to pull, but arms that are paired share them.
            if paired and filled.file is not None:
                first = files.setdefault(filled.file, index)
                if first != index:
                    raise InvalidInput(
                        f"arms {first} and {index} would write the same file "
                        f"{self._file_template!r}, since paired pulls share their seed: put a "
                        "parameter in its name"
                    )

    def _check_executable(self, name: str, search_path: str | None) -> None:
        # A name with a slash is a path, and a relative one starts at the command's folder.
        where = os.path.join(self.cwd or "", name) if "/" in name else name
        if shutil.which(where, path=search_path):
            return
        if "/" not in name:
            raise InvalidInput(
                f"cannot find the program {name!r} on PATH: install it, or say where it is, as "
                f"in ./{name}"
            )
        if os.path.isfile(where):
            raise InvalidInput(f"{where} is not executable: try chmod +x {shlex.quote(where)}")
        raise InvalidInput(
            f"cannot find the program {name!r}: there is no file {os.path.abspath(where)}"
        )


def _words(given: Any) -> tuple[str, ...]:
    words = tuple(given) if isinstance(given, list | tuple) else (None,)
    if not all(isinstance(word, str) for word in words):
        raise InvalidInput(f"the command must be a text or a list of texts, got {seen(given)}")
    for word in words:
        check_text(word, "a word of the command")
    return words


def _check_shell_flag(given: Any) -> None:
    if not isinstance(given, bool):
        raise InvalidInput(f"shell must be true or false, got {seen(given)}")


def _folder(given: Any) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str | os.PathLike):
        raise InvalidInput(f"the folder to run in, cwd, must be a path, got {seen(given)}")
    folder = os.fspath(given)
    check_text(folder, "the folder to run in")
    return folder


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)

"""Commands as arms: a template with placeholders, and how a number is read from what it prints.

Nothing is run here: a `Command` says what to run, and `Value.read` looks at what came out.
"""

import functools
import json
import math
import os
import re
import shlex
import shutil
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import PurePath
from typing import Any

from paceline.errors import InvalidInput, PacelineError, unknown_name

RESERVED = ("seed", "cores")  # filled in for every pull; no parameter of an arm has these names
VALUE_HELP = (
    "how the number is read: last (the last number printed), json:KEY.KEY (printed as JSON), "
    "pattern:REGEX (one group, last match), file:PATH (the last number in a file it writes), "
    "or time (the seconds it took)"
)
_KINDS = {  # how each is written
    "last": "last",
    "json": "json:KEY, as in json:metrics.score",
    "pattern": r"pattern:REGEX, as in pattern:score = (\S+)",
    "file": "file:PATH, as in file:out-{seed}.txt",
    "time": "time",
}


class NoValue(PacelineError, ValueError):
    """A command ended, but the number it should give is not in what it left."""


@dataclass(frozen=True)
class Value:
    r"""Where the number of a pull is found.

    >>> Value("last").read("step 3\nscore = 0.25\n")
    0.25
    >>> Value("json", "runs.0.score").read('{"runs": [{"score": 2}]}')
    2.0
    >>> Value("pattern", r"score (\S+)").read("score 1.5\nafter 3 steps\n")
    1.5
    """

    kind: str = "last"
    argument: str = ""  # the path of keys, the regular expression, or the template of the file

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise unknown_name("value", self.kind, _KINDS)
        usage = _KINDS[self.kind]
        if bool(self.argument) != (":" in usage):
            raise InvalidInput(f"value {str(self)!r}: write {usage}")
        if self.kind == "pattern":
            try:
                groups = re.compile(self.argument).groups
            except re.error as error:
                raise InvalidInput(
                    f"value {str(self)!r} is no regular expression: {error}"
                ) from None
            if groups != 1:
                raise InvalidInput(
                    f"value {str(self)!r} has {groups} groups: put parentheses around the number "
                    "and around nothing else, as in (\\S+); (?:…) is no group"
                )
        if self.kind == "file":
            _pieces(self.argument)

    def __str__(self) -> str:
        return f"{self.kind}:{self.argument}" if self.argument else self.kind

    def read(self, stdout: str, file_text: str | None = None, seconds: float = math.nan) -> float:
        """Return the number; nan and infinity are returned as such, and the caller decides.

        Raises `NoValue` if there is none, or if it is not plain which one is meant.
        """
        if self.kind == "time":
            return seconds
        if self.kind == "json":
            return _json_number(stdout, self.argument)
        if self.kind == "pattern":
            return _matched_number(stdout, self.argument)
        if self.kind == "file":
            if file_text is None:
                raise NoValue(f"the command left no file {self.argument!r}")
            return _last_number(file_text, f"file {self.argument!r}")
        return _last_number(stdout, "output")


def parse_value(text: str) -> Value:
    """Make a value from a word such as `json:metrics.score`.

    >>> parse_value("json:metrics.score")
    Value(kind='json', argument='metrics.score')
    """
    kind, _, argument = text.partition(":")
    return Value(kind.strip(), argument)


@dataclass(frozen=True)
class Invocation:
    """One pull of a command, ready to be run: nothing is left to fill in."""

    argv: tuple[str, ...]
    environment: dict[str, str]  # on top of the process's own
    cwd: str | None
    file: str | None  # to be read when the command has ended; whatever is there before is stale


@dataclass(frozen=True)
class Command:
    """A command with placeholders: `{name}` of the arms' parameters, `{seed}` and `{cores}`.

    >>> command = Command.parse("sim --x {x} --seed {seed} -j {cores}")
    >>> command.fill({"x": 0.5}, seed=7, cores=2).argv
    ('sim', '--x', '0.5', '--seed', '7', '-j', '2')

    Words are split before they are filled, so a value is never split. Literal braces are written
    `{{` and `}}`.
    """

    words: tuple[str, ...]  # with shell, one text for /bin/sh -c
    shell: bool = False
    cwd: str | None = None  # None: that of the process
    environment: Mapping[str, str] = field(default_factory=dict)
    value: Value = Value()

    def __post_init__(self) -> None:
        # Copies: what the caller does with a list or dict later must not change a race.
        object.__setattr__(self, "words", tuple(self.words))
        object.__setattr__(self, "environment", dict(self.environment))
        if not self.words or not self.words[0].strip():
            raise InvalidInput("the command is empty: write one, as in 'sim --x {x} --seed {seed}'")
        if self.shell and len(self.words) != 1:
            raise InvalidInput(f"a command for the shell is one text, got {len(self.words)} words")
        for template in (*self.words, *self.environment.values()):
            _pieces(template)
        for name in self.environment:
            if not name or "=" in name or "\0" in name:
                raise InvalidInput(f"{name!r} cannot be the name of an environment variable")
        if self.shell:
            _check_shell(self.words[0])

    @classmethod
    def parse(
        cls,
        template: str | Sequence[str],
        *,
        shell: bool = False,
        cwd: str | None = None,
        environment: Mapping[str, str] | None = None,
        value: Value | str = "last",
    ) -> "Command":
        """Make a command from one text, or from a list of words.

        >>> Command.parse("sim --name '{x} {y}'").words
        ('sim', '--name', '{x} {y}')
        """
        words = _split(template, shell) if isinstance(template, str) else tuple(template)
        how = parse_value(value) if isinstance(value, str) else value
        return cls(words, shell, cwd, environment or {}, how)

    @property
    def placeholders(self) -> frozenset[str]:
        """The names that the command, its environment or its file use.

        >>> sorted(Command.parse("sim {x} {seed}", value="file:{y}.txt").placeholders)
        ['seed', 'x', 'y']
        """
        return frozenset(_names(*self.words, *self.environment.values(), self._file_template))

    def fill(self, arm: Mapping[str, Any], *, seed: int, cores: int) -> Invocation:
        """Write the values of one arm, its seed and its cores into the template.

        >>> Command.parse("echo {x} | wc -c", shell=True).fill({"x": "a b"}, seed=0, cores=1).argv
        ('/bin/sh', '-c', "echo 'a b' | wc -c")
        """
        values = {name: written(value) for name, value in arm.items()}
        values |= {"seed": str(seed), "cores": str(cores)}
        if self.shell:
            quoted = {name: shlex.quote(value) for name, value in values.items()}
            argv: tuple[str, ...] = ("/bin/sh", "-c", _fill(self.words[0], quoted))
        else:
            argv = tuple(_fill(word, values) for word in self.words)
        environment = {name: _fill(text, values) for name, text in self.environment.items()}
        file = None
        if self._file_template:
            file = os.path.join(self.cwd or "", _fill(self._file_template, values))
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
        self._check_names(arms)
        if paired and "seed" not in self.placeholders:
            raise InvalidInput(
                "paired pulls share their seeds, but the command does not use {seed}: pass it on"
            )
        # A seed that hardly stands in a value by chance, which could make commands look the same.
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
        """Make the command again from what `to_json` returned.

        >>> command = Command.parse("sim {x}", value="time")
        >>> Command.from_json(command.to_json()) == command
        True
        """
        try:
            words, shell, cwd = plain["words"], plain["shell"], plain["cwd"]
            environment, value = plain["environment"], plain["value"]
        except (KeyError, TypeError) as error:
            raise InvalidInput(f"this is no recorded command (no {error}): {plain!r}") from error
        is_sound = (
            _are_texts(words)
            and isinstance(shell, bool)
            and isinstance(cwd, str | None)
            and isinstance(environment, dict)
            and _are_texts([*environment, *environment.values()])
            and isinstance(value, str)
        )
        if not is_sound:
            raise InvalidInput(f"this is no recorded command: {plain!r}")
        return cls(tuple(words), shell, cwd, environment, parse_value(value))

    @property
    def _file_template(self) -> str:
        return self.value.argument if self.value.kind == "file" else ""

    def _check_names(self, arms: Sequence[Mapping[str, Any]]) -> None:
        for index, arm in enumerate(arms):
            for name, value in arm.items():
                if name in RESERVED:
                    raise InvalidInput(
                        f"{name!r} is filled in for every pull, so it cannot be a parameter of "
                        "the arms: give yours another name"
                    )
                if not isinstance(value, str | Real | PurePath):
                    raise InvalidInput(
                        f"{name} of arm {index} is {value!r}: only texts and numbers can stand in "
                        "a command"
                    )
                if "\0" in written(value):
                    raise InvalidInput(f"{name} of arm {index} has a zero byte: {value!r}")
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
        if self._file_template and "seed" not in _names(self._file_template):
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
                    f"{_shorten(shlex.join(filled.argv))}, for {dict(arms[first])} and "
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
        # With a slash in it, a name is a path, and one that is relative starts at the new folder.
        where = os.path.join(self.cwd or "", name) if "/" in name else name
        if shutil.which(where, path=search_path):
            return
        if "/" not in name:
            raise InvalidInput(
                f"cannot find the program {name!r} on PATH: install it, or write where it is, as "
                f"in ./{name}"
            )
        if os.path.isfile(where):
            raise InvalidInput(f"{where} may not be executed: try chmod +x {shlex.quote(where)}")
        raise InvalidInput(
            f"cannot find the program {name!r}: there is no file {os.path.abspath(where)}"
        )


def written(value: Any) -> str:
    """Write a parameter's value as it stands in a command; true and false as in TOML.

    >>> written(1.0), written("a b"), written(True)
    ('1.0', 'a b', 'true')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_name(name: str) -> None:
    """Refuse the name of a parameter that could never stand in a template."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name!r} cannot be the name of a parameter: use letters, digits, - and _, with a "
            "letter first"
        )
    if name in RESERVED:
        raise InvalidInput(
            f"{name!r} is filled in for every pull: give your parameter another name"
        )


# --- templates -----------------------------------------------------------------------------------

_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NAME = re.compile(r"[^\W\d][\w-]*")


@functools.lru_cache(maxsize=256)
def _pieces(template: str) -> tuple[tuple[str, bool], ...]:
    """Cut a template into texts and names; True marks a name.

    >>> _pieces("a{x}{{b}}")
    (('a', False), ('x', True), ('{', False), ('b', False), ('}', False))
    """
    pieces: list[tuple[str, bool]] = []
    end = 0
    for token in _TOKEN.finditer(template):
        if token.start() > end:
            pieces.append((template[end : token.start()], False))
        end = token.end()
        name = token[1]
        if token[0] in ("{{", "}}"):
            pieces.append((token[0][0], False))
        elif name is None:
            raise InvalidInput(
                f"{token[0]!r} without its partner in {_shorten(template)}: a literal brace is "
                f"written {token[0] * 2}"
            )
        elif _NAME.fullmatch(name):
            pieces.append((name, True))
        elif _NAME.fullmatch(re.split("[:!]", name)[0]):
            raise InvalidInput(
                f"{token[0]} in {_shorten(template)}: formats are not supported, write the values "
                f"of the arms as they should look and {{{re.split('[:!]', name)[0]}}} here"
            )
        else:
            raise InvalidInput(
                f"{token[0]} in {_shorten(template)} is no placeholder such as {{x}}: if the "
                "braces are meant, double them, {{ and }}"
            )
    if end < len(template):
        pieces.append((template[end:], False))
    return tuple(pieces)


def _names(*templates: str) -> set[str]:
    return {text for template in templates for text, is_name in _pieces(template) if is_name}


def _fill(template: str, values: Mapping[str, str]) -> str:
    try:
        return "".join(values[text] if is_name else text for text, is_name in _pieces(template))
    except KeyError as error:
        raise unknown_name("placeholder", error.args[0], values) from None


# What a shell would act upon if it stood alone in the command.
_OPERATOR = re.compile(r"\|\|?|&&?|;|[0-9]?>.*|<.*")


def _split(template: str, shell: bool) -> tuple[str, ...]:
    if shell:
        return (template,)
    try:
        words = tuple(shlex.split(template))
    except ValueError as error:
        raise InvalidInput(
            f"cannot split {_shorten(template)} into words: {str(error).lower()}"
        ) from None
    # A word that is the same before and after quotes are removed was not quoted.
    bare = set(template.split())
    for word in words:
        if word in bare and _OPERATOR.fullmatch(word):
            raise InvalidInput(
                f"{word!r} in {_shorten(template)} means something to a shell only: ask for the "
                "shell, or quote it if the command should get it"
            )
    return words


def _check_shell(template: str) -> None:
    """Refuse placeholders where the quotes that `fill` puts around values would not hold.

    Inside "…" a quoted value would lose its quotes, and `$(…)` in it would be run. So a
    placeholder must stand in the open; there is always a way to write it so.
    """
    inside = ""  # the quote, backtick or comment that is open
    nested = False  # in something whose quotes are not followed here
    escaped = False
    recent = "\n"  # the last characters read
    for text, is_name in _pieces(template):
        if is_name:
            if inside or nested or escaped or recent.endswith("$"):
                raise InvalidInput(
                    f"{{{text}}} in {_shorten(template)} stands behind $ or \\, or in quotes, a "
                    "comment, $((…)) or a here-document, but values come with their own quotes: "
                    f"begin with {_variable(text)}={{{text}}}; and write "
                    f'"${_variable(text)}" there'
                )
            recent = text
            continue
        for character in text:
            if escaped:
                escaped = False
            elif character == "\\" and inside not in ("'", "#"):
                escaped = True
            elif inside == "#":
                inside = "" if character == "\n" else inside
            elif inside:
                opens = character == "`" or recent[-1] + character == "$("
                nested |= inside == '"' and opens
                inside = "" if character == inside else inside
            elif character in "'\"`" or (character == "#" and recent[-1] in " \t\n;&|()"):
                inside = character
            recent = recent[-2:] + character
            nested |= not inside and recent.endswith(("<<", "$(("))
    if inside in ("'", '"', "`") and not nested:
        raise InvalidInput(f"{inside} without its partner in {_shorten(template)}: close it")


def _variable(name: str) -> str:
    return re.sub(r"\W|-", "_", name)


# --- numbers in what a command leaves ------------------------------------------------------------

# Fortran writes 1.5D-03.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"([+-]?)(?:(nan)(?:\(.*)?|inf(?:inity)?)", re.IGNORECASE)
_NUMBER_LIKE = re.compile(r"\d|(?<![a-z])(?:nan|inf(?:inity)?)(?![a-z])", re.IGNORECASE)
_NOTHING = {"None", "null", "NULL", "NA", "N/A", "n/a"}
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_AROUND = "\"'`()[]{}*|,;:"


def _last_number(text: str, what: str) -> float:
    """Return the last number, if there is no doubt which one it is.

    A number that is passed over in silence would be a wrong reward in every pull. So a last word
    that is like a number and is none ('3.5s', '12:30', '1,234', 'None') ends the search, loudly.
    """
    words = _COLOUR.sub("", text).split()
    for position in range(len(words) - 1, -1, -1):
        word = words[position]
        core = word.strip(_AROUND).rstrip(f"{_AROUND}.")
        # The value of name=value, and of "name":value in JSON without spaces.
        core = re.split(r"=|(?<=[\"'])[:,]", core)[-1].strip(_AROUND)
        number = _number(core)
        if number is not None:
            if position and words[position - 1] in ("±", "+/-", "+-"):
                raise NoValue(_unclear(f"{words[position - 1]} {word}", what))
            return number
        if core in _NOTHING or _NUMBER_LIKE.search(word):
            raise NoValue(_unclear(word, what))
    if not words:
        raise NoValue(f"the {what} is empty: it should end with a number")
    raise NoValue(
        f"there is no number in the {what}, which ends with {_shorten(text)}: let the command "
        "print one last"
    )


def _unclear(words: str, what: str) -> str:
    return (
        f"where the {what} should have its last number there is {_shorten(words)}, which is no "
        r"plain number: print the number last, or say where it is, as in pattern:score = (\S+)"
    )


def _matched_number(text: str, pattern: str) -> float:
    last = deque(re.finditer(pattern, text, re.MULTILINE), maxlen=1)
    if not last:
        raise NoValue(
            f"the pattern {pattern!r} is not in the output, which ends with {_shorten(text)}"
        )
    number = _number((last[0][1] or "").strip())
    if number is None:
        raise NoValue(
            f"the pattern {pattern!r} matched {_shorten(last[0][0])}, but its group holds "
            f"{last[0][1]!r}, which is no number"
        )
    return number


def _json_number(text: str, path: str) -> float:
    found = _json_of(text.strip())
    left = path
    while left:
        if isinstance(found, dict) and left in found:  # a key may have dots in it
            found, left = found[left], ""
            continue
        key, _, left = left.partition(".")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and re.fullmatch("-?[0-9]{1,18}", key):
            if not -len(found) <= int(key) < len(found):
                raise NoValue(f"no {path} in the output: there are {len(found)} items, not {key}")
            found = found[int(key)]
        else:
            raise NoValue(f"no {path} in the output: {key!r} is not in {_contents(found)}")
    if isinstance(found, str):  # as some write numbers, and nan, which JSON lacks
        number = _number(found.strip())
        found = found if number is None else number
    if not isinstance(found, float):
        raise NoValue(f"{path} in the output is {_shorten(json.dumps(found))}, which is no number")
    return found


def _json_of(text: str) -> Any:
    for part in (text, text.rpartition("\n")[2]):
        try:
            return json.loads(part, parse_int=float)
        except (ValueError, RecursionError):
            continue
    raise NoValue(
        f"neither the output nor its last line is JSON; it ends with {_shorten(text)}"
        if text
        else "the output is empty: it should be JSON"
    )


def _number(word: str) -> float | None:
    if _NUMBER.fullmatch(word):
        return float(word.lower().replace("d", "e"))
    found = _NOT_FINITE.fullmatch(word)
    if found is None:
        return None
    return math.nan if found[2] else float(f"{found[1]}inf")


def _shorten(text: str, most: int = 80) -> str:
    """Quote a text; of a long one its end, where programs say what happened.

    >>> _shorten("a" * 100, most=3)
    "…'aaa'"
    """
    text = text.strip()
    return repr(text) if len(text) <= most else f"…{text[-most:]!r}"


def _contents(found: Any) -> str:
    if isinstance(found, list):
        return f"a list of {len(found)}"
    if not isinstance(found, dict):
        return _shorten(json.dumps(found))
    keys = ", ".join(found)
    return f"the keys {keys}" if len(keys) <= 80 else f"the keys {keys[:80]}…"


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)

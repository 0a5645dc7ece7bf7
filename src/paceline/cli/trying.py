"""`--try`: one pull, run here, and what was made of what it printed."""

import json
import shlex
from collections.abc import Callable
from typing import Any

from paceline.characters import visible
from paceline.cli.exits import EXIT_FAILED
from paceline.commands import Invocation, Value
from paceline.commands.doubts import doubts, line_of, others
from paceline.commands.finding import Found
from paceline.core.words import count
from paceline.display.text import shorten
from paceline.display.window import Whole, print_facts
from paceline.durations import say_seconds
from paceline.engines.attempt import Attempt, try_once
from paceline.races import Prepared

Written = Callable[[str], str]  # how a user writes a value: as a flag, or in a file

_MOST_LINES = 8
_LONGEST_LINE = 160


def add_try(parser: Any) -> None:
    """Declare the flag."""
    parser.add_argument(
        "--try",
        action="store_true",
        dest="attempt",
        help="print the plan, run one pull here, and show which number is read from what it prints "
        "(for commands: a Python function is tried by calling it)",
    )


def as_flag(value: str) -> str:
    r"""A value as it is written on the command line.

    >>> print(as_flag(r"pattern:time: (\S+)ms"))
    --value 'pattern:time: (\S+)ms'
    """
    return f"--value {shlex.quote(value)}"


def in_file(value: str) -> str:
    r"""A value as it is written in a race file.

    >>> print(in_file(r"pattern:time: (\S+)ms"))
    value = 'pattern:time: (\S+)ms'
    """
    plain = "'" not in value and value.isprintable()
    return f"value = '{value}'" if plain else f"value = {json.dumps(value)}"


def try_pull(race: Prepared, written: Written) -> int:
    """Run the first pull of the first arm, and print what came of it; returns the exit code."""
    settings = race.settings
    command, cores = settings.workload().evaluate, settings.rules.least_cores
    invocation = settings.workload().invocation(0, 0, cores)
    value: Value = command.value  # type: ignore[union-attr]
    facts = [("", ""), ("tried", Whole(shlex.join(invocation.argv)))]
    if invocation.cwd is not None:
        facts.append(("", f"in {invocation.cwd}, on {count(cores, 'core')} of this machine"))
    attempt = try_once(invocation, value, cores, settings.rules.timeout)
    facts += [*_ending(attempt), *_value(attempt, value, invocation, written)]
    print_facts(facts)
    return EXIT_FAILED if attempt.found is None else 0


def _ending(attempt: Attempt) -> list[tuple[str, str]]:
    after = f"after {say_seconds(attempt.seconds)}"
    if attempt.trouble:
        return [("ended", f"{after}, and not well: it {attempt.trouble}")]
    return [("ended", f"{after}, with exit code 0")]


def _value(
    attempt: Attempt, value: Value, invocation: Invocation, written: Written
) -> list[tuple[str, str]]:
    if attempt.found is not None:
        facts = [("value", _said(attempt.found, value, invocation))]
        for doubt in doubts(value, attempt.found):
            facts.append(("doubt", doubt.text))
            facts += _instead(doubt.instead, written)
        return facts
    facts = []
    if not attempt.trouble:
        facts.append(("value", f"none: it {attempt.why_not}"))
    for stream, text in attempt.printed.items():
        facts.append((stream, _shown(text) or "(nothing)"))
    if attempt.trouble:
        facts.append(("to do", "run the command by itself, in that folder, until it ends well"))
        return facts
    if value.kind == "file":
        facts.append(("to do", f"have the command write {invocation.file}, or read what it prints"))
    offers = (*others(Value(), attempt.printed["stdout"]), *_on_stderr(attempt))
    return [*facts, *_instead(offers, written)]


def _on_stderr(attempt: Attempt) -> tuple[tuple[str, float], ...]:
    return others(Value(stream="stderr"), attempt.printed["stderr"])


def _instead(offers: tuple[tuple[str, float], ...], written: Written) -> list[tuple[str, str]]:
    """What to write to read another number."""
    texts = [Whole(f"{written(value)}  reads {number:g}") for value, number in offers]
    return [("" if place else "instead", text) for place, text in enumerate(texts)]


def _said(found: Found, value: Value, invocation: Invocation) -> str:
    number = f"{found.number:.10g}"
    if value.kind == "time":
        return f"{number}, the seconds it took"
    source = f"from {value.stream}"
    if value.kind == "file":
        source = f"from the file {invocation.file}"
    if value.kind == "json":
        return f"read {number} {source}, where the JSON has {value.argument}"
    line, _ = line_of(found)
    return f'read {number} {source}, in "{shorten(visible(line.strip()), _LONGEST_LINE)}"'


def _shown(text: str) -> str:
    """The last lines, each of them shortened."""
    lines = [shorten(visible(line), _LONGEST_LINE) for line in text.splitlines() if line.strip()]
    more = ["…"] if len(lines) > _MOST_LINES else []
    return "\n".join([*more, *lines[-_MOST_LINES:]])

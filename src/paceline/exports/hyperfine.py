"""A race of commands whose value is their time, as hyperfine writes its benchmarks."""

import math
import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np

from paceline.commands import Command
from paceline.commands.template import RESERVED, fill, written
from paceline.core.arrays import Floats
from paceline.errors import InvalidInput
from paceline.story.story import Story

_ANY_COMMAND = ("/bin/sh", "-c", "{command}")  # several commands, each an arm of its own


def as_hyperfine(story: Story) -> dict[str, Any]:
    """What `hyperfine --export-json` would have written; null where the race does not know it.

    Arms without a value are left out. A command with another exit status than 0 gives no value, so
    all exit codes are 0.
    """
    check_times(story)
    command = story.recipe.command
    assert command is not None
    results = []
    for record in story.standing.arms:
        times, given = story.values.of(record.index), story.parameters_of(record.index)
        if times.size:
            parameters = {str(name): str(value) for name, value in given.items()}
            named = {} if command.words == _ANY_COMMAND else {"parameters": parameters}
            results.append({"command": _text(command, given), **_summary(times), **named})
    return {"results": results}


def check_times(story: Story) -> None:
    """Refuse a race whose values are not the times of commands."""
    command = story.recipe.command
    if command is None or command.value.kind != "time":
        what = "a function" if command is None else f"the value {str(command.value)!r}"
        raise InvalidInput(
            f"hyperfine's format is for times of commands (--value time), but this race has {what}:"
            " export the values as .csv or .json instead"
        )


def _summary(times: Floats) -> dict[str, Any]:
    spread = float(np.std(times, ddof=1)) if times.size > 1 else math.nan
    return {
        "mean": float(times.mean()),
        "stddev": spread if math.isfinite(spread) else None,
        "median": float(np.median(times)),
        "user": None,
        "system": None,
        "min": float(times.min()),
        "max": float(times.max()),
        "times": times.tolist(),
        "exit_codes": [0] * times.size,
    }


def _text(command: Command, arm: Mapping[str, Any]) -> str:
    """The command of an arm, as one would type it; what differs from pull to pull stays open.

    >>> _text(Command.parse("sort -S {size} --seed={seed} 'my file'"), {"size": "8 M"})
    "sort -S '8 M' --seed={seed} 'my file'"
    """
    values = {name: written(value) for name, value in arm.items()}
    kept = {name: f"{{{name}}}" for name in RESERVED}
    if command.words == _ANY_COMMAND:
        return values["command"]
    if command.shell:
        return fill(command.words[0], {n: shlex.quote(v) for n, v in values.items()} | kept)
    plain = [fill(word, values | dict.fromkeys(RESERVED, "0")) for word in command.words]
    shown = [fill(word, values | kept) for word in command.words]
    pairs = zip(plain, shown, strict=True)
    # A brace of a placeholder is no reason to quote a word.
    return " ".join(
        text if shlex.quote(word) == word else shlex.quote(text) for word, text in pairs
    )

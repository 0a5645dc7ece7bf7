"""Prints how a race ended: the table, the verdict, and what it rests on."""

import re
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from paceline.characters import visible
from paceline.core.words import count, runs_at_once
from paceline.display.standings import arm_lines
from paceline.display.text import shorten
from paceline.display.window import print_facts, print_wrapped, window_width
from paceline.durations import say_seconds
from paceline.result import Result
from paceline.story.standing import ArmRecord

_MOST_ARMS = 20
_MOST_FAILURES = 5
_MOST_LINES, _LONGEST_LINE = 5, 200  # of what a pull has printed whose arm is out
_MARGIN = "    | "


def print_result(result: Result) -> None:
    """Print the table, the verdict, and what it rests on."""
    print_arms(result.ranked())
    print()
    print_wrapped(result.verdict)
    print_notes(result.notes)
    print_warnings(result.warnings)
    print_failures(result, sys.stdout)
    print_facts(_facts(result))


def print_notes(notes: Sequence[str], stream: Any = None) -> None:
    """Print how the race was resumed, or that nothing was run."""
    for text in notes:
        print_wrapped(f"({text})", stream)


def print_warnings(warnings: Sequence[str], stream: Any = None) -> None:
    """Print the warnings, one after the other."""
    for text in warnings:
        print_wrapped(f"WARNING: {text}", stream)


def print_arms(arms: Sequence[ArmRecord]) -> None:
    """Print the best of the arms as a table that fits the window."""
    for line in arm_lines(arms, window_width(), _MOST_ARMS + 1):
        print(line.text)


def print_failures(result: Result, stream: Any) -> None:
    """Print which attempts failed, and why."""
    if not result.failures:
        return
    # By arm and cause: the number of the pull says little.
    causes = [_cause(text.partition(" of ")[2] or text) for text in result.failures]
    kinds = Counter(causes).most_common()
    dropped = [record for record in result.arms if record.status == "failed"]
    out = {record.index for record in dropped}
    printed = {
        cause: trouble.printed
        for cause, trouble in zip(causes, result.story.troubles, strict=False)
        if trouble.printed and trouble.arm in out
    }
    be = "is" if len(dropped) == 1 else "are"
    lost = f"{len(dropped)} of {len(result.arms)} arms {be} out because of them:"
    attempts = count(len(result.failures), "attempt")
    end = lost if dropped else "later attempts gave a value:"
    print_wrapped(f"WARNING: {attempts} failed; {end}", stream)
    for text, times in kinds[:_MOST_FAILURES]:
        again = f" ({times} times)" if times > 1 else ""
        print_wrapped(text + again, stream, indent="  ")
        if text in printed:
            _print_end(printed[text], stream)
    if len(kinds) > _MOST_FAILURES:
        print(f"  … and {len(kinds) - _MOST_FAILURES} more", file=stream)


def _cause(text: str) -> str:
    """The same for all attempts at a pull that was killed each of 3 times, 4 times, and so on."""
    return re.sub(r", each of \d+ times( \([^()]*\))$", r", each time\1", text)


def _print_end(text: str, stream: Any) -> None:
    """Print the last lines of what a pull has printed."""
    lines = [line for line in text.splitlines() if line.strip()]
    width = max(window_width(stream) - len(_MARGIN), 20)
    if len(lines) > _MOST_LINES:
        lines = ["…", *lines[-_MOST_LINES:]]
    for line in lines:
        print(_MARGIN + shorten(visible(line, keep=""), min(width, _LONGEST_LINE)), file=stream)


def _runs(result: Result) -> str:
    """How runs that were timed shared the pool."""
    story = result.story
    nodes = story.milestones.nodes[-1][1] if story.milestones.nodes else (result.cores,)
    said = (
        runs_at_once(int(cores), nodes, story.recipe.options.get("unit", "cores"))
        for cores in np.unique(result.values.cores)
    )
    return "; then ".join(said)


def _facts(result: Result) -> list[tuple[str, str]]:
    facts = [("noise", f"assumed: {result.assumed}")] if result.assumed else []
    pulls, rounds = count(result.pulls, "pull"), count(result.rounds, "round")
    facts.append(("work", f"{pulls} in {rounds} and {say_seconds(result.elapsed)}"))
    if result.story.recipe.is_timed and result.pulls:
        facts.append(("runs", _runs(result)))
    if result.elapsed > 0:
        facts.append(("cores", f"{result.cores}: {result.core_time.describe()}"))
    if result.journal is not None:
        facts.append(("journal", result.journal))
    return facts

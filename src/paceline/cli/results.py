"""How a race's end and its standings are printed, and written to files."""

import argparse
import csv
import io
import json
import math
import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from paceline.cli.exits import EXIT_UNDECIDED
from paceline.cli.output import window_width
from paceline.durations import say_seconds
from paceline.errors import InvalidInput
from paceline.result import ArmRecord, Result
from paceline.screen import arm_lines, clean, count, printable
from paceline.tables import format_value

_MOST_ARMS = 20
_MOST_FAILURES = 5
_EXPORTS = (".csv", ".json", ".md")


def finish(result: Result, options: argparse.Namespace) -> int:
    """Print how a race ended as the options say, and return the exit code."""
    for path in options.export or ():
        export(result, path)
    if options.json:
        print(json.dumps(result.to_json(), indent=2))
    elif options.quiet:
        for arm in result.chosen:
            print(clean(result.arms[arm].label))
        if not result.decided:
            print_wrapped(f"paceline: {result.verdict}", sys.stderr)
    else:
        print_result(result)
    if options.json or options.quiet:
        print_warnings(result.warnings, sys.stderr)
        _print_failures(result, sys.stderr)
    return 0 if result.decided else EXIT_UNDECIDED


def print_result(result: Result) -> None:
    """Print the table, the verdict, and what it rests on."""
    print_arms(result.ranked())
    print()
    print_wrapped(result.verdict)
    print_warnings(result.warnings)
    _print_failures(result, sys.stdout)
    print_facts(_facts(result))


def print_warnings(warnings: Sequence[str], stream: Any = None) -> None:
    """Print what looks wrong, one after the other."""
    for text in warnings:
        print_wrapped(f"WARNING: {text}", stream)


def print_arms(arms: Sequence[ArmRecord]) -> None:
    """Print the best of the arms as a table that fits the window."""
    for line in arm_lines(arms, window_width(), _MOST_ARMS + 1):
        print(line.text)


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print labels and texts in two columns; a text may have several lines."""
    if not facts:
        return
    indent = max(len(label) for label, _ in facts) + 2
    for label, text in facts:
        lines = [part for line in text.splitlines() for part in _wrapped(line, indent)]
        for place, line in enumerate(lines or [""]):
            print(f"{'' if place else label:<{indent}}{line}".rstrip())


def print_wrapped(text: str, stream: Any = None, *, indent: str = "") -> None:
    """Print a sentence, broken at the width of the window."""
    for line in _wrapped(text, len(indent)):
        print(indent + line, file=stream or sys.stdout)


def check_exports(paths: Sequence[Path]) -> None:
    """Refuse files that could not be written when the race is over."""
    for path in paths:
        if path.suffix not in _EXPORTS:
            raise InvalidInput(f"cannot export {path}: its name must end in {', '.join(_EXPORTS)}")
        if not path.absolute().parent.is_dir():
            raise InvalidInput(f"cannot export {path}: there is no folder {path.parent}")
        if path.is_dir():
            raise InvalidInput(f"cannot export {path}: it is a folder")


def export(result: Result, path: Path) -> None:
    """Write the standings, the best first: the ending of the name says how."""
    if path.suffix == ".json":
        text = json.dumps(result.to_json(), indent=2) + "\n"
    else:
        names = [field.name for field in fields(ArmRecord)]
        rows = [list(asdict(record).values()) for record in result.ranked()]
        text = (_as_csv if path.suffix == ".csv" else _as_markdown)(names, rows)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        # The verdict is worth more than the file: say so, and go on to print it.
        print(f"paceline: cannot write {path}: {error.strerror}", file=sys.stderr)


def _wrapped(text: str, indent: int) -> list[str]:
    width = max(window_width() - indent, 20)
    return textwrap.wrap(printable(text.strip()), width, break_on_hyphens=False) or [""]


def _facts(result: Result) -> list[tuple[str, str]]:
    facts = [("noise", f"assumed: {result.assumed}")] if result.assumed else []
    pulls, rounds = count(result.pulls, "pull"), count(result.rounds, "round")
    facts.append(("work", f"{pulls} in {rounds} and {say_seconds(result.elapsed)}{_use(result)}"))
    if result.journal is not None:
        facts.append(("journal", result.journal))
    return facts


def _use(result: Result) -> str:
    if result.elapsed <= 0:
        return ""
    share = min(result.core_seconds / (result.elapsed * result.cores), 1.0)
    return f"; {count(result.cores, 'core')} in use {share:.0%} of the time"


def _print_failures(result: Result, stream: Any) -> None:
    if not result.failures:
        return
    # By arm and cause: which of its pulls it was says little.
    kinds = Counter(text.partition(" of ")[2] or text for text in result.failures).most_common()
    dropped = [record for record in result.arms if record.status == "failed"]
    what = f"WARNING: {count(len(result.failures), 'attempt')} failed, and "
    lost = f"{len(dropped)} of {len(result.arms)} arms with them:"
    what += lost if dropped else "later tries gave a value:"
    print(what, file=stream)
    for text, times in kinds[:_MOST_FAILURES]:
        again = f" ({times} times)" if times > 1 else ""
        print_wrapped(text + again, stream, indent="  ")
    if len(kinds) > _MOST_FAILURES:
        print(f"  … and {len(kinds) - _MOST_FAILURES} more", file=stream)


def _as_csv(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(
        ["" if isinstance(value, float) and not math.isfinite(value) else value for value in row]
        for row in rows
    )
    return text.getvalue()


def _as_markdown(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    def line(cells: Sequence[Any]) -> str:
        words = (clean(format_value(cell)).replace("|", r"\|") for cell in cells)
        return f"| {' | '.join(words)} |\n"

    return line(names) + line(["---"] * len(names)) + "".join(line(row) for row in rows)

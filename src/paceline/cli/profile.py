"""`paceline profile`: measure how a pull scales with its cores."""

import argparse
import contextlib
import math
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paceline import races
from paceline.cli import racing
from paceline.cli.flags import add_options, given
from paceline.core.arrays import whole
from paceline.display.stream import styled
from paceline.display.table import Table, print_table
from paceline.display.window import print_hanging, window_width
from paceline.durations import say_seconds
from paceline.errors import InvalidInput
from paceline.exports import json_text
from paceline.paper.report import require_matplotlib
from paceline.paper.scaling_curve import scaling_figure
from paceline.races.options import OPTIONS

NAME = "profile"
SUMMARY = "measure how a pull scales with its cores"
DESCRIPTION = """\
Run pulls of a race file's command on 1, 2, 4, … cores, and fit a curve to their
times. A race does the same while it runs; this shows it beforehand."""

_WIDEST = 80
_FIGURES = (".png", ".svg", ".pdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help=racing.FILE_HELP)
    parser.add_argument(
        "-r", "--repeats", type=int, default=3, metavar="N", help="pulls per core count (default 3)"
    )
    parser.add_argument(
        "--figure", type=Path, metavar="PATH", help="draw times and curves (.png, .svg or .pdf)"
    )
    parser.add_argument(
        "--up-to", type=int, metavar="N", help="draw curves up to this many cores (default 40)"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    add_options(parser, lambda option: option.in_profile)


def run(options: argparse.Namespace) -> int:
    """Measure, and print the times and the curve."""
    race = races.read_race_file(options.file)
    if options.figure is not None:
        _check_figure(options.figure)
    elif options.up_to is not None:
        raise InvalidInput("--up-to says how far a figure goes: give --figure too")
    up_to = whole(40 if options.up_to is None else options.up_to, "--up-to")
    in_file = {name: race.options[name] for name in race.options if OPTIONS[name].in_profile}
    keywords = in_file | given(options, "repeats")
    with _saying("measuring …"):
        profile = races.profile(race.command, race.arms, **keywords)
    if options.figure is not None:
        figure = scaling_figure(profile.measured, profile.runtime, up_to, options.file)
        figure.savefig(options.figure, dpi=150)
    if options.json:
        print(json_text(_as_json(profile)))
        return 0
    _print_times(profile)
    print()
    for line in chart_lines(profile.measured, profile.runtime, min(window_width(), _WIDEST)):
        print(line)
    print()
    _print_model(profile)
    if options.figure is not None:
        print(f"figure: {options.figure}")
    return 0


def _check_figure(path: Path) -> None:
    """Refuse a figure that could not be written after the measurements."""
    require_matplotlib()
    if path.suffix not in _FIGURES:
        raise InvalidInput(f"cannot draw {path}: its name must end in {', '.join(_FIGURES)}")
    if not path.absolute().parent.is_dir():
        raise InvalidInput(f"cannot draw {path}: there is no folder {path.parent}")


@contextlib.contextmanager
def _saying(text: str) -> Iterator[None]:
    """Show a text on a terminal while something takes time."""
    if not sys.stderr.isatty():
        yield
        return
    terminal = styled(sys.stderr)
    print(text, end="\r", file=terminal, flush=True)
    try:
        yield
    finally:
        print(" " * len(text), end="\r", file=terminal, flush=True)


def chart_lines(measured: dict[int, list[float]], runtime: Any, width: int) -> list[str]:
    """A bar for the mean time on each core count, and a mark where the fitted curve is.

    >>> for line in chart_lines({1: [8.0, 8.2], 4: [2.1]}, lambda cores: 8.0 / cores, 40):
    ...     print(line)
    cores
        1  ━━━━━━━━━━━━━━━━━━━━━━━━━┃  8.1 s
        4  ━━━━━┃━                     2.1 s
           ━ measured, ┃ fitted
    """
    means = {cores: statistics.fmean(times) for cores, times in sorted(measured.items())}
    fitted = {cores: float(runtime(cores)) for cores in means}
    longest = max(*means.values(), *fitted.values())
    texts = {cores: say_seconds(mean) for cores, mean in means.items()}
    room = max(width - 9 - max(map(len, texts.values())), 10)
    lines = ["cores"]
    for cores, mean in means.items():
        bar = round(room * mean / longest) if longest > 0 else 0
        mark = min(round(room * fitted[cores] / longest), room) - 1 if longest > 0 else 0
        cells = [("━" if place < bar else " ") for place in range(room)]
        cells[max(mark, 0)] = "┃"
        lines.append(f"{cores:>5}  {''.join(cells)}  {texts[cores]}")
    return [*lines, "       ━ measured, ┃ fitted"]


def _print_times(profile: races.Profile) -> None:
    runtime = profile.runtime
    on_one = statistics.fmean(profile.measured[1]) if 1 in profile.measured else float(runtime(1))
    rows = []
    for cores, times in sorted(profile.measured.items()):
        mean = statistics.fmean(times)
        speed_up = on_one / mean if mean > 0 else math.nan
        share = speed_up / cores
        efficiency = "–" if math.isnan(share) else f"{share:.0%}".rjust(len("efficiency"))
        rows.append(
            (cores, mean, len(times), float(runtime(cores)), round(speed_up, 2), efficiency)
        )
    columns = ("cores", "seconds", "runs", "fitted", "speed-up", "efficiency")
    print_table(Table(columns, rows))


def _print_model(profile: races.Profile) -> None:
    runtime = profile.runtime
    print_hanging(f"fitted: {runtime.describe()} ({runtime.model}; c is the number of cores)", 8)
    said = "too few core counts to leave one out and see how well it is predicted"
    if math.isfinite(runtime.error):
        said = f"{runtime.error:.1%} off at a core count that is left out of the fit"
    print_hanging(f"        {said}", 8)


def _as_json(profile: races.Profile) -> dict[str, Any]:
    runtime = profile.runtime
    return {
        "cores": profile.cores,
        "model": runtime.model,
        "formula": runtime.describe(),
        "error": None if math.isnan(runtime.error) else runtime.error,
        "runtime": runtime.to_json(),
        "measured": {str(cores): times for cores, times in sorted(profile.measured.items())},
        "fitted": {str(cores): float(runtime(cores)) for cores in sorted(profile.measured)},
    }

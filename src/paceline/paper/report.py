"""What an experiment returns, and how it is written: figures, a CSV file, a short table."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from paceline.display.progress import Track, untracked
from paceline.display.table import Table
from paceline.errors import MissingExtra
from paceline.result import Result

Figure: TypeAlias = Any  # matplotlib's Figure; not imported, because it may not be installed


@dataclass(frozen=True)
class Setup:
    """What a caller may choose for an experiment. `runs=None` takes the experiment's default."""

    runs: int | None = None
    seed: int = 0
    processes: int = 1
    track: Track = untracked
    data: Path | None = None  # used in place of an experiment's own data
    real_runs: int | None = None  # races on real cores; None: as many as `runs`


@dataclass(frozen=True)
class Report:
    """The outcome of an experiment: all data, a short table to print, and how to draw it.

    `answer` is a race on real cores, if there was one.
    """

    name: str
    title: str
    data: Table
    summary: Table
    draw: Callable[[], Figure]
    notes: Sequence[str] = field(default=())
    more: Sequence[tuple[str, Table]] = field(default=())  # tables with a heading each
    answer: Result | None = None

    def write(self, folder: Path) -> list[Path]:
        """Write the data and the tables as CSV, the figure as PNG and SVG; return the files."""
        folder.mkdir(parents=True, exist_ok=True)
        tables = [self.data, self.summary, *(table for _, table in self.more)]
        endings = ["", "-table", *(f"-table-{number}" for number in range(2, len(tables)))]
        files = [folder / f"{self.name}{ending}.csv" for ending in endings]
        for path, table in zip(files, tables, strict=True):
            with path.open("w", newline="", encoding="utf-8") as stream:
                csv.writer(stream).writerows([table.columns, *table.rows])
        figure = self.draw()
        for ending in ("png", "svg"):
            files.append(folder / f"{self.name}.{ending}")
            # Without a date, the same data give the same file.
            metadata = {"Date": None} if ending == "svg" else None
            figure.savefig(files[-1], dpi=150, metadata=metadata)
        return files


def require_matplotlib() -> None:
    """Say what to install if matplotlib is missing."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "figures need matplotlib, which is not installed: pip install 'paceline[figures]'"
        ) from error


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure; sizes are in inches."""
    from matplotlib.figure import Figure as MatplotlibFigure

    return MatplotlibFigure(figsize=(width, height), layout="constrained")

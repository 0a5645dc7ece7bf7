"""What an experiment hands over, and how it is written: figures, a CSV file, a short table."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from paceline.errors import MissingExtra
from paceline.progress import Track, untracked
from paceline.tables import Table

Figure: TypeAlias = Any  # matplotlib's, which is not there to import where it is not installed


@dataclass(frozen=True)
class Setup:
    """What a caller may choose of an experiment. `runs=None`: as many as the paper."""

    runs: int | None = None
    seed: int = 0
    processes: int = 1
    track: Track = untracked


@dataclass(frozen=True)
class Report:
    """The outcome of an experiment: all data, a short table to print, and how to draw it."""

    name: str
    title: str
    data: Table
    summary: Table
    draw: Callable[[], Figure]
    notes: Sequence[str] = field(default=())

    def write(self, folder: Path) -> list[Path]:
        """Write the data as CSV and the figure as PNG and SVG; return the files."""
        folder.mkdir(parents=True, exist_ok=True)
        csv_file = folder / f"{self.name}.csv"
        with csv_file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(self.data.columns)
            writer.writerows(self.data.rows)
        figure = self.draw()
        files = [csv_file]
        for ending in ("png", "svg"):
            files.append(folder / f"{self.name}.{ending}")
            # No date, so that the same data give the same file.
            metadata = {"Date": None} if ending == "svg" else None
            figure.savefig(files[-1], dpi=150, metadata=metadata)
        return files


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure; say what to install if matplotlib is missing."""
    try:
        from matplotlib import figure
    except ImportError as error:
        raise MissingExtra(
            "figures need matplotlib, which is not installed: pip install 'paceline[figures]'"
        ) from error
    return figure.Figure(figsize=(width, height), layout="constrained")

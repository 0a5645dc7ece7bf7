"""A plan: what a race will take, on how many cores, for the goals asked about."""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paceline.characters import visible
from paceline.core.words import count
from paceline.durations import say_seconds
from paceline.planning.forecast import Forecast, Range
from paceline.story.frames import frame
from paceline.story.markup import block, paragraph, table

ENOUGH = 1.1  # a pool is enough if no pool tried is faster than it by more than this factor


@dataclass(frozen=True, eq=False)
class Plan:
    """A forecast for each pool and goal, by pool, then by confidence, then by deadline.

    `basis` says what the forecasts rest on, and `notes` what else there is to know. All times have
    a median and the range of the middle 80 %.
    """

    forecasts: tuple[Forecast, ...]
    goal: tuple[float | None, float | None]  # the first confidence and deadline
    arms: int
    policy: str
    basis: str
    replications: int
    notes: tuple[str, ...] = ()

    @property
    def main(self) -> list[Forecast]:
        """A forecast per pool, for the goal that was given first."""
        return [one for one in self.forecasts if (one.confidence, one.deadline) == self.goal]

    @property
    def best(self) -> Forecast:
        """The forecast for the smallest pool that is enough, and the first goal.

        With a confidence, a pool is enough if the median time on it is within 10 % of the shortest
        of all pools tried. With a deadline alone, it is if it finds the best within 2 % as often as
        any.
        """
        able = [one for one in self.main if not one.impossible] or self.main
        if able[0].confidence is None:
            most = max(one.success for one in able)
            return next((one for one in able if one.success >= most - 0.02), able[0])
        least = min(one.seconds.median for one in able)
        return next((one for one in able if one.seconds.median <= ENOUGH * least), able[0])

    @property
    def cores(self) -> int | None:
        """The smallest pool that is enough, by the rule of `best`; None without whole cores."""
        return self.best.cores

    @property
    def seconds(self) -> Range:
        """How long the race takes there."""
        return self.best.seconds

    def deadline_for(self, success: float, cores: int | None = None) -> float | None:
        """The shortest deadline with this chance to find the best; None if none of those tried has.

        Between the deadlines that were tried, the chance is interpolated.
        """
        pool = self.cores if cores is None else cores
        points = sorted(
            (one.deadline, one.success)
            for one in self.forecasts
            if one.cores == pool and one.deadline is not None and not one.impossible
        )
        before: tuple[float, float] | None = None
        for deadline, chance in points:
            if chance >= success:
                if before is None:
                    return deadline
                share = (success - before[1]) / (chance - before[1])
                return before[0] * math.pow(deadline / before[0], share)
            before = (deadline, chance)
        return None

    def headline(self) -> str:
        """The answer in a sentence."""
        best = self.best
        where = "" if best.cores is None else f"on {count(best.cores, 'core')}: "
        if best.impossible:
            return f"{where}{best.impossible}"
        end = "" if best.deadline is None else f"by {say_seconds(best.deadline)}"
        found = f"the best is found with chance {best.success:.2f}"
        if best.confidence is None:
            return f"{where}{end} {found}"
        if end and best.decided < 0.5:  # the time is that of the deadline
            still = f"undecided {end} with chance {1 - best.decided:.2f}"
            return f"{where}{still}, at a confidence of {best.confidence:g}; {found}"
        by = f", decided {end} with chance {best.decided:.2f}" if end else ""
        return f"{where}{say_range(best.seconds)} to a confidence of {best.confidence:g}{by}"

    def __repr__(self) -> str:
        return f"<Plan for {self.arms} arms, {visible(self.headline())}>"

    def rows(self) -> list[dict[str, Any]]:
        """A row per forecast, with plain values; ranges take three columns."""
        rows = []
        for one in self.forecasts:
            row: dict[str, Any] = {}
            for name, value in vars(one).items():
                if isinstance(value, Range):
                    row |= {
                        f"{name}_low": value.low,
                        name: value.median,
                        f"{name}_high": value.high,
                    }
                else:
                    row[name] = value
            rows.append(row)
        return rows

    def to_frame(self) -> Any:
        """The forecasts as a pandas data frame."""
        rows = self.rows()
        return frame({name: [row[name] for row in rows] for name in rows[0]}, "rows()")

    def to_json(self) -> dict[str, Any]:
        """Plain values, for scripts; what is unknown or has no end is None."""
        return {
            "arms": self.arms,
            "policy": self.policy,
            "basis": self.basis,
            "replications": self.replications,
            "cores": self.cores,
            "seconds": self.seconds.to_json(),
            "answer": self.headline(),
            "notes": list(self.notes),
            "forecasts": [_plain(one) for one in self.forecasts],
        }

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Column names and rows, for people; columns that say nothing are left out."""
        columns = [
            (name, [say(one) for one in self.forecasts]) for name, say in _columns(self.forecasts)
        ]
        names = [name for name, _ in columns]
        return names, [list(row) for row in zip(*(cells for _, cells in columns), strict=True)]

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one self-contained page with charts; it needs the extra `report`."""
        from paceline.planning.page import write_page  # bokeh is slow to import

        return write_page(self, path)

    def facts(self) -> list[tuple[str, str]]:
        """What the forecasts rest on, as labels and texts."""
        facts = [
            ("expected", self.basis),
            ("simulated", f"{count(self.replications, 'race')} of {self.policy} for each row"),
        ]
        if any(math.isfinite(one.optimum.median) for one in self.forecasts):
            facts.append(("T*", "the theory's scale of the time that any policy needs"))
        return [*facts, *(("note", note) for note in self.notes)]

    def _repr_html_(self) -> str:
        names, rows = self.table()
        cells = {name: [row[place] for row in rows] for place, name in enumerate(names)}
        return block(paragraph(f"{self.headline()} ({self.basis})"), table(cells))


def _plain(one: Forecast) -> dict[str, Any]:
    plain = asdict(one)
    for name, value in vars(one).items():
        if isinstance(value, Range):
            plain[name] = value.to_json()
        elif isinstance(value, float) and not math.isfinite(value):
            plain[name] = None
    return plain


def _columns(forecasts: Sequence[Forecast]) -> list[tuple[str, Callable[[Forecast], str]]]:
    def goal(one: Forecast) -> str:
        return "–" if one.confidence is None else f"{one.confidence:g}"

    def until(one: Forecast) -> str:
        return "–" if one.deadline is None else say_seconds(one.deadline)

    def chance(value: float) -> str:
        return f"{value:.2f}" if math.isfinite(value) else "–"

    some = forecasts[0]
    columns: list[tuple[str, Callable[[Forecast], str]]] = []
    if some.cores is not None:
        columns.append(("cores", lambda one: str(one.cores)))
    if some.confidence is not None:
        columns.append(("confidence", goal))
    if some.deadline is not None:
        columns.append(("deadline", until))
    columns.append(("time", lambda one: _time(one.seconds)))
    columns.append(("80 % of races", lambda one: one.impossible or _between(one.seconds)))
    columns.append(("best found", lambda one: chance(one.success)))
    if some.confidence is not None and some.deadline is not None:
        columns.append(("decided", lambda one: chance(one.decided)))
    if some.cores is not None:
        columns.append(("core-hours", lambda one: _number(one.core_hours.median)))
    if any(math.isfinite(one.optimum.median) for one in forecasts):
        columns.append(("T*", lambda one: _time(one.optimum)))
    return columns


def _time(seconds: Range) -> str:
    if math.isnan(seconds.median):
        return "–"
    return say_seconds(seconds.median) if math.isfinite(seconds.median) else "no end"


def _between(seconds: Range) -> str:
    if math.isnan(seconds.median):
        return "–"
    ends = ["no end" if math.isinf(one) else say_seconds(one) for one in (seconds[0], seconds[2])]
    return ends[0] if ends[0] == ends[1] else " – ".join(ends)


def _number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "–"


def say_range(seconds: Range) -> str:
    """A time with its range.

    >>> say_range(Range(60.0, 120.0, 400.0)), say_range(Range(60.0, 120.0, math.inf))
    ('2 min (1 min – 6 min 40 s)', '2 min (1 min – no end)')
    """
    if math.isinf(seconds.median):
        return "a race without an end in sight"
    if seconds.low == seconds.high:
        return say_seconds(seconds.median)
    return f"{say_seconds(seconds.median)} ({_between(seconds)})"

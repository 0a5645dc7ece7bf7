"""A race that has passed all checks: what it will do, and running it."""

import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from paceline.commands import Command
from paceline.core.words import arm_name, count, runs_at_once
from paceline.durations import say_seconds
from paceline.engines.base import offers
from paceline.journal import Reader
from paceline.races.forms import Pairing
from paceline.races.past import Past
from paceline.races.running import run_race
from paceline.races.sameness import check_same
from paceline.races.settings import Settings
from paceline.races.timing import is_timed
from paceline.result import Result

_MOST_NAMED = 8
_MOST_COMMANDS = 3

Fact = tuple[str, str]  # a label and a text


@dataclass(frozen=True)
class Prepared:
    """A race, checked; `run` runs it, `describe` says what it will do."""

    settings: Settings

    def run(self) -> Result:
        """Run the race; if its journal exists, resume from it."""
        return run_race(self.settings)

    def describe(self) -> list[Fact]:
        """What the race will do, as labels and texts."""
        settings = self.settings
        labels, policy = settings.labels, settings.policy
        more = ", …" if len(labels) > _MOST_NAMED else ""
        names = ", ".join(map(arm_name, labels[:_MOST_NAMED]))
        good = "low" if settings.goal.minimize else "high"
        facts = [
            ("arms", f"{len(labels)}: {names}{more}"),
            ("stops at", _goal(settings)),
            ("policy", str(policy)),
            ("values", f"{good} is good; noise: {settings.noise.describe()}"),
            ("seeds", _seeds(settings.pairing)),
            *_pool(settings),
        ]
        deadline, pool = settings.goal.deadline, settings.pool
        if pool is not None:
            seconds = None if deadline is None else deadline.seconds
            facts += policy.outline(settings.task(len(labels), pool, settings.noise, seconds))
        return [*facts, *_commands(settings), *_journal(settings)]


def _goal(settings: Settings) -> str:
    goal = settings.goal
    parts = []
    if goal.confidence is not None:
        parts.append(f"a confidence of {goal.confidence:g}")
    if goal.deadline is not None:
        parts.append(f"the deadline of {say_seconds(goal.deadline.seconds)}")
    if goal.max_pulls < math.inf:
        parts.append(f"{goal.max_pulls:g} pulls")
    return " or ".join(parts)


def _seeds(pairing: Pairing) -> str:
    if not pairing.shares_seeds:
        return "every pull has its own"
    judged = "; arms are compared by their differences" if pairing.judges_pairs else ""
    return f"pull k of every arm has the same{judged}"


def _pool(settings: Settings) -> list[Fact]:
    rules, available = settings.rules, settings.available
    per_pull = str(rules.least_cores)
    if rules.most_cores > rules.least_cores:
        per_pull = f"{rules.least_cores} to {rules.most_cores}"
    size = str(available)
    unit = settings.options["unit"]
    at_once = settings.options["at_once"]
    if unit != "cores" or rules.cores != available.cores:
        asked = ", as asked for" if settings.options["cores"] and not at_once else ""
        size = f"{rules.cores} {unit}{asked}; there are {size}"
    scaling = "learned from the first pulls" if settings.pool is None else str(settings.pool)
    if settings.shape is not None:
        scaling = f"shape as given, seconds measured: {settings.shape}"
    together: list[Fact] = []
    if is_timed(settings.evaluate):
        nodes = rules.nodes or (rules.cores,)
        together = [("runs", runs_at_once(rules.least_cores, nodes, unit))]
        together += [("note", note) for note in settings.notes]
    elif at_once:
        together = [("at once", f"no more than {count(at_once, 'pull')}")]
    return [
        ("engine", f"{settings.engine.name}: {offers(settings.engine.abilities)}"),
        ("pool", size),
        (f"{unit} per pull", per_pull),
        *together,
        ("scaling", scaling),
    ]


def _commands(settings: Settings) -> Iterator[Fact]:
    if not isinstance(settings.evaluate, Command):
        return
    workload = settings.workload()
    for arm in range(len(settings.arms))[:_MOST_COMMANDS]:
        filled = workload.invocation(arm, 0, settings.rules.least_cores)
        yield "command", shlex.join(filled.argv)
    if len(settings.arms) > _MOST_COMMANDS:
        yield "", "…"


def _journal(settings: Settings) -> Iterator[Fact]:
    name = settings.options["journal"]
    if name is None:
        return
    path = Path(name)
    records = Past().read(Reader(path)) if path.exists() else []
    if records:
        check_same(settings, records, path)
    known = "exists; the race will resume from it" if records else "is new"
    yield "journal", f"{name} {known}"

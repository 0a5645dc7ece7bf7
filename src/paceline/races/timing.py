"""Commands raced by the time they take: what their runs must have in common."""

from collections.abc import Mapping
from typing import Any

from paceline.commands import Command
from paceline.errors import InvalidInput
from paceline.machine import AvailableCores
from paceline.pools.rules import Rules

_TOGETHER = (
    "several timed runs at once may slow each other down (they share memory bandwidth and turbo): "
    "at_once=1, or --at-once 1, does one at a time"
)


def is_timed(evaluate: Any) -> bool:
    """Whether the value of a pull is the time it takes."""
    return isinstance(evaluate, Command) and evaluate.is_timed


def notes_of(evaluate: Any, rules: Rules) -> tuple[str, ...]:
    """What is to be said about runs that are timed side by side on one machine."""
    at_once = max(rules.nodes or (rules.cores,)) // rules.least_cores
    return (_TOGETHER,) if is_timed(evaluate) and at_once > 1 else ()


def check_timed(
    evaluate: Any, rules: Rules, options: Mapping[str, Any], available: AvailableCores
) -> None:
    """Refuse times of runs that need not have the same cores."""
    is_open = options["cores_per_pull"] is None and available.per_pull is None
    if is_timed(evaluate) and (is_open or rules.least_cores != rules.most_cores):
        raise InvalidInput(
            "the value is the command's own time, which depends on its cores: say how many each "
            "run has, as cores_per_pull=1 (or --cores-per-pull 1)"
        )

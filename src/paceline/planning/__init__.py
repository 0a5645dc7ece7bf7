"""The question before a race: how long, on how many cores? `paceline.plan` answers it."""

from collections.abc import Callable, Sequence
from typing import Any

from paceline import races
from paceline.commands import Command
from paceline.core.arrays import whole
from paceline.core.scaling import Scaling
from paceline.errors import InvalidInput
from paceline.planning.answer import Plan
from paceline.planning.beliefs import Assumed, assume
from paceline.planning.forecast import Forecast, Range
from paceline.planning.making import REPLICATIONS, make_plan, question_of
from paceline.planning.pools import Pools, given_scaling, pools_of, sizes_of
from paceline.races.settings import Settings

__all__ = ["Forecast", "Plan", "Range", "plan"]


def plan(
    evaluate: Callable[..., Any] | Command | None = None,
    arms: Sequence[Any] | int | None = None,
    *,
    means: Any = None,
    gap: float | None = None,
    sigma: float | None = None,
    scaling: Scaling | None = None,
    pull: Any = None,
    cores: int | Sequence[int] | None = None,
    confidence: float | Sequence[float] | None = None,
    deadline: Any = None,
    replications: int = REPLICATIONS,
    processes: int | None = None,
    **options: Any,
) -> Plan:
    """Say how long a race will take, and on how many cores it is worth running.

    The race is simulated in virtual time, with the policy that will run it.

    >>> import paceline
    >>> paceline.plan(arms=4, gap=0.5, sigma=1.0, pull="30s", cores=[1, 2, 4], replications=20)
    <Plan for 4 arms, on 4 cores: 1 h 10 min (24 min 30 s – 1 h 44 min) to a confidence of 0.95>

    **The race** is given as for `race`: `evaluate`, `arms`, and any of its options. Only the number
    of arms matters if nothing is run, so `arms` may be that number, and `evaluate` left out.

    **The arms.** Say what to expect of them: the true `means`, or their shape ("uniform" or
    "linear", between 0 and 1), or the `gap` between the best and all others; and `sigma`, the
    standard deviation of a value. Without `sigma`, values are 0 and 1.

    **The pool.** `cores` are the sizes to compare. `pull` is the time of a pull on the fewest cores
    it may have, and `scaling` says how pulls scale. A `CorePool`, as `paceline.profile` measures
    it, is in seconds, and is resized; any other scaling is for the largest size. Without a
    scaling, pulls run on one core each. Without `cores`, a scaling in seconds is used as it is.

    **The goal.** One `confidence` or several (0.95 if there is no deadline), or a `deadline`; a
    single one is compared with a quarter, a half and twice of it.
    """
    whole(replications, "replications", least=10)
    if means is None and gap is None:
        raise InvalidInput(
            "say what to expect of the arms: means= (or their shape, 'uniform' or 'linear'), "
            "or gap=, how far the best is ahead; and sigma=, the deviation of a value"
        )
    belief = assume(
        _count(arms),
        means=means,
        gap=gap,
        sigma=sigma,
        minimize=options.get("direction") == "minimize",
    )
    race = belief_race(belief, evaluate, arms, sigma, options)
    settings, pools = planned(*race, scaling, pull, cores, confidence, deadline)
    return make_plan(
        question_of(settings),
        belief,
        pools,
        confidence,
        deadline,
        replications=replications,
        processes=processes,
    )


Race = tuple[Any, Sequence[Any], dict[str, Any]]  # the arguments of `race`


def belief_race(
    belief: Assumed,
    evaluate: Callable[..., Any] | Command | None,
    arms: Sequence[Any] | int | None,
    sigma: float | None,
    options: dict[str, Any],
) -> Race:
    """A race of so many arms; if its noise is declared, so is the deviation that is assumed."""
    if options.get("noise") in ("normal", "subgaussian"):
        options = options | {"sigma": sigma}
    if evaluate is None:
        evaluate = _seeded if options.get("paired") else _anything
    if arms is None or isinstance(arms, int):
        arms = range(belief.arms)
    return evaluate, arms, options


def planned(
    evaluate: Any,
    arms: Sequence[Any],
    options: dict[str, Any],
    scaling: Scaling | None,
    pull: Any,
    cores: int | Sequence[int] | None,
    confidence: Any,
    deadline: Any,
) -> tuple[Settings, Pools]:
    """The race, checked as `race` would, and the pools to compare."""
    sizes = sizes_of(cores)
    known = given_scaling(scaling, pull, sizes)
    goal = {"confidence": _first(confidence), "deadline": _first(deadline)}
    if sizes or pull is not None or known is None:
        pool = {"scaling": known} | ({"cores": sizes[-1]} if sizes else {})
        settings = races.prepare(evaluate, arms, **(options | goal | pool)).settings
        return settings, pools_of(settings, pull, sizes)
    number = getattr(known, "cores", None)  # used as it is
    pool = {} if number is None else {"cores": number}
    settings = races.prepare(evaluate, arms, **(options | goal | pool)).settings
    return settings, [(number, known)]


def _first(values: Any) -> Any:
    return values[0] if isinstance(values, list | tuple) and values else values


def _count(arms: Any) -> int | None:
    if arms is None or isinstance(arms, int):
        return arms
    return len(arms)


def _anything(arm: Any) -> float:  # noqa: ARG001 - it stands for what is not known yet
    return 0.0


def _seeded(arm: Any, *, seed: int) -> float:  # noqa: ARG001
    return 0.0

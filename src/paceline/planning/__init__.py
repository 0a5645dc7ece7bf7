"""The question before a race: how long, on how many cores? `paceline.plan` answers it."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from paceline import races
from paceline.commands import Command
from paceline.core.arrays import whole
from paceline.core.scaling import Scaling
from paceline.errors import InvalidInput
from paceline.planning.answer import Plan
from paceline.planning.beliefs import Assumed, Belief, assume
from paceline.planning.forecast import Forecast, Range
from paceline.planning.making import REPLICATIONS, make_plan, question_of
from paceline.planning.pilot import NEEDS_JOURNAL, run_pilot
from paceline.planning.pools import Pools, given_scaling, pools_of, resized, sizes_of
from paceline.planning.recorded import read
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
    pilot: Any = None,
    journal: str | os.PathLike[str] | None = None,
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

    **A pilot** finds both out: `pilot="30s"` runs the first seconds of the race, with these
    options, and records them in its `journal`. `race` resumes from there, so nothing is lost. With
    a `journal` alone nothing is run: the plan is for its race, from all values that it has.

    **The pool.** `cores` are the sizes to compare. `pull` is the time of a pull on the fewest cores
    it may have, and `scaling` says how pulls scale. A `CorePool`, as `paceline.profile` measures
    it, is in seconds, and is resized; any other scaling is for the largest size. Without a
    scaling, pulls run on one core each. Without `cores`, a scaling in seconds is used as it is.

    **The goal.** One `confidence` or several (0.95 if there is no deadline), or a `deadline`; a
    single one is compared with a quarter, a half and twice of it.
    """
    whole(replications, "replications", least=10)
    goals = {"confidence": confidence, "deadline": deadline}
    simulated: dict[str, Any] = {"replications": replications, "processes": processes}
    given = None if means is None and gap is None else (means, gap, sigma)
    if pilot is not None or journal is not None:
        if scaling is not None or pull is not None:
            raise InvalidInput(
                "a pilot or a journal shows how long pulls take: leave scaling= and pull= out"
            )
        if pilot is not None:
            run_pilot(pilot, *_race(evaluate, arms, journal, cores, goals, options))
        if journal is None:
            raise InvalidInput(NEEDS_JOURNAL)
        return _from_journal(journal, given, cores, goals, options, simulated)
    if given is None:
        raise InvalidInput(
            "say what to expect of the arms: means= (or their shape, 'uniform' or 'linear'), "
            "or gap=, how far the best is ahead, and sigma=, the deviation of a value; or "
            "pilot='30s', which runs the first pulls of the race"
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
    return make_plan(question_of(settings), belief, pools, **goals, **simulated)


Given = tuple[Any, float | None, float | None]  # means, gap and sigma


def _race(
    evaluate: Callable[..., Any] | Command | None,
    arms: Any,
    journal: Any,
    cores: Any,
    goals: dict[str, Any],
    options: dict[str, Any],
) -> tuple[Any, Any, dict[str, Any]]:
    """The arguments of the race that a pilot begins; several pools are no pool to race on."""
    if evaluate is None or arms is None or isinstance(arms, int):
        raise InvalidInput(
            "a pilot runs the first pulls of the race: give evaluate and its arms, as to race"
        )
    own: dict[str, Any] = {name: _first(value) for name, value in goals.items()}
    own |= {"journal": journal, "cores": None if isinstance(cores, list | tuple) else cores}
    return evaluate, arms, options | own


def _from_journal(
    journal: Any,
    given: Given | None,
    cores: Any,
    goals: dict[str, Any],
    options: dict[str, Any],
    simulated: dict[str, Any],
) -> Plan:
    """A plan for the race of a journal; what was given overrides what it says."""
    known = read(journal)
    goal, question = known.settings.goal, known.question
    if all(value is None for value in goals.values()):
        deadline = None if goal.deadline is None else goal.deadline.seconds
        goals = {"confidence": goal.confidence, "deadline": deadline}
    else:
        same = [goal.confidence is None, goal.deadline is None]
        if [value is None for value in goals.values()] != same:
            question = replace(question, policy=None)  # another goal, another policy
    changed = {name: options[name] for name in ("policy", "tolerance") if name in options}
    belief: Belief = known.belief
    if given is not None:
        means, gap, sigma = given
        arms = known.belief.arms if gap is not None or isinstance(means, str) else None
        minimize = goal.minimize
        belief = assume(arms, means=means, gap=gap, sigma=sigma, minimize=minimize)
    pools: Pools = [(size, resized(known.pool, size)) for size in sizes_of(cores)]
    return make_plan(
        replace(question, **changed),
        belief,
        pools or [(known.pool.cores, known.pool)],
        **goals,
        **simulated,
        notes=[known.note],
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

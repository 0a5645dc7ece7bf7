"""Making a plan: every pool with every goal."""

from collections.abc import Sequence
from typing import Any

from paceline.errors import InvalidInput
from paceline.planning.answer import Plan
from paceline.planning.beliefs import Belief
from paceline.planning.forecast import Aim, Question, forecast
from paceline.planning.goals import confidences_of, deadlines_of
from paceline.planning.pools import Pools
from paceline.policies.catalog import find_policy
from paceline.races.settings import Settings

REPLICATIONS = 60


def question_of(settings: Settings, startup: float = 0.0) -> Question:
    """The question of a race that was checked."""
    return Question(
        policy=settings.options["policy"],
        noise=settings.noise,
        minimize=settings.goal.minimize,
        top=settings.goal.top,
        tolerance=settings.goal.tolerance,
        paired=settings.pairing.judges_pairs,
        startup=startup,
        seed=settings.options["seed"],
    )


def make_plan(
    question: Question,
    belief: Belief,
    pools: Pools,
    confidence: Any,
    deadline: Any,
    *,
    replications: int = REPLICATIONS,
    processes: int | None = None,
    notes: Sequence[str] = (),
) -> Plan:
    """Forecast every pool with every goal."""
    confidences = confidences_of(confidence, deadline)
    first, deadlines = deadlines_of(deadline, alone=confidence is None)
    found = tuple(
        forecast(
            question,
            belief,
            Aim(cores, scaling, one, until),
            replications=replications,
            seed=question.seed,
            processes=processes,
        )
        for cores, scaling in pools
        for one in confidences
        for until in deadlines
    )
    if all(one.impossible for one in found):
        raise InvalidInput(found[-1].impossible)
    goals = {"confidence": confidences[0] is not None, "deadline": first is not None}
    policy = find_policy(question.policy, **goals)  # type: ignore[arg-type]
    return Plan(
        forecasts=found,
        goal=(confidences[0], first),
        arms=belief.arms,
        policy=policy.name,
        basis=belief.describe(),
        replications=replications,
        notes=tuple(notes),
    )

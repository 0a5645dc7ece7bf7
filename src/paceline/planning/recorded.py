"""What a journal says for a plan: the race, its values so far, and how long pulls take."""

import contextlib
import os
from dataclasses import dataclass

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.noise import Noise
from paceline.core.pool import CorePool
from paceline.durations import say_seconds
from paceline.errors import InvalidInput
from paceline.loop import run
from paceline.planning.beliefs import Belief
from paceline.planning.forecast import Aim, Question
from paceline.planning.making import question_of
from paceline.planning.pools import slowed
from paceline.planning.posterior import Posterior
from paceline.policies.catalog import find_policy
from paceline.pools.timeline import Span
from paceline.pools.virtual import VirtualRunner
from paceline.races import Follower
from paceline.races.session import Session
from paceline.races.settings import Settings

_MOST_ROUNDS = 20_000
_SLOWEST, _QUICKEST = 5.0, 0.8  # how far a race may be from what λ says


@dataclass(frozen=True)
class Recorded:
    """A race as its journal has it: `pool` is in the seconds that its pulls really took."""

    path: str
    settings: Settings
    question: Question
    belief: Posterior
    pool: CorePool
    elapsed: float

    @property
    def note(self) -> str:
        """What part of it has been run."""
        return f"{say_seconds(self.elapsed)} of it have been run: {self.path} has the values"


def read(path: str | os.PathLike[str]) -> Recorded:
    """Read a journal, whether its race is under way, was interrupted or has ended."""
    follower = Follower(path)
    standing = follower.view().standing
    session = follower.session
    settings, model = session.settings, session.dispatcher.model
    if model.pool is None:  # the first pulls are not complete
        session.dispatcher.learn()
    if model.pool is None:
        raise InvalidInput(
            f"{path} has too few values to say how long pulls take: run the race a little longer"
        )
    noise = _noise(session)
    belief = _belief(session, noise)
    shift = 0.0 if session.plan is None else session.plan.made.shift
    question = question_of(settings, startup=max(shift, 0.0))
    pulls = int(belief.pulls.sum()) + settings.rules.cores // 2  # those under way are half done
    expected = _virtual_seconds(question, belief, settings, model.pool, pulls)
    factor = (standing.elapsed - shift) / expected if expected > 0 else 1.0
    return Recorded(
        str(path),
        settings,
        question,
        belief,
        slowed(model.pool, float(np.clip(factor, _QUICKEST, _SLOWEST))),
        standing.elapsed,
    )


def _noise(session: Session) -> Noise:
    """As assumed by now."""
    values = [session.books.ledger.values(arm) for arm in session.phase.racing.tolist()]
    binary = all(bool(np.isin(one, (0.0, 1.0)).all()) for one in values)
    return session.phase.noise.learned(binary=binary)


def _belief(session: Session, noise: Noise) -> Posterior:
    settings = session.settings
    values: list[Floats] = []
    for arm in session.phase.racing.tolist():
        one = session.books.ledger.values(arm)
        values.append(1 - one if noise.binary and settings.goal.minimize else settings.sign * one)
    limits = (noise.negated() if settings.goal.minimize else noise).limits
    return Posterior(
        values,
        binary=noise.binary,
        paired=settings.pairing.shares_seeds,
        limits=None if noise.binary else limits,
        seed=settings.options["seed"],
    )


def _virtual_seconds(
    question: Question, belief: Belief, settings: Settings, pool: CorePool, pulls: int
) -> float:
    """How long the policy would have taken for so many pulls, if they had followed λ."""
    goal = settings.goal
    deadline = None if goal.deadline is None else goal.deadline.seconds
    aim = Aim(pool.cores, pool, goal.confidence, deadline)
    world = belief.draw(np.random.default_rng(0))
    goals = {"confidence": aim.confidence is not None, "deadline": deadline is not None}
    policy = find_policy(question.policy, **goals)  # type: ignore[arg-type]
    try:
        pacer = policy.start(question.task(world, pool, aim.confidence, aim.deadline))
    except InvalidInput:  # the deadline is too short to plan for
        return float(pool.seconds(float(pulls)))
    spans: list[Span] = []
    runner = VirtualRunner(world, pool, np.random.default_rng(0), spans)

    def enough() -> None:
        if runner.pulls >= pulls:
            raise _Enough

    with contextlib.suppress(_Enough):
        run(pacer, runner, max_rounds=_MOST_ROUNDS, on_results=enough)
    ends = np.array([span.end for span in spans])
    order = np.argsort(ends, kind="stable")
    done = np.cumsum([spans[place].pulls for place in order])
    place = int(np.searchsorted(done, min(pulls, done[-1])))
    return float(ends[order[place]])


class _Enough(Exception):
    """The race has come as far as its journal."""

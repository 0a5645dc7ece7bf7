"""What a policy is: parameters that start a pacer, which is asked for rounds and told results.

`paceline.testing.PolicyContract` holds every policy to these laws: a pacer is a function of its
task and of what it was told; `ask()` changes nothing and asks only for what is still missing; a
verdict is final.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from paceline.core.arrays import Ints, failure_probability, non_negative, positive, whole
from paceline.core.delays import Delays
from paceline.core.evidence.base import Evidence
from paceline.core.evidence.lil import LilEvidence
from paceline.core.noise import BERNOULLI, Noise
from paceline.core.rounds import NOTHING, Conditions, Results, Round, Verdict
from paceline.core.scaling import Scaling
from paceline.core.tally import Tally
from paceline.errors import InvalidInput, at_least

Goal = Literal["confidence", "deadline"]


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a policy is told before a race: how many arms, how they scale, when to stop.

    `noise` is what is assumed about the rewards. `paired` says that the k-th pulls of all arms
    share their seed. `arms_at_start` also counts the arms that have failed since: they are no
    longer raced, but they had intervals too. `delays` says how the times of pulls spread around λ;
    None if they do not. `seed` feeds the policy's own choices, such as breaking ties.
    """

    arms: int
    scaling: Scaling
    confidence: float | None = None
    deadline: float | None = None
    top: int = 1
    tolerance: float = 0.0
    noise: Noise = BERNOULLI
    paired: bool = False
    arms_at_start: int | None = None
    delays: Delays | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        whole(self.arms, "the number of arms", least=2)
        whole(self.top, "top")
        if self.top >= self.arms:
            raise InvalidInput(
                f"top={self.top} of {self.arms} arms leaves nothing to find: "
                f"it must be below {self.arms}"
            )
        non_negative(self.tolerance, "tolerance")
        if self.confidence is None and self.deadline is None:
            raise InvalidInput("say when to stop: give a confidence, a deadline, or both")
        if self.confidence is not None:
            failure_probability(self.confidence)
        if self.deadline is not None:
            positive(self.deadline, "deadline")
            one = self.scaling.seconds(1.0)
            if self.deadline < one:
                cores = getattr(self.scaling, "cores", None)
                pool = "the whole pool" if cores is None else f"{cores} cores"
                enough = at_least(self.scaling.seconds(float(self.arms)))
                raise InvalidInput(
                    f"deadline {self.deadline:g} s is shorter than one pull (about {one:g} s on "
                    f"{pool}): raise it to {enough} s at least, in which each of the {self.arms} "
                    "arms can be pulled once"
                )

    @property
    def sigma(self) -> float | None:
        """The sub-Gaussian scale of the rewards; None if they are normal with unknown variances."""
        return self.noise.scale

    @property
    def delta(self) -> float:
        """δ, the probability of error that is allowed."""
        if self.confidence is None:
            raise InvalidInput("this needs a confidence: give one, such as 0.95")
        return failure_probability(self.confidence)


class Policy(ABC):
    """The parameters of a policy: a frozen dataclass that serves any number of races."""

    name: ClassVar[str]
    goal: ClassVar[Goal | None]  # None: either
    finds_top: ClassVar[bool] = False
    takes_tolerance: ClassVar[bool] = False
    judges_pairs: ClassVar[bool] = False  # whether it gains from values that share their seeds
    learns_sigma: ClassVar[bool] = False  # whether it works without the scale of the noise

    def start(self, task: Task) -> "Pacer":
        """Begin a race: return a pacer that knows the task and no results yet."""
        if self.goal == "confidence" and task.confidence is None:
            raise InvalidInput(f"{self.name} runs until it is sure: give a confidence like 0.95")
        if self.goal == "deadline" and task.deadline is None:
            raise InvalidInput(f"{self.name} plans for a deadline: give a deadline in seconds")
        if self.goal == "deadline" and task.confidence is not None:
            raise InvalidInput(
                f"{self.name} plans for a deadline and guarantees no confidence: "
                "leave out the confidence, or try timed"
            )
        able = "racing" if task.confidence is not None else "staged"  # for the same goal
        if task.top > 1 and not self.finds_top:
            raise InvalidInput(f"{self.name} finds one arm, not the top {task.top}: try {able}")
        if task.tolerance > 0 and not self.takes_tolerance:
            other = f"try {able}" if task.confidence is not None else "leave it out"
            raise InvalidInput(f"{self.name} takes no tolerance: {other}")
        if task.confidence is not None and task.sigma is None and not self.learns_sigma:
            raise InvalidInput(
                f"{self.name} must know how noisy the values are: declare the noise (0/1 values, "
                "bounds, or sigma), or try racing"
            )
        pacer = self._pacer(task)
        pacer.open()
        return pacer

    @abstractmethod
    def _pacer(self, task: Task) -> "Pacer":
        """Make the pacer of this policy for a task that was found to suit it."""

    def outline(self, task: Task) -> list[tuple[str, str]]:
        """What it will do if pulls follow λ, as labels and texts for `paceline check`."""
        return []


class Pacer(ABC):
    """A policy at work on one race. A subclass says how it opens and what it decides after a round.

    Attributes: `task`; `tally`, all results so far; `alive`, the arms still in the race; `rounds`,
    how many are complete; `rng`, for the policy's own choices, used only in `opening` and `decide`
    so that a replay repeats them; `scaling`, λ as now known; `delays`, how closely pulls follow it;
    `costs`, what a pull of each arm takes relative to others, if that differs; `elapsed`, the
    seconds at the end of the last round. `Policy.start` opens the race once the pacer is built.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.tally = Tally.empty(task.arms)
        self.alive: Ints = np.arange(task.arms)
        self.rng = np.random.default_rng(task.seed)
        self.verdict: Verdict | None = None
        self.rounds = 0
        self.scaling = task.scaling
        self.delays = task.delays
        self.costs: tuple[float, ...] = ()
        self.elapsed = 0.0
        self._missing = NOTHING

    def open(self) -> None:
        """Decide the first round."""
        self._adopt(self.opening())

    @abstractmethod
    def opening(self) -> Round | Verdict:
        """The first round."""

    @abstractmethod
    def decide(self) -> Round | Verdict:
        """The next round after the last one is complete; or the verdict."""

    def ask(self) -> Round | Verdict:
        """The pulls that were decided but have no results yet; or the verdict."""
        return self._missing if self.verdict is None else self.verdict

    def tell(self, results: Results, conditions: Conditions | None = None) -> None:
        """Take in results; once the round is complete, decide what comes next.

        The results that complete a round come with the `conditions` of the pool.
        """
        if self.verdict is not None:  # late results are recorded by the journal, not judged
            return
        if conditions is not None:
            self.adjust(conditions)
        self.tally.add(results)
        # Virtual time hands back the arrays of a whole round: nothing to subtract then.
        whole = results.arms is self._missing.arms and results.pulls is self._missing.pulls
        if not (whole or results.last):
            self._missing = self._without(results)
            if self._missing.arms.size:
                return
        self.rounds += 1
        self._adopt(self.decide())

    def adjust(self, conditions: Conditions) -> None:
        """Take in the time and λ; `tell` calls this before it takes in the results."""
        self.elapsed = conditions.seconds
        self.scaling = conditions.scaling
        self.delays = conditions.delays
        self.costs = conditions.costs

    def ahead(self) -> Ints:
        """The arms whose next pulls are worth doing now on cores that would idle.

        They are told in their turn, like all others, so they change nothing but the time it takes.
        """
        return self.alive

    def look(self) -> None:  # noqa: B027 - most policies need whole rounds
        """Drop arms in the middle of a round, if the evidence allows it."""

    def stop(self, reason: str) -> Verdict:
        """The verdict if the race is ended from outside.

        If only a confidence was requested, or nothing has been pulled, the race is undecided among
        the arms alive. With a deadline, the answer is the arm with the best mean so far.
        """
        if self.task.deadline is None or not self.tally.pulls.any():
            return Verdict(self.alive, decided=False, confidence=None, reason=reason)
        # A separate generator: asking for the standing must not change the race.
        own = np.random.default_rng((self.task.seed, self.rounds))
        best = self.ranked(self.alive, own)[: self.task.top]
        return Verdict(best, decided=True, confidence=self.reached(best), reason=reason)

    def reached(self, answer: Ints) -> float | None:
        """The confidence of an answer given early; usually None."""
        return None

    def judged(self) -> Evidence | None:
        """What speaks against each arm, for a guess at how long it will take; None if unknown.

        By default, the paper's intervals.
        """
        task, alive = self.task, self.alive
        if task.confidence is None or alive.size <= task.top:
            return None
        evidence = LilEvidence(
            task.arms, task.delta, task.sigma, arms_at_start=task.arms_at_start or task.arms,
            top=task.top,
        )  # fmt: skip
        evidence.tally, evidence.alive = self.tally, alive
        evidence.depth = int(self.tally.pulls[alive].min())
        return evidence

    def ranked(self, arms: Ints, rng: np.random.Generator) -> Ints:
        """`arms` by falling mean, ties in random order: index order would favour sorted arms."""
        return arms[np.lexsort((rng.random(arms.size), -self.tally.means(arms)))]

    def _drop_to(self, alive: Ints) -> None:
        """Keep only these arms; nothing more is asked of the others."""
        self.alive = alive
        if self._missing.arms.size:
            kept = np.isin(self._missing.arms, alive)
            self._missing = self._missing.keeping(np.where(kept, self._missing.pulls, 0))

    def _adopt(self, decision: Round | Verdict) -> None:
        if isinstance(decision, Verdict):
            self.verdict, self._missing = decision, NOTHING
        else:
            self._missing = decision

    def _without(self, results: Results) -> Round:
        """What is missing from the round after these results, which may be only a part."""
        told = np.zeros(self.task.arms, dtype=np.int64)
        told[results.arms] = results.pulls
        return self._missing.after(told[self._missing.arms])

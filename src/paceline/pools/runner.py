"""What the loop needs from whatever runs its rounds."""

from typing import Protocol

from paceline.core.arrays import Ints
from paceline.core.rounds import NOT_AHEAD, Ahead, Conditions, Interruption, Results, Round


class Runner(Protocol):
    """Runs the pulls of rounds on a pool. Times are seconds since the race began."""

    @property
    def pulls(self) -> int:
        """How many pulls have given a value."""

    def spent(self, asked: Round, ahead: Ints) -> int:
        """How many pulls count against a cap besides those asked for.

        Those that the policy was told of, those of arms that are neither asked for nor `ahead`, and
        those that were not back when their round ended.
        """

    def now(self) -> float:
        """The seconds since the race began."""

    def pursue(self, wanted: Round, ahead: Ahead = NOT_AHEAD) -> None:
        """Have exactly these pulls under way.

        Start what is wanted and not yet queued or running; cancel what is queued or running and
        no longer wanted. What would idle may work `ahead`; in virtual time nothing idles.
        """

    def wait(self, until: float) -> Results | Interruption:
        """Go to the next moment when pulls finish and return them; or to `until`, with nothing.

        A round may end before that, by its own `Until`: then return what is back, as its `last`
        results. Return only pulls that are wanted, and those of an arm in order: quick results that
        came out of turn wait for the others. Return an interruption if the race cannot go on as it
        is.
        """

    def close_round(self, number: int) -> Conditions:
        """End a round that is complete, by its number from 0; return how the pool is."""

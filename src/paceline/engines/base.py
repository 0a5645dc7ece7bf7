"""What the loop needs of an engine."""

from typing import Protocol

from paceline.core.rounds import Conditions, Results, Round


class Engine(Protocol):
    """Runs pulls on a pool. Times are seconds since the race began.

    `pulls` is how many have given a value.
    """

    pulls: int

    @property
    def wasted(self) -> int:
        """How many pulls nobody was told of: no longer wanted, or not back when a round ended."""

    def now(self) -> float:
        """The seconds since the race began."""

    def pursue(self, wanted: Round) -> None:
        """Have exactly these pulls under way.

        Start what is wanted and not yet queued or running; cancel what is queued or running and
        no longer wanted.
        """

    def wait(self, until: float) -> Results:
        """Go to the next moment when pulls finish and return them; or to `until`, with nothing.

        Only pulls that are wanted are returned, of every arm the first ones first: results that
        came out of turn, because they were quick, wait for the others.
        """

    def conditions(self, rounds: int) -> Conditions:
        """How the pool is now that a round is complete, after `rounds` others."""

"""What the loop needs of an engine."""

from typing import Protocol

from paceline.core.rounds import Results, Round


class Engine(Protocol):
    """Runs pulls on a pool. Times are seconds since the race began."""

    def now(self) -> float:
        """The seconds since the race began."""

    def pursue(self, wanted: Round) -> None:
        """Have exactly these pulls under way.

        Start what is wanted and not yet queued or running; cancel what is queued or running and
        no longer wanted.
        """

    def wait(self, until: float) -> Results:
        """Go to the next moment when pulls finish and return them; or to `until`, with nothing."""

"""Whether a worker is replaced after a pull has left threads in it."""

from dataclasses import dataclass

_GRACE_SECONDS = 1.0
_MOST_SHARE = 0.1


@dataclass
class Replacing:
    """What it may cost to replace workers in which pulls have left threads.

    Such threads may slow down or kill the next pull in that process, which may be of another arm.
    But to load a function takes time, and many functions leave a thread that does no harm: a pool
    that is kept, a monitor of progress bars. So replacing may take a tenth of the time of jobs.

    >>> replacing = Replacing()
    >>> replacing.is_worth(0.8), replacing.is_worth(0.8)
    (True, False)
    >>> replacing.worked += 10.0
    >>> replacing.is_worth(0.8)
    True
    """

    worked: float = 0.0  # seconds in jobs
    spent: float = 0.0  # seconds in which replacements load

    def is_worth(self, loading_seconds: float) -> bool:
        """Whether to replace one that took so long to load; if so, it is taken into account."""
        if self.spent + loading_seconds > _GRACE_SECONDS + _MOST_SHARE * self.worked:
            return False
        self.spent += loading_seconds
        return True

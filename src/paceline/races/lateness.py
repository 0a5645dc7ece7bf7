"""A deadline that is too short for even one pull: what to say of it, before and afterwards."""

from paceline.core.words import count
from paceline.durations import say_seconds
from paceline.pools.dispatcher import Dispatcher
from paceline.pools.timekeeping import Timekeeper


def too_late(deadline: float, dispatcher: Dispatcher) -> str:
    """That the deadline was reached; if nothing was known by then, why, and what would do."""
    reached = f"the deadline of {say_seconds(deadline)} was reached"
    if dispatcher.pulls:
        return reached
    reached += " before any pull gave a value"
    now = dispatcher.clock.now()
    running = [
        (now - one.heard, one.job.cores) for one in dispatcher.assignments if not one.loading
    ]
    if not running:
        return f"{reached}: raise it"
    seconds, cores = max(running)
    ran = f"one had run for {say_seconds(seconds)} on {count(cores, 'core')}"
    return f"{reached} ({ran}): raise it to several times what a pull takes"


def too_little_left(times: Timekeeper, left: float) -> str:
    """That a race which resumes cannot expect anything new by its deadline; '' if it can."""
    usual = times.usual_seconds()
    if usual is None or not 0 < left < usual:
        return ""
    return (
        f"the deadline leaves {say_seconds(left)}, which is shorter than one pull (about "
        f"{say_seconds(usual)} so far): without a later deadline, nothing new may come"
    )

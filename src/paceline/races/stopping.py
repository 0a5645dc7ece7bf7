"""What ends a race before its verdict: failures, or a callback."""

from dataclasses import dataclass

from paceline.core.rounds import Interruption
from paceline.pools.attempts import Attempts
from paceline.pools.interruptions import ArmsFailed
from paceline.races.declared import contradictions
from paceline.races.sentence import describe_failure
from paceline.races.settings import Settings


@dataclass(frozen=True)
class Stopped(Interruption):
    """Failures have stopped the race: why, for people."""

    why: str


def unless_dropped(
    failed: ArmsFailed, settings: Settings, attempts: Attempts
) -> ArmsFailed | Stopped:
    """Stop if the user said so, or if no arm is left; otherwise the arms are dropped."""
    drops = settings.options["on_failure"] == "drop-arm"
    if drops and len(attempts.out) < len(settings.arms):
        return failed
    failure = attempts.failures[0]
    head = f"all {len(settings.arms)} arms failed; the first"
    if not drops:
        failure = attempts.out[failed.arms[0]]
        head = "the race was stopped because an arm failed (on_failure='stop')"
    advice = contradictions(settings, attempts)
    what = describe_failure(settings.labels[failure.arm], failure, advice=advice)
    return Stopped(f"{head}: {what}")

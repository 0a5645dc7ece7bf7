"""Whether an arm is charged with a failure of its pull, or the machine may be to blame.

| how a pull ended | its arm is charged |
|---|---|
| it raised, gave no number, ended with a status, took too long | always |
| its worker died by itself | always; if pulls of other arms had run in it, it is first done again |
|                           | in a fresh worker |
| it or its worker was killed by a signal that may come from outside | from the third time on, if |
|                                                                    | nothing else was running |
| it ran out of memory, processes, files | if nothing else was running |
| it could not be started or loaded, because the machine was short of these | never |

Where a worker died in the midst of several pulls, none is charged: each is done again by itself.
"""

from dataclasses import replace

from paceline.engines.events import Failure

MOST_KILLS = 3  # the same pull is charged with the third


def is_charged(failure: Failure, together: int, before: int, *, quiet: bool, fresh: bool) -> bool:
    """Whether the arm of a pull is charged with its failure.

    `together` is how many pulls of its job had no value yet, `before` how often the pull was killed
    or ran out of something before, by itself; `quiet` says that no other job was under way, `fresh`
    that its worker had served no other arm.

    >>> killed = Failure("killed", "the worker process was killed by signal 9")
    >>> [is_charged(killed, 1, before, quiet=True, fresh=True) for before in range(4)]
    [False, False, True, True]
    >>> is_charged(killed, 1, before=7, quiet=False, fresh=True)
    False
    >>> is_charged(killed, 4, before=7, quiet=True, fresh=True)
    False
    """
    if together > 1 and not failure.blames_one:
        return False
    match failure.kind:
        case "machine":
            return False
        case "killed":
            return quiet and before + 1 >= MOST_KILLS
        case "shortage":
            return quiet
        case "died after others":
            return fresh
        case _:
            return True


def charge(failure: Failure, before: int) -> Failure:
    """The failure as it is charged: one that came again and again says so.

    >>> charge(Failure("killed", "was ended by signal 9"), before=2).message
    'was ended by signal 9, each of 3 times (out of memory?)'
    >>> charge(Failure("killed", "was interrupted"), before=2).message
    'was interrupted, each of 3 times (does it raise KeyboardInterrupt?)'
    """
    if failure.kind != "killed":
        return failure
    raised = failure.message == "was interrupted"  # which no lack of memory does
    cause = "does it raise KeyboardInterrupt?" if raised else "out of memory?"
    message = f"{failure.message}, each of {before + 1} times ({cause})"
    return replace(failure, message=message)

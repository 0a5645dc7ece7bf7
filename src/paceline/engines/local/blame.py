"""Who is to blame if a worker process has ended in the middle of a job."""

from paceline.engines.events import Failure, FailureKind
from paceline.engines.local.process.outside import may_be_from_outside


def blame(
    status: int, why: str = "exit", text: str = "", *, began: bool, used: bool
) -> Failure | str:
    """The failure of the pull; or, as text, what the machine did to its worker.

    `status` is the exit status, or minus the signal, of a worker that has ended by itself. `why` is
    "exit" then; or it says which of our own processes was killed ("keeper", "template",
    "supervisor"), or that there could be none ("no fork": `text` says more). `began` says whether
    the worker had loaded what pulls need; `used` whether pulls of other arms have run in it, which
    may have left threads or damage behind.

    >>> blame(-11, began=True, used=False)
    Failure(kind='died', message='the worker process ended with signal 11', detail='', printed='')
    >>> blame(-11, began=True, used=True).kind, blame(-9, began=True, used=False).kind
    ('died after others', 'killed')
    >>> blame(-9, began=False, used=False)
    'the worker process was killed by signal 9 while it was loading'
    """
    if why == "no fork":
        return text.strip() or "a worker could not be started"
    if why == "supervisor":
        return "the process that starts the workers was killed"
    if why == "template":
        return "the process from which the workers are forked was killed"
    killed = f"the worker process was killed by signal {-status}"
    if why == "keeper":  # a pull can do that, too
        killed = "the process that watches the worker was killed"
    elif not may_be_from_outside(-status):
        how = f"signal {-status}" if status < 0 else f"status {status}"
        kind: FailureKind = "died after others" if used else "died"
        return Failure(kind, f"the worker process ended with {how}")
    return Failure("killed", killed) if began else f"{killed} while it was loading"

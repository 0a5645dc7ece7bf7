"""What travels to workers that another library has started: the workload, once for each process.

A job names the workload by a token. A process that does not know it says so, and is then sent the
workload as well, which it keeps for later jobs.
"""

import contextlib
import pickle
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from paceline.engines.capturing import captured
from paceline.engines.events import Failure
from paceline.engines.jobs import Run
from paceline.engines.local.process.printing import Printed
from paceline.engines.local.wire import packed
from paceline.engines.working import Answer, why, work
from paceline.engines.workload import Workload

# An `Answer`, as it travels.
Sent = tuple[list[float], list[float], Failure | None, Sequence[tuple[int, str]]]

_MOST_KEPT = 4  # workloads: a worker may serve many races, one after the other

_kept: dict[str, Workload] = {}  # of this process, by token; the latest come last


@dataclass(frozen=True)
class Parcel:
    """A pickled workload and its token.

    >>> parcel = Parcel.of(Workload(abs, [-2.0, 1.0], lambda *_: [0]))
    >>> serve(parcel.token, None, 0, [(0, 0, 1)], cores=1) is None
    True
    >>> serve(parcel.token, parcel.content, 0, [(0, 0, 1)], cores=1)[0]
    [2.0]
    >>> serve(parcel.token, None, 0, [(1, 0, 1)], cores=1)[0]
    [1.0]
    """

    content: bytes
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    @classmethod
    def of(cls, workload: Workload) -> "Parcel":
        """Pickle a workload; refuses what cannot be."""
        return cls(packed(workload))


def serve(
    token: str,
    content: bytes | None,
    _job: int,
    runs: list[tuple[int, int, int]],
    cores: int,
    hears: bool = False,
) -> Sent | None:
    """Do the pulls of a job in this process; None if the workload is not known here.

    Nothing is raised, whatever pulls do: what they raise may not be fit to be sent back. The number
    of the job makes each call another, for libraries that remember calls. What is sent is plain:
    for a class, a process looks up where it is defined, each time. If it `hears`, it is told what
    pulls print; nothing else may then run in this process.
    """
    with captured() if hears else contextlib.nullcontext() as heard:
        return _serve(token, content, runs, cores, heard)


def _serve(
    token: str,
    content: bytes | None,
    runs: list[tuple[int, int, int]],
    cores: int,
    heard: Printed | None,
) -> Sent | None:
    workload = _kept.get(token)
    if workload is None:
        if content is None:
            return None
        try:
            workload = pickle.loads(content)
        except BaseException as error:  # whatever the user's modules raise when imported
            failure = why(error, "could not be loaded")
            printed = "" if heard is None else heard.take_all()
            return [], [], replace(failure, printed=printed), ()
        for old in [*_kept][: 1 - _MOST_KEPT]:
            _kept.pop(old, None)
        _kept[token] = workload
        if heard is not None:
            heard.forget()
    return tuple(do(workload, [Run(*run) for run in runs], cores, heard))  # type: ignore[return-value]


def do(workload: Workload, runs: Sequence[Run], cores: int, heard: Printed | None = None) -> Answer:
    """Do the pulls of a job in this process; nothing is raised."""
    try:
        return work(workload, runs, cores, catch=(BaseException,), heard=heard)
    except BaseException as error:  # a Ctrl-C between two pulls, no room for a command's output
        return Answer([], [], why(error))

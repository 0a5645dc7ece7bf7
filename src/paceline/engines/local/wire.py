"""How pulls are sent to a worker.

>>> from paceline.engines.jobs import Run
>>> workload = Workload(max, [[1, 2], [3, 4]], lambda arm, first, pulls: [7] * pulls)
>>> order(workload, Job(0, (Run(1, 0, 2),), cores=1))
('function', [(1, (None, None))])
"""

import contextlib
import os
from typing import Any

from paceline.commands import Command, finding
from paceline.engines.jobs import Job
from paceline.engines.workload import Workload
from paceline.errors import InvalidInput

_LONGEST_WORD = 131_071  # bytes that Linux passes to a program as one argument or variable


def pack(workload: Workload) -> bytes:
    """What a worker loads before its first pull: the function and the arms; nothing for commands.

    >>> len(pack(Workload(max, [[1, 2], [3, 4]], lambda arm, first, pulls: [7] * pulls))) > 0
    True
    """
    if workload.is_command:
        return b""
    if workload.packed is not None:
        return workload.packed
    unit = workload.unit if workload.takes_cores else ""
    return packed((workload.evaluate, list(workload.arms), workload.takes_seed, unit))


def packed(thing: Any) -> bytes:
    """The function and the arms, or what holds them, as bytes that any process can load."""
    from paceline.engines.local.packing import dumps  # what it needs takes a while to import

    try:
        return dumps(thing)
    except Exception as error:  # whatever the user's objects raise when pickled
        raise InvalidInput(
            f"the function or the arms cannot be sent to a worker process ({error}): open "
            "files, locks, connections and random.SystemRandom inside the function, not outside"
        ) from error


def order(workload: Workload, job: Job) -> tuple[str, Any]:
    """What to send for a job: arms with seeds; for a command its words, environment and folder."""
    if workload.takes_seed:
        return "function", [(run.arm, workload.seeds(*run)) for run in job.runs]
    if not workload.is_command:
        return "function", [(run.arm, (None,) * run.pulls) for run in job.runs]
    (run,) = job.runs
    invocation = workload.invocation(run.arm, run.first, job.cores)
    remove_stale(invocation.file)
    assert isinstance(workload.evaluate, Command)
    return "command", (
        invocation.argv,
        invocation.environment,
        invocation.cwd,
        invocation.file,
        workload.evaluate.value.where,
        finding.__file__,  # which the worker loads to find the value
    )


def check(workload: Workload) -> None:
    """Refuse commands that are longer than any program can be given."""
    if not workload.is_command:
        return
    longest_of_all = os.sysconf("SC_ARG_MAX")
    inherited = sum(len(name) + len(text) + 2 for name, text in os.environb.items())
    for arm in range(len(workload.arms)):
        invocation = workload.invocation(arm, 0, 1)
        variables = [f"{name}={text}" for name, text in invocation.environment.items()]
        lengths = [len(os.fsencode(word)) for word in (*invocation.argv, *variables)]
        if max(lengths) > _LONGEST_WORD:
            raise InvalidInput(
                f"the command of arm {arm} has an argument or a variable of {max(lengths):,} "
                f"bytes, but a program can be given {_LONGEST_WORD:,} at most: write it into a "
                "file, and pass the name of that"
            )
        if sum(lengths) + 9 * len(lengths) + inherited > longest_of_all:
            raise InvalidInput(
                f"the command of arm {arm} has {sum(lengths):,} bytes of arguments and variables, "
                f"but a program can be given {longest_of_all - inherited:,} here: write them into "
                "a file, and pass the name of that"
            )


def remove_stale(file: str | None) -> None:
    """Remove what another pull left where this one will write its value."""
    if file is not None:
        with contextlib.suppress(OSError):
            os.unlink(file)

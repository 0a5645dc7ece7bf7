r"""How pulls are sent to a worker, and how the value of a command is read from what it leaves.

>>> from paceline.engines.jobs import Run
>>> workload = Workload(max, [[1, 2], [3, 4]], lambda arm, first, pulls: [7] * pulls)
>>> order(workload, Job(0, (Run(1, 0, 2),), cores=1))
('function', [(1, (None, None))])

Reading needs nothing from the driver except the `Value`, so it can be done wherever the command
ran:

>>> import tempfile
>>> with tempfile.TemporaryFile("wb+", buffering=0) as stdout:
...     stdout.write(b"step 1\nscore = 0.25\n")
...     read(Value("last"), None, stdout, seconds=1.5)
20
0.25
"""

import contextlib
import math
import os
from pathlib import Path
from typing import Any, BinaryIO

from paceline.commands.value import NoValue, Value
from paceline.engines.events import Failure
from paceline.engines.jobs import Job
from paceline.engines.workload import Workload
from paceline.errors import InvalidInput

LOG_TAIL = 4_000  # bytes of a pull's output that go into a failure

_ENOUGH_FOR_LAST = 1 << 16
_MOST_OUTPUT = 1 << 24  # reading it must not miss a deadline


def pack(workload: Workload) -> bytes:
    """What a worker loads before its first pull: the function and the arms; nothing for commands.

    >>> len(pack(Workload(max, [[1, 2], [3, 4]], lambda arm, first, pulls: [7] * pulls))) > 0
    True
    """
    import cloudpickle

    if workload.is_command:
        return b""
    loaded = (workload.evaluate, list(workload.arms), workload.takes_seed, workload.takes_cores)
    try:
        return bytes(cloudpickle.dumps(loaded))
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
    return "command", (invocation.argv, invocation.environment, invocation.cwd)


def remove_stale(file: str | None) -> None:
    """Remove what another pull left where this one will write its value."""
    if file is not None:
        with contextlib.suppress(OSError):
            os.unlink(file)


def read(value: Value, file: str | None, stdout: BinaryIO, seconds: float) -> float | Failure:
    """The value of a command that ended well, from what it printed or from the file it wrote."""
    output = tail(stdout, _ENOUGH_FOR_LAST if value.kind == "last" else _MOST_OUTPUT)
    if len(output) >= _MOST_OUTPUT:
        return Failure("no number", f"printed more than {_MOST_OUTPUT:,} bytes, too many to search")
    try:
        text = None if file is None else Path(file).read_text(errors="replace")
        found = value.read(output, text, seconds)
    except OSError as error:
        return Failure("no number", f"wrote no file {file}: {error.strerror}")
    except NoValue as error:
        return Failure("no number", f"gave no number: {error}")
    return found if math.isfinite(found) else Failure("no number", f"gave {found}")


def tail(file: BinaryIO, most: int, start: int = 0) -> str:
    """The last bytes of a file as text: from `start` on, or from 0 if it was truncated since."""
    size = os.fstat(file.fileno()).st_size
    begin = max(start if start <= size else 0, size - most)
    return os.pread(file.fileno(), size - begin, begin).decode(errors="replace")

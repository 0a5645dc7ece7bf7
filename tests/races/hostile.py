"""Pulls that do harm, by accident or on purpose, with what is expected of each.

A `Hostile` says what it does (`do`, for functions) or what the shell runs (`shell`, for commands),
and what a race makes of it: `works`, or it fails and the failure `says` something. Arm 0 does it;
the others behave, and must never suffer for it. This module imports the standard library alone, so
that workers load it quickly.
"""

import os
import random
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Hostile:
    """What arm 0 does, and what is expected of it."""

    do: Callable[[], Any] = lambda: None
    shell: str = ""  # run in an empty folder; {seed} is the pull's
    value: str = "last"
    works: bool = False
    says: str = ""  # in the failure
    hangs: bool = False  # only a timeout ends it


class Pull:
    """A function for a race: arm 0 is hostile, other arms give their number and some noise."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, arm: float, *, seed: int) -> Any:
        """Do one pull."""
        if arm == 0:
            return FUNCTIONS[self.name].do()
        return arm + random.Random(seed).gauss(0, 0.1)


def shell_command(name: str) -> str:
    """A command for the shell, for arms {"x": 0}, {"x": 1}, …: arm 0 is hostile."""
    hostile = COMMANDS[name]
    where = "> out-{x}-{seed}" if hostile.value.startswith("file:") else ""
    good = hostile.value.partition(":")[0]
    text = {"json": '\'{{"a": \'{x}"}}"', "pattern": '"score "{x}'}.get(good, "{x}")
    return f"if [ {{x}} = 0 ]; then {hostile.shell}; else echo {text} {where}; fi"


# What a function may do


def exits_with_3() -> float:
    """Call sys.exit."""
    sys.exit(3)


def exits_with_nothing() -> float:
    """Call sys.exit without a status."""
    sys.exit()


def exits_with_text() -> float:
    """Call sys.exit with a message."""
    sys.exit("enough")


def ends_its_process() -> float:
    """End the process at once."""
    os._exit(3)


def interrupts() -> float:
    """Raise what a Ctrl-C raises."""
    raise KeyboardInterrupt


def recurses() -> float:
    """Recurse without end."""
    return recurses() + 1.0


def raises_a_group() -> float:
    """Raise several exceptions at once."""
    raise ExceptionGroup("two", [ValueError("one"), ExceptionGroup("more", [KeyError("two")])])


def raises_half_a_character() -> float:
    """Raise with a text that cannot be written."""
    raise ValueError("\ud800 half")


def raises_a_long_text() -> float:
    """Raise with megabytes of text."""
    raise ValueError("é\0\n" * 3_000_000)


def raises_what_cannot_be_written() -> float:
    """Raise an exception whose methods raise."""

    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

        __repr__ = __str__

    raise Odd


def gives_what_cannot_be_written() -> Any:
    """Return something that is no number and has no text."""

    class Odd:
        def __repr__(self) -> str:
            raise SystemExit(9)

    return Odd()


def gives_what_raises_as_a_number() -> Any:
    """Return something whose `__float__` raises."""

    class Odd:
        def __float__(self) -> float:
            raise LookupError("no number here")

    return Odd()


def gives_what_exits_as_a_number() -> Any:
    """Return something whose `__float__` exits."""

    class Odd:
        def __float__(self) -> float:
            sys.exit(5)

    return Odd()


def sockets() -> list[int]:
    """The sockets of this process: one of them leads to the driver."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                found.append(int(name))
        except OSError:
            continue
    return found


def sends(*messages: bytes) -> float:
    """Send the driver these bytes."""
    for file in sockets():
        one = socket.socket(fileno=os.dup(file))
        for message in messages:
            one.send(message)
        one.close()
    return 1.0


def sends_junk() -> float:
    """Send bytes that mean nothing."""
    return sends(b"junk " * 10)


def sends_nothing() -> float:
    """Send an empty message, which looks like the end of the channel."""
    return sends(b"")


def sends_a_large_message() -> float:
    """Send as much as the socket takes."""
    return sends(b"\xa7" * 150_000)


class Bomb:
    """Runs code in whatever process unpickles it."""

    def __reduce__(self) -> Any:
        """How it is pickled."""
        return exec, ("import os; os.environ['PACELINE_BOMB'] = '1'",)


def sends_a_pickle() -> float:
    """Send a pickle that runs code where it is loaded."""
    import pickle

    return sends(pickle.dumps(("finished", [Bomb()], [0.0])))


def forges(*what: Any) -> float:
    """Send a message as a worker would make it."""
    encode = sys.modules["_paceline_process.messages"].encode
    return sends(encode(*what))


def forges_many_values() -> float:
    """Send more values than were asked for."""
    return forges("finished", 0, [1.0] * 1000, [0.0] * 1000)


def forges_no_finite_value() -> float:
    """Send a value that is not finite."""
    return forges("finished", 0, [float("nan")], [0.0])


def forges_negative_seconds() -> float:
    """Send a time before the beginning."""
    return forges("finished", 0, [1.0], [-3.0])


def forges_absurd_seconds() -> float:
    """Send a time that is longer than the race."""
    return forges("finished", 0, [1.0], [1e9])


def forges_a_failure() -> float:
    """Send a failure of a kind that there is not."""
    return forges("failed", 0, (), (), 0, ("famine", "there is none", ""))


def forges_another_job() -> float:
    """Answer a job of somebody else."""
    return forges("finished", 77, [1.0], [0.0])


def closes_all_files() -> float:
    """Close every file, as daemons do."""
    os.closerange(3, 1000)
    return 1.0


def replaces_clocks() -> float:
    """Replace the clocks, as tests do that freeze the time."""
    time.perf_counter = lambda: float("nan")
    time.monotonic = lambda: -1.0
    time.sleep = lambda _: None
    for module in list(sys.modules.values()):  # wherever somebody has imported them from there
        for name in ("perf_counter", "monotonic", "clock"):
            if name in getattr(module, "__dict__", {}):
                setattr(module, name, lambda: float("nan"))
    return 1.0


def replaces_the_library() -> float:
    """Replace functions that a worker needs."""
    import math
    import pickle

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("replaced")

    os.getpid = lambda: 1
    math.isfinite = broken
    pickle.dumps = pickle.loads = broken
    socket.socket.send = socket.socket.recv = socket.socket.recvmsg = broken  # type: ignore[method-assign]
    return 1.0


def leaves_a_thread_that_kills() -> float:
    """Return, and end the process a moment later."""

    def kill() -> None:
        time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=kill, daemon=True).start()
    return 1.0


def leaves_a_thread_that_spins() -> float:
    """Return, and keep the interpreter busy."""

    def spin() -> None:
        while True:
            pass

    threading.Thread(target=spin, daemon=True).start()
    return 1.0


def leaves_an_alarm() -> float:
    """Return, and be killed by a signal a moment later."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    return 1.0


def closes_the_standard_streams() -> float:
    """Close what it could print to."""
    for file in (0, 1, 2):
        os.close(file)
    sys.stdout = sys.stderr = None
    return 1.0


FUNCTIONS = {
    one.do.__name__: one
    for one in (
        Hostile(exits_with_3, says="ended with status 3"),
        Hostile(exits_with_nothing, says="ended with status 0"),
        Hostile(exits_with_text, says="raised SystemExit: enough"),
        Hostile(ends_its_process, says="ended with status 3"),
        Hostile(interrupts, says="raised KeyboardInterrupt"),
        Hostile(recurses, says="raised RecursionError: maximum recursion depth"),
        Hostile(raises_a_group, says="raised ExceptionGroup: two (2 sub-exceptions)"),
        Hostile(raises_half_a_character, says="raised ValueError: ? half"),
        Hostile(raises_a_long_text, says="raised ValueError: é"),
        Hostile(raises_what_cannot_be_written, says="raised Odd: <Odd that cannot be written>"),
        Hostile(gives_what_cannot_be_written, says="gave <Odd that cannot be written>, which is"),
        Hostile(gives_what_raises_as_a_number, says="raised LookupError: no number here"),
        Hostile(gives_what_exits_as_a_number, says="ended with status 5"),
        Hostile(sends_junk, says="ended because it sent 50 bytes that are no message"),
        Hostile(sends_nothing, says="was ended because it sent"),
        Hostile(sends_a_large_message, says="was ended because it sent"),
        Hostile(sends_a_pickle, says="was ended because it sent"),
        Hostile(forges_many_values, says="1000 values where 1 should come"),
        Hostile(forges_no_finite_value, says="a value that is not finite"),
        Hostile(forges_negative_seconds, says="pulls of -3 s"),
        Hostile(forges_absurd_seconds, says="pulls of 1e+09 s"),
        Hostile(forges_a_failure, says="a failure of no known kind"),
        Hostile(forges_another_job, says="an answer to another job"),
        Hostile(closes_all_files, says="ended with status 1"),
        Hostile(replaces_clocks, works=True),
        Hostile(replaces_the_library, works=True),
        Hostile(leaves_a_thread_that_kills, works=True),
        Hostile(leaves_a_thread_that_spins, works=True),
        Hostile(leaves_an_alarm, works=True),
        Hostile(closes_the_standard_streams, works=True),
    )
}

_OUT = "file:out-{x}-{seed}"
COMMANDS = {
    # A pipe that nobody writes to, where the value should be.
    "pipe": Hostile(shell="mkfifo out-{x}-{seed}", value=_OUT, says="it is a pipe"),
    # A link to a file without end.
    "zeros": Hostile(shell="ln -s /dev/zero out-{x}-{seed}", value=_OUT, says="a device"),
    "folder": Hostile(shell="mkdir out-{x}-{seed}", value=_OUT, says="it is a folder"),
    # 300 MB with holes: what is searched is its end.
    "large file": Hostile(
        shell="truncate -s 300M out-{x}-{seed}; echo ' 7' >> out-{x}-{seed}",
        value=_OUT,
        works=True,
    ),
    "one long word": Hostile(
        shell="truncate -s 300M out-{x}-{seed}", value=_OUT, says="with a word of more than 65,536"
    ),
    "much output": Hostile(
        shell="head -c 20000000 /dev/zero", value="json:a", says="printed more than 16,777,216"
    ),
    # It takes hours to see that this does not match.
    "pattern": Hostile(
        shell="head -c 16000000 /dev/zero | tr '\\0' 7", value="pattern:score (.+)|(?:7+)+8",
        hangs=True,
    ),
    "deep json": Hostile(
        shell="head -c 10000000 /dev/zero | tr '\\0' '['", value="json:a", says="is JSON; it ends"
    ),
    "digits": Hostile(
        shell="head -c 60000 /dev/zero | tr '\\0' 7; echo x", says="is not a plain number"
    ),
}  # fmt: skip

"""The program that starts and ends worker processes, and the worker itself.

The driver runs this file as a script and talks to it through a socket. It stands alone, on the
standard library, for two reasons: workers are forked from it in a millisecond because it is small,
and they set their limits on threads before anything like numpy is imported.

Nothing is left behind. The foreman and every worker are subreapers: whatever a pull starts, however
often it forks, stays a descendant of its worker, and is found and killed there. When the driver is
gone, killed or not, the control socket closes and the foreman ends everything.
"""

import contextlib
import ctypes
import faulthandler
import json
import math
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_LARGEST_MESSAGE = 1 << 20
_LONGEST_TEXT = 8_000  # characters of a traceback that are kept
_LARGEST_LOG = 1 << 20  # bytes that pulls printed before the log starts anew
_REPORT_SECONDS = 0.02  # a group that takes longer reports in between
_PATIENCE_SECONDS = 2.0  # with a process that does not die at once

# What the common numeric libraries read, once, when they are imported.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


# Killing.


def descendants(pid: int) -> list[int]:
    """All processes below `pid`, those that are dead but not reaped left out."""
    found: list[int] = []
    pending = [pid]
    while pending:
        below = _children(pending.pop())
        found += below
        pending += below
    return [one for one in found if _state(one) not in ("Z", "")]


def _children(pid: int) -> list[int]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    found: list[int] = []
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children") as stream:
                found += [int(word) for word in stream.read().split()]
        except FileNotFoundError:
            if os.path.exists(f"/proc/{pid}/task/{thread}"):  # a kernel without that file
                return _children_by_walking(pid)
        except OSError:
            continue
    return found


def _children_by_walking(parent: int) -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _parent(name) == parent]


def _parent(pid: str) -> int:
    fields = _stat(pid)
    return int(fields[1]) if fields else 0


def _state(pid: int) -> str:
    fields = _stat(str(pid))
    return fields[0] if fields else ""


def _stat(pid: str) -> list[str]:
    """State, parent and so on: what follows the name, which may hold blanks and brackets."""
    try:
        with open(f"/proc/{pid}/stat") as stream:
            return stream.read().rpartition(")")[2].split()
    except OSError:
        return []


def kill_below(pid: int) -> None:
    """Kill everything below `pid`, until nothing is left.

    Orphans of what dies move up to `pid`, a subreaper, and are found the next time.
    """
    give_up = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < give_up:
        living = descendants(pid)
        if not living:
            return
        for one in living:
            _signal(one, signal.SIGKILL)
        time.sleep(0.001)


def kill_tree(pid: int) -> None:
    """Kill a worker and everything below it; stopped first, it starts nothing more."""
    _signal(pid, signal.SIGSTOP)
    kill_below(pid)
    _signal(pid, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


# The foreman.


class Foreman:
    """Forks workers when the driver says so, and tells it when one has ended."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.workers: dict[int, int] = {}  # by pid: the driver's number for it

    def serve(self) -> None:
        """Work until the driver is gone."""
        alarm, wake = socket.socketpair()
        alarm.setblocking(False)
        wake.setblocking(False)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            ready, _, _ = select.select([self.control, alarm], [], [])
            if alarm in ready:
                with contextlib.suppress(BlockingIOError):
                    alarm.recv(4096)
                self._reap()
            if self.control in ready and not self._obey():
                return

    def _obey(self) -> bool:
        try:
            message, files, _, _ = socket.recv_fds(self.control, _LARGEST_MESSAGE, 3)
        except ConnectionResetError:
            message = b""
        if not message:  # the driver is gone
            return False
        order = json.loads(message)
        if "spawn" in order:
            self._spawn(order, files)
        else:
            for pid in [pid for pid, number in self.workers.items() if number == order["kill"]]:
                kill_tree(pid)
        return True

    def _spawn(self, order: dict[str, Any], files: list[int]) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            os.write(files[1], f"a worker could not be started: {error}\n".encode())
            self._tell({"ended": order["spawn"], "status": 1})
            for file in files:
                os.close(file)
            return
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self.control.close()
            _be_worker(order, *files)
        for file in files:
            os.close(file)
        self.workers[pid] = order["spawn"]

    def _reap(self) -> None:
        ended: list[tuple[int, int]] = []
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid in self.workers:
                    ended.append((self.workers.pop(pid), status))
        if ended:
            # What a worker that died by itself had started is now below the foreman.
            strays = [pid for pid in _children(os.getpid()) if pid not in self.workers]
            for pid in strays:
                kill_tree(pid)
        for number, status in ended:
            self._tell({"ended": number, "status": os.waitstatus_to_exitcode(status)})

    def _tell(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # the driver is gone: the next read says so
            self.control.send(json.dumps(message).encode())


def main(control_file: int) -> None:
    """Be the foreman until the driver is gone, then end everything."""
    os.setsid()  # a Ctrl-C in the terminal is the driver's business
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    control = socket.socket(fileno=control_file)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        Foreman(control).serve()
    finally:
        signal.set_wakeup_fd(-1)
        kill_below(os.getpid())


# The worker.


def _be_worker(order: dict[str, Any], channel_file: int, log_file: int, load_file: int) -> None:
    """Be a worker; never return."""
    try:
        os.setsid()
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for stream in (1, 2):
            os.dup2(log_file, stream)
        for file in (channel_file, log_file, load_file):
            os.set_inheritable(file, False)
        faulthandler.enable()
        os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(order["cores"])))
        os.environ["PACELINE_CORES"] = str(order["cores"])
        sys.path[:] = order["path"]
        channel = socket.socket(fileno=channel_file)
        Worker(channel, order["cores"], log_file, load_file).serve()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


class Worker:
    """Runs the pulls it is sent, one group after the other."""

    def __init__(self, channel: socket.socket, cores: int, log_file: int, load_file: int) -> None:
        self.channel = channel
        self.cores = cores
        self.log_file = log_file
        self.load_file = load_file
        self.processors: list[int] = []
        self.process = os.getpid()

    def serve(self) -> None:
        """Work until the driver closes the channel."""
        call: Callable[[int, int | None], Any] | None = None
        ready = False
        while message := self.channel.recv(_LARGEST_MESSAGE):
            processors, what, work = pickle.loads(message)
            self._pin(processors)
            if os.fstat(self.log_file).st_size > _LARGEST_LOG:
                os.ftruncate(self.log_file, 0)
            if what == "function" and call is None:
                try:
                    call = self._load()
                except Exception:
                    self._report([], [], _failure("could not be loaded"), finished=True)
                    continue
            if not ready:
                ready = True
                self._report([], [], None, finished=False)  # a pull's timeout starts here
            if call is None:
                self._report(*self._command(*work), finished=True)
            else:
                self._evaluate(call, work)

    def _pin(self, processors: list[int]) -> None:
        """Run on these processors only: every thread, since threads that run keep their mask."""
        if processors and processors != self.processors:
            for thread in os.listdir("/proc/self/task"):
                with contextlib.suppress(OSError):
                    os.sched_setaffinity(int(thread), processors)
            self.processors = processors

    def _load(self) -> Callable[[int, int | None], Any]:
        """The function and the arms, which the driver pickled into a file."""
        size = os.fstat(self.load_file).st_size
        evaluate, arms, takes_seed, takes_cores = pickle.loads(os.pread(self.load_file, size, 0))
        fixed = {"cores": self.cores} if takes_cores else {}
        if takes_seed:
            return lambda arm, seed: evaluate(arms[arm], seed=seed, **fixed)
        return lambda arm, _: evaluate(arms[arm], **fixed)

    def _evaluate(
        self, call: Callable[[int, int | None], Any], runs: list[tuple[int, Sequence[int | None]]]
    ) -> None:
        """Evaluate a group; the first failure ends it, and the driver sends the rest again."""
        values: list[float] = []
        seconds: list[float] = []
        clock = time.perf_counter
        reported = start = clock()
        # The arms take turns: what slows this machine down does so for all of them alike.
        for turn in range(max(len(seeds) for _, seeds in runs)):
            for arm, seeds in runs:
                if turn >= len(seeds):
                    continue
                if start - reported > _REPORT_SECONDS:
                    self._report(values, seconds, None, finished=False)
                    values, seconds, reported = [], [], start
                try:
                    value = call(arm, seeds[turn])
                    if type(value) is not float:
                        value = _number(value)
                    if not math.isfinite(value):
                        raise _NoNumber(f"gave {value}")
                except _NoNumber as error:
                    self._report(values, seconds, ("no number", str(error), ""), finished=True)
                    return
                except Exception as error:
                    what = f"raised {type(error).__name__}: {error}"
                    self._report(values, seconds, _failure(what), finished=True)
                    return
                end = clock()
                values.append(value)
                seconds.append(end - start)
                start = end
        self._report(values, seconds, None, finished=True)

    def _command(
        self, words: Sequence[str], environment: dict[str, str], folder: str | None
    ) -> tuple[list[float], list[float], tuple[str, str, str] | None]:
        """Run a command to its end; the driver reads the value from the file with its output."""
        os.ftruncate(self.load_file, 0)  # a command needs no function: the file takes its stdout
        os.lseek(self.load_file, 0, os.SEEK_SET)
        began = time.perf_counter()
        try:
            process = subprocess.Popen(
                words,
                env=os.environ | environment,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=self.load_file,
                stderr=self.log_file,
            )
        except OSError as error:
            return [], [], ("no start", f"could not be started: {error}", "")
        status = process.wait()
        seconds = time.perf_counter() - began
        kill_below(os.getpid())
        if status == 0:
            return [math.nan], [seconds], None
        what = f"ended with status {status}" if status > 0 else f"was ended by signal {-status}"
        return [], [], ("exit status", what, "")

    def _report(
        self,
        values: list[float],
        seconds: list[float],
        failure: tuple[str, str, str] | None,
        *,
        finished: bool,
    ) -> None:
        if os.getpid() != self.process:
            os._exit(0)  # a child that the pull forked, and that came back here: not its business
        self.channel.send(pickle.dumps((values, seconds, failure, finished)))


class _NoNumber(Exception):
    """What a pull gave is no finite number."""


def _number(value: Any) -> float:
    with contextlib.suppress(TypeError, ValueError):
        if not isinstance(value, str | bytes):
            return float(value)
    raise _NoNumber(f"gave {repr(value)[:200]}, which is no number")


def _failure(what: str) -> tuple[str, str, str]:
    kind, error, trace = sys.exc_info()
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next  # the user's own lines are what matters
    text = "".join(traceback.format_exception(kind, error, trace))
    return "exception", what[:_LONGEST_TEXT], text[-_LONGEST_TEXT:]


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""The worker: does the pulls it is sent, one job after the other."""

import _thread
import contextlib
import faulthandler
import importlib.util
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from operator import sub
from typing import Any, NoReturn

from . import messages, orders
from .evaluating import NoNumber, number, trouble
from .killing import kill_below
from .loading import Call, Loaded, load
from .running import core_variables, device_variables, run
from .threads import tell_threads

_LARGEST_LOG = 1 << 20  # bytes, after which the log starts anew
_REPORT_SECONDS = 0.02  # a job that takes longer reports in between
_FAREWELL_SECONDS = 0.005  # for threads that are about to end when their pull returns


def be_worker(
    cores: int,
    path: list[str],
    loaded: Loaded | None,
    channel_file: int,
    log_file: int,
    load_file: int,
) -> NoReturn:
    """Be a worker for pulls on `cores` cores, which finds modules on `path`.

    What was `loaded` by the process that it is forked from need not be loaded again.
    """
    try:
        os.setsid()
        for stream in (1, 2):
            os.dup2(log_file, stream)
        for file in (channel_file, log_file, load_file):
            os.set_inheritable(file, False)
        faulthandler.enable(2)
        os.environ.update(core_variables(cores))
        sys.path[:] = path
        if loaded is not None:
            loaded.generators.renew()
        Worker(socket.socket(fileno=channel_file), cores, loaded, log_file, load_file).serve()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


class Worker:
    """Does the pulls it is sent, and reports over the channel how they went.

    Pulls run in this process, and some replace what is in `time`, `os` or `math`. So what is needed
    later is bound before the first of them: as a default of a method, where nobody looks for it.
    """

    def __init__(
        self,
        channel: socket.socket,
        cores: int,
        loaded: Loaded | None,
        log_file: int,
        load_file: int,
    ) -> None:
        self.receive = channel.recvmsg
        self.send = channel.send
        self.cores = cores
        self.loaded = loaded
        self.log_file = log_file
        self.load_file = load_file  # the function and the arms; for commands, what they print
        self.job = 0
        self.call: Call | None = None
        self.finding: Any = None  # the module that finds the values of commands
        self.ready = False
        self.processors: list[Any] = []  # or the names of its devices
        self.process = os.getpid()
        self.keeper = os.getppid()
        self.threads = 0  # of Python, when everything was loaded

    def serve(self) -> None:
        """Work until the driver closes the channel."""
        while (order := orders.receive(self.receive)) is not None:
            self.job, processors, kind, work = order
            self._prepare(processors)
            if not self.ready:
                try:
                    self._get_ready(kind, work)
                except BaseException as error:
                    failure = trouble(error, "could not be loaded")
                    self._say("failed", trouble=failure)
                    continue
            if self.call is None:
                self._command(*work)
            else:
                self._evaluate(self.call, work)

    def _prepare(
        self,
        processors: list[Any],
        *,
        status: Any = os.fstat,
        truncate: Any = os.ftruncate,
        set_timer: Any = signal.setitimer,
    ) -> None:
        """Take away what an earlier job may have left: an alarm, a long log."""
        set_timer(signal.ITIMER_REAL, 0)
        if status(self.log_file).st_size > _LARGEST_LOG:
            truncate(self.log_file, 0)
        if processors and isinstance(processors[0], str):
            # Before the user's modules are loaded: they may look at it once, and then never again.
            os.environ.update(device_variables(processors))
            self.processors = processors
        else:
            self._pin(processors)

    def _pin(self, processors: list[int], *, pin: Any = os.sched_setaffinity) -> None:
        """Run on these processors only, with every thread: running threads keep their mask."""
        if processors and processors != self.processors:
            for thread in os.listdir("/proc/self/task"):
                with contextlib.suppress(OSError):
                    pin(int(thread), processors)
            self.processors = processors

    def _get_ready(self, kind: str, work: Any, *, threads: Any = _thread._count) -> None:
        if kind == "function":
            loaded = self.loaded or load(self.load_file, self.cores)
            if loaded.cores != self.cores:
                tell_threads(self.cores)
            has_devices = bool(self.processors) and isinstance(self.processors[0], str)
            self.call = loaded.call(len(self.processors) if has_devices else self.cores)
        else:
            self.finding = _module(work[-1])
        self.threads = threads()
        self.ready = True
        self._say("began")  # a pull's timeout starts here

    def _evaluate(
        self,
        call: Call,
        runs: list[tuple[int, Sequence[int | None]]],
        *,
        clock: Callable[[], float] = time.perf_counter,
        threads: Callable[[], int] = _thread._count,
    ) -> None:
        """Evaluate a job; the first failure ends it, and the driver sends the rest again.

        Short pulls are many: whatever is done for each of them here counts.
        """
        values: list[float] = []
        before = threads()
        now = clock()
        moments, report_at = [now], now + _REPORT_SECONDS
        for arm, seed in _in_turn(runs):
            if now > report_at:
                self._say("values", values, _differences(moments))
                values, moments, report_at = [], [now], now + _REPORT_SECONDS
            try:
                value = call(arm, seed)
                if type(value) is not float or value - value != 0.0:  # so for nan and infinity
                    value = number(value)
            except BaseException as error:  # exits and interrupts too
                seconds = _differences(moments)
                self._say("failed", values, seconds, self._left(before), trouble(error))
                return
            now = clock()
            values.append(value)
            moments.append(now)
        self._say("finished", values, _differences(moments), self._left(before))

    def _left(
        self,
        before: int,
        *,
        threads: Callable[[], int] = _thread._count,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> int:
        """How many threads of Python there are that were not there when all was loaded.

        If there are more than `before` the job, they get a moment to end. Threads of numeric
        libraries are not among them: those wait for work and do no harm.
        """
        if threads() > before:
            give_up = clock() + _FAREWELL_SECONDS
            while threads() > before and clock() < give_up:
                sleep(0.0005)
        return max(0, threads() - self.threads)

    def _command(
        self,
        argv: Sequence[str],
        environment: dict[str, str],
        folder: str | None,
        file: str | None,
        value: tuple[str, str, str],
        _: str,
    ) -> None:
        """Run a command to its end, and find its value in what it left."""
        os.ftruncate(self.load_file, 0)
        os.lseek(self.load_file, 0, os.SEEK_SET)
        logged = os.fstat(self.log_file).st_size  # by earlier pulls
        ran = run(argv, environment, folder, stdout=self.load_file, stderr=self.log_file)
        # What has left the command's session became the keeper's, beside this worker.
        kill_below(self.keeper, spare=[self.process])
        if not isinstance(ran, float):
            self._say("failed", trouble=ran)
            return
        is_in_log = value[-1] == "stderr"
        output, begin = (self.log_file, logged) if is_in_log else (self.load_file, 0)
        try:
            found = self.finding.read(value, file, output, ran, begin)
        except self.finding.NoValue as error:
            self._say("failed", trouble=trouble(NoNumber(str(error))))
        else:
            self._say("finished", [found], [ran])

    def _say(
        self,
        kind: str,
        *what: Any,
        process: Callable[[], int] = os.getpid,
        leave: Callable[[int], NoReturn] = os._exit,
        **more: Any,
    ) -> None:
        if process() != self.process:
            leave(0)  # a child that the pull forked has returned here: it must not answer
        self.send(messages.encode(kind, self.job, *what, **more))


def _in_turn(runs: list[tuple[int, Sequence[int | None]]]) -> Iterable[tuple[int, int | None]]:
    """Arms and seeds. Arms take turns: what slows this machine down affects all of them alike."""
    if len(runs) == 1:
        return zip(repeat(runs[0][0]), runs[0][1])
    longest = max(len(seeds) for _, seeds in runs)
    return [(arm, seeds[k]) for k in range(longest) for arm, seeds in runs if k < len(seeds)]


def _differences(moments: list[float]) -> list[float]:
    return list(map(sub, moments[1:], moments))


def _module(path: str) -> Any:
    """Load a file of the standard library's kind: it imports nothing of paceline."""
    spec = importlib.util.spec_from_file_location("_paceline_finding", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

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
from .printing import Printed, excerpt_of, joined, print_into, together
from .running import core_variables, device_variables, run
from .threads import tell_threads

_REPORT_SECONDS = 0.02  # a job that takes longer reports in between
_REPORT_CHARACTERS = 12_000  # that were printed: a message is not to get too long for a socket
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
        print_into(log_file)
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
        self.printed = Printed(log_file)
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
                    self._say("failed", trouble=failure, printed=_alone(self.printed.take_all()))
                    continue
            if self.call is None:
                self._command(*work)
            else:
                self._evaluate(self.call, work)

    def _prepare(self, processors: list[Any], *, set_timer: Any = signal.setitimer) -> None:
        """Take away the alarm that an earlier job may have left, and go to these processors."""
        set_timer(signal.ITIMER_REAL, 0)
        self.printed.take()  # by a thread, between two jobs
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
            if self.loaded is None:
                self.printed.forget()  # a process that could not load for all has printed the same
            loaded = self.loaded or load(self.load_file, self.cores)
            if loaded.cores != self.cores:
                tell_threads(self.cores)
            has_devices = bool(self.processors) and isinstance(self.processors[0], str)
            self.call = loaded.call(len(self.processors) if has_devices else self.cores)
        else:
            self.finding = _module(work[-1])
        self.threads = threads()
        self.ready = True
        self.printed.take_all()
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
        printed: list[tuple[int, str]] = []
        before, silent = threads(), self.printed.next_job()
        now = clock()
        moments, report_at = [now], now + _REPORT_SECONDS
        for arm, seed in _in_turn(runs):
            if now > report_at:
                self._say("values", values, _differences(moments), printed=printed)
                values, moments, printed, report_at = [], [now], [], now + _REPORT_SECONDS
            try:
                value = call(arm, seed)
                if type(value) is not float or value - value != 0.0:  # so for nan and infinity
                    value = number(value)
            except BaseException as error:  # exits and interrupts too
                self._fail(error, values, _differences(moments), printed, before)
                return
            began, now = now, clock()
            values.append(value)
            if now - began > silent:
                if text := self.printed.take():
                    printed.append((len(values) - 1, text))
                    if sum(len(text) for _, text in printed) > _REPORT_CHARACTERS:
                        report_at = 0.0
                now = clock()
            moments.append(now)
        left = self._left(before)
        printed = joined([*printed, (len(values) - 1, self.printed.take_all())])
        self._say("finished", values, _differences(moments), left, printed=printed)

    def _fail(
        self,
        error: BaseException,
        values: list[float],
        seconds: list[float],
        printed: list[tuple[int, str]],
        threads_before: int,
    ) -> None:
        """Say what went wrong with the pull after these values."""
        if printed:  # all of it might not fit into one message
            self._say("values", values, seconds, printed=printed)
            values, seconds = [], []
        what = trouble(error)
        printed = [(len(values), text)] if (text := self.printed.take_all()) else []
        self._say("failed", values, seconds, self._left(threads_before), what, printed)

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
        logged = self.printed.at
        ran = run(argv, environment, folder, stdout=self.load_file, stderr=self.printed.file)
        # What has left the command's session became the keeper's, beside this worker.
        kill_below(self.keeper, spare=[self.process])
        streams = excerpt_of(self.load_file), self.printed.take()
        is_in_log = value[-1] == "stderr"
        output, begin = (self.printed.file, logged) if is_in_log else (self.load_file, 0)
        if isinstance(ran, float):
            try:
                found = self.finding.read(value, file, output, ran, begin)
            except self.finding.NoValue as error:
                ran = trouble(NoNumber(str(error)))
            else:
                self._say("finished", [found], [ran], printed=_alone(together(*streams, found)))
                return
        self._say("failed", trouble=ran, printed=_alone(together(*streams)))

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
        more["at"] = self.printed.at
        self.send(messages.encode(kind, self.job, *what, **more))


def _in_turn(runs: list[tuple[int, Sequence[int | None]]]) -> Iterable[tuple[int, int | None]]:
    """Arms and seeds. Arms take turns: what slows this machine down affects all of them alike."""
    if len(runs) == 1:
        return zip(repeat(runs[0][0]), runs[0][1])
    longest = max(len(seeds) for _, seeds in runs)
    return [(arm, seeds[k]) for k in range(longest) for arm, seeds in runs if k < len(seeds)]


def _differences(moments: list[float]) -> list[float]:
    return list(map(sub, moments[1:], moments))


def _alone(text: str) -> list[tuple[int, str]]:
    """What the first pull, or the only one, has printed."""
    return [(0, text)] if text else []


def _module(path: str) -> Any:
    """Load a file of the standard library's kind: it imports nothing of paceline."""
    spec = importlib.util.spec_from_file_location("_paceline_finding", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

"""The worker: does the pulls it is sent, one job after the other."""

import contextlib
import faulthandler
import math
import os
import pickle
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .evaluating import number, trouble
from .killing import adopt_orphans, die_with_parent, kill_below
from .running import core_variables, run

_LARGEST_MESSAGE = 1 << 20
_LARGEST_LOG = 1 << 20  # bytes, after which the log starts anew
_REPORT_SECONDS = 0.02  # a job that takes longer reports in between

Call = Callable[[int, int | None], Any]  # takes an arm and a seed


def be_worker(
    cores: int, path: list[str], channel_file: int, log_file: int, load_file: int
) -> NoReturn:
    """Be a worker for pulls on `cores` cores, which finds modules on `path`."""
    try:
        os.setsid()
        adopt_orphans()
        die_with_parent()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for stream in (1, 2):
            os.dup2(log_file, stream)
        for file in (channel_file, log_file, load_file):
            os.set_inheritable(file, False)
        faulthandler.enable()
        os.environ.update(core_variables(cores))
        sys.path[:] = path
        Worker(socket.socket(fileno=channel_file), cores, log_file, load_file).serve()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


class Worker:
    """Does the pulls it is sent, and reports over the channel how they went."""

    def __init__(self, channel: socket.socket, cores: int, log_file: int, load_file: int) -> None:
        self.channel = channel
        self.cores = cores
        self.log_file = log_file
        self.load_file = load_file  # the function and the arms; for commands, what they print
        self.call: Call | None = None
        self.ready = False
        self.processors: list[int] = []
        self.process = os.getpid()

    def serve(self) -> None:
        """Work until the driver closes the channel."""
        while message := self.channel.recv(_LARGEST_MESSAGE):
            processors, kind, work = pickle.loads(message)
            self._pin(processors)
            if os.fstat(self.log_file).st_size > _LARGEST_LOG:
                os.ftruncate(self.log_file, 0)
            if not self.ready:
                try:
                    self._get_ready(kind)
                except Exception as error:
                    self._say("failed", [], [], trouble(error, "could not be loaded"))
                    continue
            if self.call is None:
                self._command(*work)
            else:
                self._evaluate(self.call, work)

    def _pin(self, processors: list[int]) -> None:
        """Run on these processors only, with every thread: running threads keep their mask."""
        if processors and processors != self.processors:
            for thread in os.listdir("/proc/self/task"):
                with contextlib.suppress(OSError):
                    os.sched_setaffinity(int(thread), processors)
            self.processors = processors

    def _get_ready(self, kind: str) -> None:
        if kind == "function":
            self.call = self._load()
        self.ready = True
        self._say("began")  # a pull's timeout starts here

    def _load(self) -> Call:
        """Load the function and the arms, which the driver pickled into a file."""
        size = os.fstat(self.load_file).st_size
        evaluate, arms, takes_seed, takes_cores = pickle.loads(os.pread(self.load_file, size, 0))
        fixed = {"cores": self.cores} if takes_cores else {}
        if takes_seed:
            return lambda arm, seed: evaluate(arms[arm], seed=seed, **fixed)
        return lambda arm, _: evaluate(arms[arm], **fixed)

    def _evaluate(self, call: Call, runs: list[tuple[int, Sequence[int | None]]]) -> None:
        """Evaluate a job; the first failure ends it, and the driver sends the rest again."""
        values: list[float] = []
        seconds: list[float] = []
        clock = time.perf_counter
        reported = start = clock()
        # The arms take turns: what slows this machine down affects all of them alike.
        for turn in range(max(len(seeds) for _, seeds in runs)):
            for arm, seeds in runs:
                if turn >= len(seeds):
                    continue
                if start - reported > _REPORT_SECONDS:
                    self._say("values", values, seconds)
                    values, seconds, reported = [], [], start
                try:
                    value = call(arm, seeds[turn])
                    if type(value) is not float or not math.isfinite(value):
                        value = number(value)
                except Exception as error:
                    self._say("failed", values, seconds, trouble(error))
                    return
                end = clock()
                values.append(value)
                seconds.append(end - start)
                start = end
        self._say("finished", values, seconds)

    def _command(
        self, argv: Sequence[str], environment: dict[str, str], folder: str | None
    ) -> None:
        """Run a command to its end; the driver reads the value from the file with its output."""
        os.ftruncate(self.load_file, 0)
        os.lseek(self.load_file, 0, os.SEEK_SET)
        ran = run(argv, environment, folder, stdout=self.load_file, stderr=self.log_file)
        kill_below(os.getpid())  # what has left the command's session
        if isinstance(ran, float):
            self._say("ran", ran)
        else:
            self._say("failed", [], [], ran)

    def _say(self, *message: Any) -> None:
        if os.getpid() != self.process:
            os._exit(0)  # a child that the pull forked has returned here: it must not answer
        self.channel.send(pickle.dumps(message))

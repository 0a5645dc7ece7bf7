"""What the driver holds of one worker process."""

import pickle
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from paceline.engines.jobs import Job
from paceline.engines.local.answers import Turn
from paceline.engines.local.descriptors import file_with, pair
from paceline.engines.local.outputs import Outputs
from paceline.engines.local.process.orders import LARGEST_MESSAGE
from paceline.engines.local.processors import Place


@dataclass(eq=False)
class Handle:
    """A worker: the channel to it, its files, and what it is doing."""

    number: int
    cores: int
    channel: socket.socket
    outputs: Outputs
    processors: list[Place] = field(default_factory=list)  # or devices
    turn: Turn | None = None  # the job it has
    spawned: float = field(default_factory=time.monotonic)
    loading_seconds: float = 0.0
    ready: bool = False  # whether it has loaded what it needs
    listening: bool = True
    ended: bool = False  # not by its job: what it still says does not count
    wrong: str = ""  # what it said that makes no sense; it is ended, and its pull has failed
    served: set[int] = field(default_factory=set)  # the arms whose pulls have run in it

    @classmethod
    def create(cls, number: int, cores: int, *, command: bool) -> tuple["Handle", socket.socket]:
        """The handle of a worker to be started, and the other end of its channel."""
        mine, its = pair()
        return cls(number, cores, mine, Outputs.create(command=command)), its

    @property
    def job(self) -> Job | None:
        """The job it has."""
        return None if self.turn is None else self.turn.job

    def send(self, job: Job, order: tuple[str, Any]) -> None:
        """Send it a job, to run on its `processors`."""
        self.turn = Turn(job, began=self.ready)
        if (
            self.outputs.stdout is None
        ):  # a command is a process of its own, and leaves nothing in this one
            self.served.update(run.arm for run in job.runs)
        self.outputs.begin()
        message = pickle.dumps((job.number, self.processors, *order))
        try:
            if len(message) <= LARGEST_MESSAGE:
                self.channel.send(message)
            else:
                with file_with(message) as file:
                    socket.send_fds(self.channel, [b"in a file"], [file.fileno()])
        except (BrokenPipeError, ConnectionResetError):  # the supervisor reports its end
            self.ended |= self.ready  # it was idle then: this job has nothing to do with it

    def loaded(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Note that it has loaded what it needs."""
        self.ready = True
        self.loading_seconds = clock() - self.spawned

    def close(self) -> None:
        """Close the channel and the files."""
        self.channel.close()
        self.outputs.close()

"""The supervisor of a race: it starts workers itself, or has templates fork them.

The first worker of a function has a template started, for one core, and all workers wait for it. If
it fits any core count, all are forked from it; else there is a template for each core count. If
nothing can be forked, workers load by themselves, as those of commands always do.
"""

import contextlib
import json
import os
import signal
import socket
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .killing import adopt_orphans, tell, wake_with_parent
from .outside import may_be_from_outside
from .supervisor import LARGEST_MESSAGE, Supervisor
from .template import Cast, be_template
from .watching import fork, start_clean

_MOST_KILLED = 3  # templates; then workers load by themselves
_LOADING_SECONDS = 50.0  # the driver gives workers a minute, or more

_TEMPLATE_KILLED = {"status": -9, "why": "template", "text": ""}


def main(control_file: int, driver: int, group: str) -> None:
    """Be the supervisor until the driver is gone, then end everything.

    `driver` is a pidfd of it, or -1; `group` the folder of the control group to enter, or "".
    """
    start_clean()
    os.setsid()  # a Ctrl-C in the terminal is for the driver
    adopt_orphans()
    wake_with_parent()
    if group:
        with contextlib.suppress(OSError), open(f"{group}/cgroup.procs", "w") as stream:
            stream.write("0")
    above = [] if driver < 0 else [driver]
    supervisor = RaceSupervisor(socket.socket(fileno=control_file), above)
    try:
        supervisor.serve()
    except Exception:
        traceback.print_exc()
    finally:
        supervisor.end()


@dataclass(eq=False)
class Template:
    """What the supervisor holds of a template."""

    process: int
    channel: socket.socket
    cores: int
    fits_any: bool | None  # None: not known yet
    ready: bool = False
    over: bool = False  # whether it is about to end by itself
    silent: bool = False  # whether it cannot say anything any more
    began: float = field(default_factory=time.monotonic)
    workers: set[int] = field(default_factory=set)

    def suits(self, cores: int) -> bool:
        """Whether a worker for so many cores comes from here, or may do so."""
        return not self.over and (self.cores == cores or self.fits_any is not False)

    def tell(self, order: dict[str, Any], files: list[int]) -> None:
        """Pass on an order. A template that takes none is killed."""
        try:
            socket.send_fds(self.channel, [json.dumps(order).encode()], files)
        except OSError:
            tell(self.process, signal.SIGKILL)

    def hear(self) -> list[dict[str, Any]]:
        """What it says. User code has run there: one that says what makes no sense is killed."""
        said: list[dict[str, Any]] = []
        try:
            while message := self.channel.recv(LARGEST_MESSAGE):
                said.append(_checked(json.loads(message)))
            self.silent = True
        except (BlockingIOError, ConnectionResetError):
            pass
        except (TypeError, ValueError, RecursionError):
            tell(self.process, signal.SIGKILL)
        return said


def _checked(news: Any) -> dict[str, Any]:
    kinds = {name: type(value) for name, value in dict(news).items()}
    if "ended" in kinds and kinds != {"ended": int, "status": int, "why": str, "text": str}:
        raise ValueError(news)
    return dict(news)


class RaceSupervisor(Supervisor):
    """A supervisor that has templates, if there is something to load."""

    def __init__(self, control: socket.socket, above: list[int]) -> None:
        super().__init__(control, above)
        self.templates: dict[int, Template] = {}  # by pid
        self.waiting: list[tuple[dict[str, Any], list[int]]] = []  # for a template that loads
        self.fits_any = True  # as long as nothing else is known
        self.starts_templates = bool(above)  # their keepers cannot do without pidfds
        self.killed = 0  # templates

    def spawn(self, order: dict[str, Any], files: list[int]) -> None:
        """Start a worker: as a fork of a template, if that is possible."""
        template = self._template(order, files) if order["share"] else None
        if template is None:
            super().spawn(order, files)
        elif not template.ready:
            self.waiting.append((order, files))
        else:
            template.workers.add(order["spawn"])
            template.tell(order, files)
            _close(files)

    def kill(self, worker: int) -> None:
        """Have a worker ended, which may not have been started yet."""
        super().kill(worker)
        for template in self.templates.values():
            if worker in template.workers:
                template.tell({"kill": worker}, [])
        for one in [one for one in self.waiting if one[0]["spawn"] == worker]:
            self.waiting.remove(one)
            _close(one[1])
            self.say({"ended": worker, "status": -9, "why": "exit", "text": ""})
            self._give_up_hanging()

    def end(self) -> None:
        """End everything; nothing is started any more."""
        self.waiting.clear()
        super().end()

    def attend(self, ready: set[int]) -> None:
        """Hear what templates say."""
        for template in list(self.templates.values()):
            if template.channel.fileno() in ready:
                self._take_in(template)

    def spared(self) -> list[int]:
        """Keepers and templates."""
        return [*self.keepers, *self.templates]

    def leave(self) -> None:
        """In a child: close what is not its own."""
        super().leave()
        for template in self.templates.values():
            template.channel.close()
        for _, files in self.waiting:
            _close(files)

    def bury(self, ended: dict[int, int]) -> None:
        """Tell of workers that have ended, also of those whose template has."""
        lost = [(self.templates.pop(one), ended[one]) for one in ended if one in self.templates]
        super().bury(ended)
        if lost:
            self.kill_orphans()
        for template, code in lost:
            self._replace(template, code)

    def _template(self, order: dict[str, Any], files: list[int]) -> Template | None:
        """The template for a worker; a new one, if there is none and there may be one."""
        for template in self.templates.values():
            if template.suits(order["cores"]):
                return template
        return self._start(order, files) if self.starts_templates else None

    def _start(self, order: dict[str, Any], files: list[int]) -> Template | None:
        supervisor = os.getpid()
        cores = 1 if self.fits_any else order["cores"]
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            process = fork()
        except OSError:
            mine.close()
            its.close()
            return None
        if process == 0:
            mine.close()
            self.leave()
            self.reports.close()
            be_template(Cast(supervisor, self.above, its, cores, order["path"], files))
        its.close()
        mine.setblocking(False)
        self.watch.add(mine.fileno())
        template = Template(process, mine, cores, None if self.fits_any else False)
        self.templates[process] = template
        return template

    def _take_in(self, template: Template) -> None:
        """Take in what a template says: that it has loaded, or that a worker has ended."""
        said = template.hear()
        if template.silent:
            self.watch.remove(template.channel.fileno())
        for news in said:
            if news.get("loaded"):
                template.ready = True
                if template.fits_any is None:
                    template.fits_any = self.fits_any = bool(news.get("any"))
                self._start_waiting(self.spawn)
            elif "loaded" in news:
                template.over = True
                self.starts_templates &= not news.get("why")
                self._start_waiting(super().spawn)
            elif news.get("ended") in template.workers:
                template.workers.remove(news["ended"])
                self.say(news)

    def _start_waiting(self, spawn: Callable[[dict[str, Any], list[int]], None]) -> None:
        for _ in range(len(self.waiting)):  # those that have to wait for another one wait again
            spawn(*self.waiting.pop(0))

    def _give_up_hanging(self) -> None:
        """Kill templates that load for so long that the driver has given up those who wait."""
        for template in self.templates.values():
            if not template.ready and time.monotonic() - template.began > _LOADING_SECONDS:
                self.starts_templates = False
                tell(template.process, signal.SIGKILL)

    def _replace(self, template: Template, code: int) -> None:
        """A template has ended. Its workers have, too; those that wait for it go elsewhere."""
        self._take_in(template)
        template.channel.close()
        if not template.over:
            self.killed += 1
            by_itself = not template.ready and not may_be_from_outside(-code)
            self.starts_templates &= self.killed < _MOST_KILLED and not by_itself
        for worker in template.workers:
            self.say({"ended": worker, **_TEMPLATE_KILLED})
        self._start_waiting(self.spawn)


def _close(files: list[int]) -> None:
    for file in files:
        os.close(file)

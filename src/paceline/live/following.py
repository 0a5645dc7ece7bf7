"""A thread that follows a journal while somebody watches, and publishes what is new."""

import threading
import time
from collections.abc import Callable

from paceline.live.changes import Shown
from paceline.live.pace import POLL_SECONDS, Pace
from paceline.live.watching import Status, Watch

_LAST_SECONDS = 2.0  # how long the end of a race that is over may take to show


class Following(threading.Thread):
    """Looks when there is news, it can be afforded, and somebody watches.

    It is a daemon: to read a long journal may take a while, and must not hold up the end.
    """

    def __init__(self, watch: Watch, publish: Callable[[Shown], None]) -> None:
        super().__init__(name="following", daemon=True)
        self.shown = Shown(Status("reading", f"Reading {watch.path}"))
        self.pace = Pace()
        self.watched = threading.Event()  # set while somebody watches
        self._watch, self._publish = watch, publish
        self._lock = threading.Lock()

    def has_news(self) -> bool:
        """Whether the journal is not as it was at the last look."""
        return bool(self._watch.news())

    def run(self) -> None:
        """Follow the journal as long as the process lives."""
        while self.watched.wait():
            self._look(hurry=False)
            time.sleep(POLL_SECONDS)

    def finish(self) -> None:
        """Look once more: the race is over, and its journal shows that, or will in a moment."""
        until = time.monotonic() + _LAST_SECONDS
        while self.watched.is_set() and time.monotonic() < until:
            self._look(hurry=True)
            if self.shown.status.state != "running":
                return
            time.sleep(POLL_SECONDS)

    def _look(self, *, hurry: bool) -> None:
        with self._lock:
            news = self._watch.news()
            if not news or not (hurry or news == "turned" or self.pace.is_due()):
                return
            self.pace.begin()
            with self.pace.spending():
                sight = self._watch.look()
                self.shown = self.shown.then(sight.status, sight.parts)
            if sight.anew:
                self.pace.begin()  # to read what was there already is no part of following it
            self.pace.cores = sight.cores
            self._publish(self.shown)

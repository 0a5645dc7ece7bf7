"""The loop of a race in a thread of its own, for races that are asked and told."""

import contextlib
import threading
from collections import deque
from collections.abc import Iterator

from paceline.engines.manual import Closed, ManualWorkers
from paceline.races.running import Host, run_race
from paceline.races.session import Session
from paceline.races.settings import Settings
from paceline.result import Result
from paceline.story.standing import Standing


class Loop:
    """Runs a race until it ends, fails or is closed. It does not know the `Race` that it is for.

    Otherwise a race that was forgotten would never end: its thread would hold on to it.
    """

    def __init__(self, settings: Settings, workers: ManualWorkers) -> None:
        self.result: Result | None = None
        self.error: BaseException | None = None
        self.was_closed = False  # before it ended
        self._settings = settings
        self._workers = workers
        self._session: Session | None = None
        self._last: Standing | None = None
        self._warnings: deque[str] = deque()  # that nobody has heard yet
        # A daemon: the interpreter may end without it, and closes it then.
        self._thread = threading.Thread(target=self._run, name="paceline.Race", daemon=True)

    def start(self) -> None:
        """Begin the race."""
        self._thread.start()

    def close(self) -> None:
        """End the race, if it is under way, and its thread. What was told is recorded before."""
        if not self._thread.is_alive():
            return
        self._workers.stop()
        if not self.is_here:  # a callback may have dropped the last reference to the race
            self._thread.join()

    @property
    def is_here(self) -> bool:
        """Whether it is the loop itself that asks, in a callback."""
        return threading.current_thread() is self._thread

    def warnings(self) -> Iterator[str]:
        """What the race has to say, once."""
        while self._warnings:
            yield self._warnings.popleft()

    def standing(self) -> Standing:
        """How the race stands; only the loop may ask while it is under way."""
        if self.result is not None:
            return self.result.standing
        if self._last is not None:
            return self._last
        assert self._session is not None
        return self._session.teller.standing(self._session.phase)

    def _run(self) -> None:
        try:
            self.result = run_race(self._settings, Host(self._warnings.append, self._begin))
        except Closed:
            self.was_closed = True
        except BaseException as error:  # whoever asks or tells next is to hear of it
            self.error = error
        finally:
            if self._session is not None and self.result is None:
                with contextlib.suppress(Exception):  # of the error, if there was one
                    self._last = self.standing()
            self._workers.finish()

    def _begin(self, session: Session) -> None:
        self._session = session

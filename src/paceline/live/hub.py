"""Between the thread that follows a journal and those who watch: who is there, and what is new."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import asdict

from paceline.live.changes import Shown, Viewer, as_json
from paceline.live.following import Following
from paceline.live.watching import Watch

MOST_VIEWERS = 100
_BEAT_SECONDS = 5.0  # a viewer that hears nothing for longer knows that the connection is lost
_FIRST_SECONDS = 0.7  # how long a page waits for a look; to read a long journal takes longer


class Hub:
    """One journal that is shown to several viewers; made inside the server's event loop."""

    def __init__(self, watch: Watch) -> None:
        self.is_closed = False
        self.viewers = 0
        self.following = Following(watch, self._publish)
        self.shown = self.following.shown
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self.following.start()

    def close(self) -> None:
        """Tell everybody that this is the end; any thread or signal handler may call it."""
        self._soon(self._close)

    async def latest(self) -> Shown:
        """What is shown now, after a look if nobody has watched for a while."""
        if self.viewers == 0:
            with self._watching():
                await self._wait(_FIRST_SECONDS)
        return self.shown

    async def events(self, place: str) -> AsyncIterator[str]:
        """Server-sent events for a page that shows what was named `place`."""
        server, _, version = place.partition(".")
        if server != self.shown.server or not version.isdecimal():
            yield _event("reload", {})  # it is another server's page
            return
        viewer = Viewer(int(version))
        with self._watching():
            while True:
                shown, is_last = self.shown, self.is_closed
                if shown.version and not viewer.version:
                    yield _event("reload", {})  # it could only say that it waits
                    return
                lacks = viewer.lacks(shown)
                status = asdict(shown.status) | {"pause": self.following.pace.pause}
                if lacks:
                    yield f"event: update\nid: {shown.place}\ndata: {lacks}\n\n"
                yield _event("bye" if is_last else "status", status)
                if is_last:
                    return
                if self.shown is shown and not self.is_closed:
                    await self._wait(_BEAT_SECONDS)

    @contextlib.contextmanager
    def _watching(self) -> Iterator[None]:
        self.viewers += 1
        self.following.watched.set()
        try:
            yield
        finally:
            self.viewers -= 1
            if not self.viewers:
                self.following.watched.clear()

    async def _wait(self, seconds: float) -> None:
        """Until there is something new, or so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()

    def _publish(self, shown: Shown) -> None:
        self._soon(lambda: self._take(shown))

    def _take(self, shown: Shown) -> None:
        self.shown = shown
        self._wake()

    def _close(self) -> None:
        self.is_closed = True
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _soon(self, call: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it all viewers
            self._loop.call_soon_threadsafe(call)


def _event(name: str, plain: object) -> str:
    return f"event: {name}\ndata: {as_json(plain)}\n\n"

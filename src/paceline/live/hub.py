"""Between the thread that follows a journal and those who watch: who is there, and what is new."""

import asyncio
import contextlib
import zlib
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
        if not self.viewers and self.following.has_news():
            with self._watching():
                await self._wait(_FIRST_SECONDS)
        return self.shown

    async def events(self, place: str, *, packed: bool) -> AsyncIterator[bytes]:
        """Server-sent events for a page that shows what was named `place`."""
        server, _, version = place.partition(".")
        is_mine = server == self.shown.server and version.isdecimal()
        viewer = Viewer(int(version) if is_mine else -1)
        pack = _packer() if packed else str.encode
        with self._watching():
            while True:
                shown, is_last = self.shown, self.is_closed
                # A page of another server; or one that could only say that it waits.
                is_old = viewer.version < 0 or shown.version > 0 == viewer.version
                with self.following.pace.spending():
                    text = _event("reload", {}) if is_old else self._news_for(viewer, shown)
                    data = pack(text)
                self.following.pace.sends(len(text))
                yield data
                if is_last or is_old:
                    return
                if self.shown is shown and not self.is_closed:
                    await self._wait(_BEAT_SECONDS)

    def _news_for(self, viewer: Viewer, shown: Shown) -> str:
        lacks = viewer.lacks(shown)
        update = f"event: update\nid: {shown.place}\ndata: {lacks}\n\n" if lacks else ""
        status = asdict(shown.status) | {"pause": self.following.pace.pause}
        return update + _event("bye" if self.is_closed else "status", status)

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


def _packer() -> Callable[[str], bytes]:
    """Compresses a stream of texts, each so that it can be read when it comes."""
    one = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return lambda text: one.compress(text.encode()) + one.flush(zlib.Z_SYNC_FLUSH)


def _event(name: str, plain: object) -> str:
    return f"event: {name}\ndata: {as_json(plain)}\n\n"

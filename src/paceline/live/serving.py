"""The server of a live page, and its end."""

import socket
import threading
from pathlib import Path
from types import FrameType
from typing import IO

import uvicorn

from paceline.live.app import make_app
from paceline.live.guard import Door
from paceline.live.hub import Hub
from paceline.live.watching import Watch

_END_SECONDS = 2  # for viewers to hear that this is the end


def serve(journal: Path, sock: socket.socket, token: str, lives: IO[bytes] | None = None) -> None:
    """Serve the page of a journal until `lives` ends, or a signal, which is then raised again."""
    host, port = sock.getsockname()[:2]
    server = _Server(Watch(journal), Door(host, port, token))
    if lives is not None:
        threading.Thread(target=server.end_with, args=(lives,), daemon=True).start()
    server.run(sockets=[sock])


class _Server(uvicorn.Server):
    """Ends at once, though viewers wait for what comes next."""

    def __init__(self, watch: Watch, door: Door) -> None:
        # No log of requests: the first one of a viewer has the token.
        super().__init__(
            uvicorn.Config(
                make_app(watch, door, self._begun),
                log_config=None,
                access_log=False,
                server_header=False,
                ws="none",
                timeout_graceful_shutdown=_END_SECONDS,
            )
        )
        self._hub: Hub | None = None

    def _begun(self, hub: Hub) -> None:
        self._hub = hub

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End because of a signal."""
        self._close()
        super().handle_exit(sig, frame)

    def end_with(self, lives: IO[bytes]) -> None:
        """End when a stream does: it ends with the process that holds its other end."""
        lives.read()
        if self._hub is not None:
            self._hub.following.finish()
        self._close()
        self.should_exit = True

    def _close(self) -> None:
        if self._hub is not None:
            self._hub.close()

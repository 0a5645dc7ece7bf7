"""The server of a live page: its socket, its token, and its end."""

import contextlib
import os
import secrets
import socket
import threading
import zlib
from pathlib import Path
from types import FrameType
from typing import IO

import uvicorn

from paceline.errors import InvalidInput
from paceline.live import LOOPBACK
from paceline.live.app import make_app
from paceline.live.guard import Door, is_loopback
from paceline.live.hub import Hub
from paceline.live.watching import Watch

_PORTS = range(20_000, 30_000)  # below those that systems give to whoever asks for any
_SHORTEST_TOKEN = 8
_END_SECONDS = 2  # for viewers to hear that this is the end


def serve(journal: Path, sock: socket.socket, token: str, lives: IO[bytes] | None = None) -> None:
    """Serve the page of a journal until `lives` ends, or a signal, which is then raised again."""
    host, port = sock.getsockname()[:2]
    server = _Server(Watch(journal), Door(host, port, token))
    if lives is not None:
        threading.Thread(target=server.end_with, args=(lives,), daemon=True).start()
    server.run(sockets=[sock])


def listen(journal: Path, host: str = LOOPBACK, port: int | None = None) -> socket.socket:
    """A socket for the page of a journal: if nobody took it, on the same port each time.

    So an address that is open in a browser, or the end of a tunnel, is still right after a restart.
    """
    if port is not None and not 0 <= port < 2**16:
        raise InvalidInput(f"--port must be from 0 (any that is free) to 65535, got {port}")
    usual = _PORTS[zlib.crc32(os.fsencode(journal.absolute())) % len(_PORTS)]
    try:
        if port is None:
            with contextlib.suppress(OSError):
                return _bound(host, usual)
        return _bound(host, port or 0)
    except OSError as error:
        where = f"{host}, port {port}" if port else host
        raise InvalidInput(
            f"cannot listen on {where}: {error.strerror}. Give another --host or --port"
        ) from error


def _bound(host: str, port: int) -> socket.socket:
    family, kind, _, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    sock = socket.socket(family, kind)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(128)
    except OSError:
        sock.close()
        raise
    return sock


def token_for(host: str, given: str | None = None) -> str:
    """The token that a viewer needs: on loopback none, unless one is given.

    >>> token_for("127.0.0.1"), token_for("127.0.0.1", "correct horse"), len(token_for("0.0.0.0"))
    ('', 'correct horse', 22)
    """
    if given is None:
        return "" if is_loopback(host) else new_token()
    if len(given) < _SHORTEST_TOKEN:
        raise InvalidInput(f"a token must have at least {_SHORTEST_TOKEN} characters")
    return given


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(16)


def address(sock: socket.socket, token: str) -> str:
    """What to type into a browser, for whoever may see the token."""
    host, port = sock.getsockname()[:2]
    name = socket.gethostname() if host in ("0.0.0.0", "::") else ""
    return Door(host, port, token).address(name)


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

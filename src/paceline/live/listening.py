"""Where a live page is found: its socket, its token, its address."""

import contextlib
import os
import secrets
import socket
import zlib
from pathlib import Path

from paceline.errors import InvalidInput
from paceline.live import LOOPBACK
from paceline.live.guard import Door, is_loopback

TOKEN = "PACELINE_TOKEN"  # the variable that may hold one
_PORTS = range(20_000, 30_000)  # below those that systems give to whoever asks for any
_SHORTEST_TOKEN = 8


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

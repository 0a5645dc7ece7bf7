"""Who may see a page: requests are checked, and answers tell browsers to be strict."""

import hashlib
import hmac
import ipaddress
import re
import urllib.parse
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_STRICT = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",  # pages have their own
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_WITHOUT_TOKEN = "Open the whole address that paceline printed: it ends in a token"
_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class Door:
    """An address, and what it takes to come in: a token, unless it is empty."""

    host: str
    port: int
    token: str = ""

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def cookie(self) -> str:
        """The name of the cookie: cookies of a host are the same for all its ports."""
        return f"paceline-{self.port}"

    @property
    def pass_text(self) -> str:
        """What the cookie holds: it shows that its owner had the token, without giving it away."""
        return hmac.new(self.token.encode(), b"paceline live", hashlib.sha256).hexdigest()

    def address(self, name: str = "") -> str:
        """What to type into a browser."""
        host = name or ("localhost" if self.is_loopback else self.host)
        text = f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"
        return text + (f"?token={urllib.parse.quote(self.token, safe='')}" if self.token else "")


def is_loopback(host: str) -> bool:
    """Whether an address is of this machine alone.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Lets in who may come in, and sees that answers are strict."""

    def __init__(self, app: App, door: Door) -> None:
        self._app, self._door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, as ASGI has it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def strictly(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = {name.encode(): text.encode() for name, text in _STRICT.items()}
                message["headers"] = list((own | dict(message["headers"])).items())
            await send(message)

        headers = {
            name.decode("latin-1"): text.decode("latin-1") for name, text in scope["headers"]
        }
        refusal = self._refusal(scope["method"], headers)
        if refusal:
            await _answer(strictly, *refusal)
        elif self._door.token and self._has_token(scope["query_string"]):
            await _answer(strictly, 303, "", self._welcome())
        elif not self._door.token or self._has_pass(headers):
            await self._app(scope, receive, strictly)
        else:
            await _answer(strictly, 403, _WITHOUT_TOKEN)

    def _refusal(self, method: str, headers: dict[str, str]) -> tuple[int, str] | None:
        if method not in ("GET", "HEAD"):
            return 405, "Nothing can be changed here"
        if self._door.is_loopback:
            # A page elsewhere may have its name resolved to this machine; but that name stays.
            name = re.sub(r":\d*$", "", headers.get("host", "")).lower()
            if name not in (*_LOCAL_NAMES, self._door.host):
                return 403, "This page is at localhost or 127.0.0.1 only"
        site, mode = headers.get("sec-fetch-site", ""), headers.get("sec-fetch-mode", "")
        if site in ("cross-site", "same-site") and mode != "navigate":
            return 403, "Pages of other sites may not read this"
        return None

    def _has_pass(self, headers: dict[str, str]) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._door.cookie)
        except CookieError:
            return False
        return found is not None and _is_same(found.value, self._door.pass_text)

    def _has_token(self, query: bytes) -> bool:
        given = urllib.parse.parse_qs(query.decode("latin-1")).get("token", [""])
        return _is_same(given[-1], self._door.token)

    def _welcome(self) -> dict[str, str]:
        """To the page itself, with a cookie instead of the token in its address."""
        cookie = f"{self._door.cookie}={self._door.pass_text}; HttpOnly; SameSite=Lax; Path=/"
        return {"location": "./", "set-cookie": cookie}


def _is_same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())  # takes as long for all


async def _answer(
    send: Send, status: int, text: str, headers: dict[str, str] | None = None
) -> None:
    plain = {"content-type": "text/plain; charset=utf-8"} | (headers or {})
    pairs = [(name.encode(), value.encode()) for name, value in plain.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": text.encode()})

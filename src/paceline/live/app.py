"""The server's two addresses: the page, and the events that keep it up to date."""

import base64
import contextlib
import hashlib
import html
import re
from collections.abc import AsyncIterator, Callable
from functools import cache
from importlib import resources
from string import Template

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from paceline.live.changes import as_json
from paceline.live.guard import Door, Guard
from paceline.live.hub import MOST_VIEWERS, Hub
from paceline.live.watching import Watch
from paceline.report import page

_POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')


def make_app(watch: Watch, door: Door, begun: Callable[[Hub], None]) -> Starlette:
    """The page about a journal; `begun` is told of the hub when the server runs."""
    hubs: list[Hub] = []

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        hubs.append(Hub(watch))
        begun(hubs[0])
        yield

    async def show(_: Request) -> Response:
        shown = await hubs[0].latest()
        script = _own("live.js").replace('"PLACE"', as_json(shown.place))
        if shown.parts is None:
            text = _waiting(shown.status.text, script)
        else:
            text = page(shown.parts, live=script)
        found = _POLICY.search(text)
        assert found is not None
        # A page cannot forbid frames itself.
        policy = f"{found[1]}; frame-ancestors 'none'"
        return HTMLResponse(text, headers={"content-security-policy": policy})

    async def events(request: Request) -> Response:
        if hubs[0].viewers >= MOST_VIEWERS:
            return Response("There are too many viewers", 503)
        packed = "gzip" in request.headers.get("accept-encoding", "")
        headers = {"content-encoding": "gzip"} if packed else {}
        told = hubs[0].events(request.query_params.get("since", ""), packed=packed)
        return StreamingResponse(told, headers=headers, media_type="text/event-stream")

    async def icon(_: Request) -> Response:
        return Response(status_code=204)

    return Starlette(
        routes=[Route("/", show), Route("/events", events), Route("/favicon.ico", icon)],
        middleware=[Middleware(Guard, door=door), Middleware(GZipMiddleware, compresslevel=1)],
        lifespan=lifespan,
    )


def _waiting(text: str, script: str) -> str:
    """The page while there is nothing to show."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = Template(_own("waiting.html"))
    return template.substitute(digest=digest, text=html.escape(text), script=script)


@cache
def _own(name: str) -> str:
    return resources.files("paceline.live").joinpath(name).read_text(encoding="utf-8")

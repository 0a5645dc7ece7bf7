"""Servers of live pages in processes of their own, and viewers that are no browsers."""

import contextlib
import http.client
import json
import re
import signal
import subprocess
import sys
import urllib.parse
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any

SECONDS = 60.0  # until a test gives up: machines are loaded


@dataclass
class Answer:
    """A whole answer."""

    status: int
    headers: Message
    text: str


class Server:
    """A running `paceline live`; `url` is what it printed."""

    def __init__(self, process: "subprocess.Popen[str]", url: str) -> None:
        self.process = process
        self.url = url
        self.port = urllib.parse.urlsplit(url).port or 0
        self.connections = contextlib.ExitStack()

    def get(self, path: str = "/", **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def ask(self, method: str, path: str = "/", **headers: str) -> Answer:
        with contextlib.closing(self.connect()) as connection:
            names = {name.replace("_", "-"): text for name, text in headers.items()}
            connection.request(method, path, headers=names | {"Connection": "close"})
            with connection.getresponse() as answer:
                return Answer(answer.status, answer.headers, answer.read().decode())

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)

    def page(self) -> str:
        return self.get().text

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(SECONDS)


class Viewer:
    """Reads the events for a page as it was served; loads the page again if it is told to."""

    def __init__(self, server: Server, page: str | None = None, *, packed: bool = False) -> None:
        self._server, self._packed = server, packed
        self._connect(server.page() if page is None else page)

    def _connect(self, page: str) -> None:
        found = re.search(r'place = "([^"]*)"', page)
        assert found is not None
        server = self._server
        connection = server.connections.enter_context(contextlib.closing(server.connect()))
        headers = {"Accept-Encoding": "gzip"} if self._packed else {}
        connection.request("GET", f"/events?since={found[1]}", headers=headers)
        self._answer = server.connections.enter_context(connection.getresponse())
        self._unpack = zlib.decompressobj(16 + zlib.MAX_WBITS) if self._packed else None
        self._text = ""

    def next(self) -> tuple[str, Any]:
        while "\n\n" not in self._text:
            data = self._answer.read1(1 << 16)
            if not data:
                return "nothing", None
            self._text += (self._unpack.decompress(data) if self._unpack else data).decode()
        event, self._text = self._text.split("\n\n", 1)
        fields = dict(line.split(": ", 1) for line in event.splitlines())
        return fields["event"], json.loads(fields["data"])

    def until(self, name: str, state: str = "") -> Any:
        """The next event of that name, and, of a status, with that state."""
        while True:
            event, data = self.next()
            assert event != "nothing", f"the server went away before it sent {name} {state}"
            if event == "reload" != name:
                self._connect(self._server.page())
            elif event == name and (not state or data["state"] == state):
                return data

    def close(self) -> None:
        self._answer.close()


@contextlib.contextmanager
def serving(journal: Path, *words: str, **environment: str) -> Iterator[Server]:
    """A server for this journal, which must end well when it is told to."""
    process = subprocess.Popen(
        [sys.executable, "-m", "paceline", "live", str(journal), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment or None,
    )
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        found = re.search(r"http://\S+", first)
        assert found is not None, first + process.communicate()[1]
        server = Server(process, found[0])
        with server.connections:
            yield server
        if process.poll() is None:
            code = server.end()
            assert process.stderr is not None
            assert (code, process.stderr.read()) == (0, "")
    finally:
        process.kill()
        process.communicate()

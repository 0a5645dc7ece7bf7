"""The worker of a step: evaluates the pulls that come on its stdin, and answers on its stdout.

`python -P worker.py CORES FOLDER` runs on a node. It uses the standard library and the worker of
local processes, which is in FOLDER: neither imports paceline. Each message follows its length, in
eight bytes. The first one says where modules are; the second has the function and the arms.
"""

import faulthandler
import importlib
import importlib.util
import json
import os
import struct
import sys
import traceback
from typing import Any

LENGTH = struct.Struct("<Q")
HELLO = b"hello"


class Channel:
    """Looks to the local worker like the socket that it usually has."""

    def __init__(self, source: int, target: int) -> None:
        self._source = source
        self._target = target

    def recvmsg(self, *_: int) -> tuple[bytes, list[Any], int, None]:
        """The next message; an empty one when the driver has closed the stream."""
        return self.receive(), [], 0, None

    def receive(self, *, read: Any = os.read) -> bytes:
        """The next message."""
        head = self._exactly(LENGTH.size, read)
        return self._exactly(LENGTH.unpack(head)[0], read) if head else b""

    def send(self, message: bytes, *, write: Any = os.write) -> None:
        """Send a message."""
        left = memoryview(LENGTH.pack(len(message)) + message)
        while left:
            left = left[write(self._target, left) :]

    def _exactly(self, number: int, read: Any) -> bytes:
        parts = []
        while number:
            part = read(self._source, min(number, 1 << 20))
            if not part:
                return b""
            parts.append(part)
            number -= len(part)
        return b"".join(parts)


def main(cores: int, folder: str) -> None:
    """Work until the driver closes the stream."""
    source, target = os.dup(0), os.dup(1)  # what pulls print must not get between the answers
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    faulthandler.enable(2)
    channel = Channel(source, target)
    spec = importlib.util.spec_from_file_location("_paceline_start", f"{folder}/__main__.py")
    assert spec is not None
    assert spec.loader is not None
    start = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(start)
    name = start.load().__package__
    worker = importlib.import_module(f"{name}.worker")
    channel.send(HELLO)
    sys.path[:] = json.loads(channel.receive() or b"[]")
    load = os.memfd_create("paceline")
    content = memoryview(channel.receive())
    while content:
        content = content[os.write(load, content) :]
    worker.Worker(channel, cores, None, 2, load).serve()


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), sys.argv[2])
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)

"""What the driver sends a worker: a small order in the message itself, a large one in a file.

A message cannot be larger than the buffer of the socket, about 200 kB, but a command may have
megabytes of arguments. Orders are pickles: the driver is trusted, and only it writes them.
"""

import mmap
import os
import pickle
import socket
import struct
from collections.abc import Callable
from typing import Any

LARGEST_MESSAGE = 1 << 16  # bytes; what is larger comes in a file

_FILE = struct.Struct("i")


def receive(
    recvmsg: Callable[..., Any],
    *,
    space: int = socket.CMSG_SPACE(_FILE.size),
    loads: Any = pickle.loads,
) -> Any:
    """The next order, from a socket's `recvmsg`; None if the driver has closed the channel."""
    message, extra, _, _ = recvmsg(LARGEST_MESSAGE, space)
    if not extra:
        return loads(message) if message else None
    (file,) = _FILE.unpack(extra[0][2])
    try:
        return load(file)
    finally:
        os.close(file)


def load(file: int, *, loads: Any = pickle.loads, mapped: Any = mmap.mmap) -> Any:
    """What was pickled into a file. It is not read, for no read gives more than 2 GiB."""
    # Private: a file that is sealed may not be mapped otherwise.
    with mapped(file, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ) as content:
        return loads(content)

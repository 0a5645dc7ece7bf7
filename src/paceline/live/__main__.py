"""`python -m paceline.live SOCKET JOURNAL`: the page of a race that ends with its stdin."""

import os
import socket
import sys
from pathlib import Path

from paceline.live import LOOPBACK
from paceline.live.listening import TOKEN, token_for
from paceline.live.serving import serve

if __name__ == "__main__":
    sock = socket.socket(fileno=int(sys.argv[1]))
    serve(Path(sys.argv[2]), sock, token_for(LOOPBACK, os.environ.get(TOKEN)), sys.stdin.buffer)

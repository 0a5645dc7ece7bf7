"""Runs a command, such as pytest, where there is a Chromium and Playwright to drive it.

    python tools/browser.py COMMAND …

What is missing is installed: Debian's Chromium takes root, unless $CHROMIUM names another one, and
Playwright goes into the environment of this Python. The exit code is that of the command, and 77
where something cannot be installed.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

PACKAGE = "chromium"  # Debian's
NEEDED = "playwright>=1.40"  # only what drives a browser: it downloads none


class Unavailable(RuntimeError):
    """No browser can be had here; the message says why."""


def install() -> None:
    """Install what is missing."""
    if importlib.util.find_spec("playwright") is None:
        _call(sys.executable, "-m", "pip", "install", "--quiet", NEEDED)
    if "CHROMIUM" in os.environ or shutil.which("chromium"):
        return
    if os.geteuid() or not shutil.which("apt-get"):
        raise Unavailable("there is no chromium, and to install it takes root and apt-get")
    _call("apt-get", "-q", "update")
    _call("apt-get", "-q", "install", "-y", "--no-install-recommends", PACKAGE)


def _call(*command: str) -> None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"{' '.join(command)} failed: {done.stderr.strip()[-500:]}")


def main(words: Sequence[str]) -> int:
    """The command line."""
    if not words:
        print(__doc__)
        return 2
    try:
        install()
    except Unavailable as error:
        print(f"no browser here: {error}", file=sys.stderr)
        return 77
    return subprocess.run(words, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

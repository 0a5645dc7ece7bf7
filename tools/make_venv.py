"""Make `.venv` with a working pip, on a machine that may have neither pip nor ensurepip.

Debian splits ensurepip off into a package of its own, so `python3 -m venv` alone fails on a
machine with only `python3`. The ways are tried in this order: the ordinary venv; a venv without
pip, filled by the pip of the outer Python; the same, with a pip wheel taken from the package
index that `PIP_INDEX_URL` names.
"""

import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
import venv
from pathlib import Path


def main(folder: Path) -> None:
    """Make the environment in `folder`, or say what is missing."""
    python = folder / "bin" / "python"
    if importable(sys.executable, "ensurepip"):
        venv.create(folder, with_pip=True, clear=True)
        return
    venv.create(folder, with_pip=False, clear=True)
    if importable(sys.executable, "pip"):
        outer = [sys.executable, "-m", "pip", "--python", str(python)]
        subprocess.run([*outer, "install", "--quiet", "pip"], check=True)
        return
    index = os.environ.get("PIP_INDEX_URL")
    if not index:
        sys.exit(
            "this python3 has neither ensurepip nor pip, so no virtual environment can be filled.\n"
            "Either install the package python3-venv, or set PIP_INDEX_URL to the address of a\n"
            "package index (the one that pip uses by default is named in pip's documentation)."
        )
    with tempfile.TemporaryDirectory() as scratch:
        wheel = fetch_pip_wheel(index, Path(scratch))
        # A wheel is a zip file, and pip runs from inside its own.
        subprocess.run([python, f"{wheel}/pip", "install", "--quiet", "pip"], check=True)


def importable(python: str, module: str) -> bool:
    """Whether `python` can import `module`."""
    found = subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False)
    return found.returncode == 0


def fetch_pip_wheel(index: str, folder: Path) -> Path:
    """Download the newest pip wheel from a package index (its page of links, as pip reads it)."""
    page = index.rstrip("/") + "/pip/"
    with urllib.request.urlopen(page) as answer:
        links = re.findall(
            r'href="([^"#]*/(pip-([0-9.]+)-py3-none-any\.whl))', answer.read().decode()
        )
    if not links:
        sys.exit(f"no pip wheel found at {page}: check PIP_INDEX_URL")
    link, name, _ = max(links, key=lambda found: [int(part) for part in found[2].split(".")])
    target = folder / str(name)
    urllib.request.urlretrieve(urllib.parse.urljoin(page, link), target)
    return target


if __name__ == "__main__":
    main(Path(sys.argv[1]))

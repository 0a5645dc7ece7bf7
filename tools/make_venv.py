"""Make `.venv` with a working pip, on a machine that may have neither pip nor ensurepip.

Debian splits ensurepip off into a package of its own, so `python3 -m venv` alone fails on a
machine with only `python3`. The ways are tried in this order: the ordinary venv; a venv without
pip, filled by the pip of the outer Python; the same, with a pip wheel taken from the package
index that `PIP_INDEX_URL` names.
"""

import json
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
    """Download the newest pip wheel from a package index with the JSON form of the simple API."""
    page = index.rstrip("/") + "/pip/"
    accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
    with urllib.request.urlopen(urllib.request.Request(page, headers=accept)) as answer:
        files = json.load(answer)["files"]
    wheels = [f for f in files if re.fullmatch(r"pip-[0-9.]+-py3-none-any\.whl", f["filename"])]
    newest = max(
        wheels, key=lambda f: [int(part) for part in f["filename"].split("-")[1].split(".")]
    )
    target = folder / str(newest["filename"])
    urllib.request.urlretrieve(urllib.parse.urljoin(page, newest["url"]), target)
    return target


if __name__ == "__main__":
    main(Path(sys.argv[1]))

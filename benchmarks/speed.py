"""Times and memory of what has to be quick, each in a process of its own."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from paceline.display.table import Table

_PROGRAM = """
import numpy as np, paceline
z = np.random.default_rng(0).random(100_000) ** -2
scaling = {scaling}
began = time.perf_counter()
paceline.theory.oracle_seconds(z, scaling)
"""
_MILLION = """
import numpy as np, paceline
means = np.random.default_rng(0).random(1_000_000)
began = time.perf_counter()
paceline.simulate(means, paceline.SSH(), paceline.PowerLaw(0.5), deadline=20_000)
"""
_MEASURED = "paceline.Measured([1, 4, 16, 64, 256], [1, 2.2, 5, 11, 40])"


def in_process(script: str) -> tuple[float, float]:
    """Seconds (from where the script sets `began`) and peak MiB of a script."""
    code = (
        "import time\nbegan = time.perf_counter()\n"
        + script
        + "\nprint(time.perf_counter() - began)"
        # Not getrusage: its peak is inherited from the parent.
        + "\nstatus = open('/proc/self/status').read()"
        + "\nprint(float(status.split('VmHWM:')[1].split()[0]) / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, peak = done.stdout.split()
    return float(seconds), float(peak)


def command(*arguments: str) -> float:
    """Seconds of a command of paceline."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "paceline", *arguments, "-o", folder],
            capture_output=True,
            check=True,
            env=os.environ | {"PYTHONWARNINGS": "error"},
            cwd=Path(folder),
        )
    return time.perf_counter() - began


def run() -> Table:
    imports = sorted(in_process("import paceline; paceline.race") for _ in range(5))
    rows: list[tuple[object, ...]] = [
        ("import paceline, all of it (median of 5)", *imports[2], "0.5 s")
    ]
    for scaling in ("paceline.PowerLaw(0.5)", "paceline.Amdahl(0.1)", _MEASURED):
        label = f"dynamic program, n = 100,000, {scaling.partition('(')[0].partition('.')[2]}"
        rows.append((label, *in_process(_PROGRAM.format(scaling=scaling)), "1 s"))
    rows.append(("SSH on 1,000,000 arms", *in_process(_MILLION), "5 s, 1024 MiB"))
    for name in ("confidence", "deadline"):
        label = f"paceline reproduce {name} (the paper's 10 runs)"
        rows.append((label, command("reproduce", name), float("nan"), "120 s"))
    return Table(("what", "seconds", "peak MiB", "promise"), rows)

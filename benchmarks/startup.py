"""How many pulls a short race does if the user's module imports nothing, numpy, or scikit-learn.

PACELINE_BEFORE may name the folder of another checkout, which is then measured as well, in turn.
"""

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from paceline.display.table import Table

_DEADLINE_SECONDS = 10.0
_CORES = 40  # logical ones
_ARMS = 32
_ROUNDS = 3
_PROMISE = 0.8  # of the pulls of a module that imports nothing

IMPORTS = {
    "nothing": "",
    "numpy": "import numpy",
    "scikit-learn": "import sklearn.linear_model",
}

_MODULE = """
import time
{imports}

def evaluate(arm, *, seed):
    time.sleep(0.2)
    return arm + seed % 1000 / 1000
"""

_RACE = """
import json, sys, time
import paceline, workload
deadline, cores, arms = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
began = time.perf_counter()
result = paceline.race(
    workload.evaluate, [arm / arms for arm in range(arms)], deadline=deadline, cores=cores,
    progress=False,
)
late = time.perf_counter() - began - deadline
print(json.dumps([sum(arm.pulls for arm in result.arms), late]))
"""


def race(source: Path, imports: str) -> tuple[int, float]:
    """Run a race, with paceline from that folder: its pulls, and how late it ended."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "workload.py").write_text(_MODULE.format(imports=imports))
        words = [sys.executable, "-c", _RACE, str(_DEADLINE_SECONDS), str(_CORES), str(_ARMS)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(source), folder])}
        told = subprocess.run(words, env=environment, check=True, stdout=subprocess.PIPE).stdout
    pulls, late = json.loads(told)
    return pulls, late


def run() -> Table:
    """The medians of a few rounds; the races of a round follow each other."""
    sources = {"now": Path(__file__).parents[1] / "src"}
    if "PACELINE_BEFORE" in os.environ:
        sources["before"] = Path(os.environ["PACELINE_BEFORE"]) / "src"
    imports = dict(IMPORTS)
    if find_spec("sklearn") is None:  # pip install scikit-learn
        del imports["scikit-learn"]
    seen: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for _ in range(_ROUNDS):
        for what, text in imports.items():
            for name, source in sources.items():
                seen.setdefault((what, name), []).append(race(source, text))
    rows: list[tuple[object, ...]] = []
    for (what, name), found in seen.items():
        # Shares of the same round: the machine may have changed since the last one.
        nothing = [pulls for pulls, _ in seen["nothing", name]]
        shares = [pulls / most for (pulls, _), most in zip(found, nothing, strict=True)]
        pulls = int(np.median([pulls for pulls, _ in found]))
        late = max(late for _, late in found)
        promise = f"at least {_PROMISE}" if name == "now" and what != "nothing" else "–"
        rows.append((f"{what} ({name})", pulls, float(np.median(shares)), promise, late))
    return Table(("imported", "pulls", "share", "promise", "s late at most"), rows)

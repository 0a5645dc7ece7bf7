import subprocess
import sys

import paceline


def test_the_promised_names_are_public() -> None:
    promised = [
        "simulate",
        "PowerLaw",
        "Amdahl",
        "Ernest",
        "Measured",
        "CorePool",
        "theory",
        "APR",
        "BatchRacing",
        "SSH",
        "SequentialHalving",
        "UCBE",
        "LilUCB",
        "Uniform",
        "Race",
        "Pull",
    ]
    assert set(promised) <= set(paceline.__all__)


def test_every_public_name_is_there_once() -> None:
    assert all(hasattr(paceline, name) for name in paceline.__all__)
    assert len(set(paceline.__all__)) == len(paceline.__all__)


def test_theory_keeps_its_promises() -> None:
    promised = [
        "oracle_seconds",
        "optimal_seconds",
        "upper_bound",
        "lower_bound",
        "stages_to_combine",
        "success_bound",
    ]
    assert set(promised) <= set(paceline.theory.__all__)


def test_importing_paceline_imports_nothing_heavy() -> None:
    script = "import sys, paceline; print([m for m in HEAVY if m in sys.modules])"
    heavy = ["scipy.stats", "scipy.optimize", "matplotlib", "rich", "loky", "argparse"]
    done = subprocess.run(
        [sys.executable, "-c", f"HEAVY = {heavy}; {script}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_what_does_pulls_imports_no_more_than_it_needs() -> None:
    """Each of many processes does; to import all of paceline took some longer than Ray itself."""
    script = """
import sys
import paceline.engines.sending, paceline.engines.ray.host, paceline.engines.dask.host
print([name for name in ("numpy", "paceline.races", "paceline.policies") if name in sys.modules])
import paceline
assert "race" in dir(paceline) and not hasattr(paceline, "rase")
print(paceline.race.__name__)
from paceline import *
print(race is paceline.race)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\nrace\nTrue\n"

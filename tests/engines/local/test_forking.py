"""What is known of compiled modules, and how random generators are found."""

import random
import subprocess
import sys

import pytest

from paceline.engines.local.process.forking import _is_known


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("/usr/lib/x86_64-linux-gnu/libm.so.6", True),
        ("/usr/lib/python3/dist-packages/torch/lib/libtorch.so", False),
        ("/usr/lib/python3/dist-packages/numpy/_core/_multiarray_umath.so", True),
        ("/home/me/.venv/lib/python3.11/site-packages/scikit_learn.libs/libgomp.so.1", True),
        ("/home/me/.venv/lib/python3.11/site-packages/numba/_helperlib.so", False),
        ("/opt/python/lib/python3.11/lib-dynload/_json.so", True),
        ("/home/me/project/simulation.so", False),
        ("/usr/local/lib/libsimulation.so", False),
    ],
)
def test_which_compiled_modules_are_known(path: str, known: bool) -> None:
    assert _is_known(path) == known


RENEWS = """
import os, random, sys
from paceline.engines.local.process.generators import Generators
import numpy
generators = Generators()
with generators.watching():
    unseeded, seeded = numpy.random.default_rng(), numpy.random.default_rng(7)
    old = numpy.random.RandomState()
    old.normal()  # it gives two at a time, and keeps one
assert generators.find()
children = []
for _ in range(2):
    reader, writer = os.pipe()
    if os.fork() == 0:
        if sys.argv[1] == "renewed":
            generators.renew()
        drawn = [unseeded.random(), old.normal(), seeded.random()]
        os.write(writer, repr([float(one) for one in drawn]).encode())
        os._exit(0)
    os.wait()
    children.append(eval(os.read(reader, 1000)))
print(*[one == other for one, other in zip(*children)])
"""


@pytest.mark.parametrize(
    ("how", "same"), [("renewed", "False False True"), ("as they are", "True True True")]
)
def test_generators_without_a_seed_are_renewed(how: str, same: str) -> None:
    """The second case is the control: forks that do nothing draw the same numbers."""
    said = subprocess.run([sys.executable, "-c", RENEWS, how], check=True, capture_output=True)
    assert said.stdout.decode().strip() == same


def test_the_library_is_as_it_was_after_watching() -> None:
    from paceline.engines.local.process.forking import Witness

    before = random.seed, random.setstate, sys.modules["os"].sched_getaffinity
    with Witness().watching():
        assert random.seed is not before[0]
    assert (random.seed, random.setstate, sys.modules["os"].sched_getaffinity) == before

"""A race to be attacked: `python -m tests.chaos.victim JOURNAL OPTIONS`, with options as JSON.

It prints its answer as JSON. The values depend on the arm and the seed alone, so every race of a
kind has the same ones, however often it was interrupted. What its pulls leave behind has the mark
of `tests.chaos.processes` in its arguments.
"""

import json
import os
import random
import subprocess
import sys
import time
from typing import Any

import paceline
from tests.chaos.processes import MARK

ARMS = (0.0, 0.1, 0.6, 0.3, 0.5)
BEST = 2

# Prints the arm plus the last three digits of the seed, in thousandths. It leaves a process in a
# session of its own behind, which does not inherit the environment.
_COMMAND = f"""
    setsid env -i sleep 40.${MARK} >/dev/null 2>&1 &
    x={{x}} s={{seed}}
    sleep 0.01
    awk -v x="$x" -v s="$s" 'BEGIN {{{{ print x + s % 1000 / 1000 }}}}'
"""


def function(arm: float, *, seed: int) -> float:
    """A short pull with normal noise."""
    time.sleep(0.004)
    return arm + random.Random(seed).gauss(0, 0.3)


def function_with_child(arm: float, *, seed: int) -> float:
    """A pull that leaves a process behind every time, which does not inherit the environment."""
    words = ["setsid", "sleep", f"40.{os.environ[MARK]}"]
    subprocess.Popen(words, env={"PATH": os.environ["PATH"]})
    return function(arm, seed=seed)


def run(journal: str, kind: str, goal: str, **changes: Any) -> paceline.Result:
    """Run or resume a race of this kind."""
    cores = changes.pop("cores", 4)
    options: dict[str, Any] = {
        # With a known scaling and noise, the rounds do not depend on how long pulls take.
        "scaling": paceline.CorePool(cores, lambda cores: 0.005),
        "sigma": 0.3,
        "cores": cores,
        "journal": journal,
        "progress": False,
    }
    options |= {"confidence": 0.9} if goal == "confidence" else {"deadline": 1.5}
    options |= changes
    if kind == "command":
        command = paceline.Command.parse(_COMMAND, shell=True)
        return paceline.race(command, [{"x": arm} for arm in ARMS], **options)
    evaluate = function_with_child if kind == "function with child" else function
    return paceline.race(evaluate, ARMS, **options)


if __name__ == "__main__":
    result = run(sys.argv[1], **json.loads(sys.argv[2]))
    print(json.dumps([result.index, result.rounds, result.verdict, result.confidence]))

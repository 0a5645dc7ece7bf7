"""Success of SSH and sequential halving on 1024 uniform arms beside the prototype's."""

import math
from functools import partial

from benchmarks.prototype import SUCCESS
from paceline import SSH, Bernoulli, Policy, PowerLaw, SequentialHalving
from paceline.display.table import Table
from paceline.loop import run as run_race
from paceline.machine import available_cores
from paceline.paper.instances import uniform_means
from paceline.parallel import spread
from paceline.policies.base import Task
from paceline.simulation import prepare_race

RUNS = 1000
ARMS = 1024
POLICIES: dict[str, Policy] = {
    "SSH": SSH(too_short="blind"),
    "SH": SequentialHalving(too_short="blind"),
    "SSH kept": SSH(too_short="blind", keep_samples=True),
}


def found_best(policy: Policy, q: float, deadline: float, number: int) -> bool:
    means = uniform_means(ARMS, 5, number)
    task = Task(arms=ARMS, scaling=PowerLaw(q), deadline=deadline)
    race = prepare_race(Bernoulli(means), policy, task, 5, number)
    return bool(means[run_race(*race, deadline=deadline).answer.arms[0]] == means.max())


def run() -> Table:
    rows = []
    for q, line in SUCCESS.items():
        for deadline, *expected in line:
            found = []
            for policy in POLICIES.values():
                one = partial(found_best, policy, q, deadline)
                hits = sum(spread(one, range(RUNS), available_cores().cores))
                found.append(hits / RUNS)
            worst = max(
                abs(ours - theirs)
                / math.sqrt(max(theirs * (1 - theirs), 0.005) * (1 / RUNS + 1 / 2000))
                for ours, theirs in zip(found, expected, strict=False)
            )
            rows.append((q, deadline, *expected, *found, worst))
    columns = ("q", "T", "proto SSH", "proto SH", *POLICIES, "worst s.e. apart")
    return Table(columns, rows)

"""The crew of local processes, where events come in an unlucky order."""

import os
import time

import pytest

from paceline.engines.crew import Job, Report, Run
from paceline.engines.local import LocalCrew
from paceline.engines.work import FunctionWork


def dies(arm: float) -> float:
    os._exit(7)


def test_the_end_of_a_worker_may_be_heard_from_the_foreman_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While the driver was busy both came: the end of the channel, and the word that it ended."""
    work = FunctionWork(
        dies, [0.0], lambda arm, first, pulls: [0] * pulls, takes_seed=False, takes_cores=False
    )
    reports: list[Report] = []
    with LocalCrew(work, (), 2) as crew:
        select = crew._selector.select
        # The foreman's socket is the one without data; any order is allowed.
        monkeypatch.setattr(
            crew._selector,
            "select",
            lambda seconds: sorted(select(seconds), key=lambda event: event[0].data is not None),
        )
        crew.start(Job(0, (Run(0, 0, 1),), 1))
        give_up = time.monotonic() + 20
        while not (reports and reports[-1].finished) and time.monotonic() < give_up:
            time.sleep(0.1)  # busy elsewhere
            reports += crew.wait(1.0)
    assert reports[-1].failure is not None
    assert reports[-1].failure.kind == "died"
    assert "status 7" in reports[-1].failure.message

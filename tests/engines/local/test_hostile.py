"""Hostile pulls: each fails by itself, or works, and the next pull of another arm is done."""

import os
import time
from pathlib import Path

import pytest

from paceline import Command
from paceline.engines.events import Began, Failed, Finished, Lost, Values
from tests.engines.local.driving import ends, job, opened, run, until, values
from tests.races.hostile import COMMANDS, FUNCTIONS, Pull, shell_command

ARMS = (0.0, 1.0)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_harms_nobody_else(name: str) -> None:
    expected = FUNCTIONS[name]
    with opened(Pull(name), ARMS, cores=1) as workers:
        events = run(workers, job(0, arm=0))
        (end,) = ends(events).values()
        if expected.works:
            assert isinstance(end, Finished)
            assert values(events) == [1.0]
        else:
            assert isinstance(end, Failed)
            assert expected.says in end.failure.message
            assert len(end.failure.message) <= 8_000
            assert len(end.failure.detail) <= 8_000
            (end.failure.message + end.failure.detail).encode()
        until_done = time.monotonic() + 0.5  # what it left has time to do harm
        number = 1
        while number < 4 or time.monotonic() < until_done:
            events = run(workers, job(number, arm=1))
            if ends(events) == {number: Lost(number)}:  # nobody is to blame: it is done again
                number += 1
                events = run(workers, job(number, arm=1))
            assert ends(events) == {number: Finished(number)}
            (given,) = (event for event in events if isinstance(event, Values))
            assert 0.0 <= given.seconds[0] < 20.0
            number += 1
    assert "PACELINE_BOMB" not in os.environ  # no code of a pull ran here


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_harms_nobody_else(name: str, tmp_path: Path) -> None:
    expected = COMMANDS[name]
    command = Command.parse(
        shell_command(name), shell=True, cwd=str(tmp_path), value=expected.value
    )
    with opened(command, [{"x": 0}, {"x": 1}], cores=1) as workers:
        if expected.hangs:
            workers.start(job(0, arm=0))
            until(workers, lambda events: Began(0) in events)
            began = time.monotonic()
            assert workers.wait(1.0) == []
            assert time.monotonic() - began < 10.0  # the driver waits as long as it is told to
            workers.end(0)
            assert isinstance(ends(until(workers, ends))[0], Lost)
        else:
            events = run(workers, job(0, arm=0))
            (end,) = ends(events).values()
            if expected.works:
                assert values(events) == [7.0]
            else:
                assert isinstance(end, Failed)
                assert end.failure.kind == "no number"
                assert expected.says in end.failure.message
        events = run(workers, job(1, arm=1))
        assert values(events) == [1.0]

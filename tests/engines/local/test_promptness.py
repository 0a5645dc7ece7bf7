"""A race's own thread is woken soon, though the machine is full; its workers are as usual."""

import os
import random

import pytest

import paceline
from paceline.engines.local import promptness
from paceline.engines.local.promptness import Promptness

pytestmark = pytest.mark.skipif(
    promptness._get() is None or os.sched_getscheduler(0) != os.SCHED_OTHER,
    reason="how threads are scheduled cannot be told here",
)


def slice_now() -> int:
    scheduling = promptness._get()
    assert scheduling is not None
    return int(scheduling.slice)


def heeds_slices() -> bool:
    before = slice_now()
    prompt = Promptness()
    asked = slice_now()
    prompt.close()
    return asked != before


def test_the_slice_is_given_back() -> None:
    before = slice_now()
    prompt = Promptness()
    assert slice_now() <= before
    prompt.close()
    prompt.close()
    assert slice_now() == before


def slice_of_a_pull(arm: int, *, seed: int) -> float:
    return slice_now() + arm * random.Random(seed).random()


def test_pulls_have_the_slices_that_they_would_have_anyway() -> None:
    if not heeds_slices():
        pytest.skip("this kernel heeds no slices")
    before, during = slice_now(), set[int]()
    result = paceline.race(
        slice_of_a_pull,
        [0, 1],
        cores=2,
        max_pulls=200,
        noise="normal",
        progress=False,
        callbacks=[lambda _: during.add(slice_now())],
    )
    assert min(record.mean for record in result.arms if record.pulls) >= before - 1
    assert during == {promptness._SLICE_NANOSECONDS}
    assert slice_now() == before

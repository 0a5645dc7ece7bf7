"""What a worker may say, and when: everything else ends it."""

import math
import os
import struct
import threading
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engines.events import Failed, Finished
from paceline.engines.jobs import Job, Run
from paceline.engines.local import replacing
from paceline.engines.local.answers import Turn
from paceline.engines.local.process.messages import Answer, Malformed, decode, encode
from tests.engines.local.driving import ends, job, opened, run, values

finite = st.floats(allow_nan=False, allow_infinity=False)
TROUBLE = ("exception", "raised", "a traceback")


@given(st.binary(max_size=100))
def test_any_bytes_are_a_message_or_malformed(junk: bytes) -> None:
    for message in (junk, b"\xa7" + junk, encode("failed", 1, [1.0], [1.0], 0, TROUBLE) + junk):  # type: ignore[arg-type]
        try:
            found = decode(message)
        except Malformed:
            continue
        assert len(found.values) == len(found.seconds)


@given(
    st.sampled_from(["began", "values", "finished"]),
    st.integers(0, 2**63),
    st.lists(st.tuples(finite, finite), max_size=200),
    st.integers(0, 2**40),
)
def test_what_is_said_is_heard(
    kind: str, number: int, pulls: list[tuple[float, float]], threads: int
) -> None:
    given, took = [pull[0] for pull in pulls], [pull[1] for pull in pulls]
    found = decode(encode(kind, number, given, took, threads))
    assert found == Answer(kind, number, given, took, min(threads, 2**32 - 1), None)


@given(st.text(max_size=50), st.text(max_size=50))
def test_what_went_wrong_is_heard(what: str, detail: str) -> None:
    if not (what + detail).isprintable():
        what, detail = (
            what.encode(errors="replace").decode(),
            detail.encode(errors="replace").decode(),
        )
    found = decode(encode("failed", 3, trouble=("no number", what, detail)))
    assert found.trouble == ("no number", what, detail)


@pytest.mark.parametrize(
    "text", [b"", b"{}", b"[]", b'["exception", "a"]', b'["exception", "a", 3]', b"[" * 100_000]
)
def test_a_failure_that_is_none(text: bytes) -> None:
    message = encode("failed", 3) + text
    with pytest.raises(Malformed):
        decode(message)


def test_a_message_may_not_say_that_it_is_longer_than_it_is() -> None:
    head = struct.Struct("<BBIIQQ")
    with pytest.raises(Malformed, match="shorter than it says"):
        decode(head.pack(0xA7, 1, 0, 2**32 - 1, 3, 0) + bytes(100))
    with pytest.raises(Malformed, match="longer than it says"):
        decode(encode("finished", 3) + b"x")


def said(kind: str, pulls: int = 0, **more: Any) -> Answer:
    answer = Answer(kind, 7, [1.0] * pulls, [0.0] * pulls, 0, None)
    return answer._replace(**more)


@pytest.mark.parametrize(
    ("answers", "wrong"),
    [
        ([said("values", 1), said("finished", 2)], ""),
        ([said("values", 2), said("failed", 0)], ""),
        ([said("failed", 2)], ""),
        ([said("finished", 3, values=[1e308] * 3)], ""),
        ([said("began")], "has begun"),
        ([said("finished", 4)], "4 values where 3 should come"),
        ([said("finished", 2)], "2 values where 3 should come"),
        ([said("values", 1), said("finished", 3)], "3 values where 2 should come"),
        ([said("values", 3)], "3 values, and no end, where 3 should come"),
        ([said("failed", 3)], "and no end"),
        ([said("finished", 3, job=8)], "another job"),
        ([said("finished", 3, values=[1.0, math.inf, -math.inf])], "not finite"),
        ([said("finished", 3, values=[1.0, math.nan, 0.0])], "not finite"),
        ([said("finished", 3, seconds=[0.0, math.nan, 0.0])], "change the clock"),
        ([said("finished", 3, seconds=[5.0, -4.9, 0.0])], "change the clock"),
        ([said("finished", 3, seconds=[5.0, 0.0, 6.0])], "change the clock"),
        ([said("values", 1, seconds=[9.0]), said("finished", 2, seconds=[9.0, 0])], "the clock"),
    ],
)
def test_answers_come_in_turn_with_numbers_that_can_be(answers: list[Answer], wrong: str) -> None:
    moments = iter([100.0, *[110.0] * 100])
    turn = Turn(Job(7, (Run(0, 0, 2), Run(1, 0, 1)), 1), True, clock=lambda: next(moments))
    *good, last = answers
    for answer in good:
        turn.take(answer)
    if not wrong:
        turn.take(last)
        return
    with pytest.raises(Malformed, match=wrong):
        turn.take(last)


def test_a_job_begins_before_it_gives_values() -> None:
    turn = Turn(Job(7, (Run(0, 0, 1),), 1), began=False)
    with pytest.raises(Malformed, match="has not begun"):
        turn.take(said("finished", 1))
    turn.take(said("failed"))  # it could not be loaded
    turn.take(said("began"))
    turn.take(said("finished", 1))


def test_junk_from_a_worker_without_a_job_is_nobodys_fault() -> None:
    with opened(lambda arm: arm, cores=1) as workers:
        run(workers, job(0))
        (worker,) = workers._workers.values()
        workers._take_in(worker, b"junk")
        events = run(workers, job(1, arm=1))
        assert ends(events) == {1: Finished(1)}
        assert worker.number not in workers._workers or worker.wrong


def leaves_threads(arm: float) -> float:
    """Arm 0 leaves a thread; all give the number of their process."""
    if arm == 0:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    return float(os.getpid())


def test_a_worker_with_threads_that_a_pull_has_left_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replacing, "_GRACE_SECONDS", 60.0)  # however busy this machine is
    with opened(leaves_threads, cores=1) as workers:
        (first,) = values(run(workers, job(0, arm=1)))
        assert values(run(workers, job(1, arm=0))) == [first]
        (other,) = values(run(workers, job(2, arm=1)))
        assert other != first
        assert values(run(workers, job(3, arm=1))) == [other]


def test_threads_that_end_with_their_pull_or_were_loaded_cost_nothing() -> None:
    class Loads:
        def __init__(self) -> None:
            self.pool: Any = None

        def __setstate__(self, state: Any) -> None:  # in the worker: a pool of its own
            from concurrent.futures import ThreadPoolExecutor

            self.pool = ThreadPoolExecutor(1)
            self.pool.submit(int).result()

        def __getstate__(self) -> Any:
            return {"one": 1}

        def __call__(self, arm: float) -> float:
            thread = threading.Thread(target=int)
            thread.start()
            thread.join()
            return float(self.pool.submit(os.getpid).result())

    with opened(Loads(), cores=1) as workers:
        processes = {values(run(workers, job(number, arm=number % 2)))[0] for number in range(6)}
    assert len(processes) == 1


def test_a_function_that_always_leaves_threads_does_not_pay_for_it_in_every_pull(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replacing, "_GRACE_SECONDS", 0.0)
    with opened(leaves_threads, [0.0, 0.0], cores=1) as workers:
        processes = {values(run(workers, job(number, arm=number % 2)))[0] for number in range(20)}
    assert len(processes) == 1


def test_a_death_among_threads_of_others_is_not_charged_but_its_own_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replacing, "_GRACE_SECONDS", 0.0)  # the worker is kept

    def dies(arm: float) -> float:
        if arm == 1:
            os._exit(3)
        return leaves_threads(arm)

    with opened(dies, cores=1) as workers:
        run(workers, job(0, arm=0))
        (end,) = ends(run(workers, job(1, arm=1))).values()
        assert isinstance(end, Failed)
        assert end.failure.kind == "died after others"  # who knows who did it?
        (end,) = ends(run(workers, replace(job(2, arm=1), fresh=True))).values()
        assert isinstance(end, Failed)
        assert end.failure.kind == "died"
        assert end.failure.message == "the worker process ended with status 3"

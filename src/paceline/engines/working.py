"""The pulls of a job, done in this process: for engines whose workers belong to another library."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from operator import sub
from typing import Any, NamedTuple

from paceline.engines.events import Event, Failed, Failure, Finished, Values
from paceline.engines.jobs import Run, in_turn
from paceline.engines.local.process.evaluating import number as number_of
from paceline.engines.local.process.evaluating import trouble
from paceline.engines.local.process.printing import Printed, joined
from paceline.engines.pulling import run_command
from paceline.engines.workload import Workload


class Answer(NamedTuple):
    """The values of the first pulls of a job and their seconds; and why the next gave none.

    `printed` has what pulls printed that gave values: the place of each, and the text.
    """

    values: list[float]
    seconds: list[float]
    failure: Failure | None = None
    printed: Sequence[tuple[int, str]] = ()

    def events(self, job: int) -> list[Event]:
        """What happened to the job, as events.

        >>> Answer([0.5], [2.0]).events(7)
        [Values(job=7, values=[0.5], seconds=[2.0], printed=()), Finished(job=7)]
        """
        last: Event = Finished(job) if self.failure is None else Failed(job, self.failure)
        given = Values(job, self.values, self.seconds, tuple(self.printed))
        return [given, last] if self.values else [last]


def work(
    workload: Workload,
    runs: Sequence[Run],
    cores: int,
    *,
    catch: tuple[type[BaseException], ...] = (Exception, SystemExit),
    heard: Printed | None = None,
) -> Answer:
    """Do the pulls of these runs in turn, until one fails: it raises something to `catch`.

    If what is printed in this process is `heard`, it is told.

    >>> workload = Workload(lambda arm: 1 / arm, [2, 0], lambda arm, first, pulls: [0] * pulls)
    >>> answer = work(workload, [Run(0, 0, 1), Run(1, 0, 1)], cores=1)
    >>> answer.values, answer.failure.message
    ([0.5], 'raised ZeroDivisionError: division by zero')
    """
    if workload.is_command:
        return _run_all(workload, runs, cores)
    values: list[float] = []
    printed: list[tuple[int, str]] = []
    call, turns, clock = _call(workload, cores), _turns(workload, runs), time.perf_counter
    silent = math.inf if heard is None else heard.next_job()
    now = clock()
    moments = [now]  # short pulls: what is done for each of them here counts
    failure = None
    for given in turns:
        try:
            value = call(*given)
            if type(value) is not float or value - value != 0.0:  # which is so for nan, infinity
                value = number_of(value)
        except catch as error:
            failure = why(error)
            break
        began, now = now, clock()
        values.append(value)
        if now - began > silent and heard is not None:
            printed.append((len(values) - 1, heard.take()))
            now = clock()
        moments.append(now)
    rest = "" if heard is None else heard.take_all()
    if failure is not None:
        failure = replace(failure, printed=rest)
    else:
        printed.append((len(values) - 1, rest))
    seconds = list(map(sub, moments[1:], moments))
    return Answer(values, seconds, failure, joined(printed))


def why(error: BaseException, what: str = "") -> Failure:
    """Why a pull gave no value; `what` says what could not be done before it began.

    >>> why(KeyboardInterrupt())
    Failure(kind='killed', message='was interrupted', detail='', printed='')
    """
    if isinstance(error, KeyboardInterrupt):  # a Ctrl-C reaches all processes of a terminal
        return Failure("killed", "was interrupted")
    return Failure(*trouble(error, what))


def _call(workload: Workload, cores: int) -> Callable[..., Any]:
    """The function of an arm, and of a seed if it takes one."""
    evaluate = workload.evaluate
    assert callable(evaluate)
    fixed = {workload.unit: cores} if workload.takes_cores else {}
    if workload.takes_seed:
        return lambda arm, seed: evaluate(arm, seed=seed, **fixed)
    return partial(evaluate, **fixed) if fixed else evaluate


def _turns(workload: Workload, runs: Sequence[Run]) -> Iterable[tuple[Any, ...]]:
    """What the function is given for each pull, in turn; seeds are cheaper if made together."""
    arms = workload.arms
    given: list[list[tuple[Any, ...]]] = [
        [(arms[run.arm], seed) for seed in workload.seeds(*run)]
        if workload.takes_seed
        else [(arms[run.arm],)] * run.pulls
        for run in runs
    ]
    if len(runs) == 1:
        return given[0]
    places = [Run(place, 0, run.pulls) for place, run in enumerate(runs)]
    return [given[place][number] for place, number in in_turn(places)]


def _run_all(workload: Workload, runs: Sequence[Run], cores: int) -> Answer:
    values: list[float] = []
    seconds: list[float] = []
    printed: list[tuple[int, str]] = []
    for arm, number in in_turn(runs):
        began = time.perf_counter()
        value, text = run_command(workload, arm, number, cores)
        if isinstance(value, Failure):
            return Answer(values, seconds, value, joined(printed))
        printed.append((len(values), text))
        values.append(value)
        seconds.append(time.perf_counter() - began)
    return Answer(values, seconds, None, joined(printed))

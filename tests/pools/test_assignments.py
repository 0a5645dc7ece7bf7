"""Jobs whose workers load: their cores are taken, but not in use, and their time does not count."""

from paceline.engines.jobs import Run
from paceline.pools.assignments import Assignments


def test_a_job_whose_worker_loads_is_not_busy_and_not_late() -> None:
    time = [0.0]
    assignments = Assignments(4, lambda: time[0])
    loading = assignments.add([Run(0, 0, 1)], cores=3, seconds_each=0.1).number
    begun = assignments.add([Run(1, 0, 1)], cores=1, seconds_each=0.1).number
    assignments.wait_for_worker(loading)
    time[0] = 5.0
    assert assignments.free == 0
    assert assignments.working_cores == 1
    assert assignments.unanswered() == [(1, 5.0)]
    assert assignments[begun].unused_seconds(time[0]) == 5.0
    assignments.begin(loading)
    time[0] = 6.0
    assert assignments.working_cores == 4
    assert assignments.unanswered() == [(3, 1.0), (1, 6.0)]
    assert assignments[loading].unused_seconds(time[0]) == 1.0

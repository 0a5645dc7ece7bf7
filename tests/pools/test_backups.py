"""Which pulls are started once more."""

from paceline.engines.jobs import Run
from paceline.pools.assignments import Assignment, Assignments
from paceline.pools.backlog import Backlog
from paceline.pools.backups import Backups


class Pool:
    """Jobs of one pull of arm 0 each, all begun at 0 and expected to take a second."""

    def __init__(self, cores: int, jobs: int, *, allowed: bool = True, wanted: int = 99) -> None:
        self.time = 0.0
        self.assignments = Assignments(cores, lambda: self.time)
        backlog = Backlog(arms=1)
        backlog.want([(0, wanted)])
        self.backups = Backups(self.assignments, backlog, allowed=allowed)
        for number in range(jobs):
            self.assignments.add([Run(0, number, 1)], cores=1, seconds_each=1.0)

    def start(self, twin: Assignment) -> Assignment:
        job = self.assignments.add(list(twin.left), 1, 1.0, twin)
        return self.assignments[job.number]


def test_a_pull_is_slow_after_twice_its_time() -> None:
    pool = Pool(cores=8, jobs=1)
    pool.time = 1.9
    assert pool.backups.next() is None
    assert 2.0 <= pool.backups.next_moment() < 2.01
    pool.time = 2.1
    slow = pool.backups.next()
    assert slow is pool.assignments[0]
    backup = pool.start(slow)
    assert (backup.twin, slow.twin, backup.is_backup) == (slow, backup, True)
    pool.time = 50.0
    assert pool.backups.next() is None, "it has one"


def test_not_if_they_are_switched_off_or_the_pull_is_only_ahead() -> None:
    for pool in (Pool(cores=8, jobs=1, allowed=False), Pool(cores=8, jobs=1, wanted=0)):
        pool.time = 9.0
        assert pool.backups.next() is None


def test_slow_pulls_and_their_backups_hold_at_most_half_of_the_pool() -> None:
    pool = Pool(cores=8, jobs=4)
    pool.time = 9.0
    assert pool.backups.next() is None, "four are slow already"
    pool = Pool(cores=8, jobs=3)
    pool.time = 9.0
    slow = pool.backups.next()
    assert slow is not None
    pool.start(slow)
    assert pool.backups.next() is None
    assert Pool(cores=2, jobs=1).backups.next() is None


def test_backups_that_never_win_are_given_up() -> None:
    pool = Pool(cores=80, jobs=1)
    pool.time = 9.0
    for _ in range(8):
        assert pool.backups.next() is not None
        pool.backups.ended(pool.assignments[0])  # which is no backup
    assert pool.backups.next() is None
    winner = Assignment(pool.assignments[0].job, [], 0.0, 0.0, 1.0, is_backup=True)
    pool.backups.ended(winner)
    assert pool.backups.next() is not None

"""Where the time of the cores went, from the records of a race."""

from pathlib import Path

import numpy as np
import pytest

from paceline.core.rounds import Round
from paceline.engines.jobs import Run
from paceline.journal.joining import joined
from paceline.journal.records import (
    ArmOut,
    PullFailed,
    PullsReturned,
    Record,
    SessionBegun,
    TimeSpent,
)
from paceline.pools.books import Books
from paceline.pools.usage import Usage
from paceline.races import read_journal
from paceline.story.timeline import CoreTime, Span

OLD_JOURNALS = sorted((Path(__file__).parents[1] / "races" / "journals").glob("*.jsonl"))


def books_of(*records: Record, arms: int = 2) -> Books:
    books = Books(arms)
    for record in records:
        books.take(record)
    return books


def ask(books: Books, *pulls: int) -> None:
    """Have a round ask for that many pulls of every arm."""
    books.ledger.expect(Round(np.arange(len(pulls)), np.array(pulls)))


def test_every_use_has_its_place() -> None:
    books = books_of(
        SessionBegun(0.0, {}, cores=8),
        TimeSpent(1.0, 2, seconds=1.0, arm=0, why="starting"),
        PullsReturned(3.0, 2, (Run(0, 0, 1),), [0.5], [2.0]),
        PullsReturned(4.0, 1, (Run(1, 0, 2),), [0.5, 0.6], [1.0, 3.0]),
        PullsReturned(5.0, 1, (Run(1, 2, 1),), [0.7], [5.0]),
        TimeSpent(6.0, 3, seconds=1.0, arm=0, why="backup"),
        TimeSpent(7.0, 1, seconds=0.5, arm=0, why="cancelled"),
        TimeSpent(7.0, 1, seconds=0.25, arm=0, why="unfinished"),
        TimeSpent(7.0, 1, seconds=0.125, arm=0, why="failed"),
        TimeSpent(7.0, 2, seconds=0.125, arm=0, why="lost"),
    )
    ask(books, 1, 2)
    assert books.timeline(10.0).core_time() == CoreTime(
        counted=8.0, ahead=5.0, backups=3.0, cancelled=0.75, failed=0.375, starting=2.0,
        idle=80.0 - 19.125,
    )  # fmt: skip
    assert books.core_seconds == pytest.approx(books.timeline(10.0).core_time().in_use)
    ask(books, 1, 3)
    assert books.timeline(10.0).core_time().ahead == 0.0, "a round has asked for it since"


def test_the_pulls_of_arms_that_failed_are_in_vain() -> None:
    failed = PullFailed(2.0, arm=1, pull=1, attempt=1, what="exception", message="no", detail="")
    books = books_of(
        SessionBegun(0.0, {}, cores=1),
        PullsReturned(1.0, 1, (Run(1, 0, 1),), [0.5], [1.0]),
        failed,
        ArmOut(2.0, 1),
    )
    ask(books, 1, 1)
    assert books.timeline(2.0).core_time() == CoreTime(failed=1.0, idle=1.0)


def test_runs_of_a_job_come_one_after_the_other() -> None:
    books = books_of(PullsReturned(4.0, 2, (Run(0, 0, 2), Run(1, 5, 1)), [1, 2, 3], [0.5, 0.5, 2]))
    ask(books, 2, 6)
    first, second = books.timeline(4.0)
    assert first == Span(arm=0, first=0, pulls=2, cores=2, start=1.0, end=2.0, use="counted")
    assert second == Span(arm=1, first=5, pulls=1, cores=2, start=2.0, end=4.0, use="counted")
    assert books.timeline(4.0)[-1:] == [second]


def test_lines_that_are_read_together_give_the_same_timeline() -> None:
    line = b'{"kind":"results","at":%d.5,"cores":2,"pulls":[[%d,%d,1]],"values":[3.0],'
    line += b'"seconds":[0.5]}'
    lines = [line % (1, 0, 0), line % (2, 1, 0), line % (3, 1, 1)]
    together = joined(lines, after=0.0)
    assert together is not None
    many = books_of(*[record for record, _ in together])
    one_by_one = books_of(
        *[
            PullsReturned(at, 2, (Run(*run, 1),), [3.0], [0.5])
            for at, run in [(1.5, (0, 0)), (2.5, (1, 0)), (3.5, (1, 1))]
        ]
    )
    assert list(many.timeline(4.0)) == list(one_by_one.timeline(4.0))


def test_a_pool_that_was_smaller_for_a_while_had_less_time() -> None:
    books = books_of(SessionBegun(0.0, {}, cores=4), SessionBegun(10.0, {}, cores=1))
    assert books.timeline(15.0).core_time() == CoreTime(idle=45.0)


@pytest.mark.parametrize("path", OLD_JOURNALS, ids=lambda path: path.stem)
def test_old_journals_have_a_timeline(path: Path) -> None:
    view = read_journal(path)
    spending = view.timeline.core_time()
    assert spending.in_use == pytest.approx(view.core_seconds)
    assert spending.total == pytest.approx(view.standing.cores * view.standing.elapsed, rel=0.01)


def test_values_have_a_row_per_pull_with_its_own_seconds_and_end() -> None:
    usage = Usage()
    usage.take(PullsReturned(2.0, 4, (Run(1, 0, 2),), [0.5, 0.7], [0.5, 0.25]))
    usage.take(TimeSpent(3.0, 1, 1.0, 0, "failed"))
    usage.take(PullsReturned(9.0, 1, (Run(0, 3, 1), Run(1, 2, 2)), [1.0, 2.0, 3.0], [1.0, 2.0, 3]))
    values = usage.values(lambda arm, first, pulls: [100 * arm + first + k for k in range(pulls)])
    assert values.arm.tolist() == [1, 1, 0, 1, 1]
    assert values.number.tolist() == [0, 1, 3, 2, 3]
    assert values.seed.tolist() == [100, 101, 3, 102, 103]
    assert values.value.tolist() == [0.5, 0.7, 1.0, 2.0, 3.0]
    assert values.cores.tolist() == [4, 4, 1, 1, 1]
    assert values.at.tolist() == [1.75, 2.0, 4.0, 6.0, 9.0]
    assert values.of(1).tolist() == [0.5, 0.7, 2.0, 3.0]

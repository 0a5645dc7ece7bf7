"""Pulls in the picture of the pool: no two in one place, each within its node."""

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest

from paceline.report.lanes import Piece, laid_out, layout_of
from tests.report.stories import made


def clashes(pieces: list[Piece], start: list[float], end: list[float]) -> int:
    rows = defaultdict(list)
    for place, first, many in pieces:
        for row in range(first, first + many):
            rows[row].append((start[place], end[place]))
    count = 0
    for spans in rows.values():
        spans.sort()
        count += sum(late[0] < early[1] - 1e-9 for early, late in pairwise(spans))
    return count


@pytest.mark.parametrize("nodes", [(8,), (16, 16, 8), (3, 5, 1)])
def test_no_two_pulls_share_a_row_at_one_time(nodes: tuple[int, ...]) -> None:
    timeline = made(12, 300, nodes).timeline
    layout = layout_of([(0.0, nodes)])
    pieces = laid_out(layout, timeline.start, timeline.end, timeline.cores)
    assert clashes(pieces, timeline.start.tolist(), timeline.end.tolist()) == 0
    drawn = np.bincount([one[0] for one in pieces], [one[2] for one in pieces])
    assert drawn.tolist() == timeline.cores.tolist()


def test_a_pull_stays_within_a_node_where_it_can() -> None:
    layout = layout_of([(0.0, (4, 4))])
    times = np.zeros(3), np.ones(3)
    pieces = laid_out(layout, *times, np.array([3, 3, 1]))
    assert pieces == [(0, 0, 3), (1, 4, 3), (2, 3, 1)]


def test_rows_of_a_node_that_is_gone_are_left_alone() -> None:
    layout = layout_of([(0.0, (2, 2)), (10.0, (2, 0))])
    start, end = np.array([0.0, 0.0, 11.0, 11.0]), np.array([9.0, 9.0, 12.0, 12.0])
    pieces = laid_out(layout, start, end, np.array([2, 2, 1, 1]))
    assert pieces == [(0, 0, 2), (1, 2, 2), (2, 0, 1), (3, 1, 1)]


def test_clocks_that_differ_never_lose_a_pull() -> None:
    """The second began before the first had ended, by the clock of another node."""
    layout = layout_of([(0.0, (1,))])
    pieces = laid_out(layout, np.array([0.0, 0.5]), np.array([1.0, 1.5]), np.array([1, 1]))
    assert [place for place, _, _ in pieces] == [0, 1]

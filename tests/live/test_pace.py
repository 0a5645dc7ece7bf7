"""Looks at a journal take a small share of the race's time, whatever they cost."""

import pytest

from paceline.live.pace import LEAST_SECONDS, POLL_SECONDS, SHARE, Pace


class Machine:
    """A clock, and the CPU time that was used."""

    def __init__(self, cores: int) -> None:
        self.at = self.spent = 0.0
        self.pace = Pace(lambda: self.at, lambda: self.spent)
        self.pace.cores = cores
        self.pace._here = 8
        self.looks = 0

    def run(self, seconds: float, cost: float) -> None:
        """Look as often as is allowed."""
        until = self.at + seconds
        while self.at < until:
            if self.pace.is_due():
                self.pace.begin()
                with self.pace.spending():
                    self.spent += cost
                self.looks += 1
            self.at += POLL_SECONDS


@pytest.mark.parametrize("cores", [1, 4, 100])
@pytest.mark.parametrize("cost", [0.001, 0.03, 0.5, 3.0])
def test_looks_take_a_small_share_of_the_cores(cores: int, cost: float) -> None:
    machine = Machine(cores)
    machine.run(1000.0, cost)
    share = machine.spent / (1000.0 * min(cores, 8))
    assert share <= SHARE * 1.1 + cost / 1000.0
    most = 1000.0 / (LEAST_SECONDS + POLL_SECONDS)
    assert machine.looks >= most or share > 0.8 * SHARE  # it is used, too


def test_what_is_sent_counts() -> None:
    machine = Machine(1)
    machine.run(0.1, 0.001)
    with machine.pace.spending():
        machine.spent += 1.0  # fifty viewers
    machine.run(40.0, 0.001)
    assert machine.looks == 1


def test_much_is_not_sent_often() -> None:
    machine = Machine(100)
    machine.run(0.1, 0.001)
    machine.pace.sends(10_000)
    machine.pace.sends(1_000_000)
    machine.run(3.5, 0.001)
    assert machine.looks == 1
    machine.run(0.6, 0.001)
    assert machine.looks == 2


def test_what_is_rare_shows_at_once() -> None:
    machine = Machine(1)
    machine.run(0.1, 0.01)
    machine.at += 1.0
    assert machine.pace.is_due()

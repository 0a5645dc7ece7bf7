"""When rounds ended, arms fell, and nodes came: a fold over the records of a race."""

from paceline.journal.records import (
    ArmOut,
    FieldChanged,
    PoolResized,
    Record,
    RoundEnded,
    SessionBegun,
)
from paceline.story.story import Milestones


class Course:
    """How a race went on.

    >>> course = Course()
    >>> course.take(FieldChanged(2.0, out=(3, 1)))
    >>> course.take(FieldChanged(4.0, out=(2,), back=(3,)))
    >>> course.milestones().falls
    {1: 2.0, 2: 4.0}
    """

    def __init__(self) -> None:
        self.falls: dict[int, float] = {}
        self._rounds: list[float] = []
        self._sessions: list[tuple[float, str, str]] = []
        self._nodes: list[tuple[float, tuple[int, ...]]] = []

    def take(self, record: Record) -> None:
        """Take a record into account."""
        if isinstance(record, RoundEnded):
            self._rounds.append(record.at)
        elif isinstance(record, FieldChanged):
            self._change(record)
        elif isinstance(record, ArmOut):
            self.falls.setdefault(record.arm, record.at)
        elif isinstance(record, PoolResized):
            self._resize(record.at, record.nodes)
        elif isinstance(record, SessionBegun):
            session = record.at, record.host, record.started
            if self._sessions[-1:] != [session]:  # it is heard of twice
                self._sessions.append(session)
            self._resize(record.at, record.nodes or (record.cores,))

    def _change(self, record: FieldChanged) -> None:
        for arm in record.back:
            self.falls.pop(arm, None)
        for arm in record.out:
            self.falls[arm] = record.at

    def _resize(self, at: float, nodes: tuple[int, ...]) -> None:
        if self._nodes[-1:] != [(at, nodes)]:
            self._nodes.append((at, nodes))

    def milestones(self) -> Milestones:
        """All of it so far."""
        return Milestones(
            dict(self.falls), tuple(self._rounds), tuple(self._sessions), tuple(self._nodes)
        )

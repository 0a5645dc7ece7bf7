"""What pulls printed: how much of it is kept, and a fold over what was."""

from collections import Counter
from collections.abc import Mapping

from paceline.journal.records import PullFailed, PullsPrinted, Record
from paceline.story.printouts import Printout, Printouts

# A chatty function with a million pulls is not to make a journal of gigabytes.
OF_ARM = 1 << 16  # characters of an arm's pulls that gave values
OF_RACE = 1 << 24  # of all arms' together; and as many of pulls that failed


class Prints:
    r"""A fold over what pulls printed; it also says what there is room for.

    >>> prints = Prints()
    >>> prints.take(PullsPrinted(1.0, ((0, 4, "a warning\n"),)))
    >>> prints.room({(0, 5): "hello", (1, 0): "x" * 70_000})
    (((0, 5, 'hello'),), (1,))
    >>> prints.printouts()[0].number
    4
    """

    def __init__(self) -> None:
        self._printed: list[Printout] = []
        self._cut: set[int] = set()  # arms that printed more than is kept
        self._of_arm: Counter[int] = Counter()
        self._total = 0
        self._failed = 0

    def take(self, record: Record) -> None:
        """Take a record into account."""
        if isinstance(record, PullsPrinted):
            for arm, number, text in record.pulls:
                self._printed.append(Printout(arm, number, text))
                self._of_arm[arm] += len(text)
                self._total += len(text)
            self._cut.update(record.cut)
        elif isinstance(record, PullFailed) and record.printed:
            one = Printout(record.arm, record.pull, record.printed, record.attempt)
            self._printed.append(one)
            self._failed += len(record.printed)

    def room(
        self, texts: Mapping[tuple[int, int], str]
    ) -> tuple[tuple[tuple[int, int, str], ...], tuple[int, ...]]:
        """Which of the texts of these pulls are to be kept; and arms of which some are not.

        An arm is named when that happens first; from then on nothing of it is kept.
        """
        kept: list[tuple[int, int, str]] = []
        added, total, cut = Counter[int](), self._total, dict[int, None]()
        for (arm, number), text in texts.items():
            if arm in self._cut or arm in cut:
                continue
            if self._of_arm[arm] + added[arm] + len(text) > OF_ARM or total + len(text) > OF_RACE:
                cut[arm] = None
                continue
            added[arm] += len(text)
            total += len(text)
            kept.append((arm, number, text))
        return tuple(kept), tuple(cut)

    def of_failure(self, text: str) -> str:
        """What is kept of what a pull printed that failed: all, unless very many fail."""
        return text if self._failed + len(text) <= OF_RACE else ""

    def printouts(self) -> Printouts:
        """All of it so far."""
        return Printouts(tuple(self._printed), frozenset(self._cut))

"""What happens in a race, told to the logger "paceline" of Python's `logging`.

It follows the records, as everything does. Nothing is printed unless a user has set up logging.
"""

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from paceline.characters import clean
from paceline.core.words import arm_name, count, listed
from paceline.display.stream import styled
from paceline.durations import say_seconds
from paceline.errors import Interrupted
from paceline.journal.records import (
    ArmOut,
    FieldChanged,
    PoolResized,
    PullFailed,
    PullsLost,
    RaceEnded,
    Record,
    Warned,
)
from paceline.pools.books import Books
from paceline.pools.recording import Recorder
from paceline.races.sentence import describe_failure
from paceline.races.settings import Settings
from paceline.story.brief import describe_standing
from paceline.story.standing import Standing

LOGGER = logging.getLogger("paceline")
LOGGER.addHandler(logging.NullHandler())
_MOST_NAMED = 6
_MOST_OF_A_MESSAGE = 2000  # characters


def log(level: int, text: str) -> None:
    """Log a text on one line, with nothing in it that a terminal would act on."""
    if LOGGER.isEnabledFor(level):
        LOGGER.log(level, "%s", clean(text[:_MOST_OF_A_MESSAGE]))


class Logbook:
    """Takes records on their way to the journal, and logs what people want to know of them."""

    def __init__(self, settings: Settings, books: Books, journal: Recorder | None) -> None:
        self._settings = settings
        self._books = books
        self._journal = journal

    def add(self, record: Record) -> None:
        """Take a record."""
        if self._journal is not None:
            self._journal.add(record)
        if LOGGER.isEnabledFor(logging.WARNING):
            self._tell(record)

    def commit(self) -> None:
        """Keep all that was taken."""
        if self._journal is not None:
            self._journal.commit()

    def begun(self, elapsed: float) -> None:
        """A session has begun: of a new race, or of one that resumes."""
        if not LOGGER.isEnabledFor(logging.INFO):
            return
        settings, pulls = self._settings, self._books.pulls
        what = "race begun"
        if elapsed or pulls:
            what = f"race resumed after {say_seconds(elapsed)} and {count(pulls, 'pull')}"
        goal, unit = settings.goal, settings.options["unit"]
        parts = [f"{len(settings.arms)} arms: {self._names(range(len(settings.arms)))}"]
        if goal.confidence is not None:
            parts.append(f"confidence {goal.confidence:g}")
        if goal.deadline is not None:
            parts.append(f"deadline {say_seconds(goal.deadline.seconds)}")
        parts.append(f"{settings.rules.cores} {unit} ({settings.engine.name})")
        if settings.options["journal"] is not None:
            parts.append(f"journal {settings.options['journal']}")
        log(logging.INFO, "; ".join([f"{what}: {parts[0]}", *parts[1:], *settings.notes]))

    def _tell(self, record: Record) -> None:
        if isinstance(record, FieldChanged) and LOGGER.isEnabledFor(logging.INFO):
            when = say_seconds(record.at)
            if record.out:
                log(logging.INFO, f"out after {when}: {self._names(record.out)}")
            if record.back:
                log(logging.INFO, f"back in after {when}: {self._names(record.back)}")
        elif isinstance(record, PullFailed):
            said = describe_failure(self._settings.labels[record.arm], record, in_full=False)
            log(logging.INFO, f"{said} (attempt {record.attempt})")
        elif isinstance(record, ArmOut):
            name = self._names([record.arm])
            log(logging.WARNING, f"out after {say_seconds(record.at)}, because it failed: {name}")
        elif isinstance(record, PullsLost):
            lost = count(sum(run.pulls for run in record.pulls), "pull")
            log(logging.INFO, f"{lost} lost, to be done again: {record.message}")
        elif isinstance(record, PoolResized):
            log(logging.WARNING, f"the pool has {sum(record.nodes)} cores now: {record.why}")
        elif isinstance(record, Warned):
            log(logging.WARNING, record.text)
        elif isinstance(record, RaceEnded):
            log(logging.INFO, f"race ended after {say_seconds(record.at)}: {record.verdict}")

    def _names(self, arms: Sequence[int]) -> str:
        names = [arm_name(self._settings.labels[arm]) for arm in arms[:_MOST_NAMED]]
        more = len(arms) - len(names)  # of a million arms, few are put into words
        return listed([*names, f"{more} more"] if more else names, _MOST_NAMED + 1)


def logs_rounds() -> Callable[[Standing], None] | None:
    """What logs how a round ended; None if nobody would hear of it."""
    if not LOGGER.isEnabledFor(logging.DEBUG):
        return None
    return lambda standing: log(logging.DEBUG, describe_standing(standing))


@contextlib.contextmanager
def logged(screen: Any) -> Iterator[None]:
    """Log how a race ends if it has no verdict.

    A handler that writes where the screen does is silent meanwhile: it would say everything twice,
    and tear up the table.
    """
    silence = lambda record: record.name != LOGGER.name  # noqa: E731
    silent = [handler for handler in _handlers() if _writes_to(handler, screen)]
    for handler in silent:
        handler.addFilter(silence)
    try:
        yield
    except Interrupted as error:
        log(logging.WARNING, f"race {error}")
        raise
    except Exception as error:
        log(logging.ERROR, f"race stopped: {type(error).__name__}: {error}")
        raise
    finally:
        for handler in silent:
            handler.removeFilter(silence)


def _handlers() -> Iterator[logging.Handler]:
    """All handlers that hear what the logger says."""
    logger: logging.Logger | None = LOGGER
    while logger is not None:
        yield from logger.handlers
        logger = logger.parent if logger.propagate else None


def _writes_to(handler: logging.Handler, screen: Any) -> bool:
    stream, shown = getattr(handler, "stream", None), getattr(screen, "stream", None)
    return shown is not None and styled(stream) is styled(shown)

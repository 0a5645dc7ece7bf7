"""The head of the page: the verdict, what it rests on, and what to beware of."""

from collections import Counter
from collections.abc import Iterable

from paceline.core.words import count
from paceline.durations import say_seconds
from paceline.report.markup import Markup, joined, prose, shown
from paceline.story.brief import describe_remaining
from paceline.story.standing import Status
from paceline.story.story import Story

_LONG = 140  # characters of a headline
_ORDER: tuple[Status, ...] = ("best", "in", "out", "failed")


def fragments(story: Story) -> dict[str, Markup]:
    """The head of the page."""
    return {
        "title": prose(f"{shown(story.outcome.verdict, 80)} · paceline"),
        "state": Markup('<span class="state {}">{}</span>').format(*_state(story)),
        "verdict": _headline(_capital(story.outcome.verdict)),
        "guarantee": prose(_guarantee(story)),
        "facts": joined(_facts(story)),
        "notes": joined(_notes(story)),
    }


def _headline(sentence: str) -> Markup:
    """Long ones in smaller letters."""
    kind = "long" if len(sentence) > _LONG else "short"
    return Markup('<span class="{}">{}</span>').format(kind, prose(sentence, 800))


def _capital(sentence: str) -> str:
    """The sentence with a capital, unless it begins with the name of an arm."""
    word = sentence.partition(" ")[0]
    known = word in ("undecided", "under", "not")
    return sentence[0].upper() + sentence[1:] if known else sentence


def _state(story: Story) -> tuple[str, str]:
    """The class of the badge, and its words."""
    outcome = story.outcome
    if not outcome.ended:
        return "open", "not ended"
    if not outcome.decided:
        return "undecided", "undecided"
    return ("decided", "decided") if _is_guaranteed(story) else ("plain", "ended, no guarantee")


def _is_guaranteed(story: Story) -> bool:
    """Whether the confidence that was asked for was reached before the race had to end."""
    outcome, asked = story.outcome, 1 - story.level
    return outcome.decided and outcome.confidence is not None and outcome.confidence > asked - 1e-9


def _guarantee(story: Story) -> str:
    """What is promised, and what must be true for it."""
    outcome, together = story.outcome, _percent(1 - story.level)
    given = f", assuming {story.assumed}" if story.assumed else ""
    if outcome.confidence is not None and _is_guaranteed(story):
        least = _percent(outcome.confidence)
        verdict = f"Guaranteed: the verdict is right with probability at least {least}{given}."
        same = "the same probability" if least == together else f"probability {together}"
        return f"{verdict} All intervals below hold together, at all times, with {same}."
    intervals = f"hold together, at all times, with probability {together}{given}"
    return f"Nothing is guaranteed about the verdict. All intervals below {intervals}."


def _percent(share: float) -> str:
    return f"{100 * share:.6g}\u00a0%"


def _facts(story: Story) -> Iterable[Markup]:
    standing, confidence = story.standing, story.outcome.confidence
    statuses = Counter(arm.status for arm in standing.arms)
    arms = ", ".join(f"{statuses[one]} {one}" for one in _ORDER if statuses[one])
    busy = story.timeline.core_time()
    used = f"{100 * busy.in_use / busy.total:.0f} % in use" if busy.total else ""
    sure = "none" if confidence is None else _percent(confidence)
    known = "of the verdict" if _is_guaranteed(story) else "would have been reached"
    yield _fact("Confidence", sure, known if confidence is not None else "")
    end = standing.deadline
    limit = "" if end is None else f"deadline {say_seconds(end)}"
    more = "" if story.outcome.ended else describe_remaining(standing)
    yield _fact("Time", say_seconds(standing.elapsed), ", ".join(filter(None, [limit, more])))
    yield _fact("Arms", f"{len(standing.arms):,}", arms)
    yield _fact("Pulls", f"{standing.pulls:,}", count(standing.rounds, "round"))
    yield _fact("Cores", f"{standing.cores:,}", used)
    spent = say_seconds(story.core_seconds)
    yield _fact("Core time", spent, "of all pulls")


def _fact(name: str, value: str, more: str) -> Markup:
    template = "<div><dt>{}</dt><dd>{}{}</dd></div>"
    small = Markup(" <small>{}</small>").format(more) if more else ""
    return Markup(template).format(name, value, small)


def _notes(story: Story) -> Iterable[Markup]:
    standing = story.standing
    for text in standing.warnings:
        yield Markup('<p class="warning"><strong>Warning</strong> {}</p>').format(prose(text))
    failed = sum(arm.status == "failed" for arm in standing.arms)
    if failed:
        what = f"{failed:,} of {count(len(standing.arms), 'arm')} failed and {_be(failed)} out."
        link = Markup('<a href="#failures-section">What they printed</a>')
        yield Markup('<p class="warning"><strong>Failures</strong> {} {}</p>').format(what, link)
    for text in (*standing.notes, *filter(None, [standing.outlook])):
        yield Markup('<p class="note">{}</p>').format(prose(text))


def _be(number: int) -> str:
    return "is" if number == 1 else "are"

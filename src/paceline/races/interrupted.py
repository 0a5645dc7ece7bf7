"""A race that was interrupted: how it stood, and how to go on."""

import numpy as np

from paceline.characters import visible
from paceline.core.rounds import Verdict
from paceline.core.words import arm_name, count, listed
from paceline.durations import say_seconds
from paceline.errors import Interrupted
from paceline.races.advice import how_to_resume, resumes_alone
from paceline.races.forms import name_of, write_policy
from paceline.races.session import Session
from paceline.races.snapshot import result_of
from paceline.result import Result

_MOST_NAMED = 3


def interrupted(session: Session) -> Interrupted:
    """The error for a race that was interrupted, with the best so far; its workers are gone."""
    result = _result(session)
    after = f"interrupted after {say_seconds(result.elapsed)}"
    return Interrupted(f"{after}; {_what_is_kept(session, result)}", result)


def what_is_kept(session: Session) -> str:
    """The same for a race that an error has ended, such as one of a callback: how to go on."""
    result = _result(session)
    after = f"The race was ended by this error after {say_seconds(result.elapsed)}"
    # Whoever prints the error prints this as it is.
    return visible(f"{after}; {_what_is_kept(session, result)}")


def _result(session: Session) -> Result:
    view, journal = session.teller.view(session.phase), session.settings.options["journal"]
    reason = f"it was interrupted after {say_seconds(view.elapsed)}"
    if not any(one.size for one in view.values):
        reason += ", before any pull gave a value"
    alive = session.phase.alive or range(len(session.settings.arms))
    verdict = Verdict(np.array(alive), decided=False, confidence=None, reason=reason)
    return result_of(view, verdict, session.dispatcher.model.pool, journal)


def _what_is_kept(session: Session, result: Result) -> str:
    settings, known = session.settings, session.books.pulls
    journal, leads = settings.options["journal"], _leaders(result)
    pulls = count(known, "pull")
    if journal is None:
        return f"{pulls}{leads}. Without a journal it cannot be resumed"
    what, policy = name_of(settings.evaluate), write_policy(settings.policy)
    alone = resumes_alone(what, policy, settings.engine.name)
    how = how_to_resume(str(journal), what, alone=alone)
    recorded = f"{pulls} {'is' if known == 1 else 'are'} recorded in {journal}{leads}"
    return f"{recorded}. To resume: {how}"


def _leaders(result: Result) -> str:
    names = [arm_name(result.arms[arm].label) for arm in result.chosen]
    if not names:
        return ""
    return f"; {listed(names, _MOST_NAMED)} {'leads' if len(names) == 1 else 'lead'}"

"""A race so far, from its records: as a session that is to go on, or only to be looked at."""

from paceline.core.rounds import Verdict
from paceline.pools.clock import RaceClock
from paceline.pools.dispatcher import Dispatcher
from paceline.pools.model import PoolModel
from paceline.races.history import History
from paceline.races.session import Session
from paceline.races.settings import Settings
from paceline.races.snapshot import result_of
from paceline.races.telling import Audience, Teller
from paceline.result import Result


def replayed(settings: Settings, history: History) -> Session:
    """A race so far, as a session that runs up to the end of its records; no time passes in it."""
    clock = RaceClock(lambda: 0.0)
    clock.resume_at(history.elapsed)
    dispatcher = Dispatcher(
        None, settings.rules, history.books, clock=clock, model=model_of(settings)
    )
    return session_of_race(settings, dispatcher, history, Audience())


def model_of(settings: Settings) -> PoolModel:
    """What is known of the pool at the start."""
    return PoolModel(settings.rules, settings.pool, settings.shape)


def session_of_race(
    settings: Settings, dispatcher: Dispatcher, history: History, audience: Audience
) -> Session:
    """A session of the race, by what earlier ones left behind."""
    plan = history.plan
    told = 0 if plan is None else len(plan.rounds)
    teller = Teller(settings, dispatcher, audience, history.warnings, told)
    return Session(settings, dispatcher, plan, teller)


def result_now(session: Session, verdict: Verdict) -> Result:
    """The result of a session that has come to this verdict."""
    view = session.teller.view(session.phase)
    scaling = session.dispatcher.model.pool
    return result_of(view, verdict, scaling, session.settings.options["journal"])

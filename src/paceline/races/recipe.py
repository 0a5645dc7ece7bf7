"""What a race is made of, in plain values, so that it can be run again."""

from typing import Any

from paceline.commands import Command
from paceline.races.forms import name_of
from paceline.races.identity import given_options, versions
from paceline.races.settings import Settings
from paceline.story.story import Recipe


def recipe_of(settings: Settings, journal: Any = None) -> Recipe:
    """The recipe of a race; a function is known by its name only."""
    evaluate = settings.evaluate
    if isinstance(evaluate, Command):
        what = str(evaluate)
    else:
        what = evaluate if isinstance(evaluate, str) else name_of(evaluate)
    return Recipe(
        what=what,
        options=given_options(settings),
        versions=versions(),
        journal=None if journal is None else str(journal),
        command=evaluate if isinstance(evaluate, Command) else None,
    )

"""Stories of races for pages: of real small races, with whatever names."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import paceline
from paceline.story.story import Story

HOSTILE = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(2)>",
    "</script></textarea></title><svg onload=alert(3)>",
    "a\u202egnp.exe\u2066",
    "\x1b[31mred\x07",
    "{{7*7}} ${7*7} $$\\alpha$$ @label",
    "-->]]><!--",
    "x" * 10_000,
    "שלום עולם",
    "🏁",
)


def raced(labels: Sequence[str] = ("a", "b", "c"), **options: Any) -> Story:
    """A story of a real race; the last arm is the best."""

    def pull(arm: int, *, seed: int) -> float:
        return arm + float(np.random.default_rng(seed).normal(0.0, 0.5))

    given: dict[str, Any] = {"confidence": 0.95, "cores": 2, "progress": False, "max_pulls": 400}
    return named(paceline.race(pull, range(len(labels)), **given | options).story, labels)


def named(story: Story, labels: Sequence[str]) -> Story:
    """The same race, of arms with other labels; the verdict names the best of them."""
    arms = tuple(replace(arm, label=labels[arm.index]) for arm in story.standing.arms)
    verdict = story.outcome.verdict.replace(
        f'"{story.standing.arms[story.outcome.index].label}"', labels[story.outcome.index]
    )
    return replace(
        story,
        standing=replace(story.standing, arms=arms),
        outcome=replace(story.outcome, verdict=verdict),
    )

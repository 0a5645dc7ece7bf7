"""Stories that are odd, or that no race tells: each still has a page."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from paceline.report import Parts, page, parts
from paceline.story.printouts import Printout, Printouts
from paceline.story.story import Milestones, Story
from paceline.story.timeline import Timeline
from paceline.story.values import Values
from tests.report.stories import made

BASE = made(6, 60, (4,))


def page_of(story: Story) -> Parts:
    found = parts(story)
    json.dumps(found.to_json(), allow_nan=False)
    page(found)
    return found


def with_values(**columns: Any) -> Story:
    kept = {one.name: getattr(BASE.values, one.name) for one in fields(Values)}
    return replace(BASE, values=Values(**kept | columns))


def with_timeline(**columns: Any) -> Story:
    kept = {one.name: getattr(BASE.timeline, one.name) for one in fields(Timeline)}
    return replace(BASE, timeline=Timeline(**kept | columns))


def with_arms(**changes: Any) -> Story:
    arms = tuple(replace(arm, **changes) for arm in BASE.standing.arms)
    return replace(BASE, standing=replace(BASE.standing, arms=arms))


def with_nodes(*nodes: tuple[float, tuple[int, ...]]) -> Story:
    return replace(BASE, milestones=replace(BASE.milestones, nodes=nodes))


@pytest.mark.parametrize("scale", [1e308, 1e160, 1e-308, 0.0, math.inf])
def test_values_of_any_size(scale: float) -> None:
    with np.errstate(all="ignore"):
        page_of(with_values(value=BASE.values.value * scale))


@pytest.mark.parametrize(
    "story",
    [
        lambda: with_arms(mean=math.nan, low=-math.inf, high=math.inf),
        lambda: with_arms(low=-math.inf, high=math.inf),
        lambda: with_arms(mean=1e308, low=-1e308, high=1.7e308),
        lambda: with_arms(mean=1e307, low=-math.inf, high=math.inf),
        lambda: with_arms(label="\udcff\ud800"),
        lambda: with_timeline(elapsed=0.0),
        lambda: with_timeline(elapsed=1e-300),
        lambda: replace(with_timeline(pool=()), milestones=Milestones()),
        lambda: with_timeline(seconds=BASE.timeline.seconds * 3),  # begun before the race
        lambda: with_timeline(seconds=BASE.timeline.seconds * 0),
        lambda: with_nodes((0.0, (1,))),  # pulls had more cores than there are
        lambda: with_nodes((0.0, (4,)), (5.0, (0,)), (9.0, ())),
        lambda: with_nodes((5.0, (4,))),
        lambda: replace(BASE, milestones=replace(BASE.milestones, falls={0: -5.0, 1: 1e9})),
        lambda: replace(BASE, milestones=replace(BASE.milestones, rounds=(1e9, -1.0))),
        lambda: replace(BASE, outcome=replace(BASE.outcome, index=-1, decided=False, chosen=())),
        lambda: made(1, 20, (2,), failing=0.0),
    ],
)
def test_what_no_race_should_tell(story: Callable[[], Story]) -> None:
    page_of(story())


@pytest.mark.parametrize(
    "given",
    [
        [{"x": math.nan}, {"x": math.inf}],
        [{"x": 1e308}, {"x": -1e308}],
        [{"x": 10**400}, {"x": 1}],
        [{"x": "\udcff"}, {"x": None}],
        [None, {"y": 1}],
        [{"": 1}, {"": 2}],
        [{"x": "1e400"}, {"x": "nan"}],
        [{"x": 5e-324}, {"x": 1e-300}],
        [{"x": True}, {"x": 2.5}],
        [{"x": 1.0}, {"x": 1.0 + 1e-15}],
        [{f"p{one}": one for one in range(30)}, {f"p{one}": -one for one in range(30)}],
    ],
    ids=lambda given: str(given)[:30].encode("unicode_escape").decode(),
)
def test_parameters_of_any_kind(given: Sequence[dict[str, Any] | None]) -> None:
    page_of(replace(BASE, parameters=tuple(given) * 3))


def test_what_pulls_printed() -> None:
    said = [Printout(0, k, f"step {k} </pre><script>\n") for k in range(5)]
    said.append(Printout(0, 9, "of a pull that failed", attempt=1))
    found = page_of(replace(BASE, printed=Printouts(tuple(said)))).fragments["printed"]
    assert "step 4 &lt;/pre&gt;&lt;script&gt;" in found
    assert "there was more" in found
    assert "step 0" not in found
    assert "failed" not in found
    assert page_of(BASE).fragments["printed"] == ""

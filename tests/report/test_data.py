"""What the charts draw, against the story that they were made of."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from paceline.report import parts
from paceline.report.blocks import MOST_BLOCKS
from paceline.report.colours import HUES, colours_of
from paceline.story.story import Story
from tests.report.stories import made, raced


@pytest.fixture(scope="module")
def story() -> Story:
    return made(64, 3000)


@pytest.fixture(scope="module")
def data(story: Story) -> dict[str, Any]:
    return parts(story).data


def test_the_last_point_of_a_path_is_the_mean_in_the_standings(
    story: Story, data: dict[str, Any]
) -> None:
    ends = dict(zip(data["paths"]["arm"], (ys[-1] for ys in data["paths"]["ys"]), strict=True))
    winner = story.outcome.index
    assert ends[winner] == pytest.approx(story.standing.arms[winner].mean, abs=1e-3)
    assert len(ends) == sum(arm.pulls > 0 for arm in story.standing.arms)


def test_intervals_are_those_of_the_standings() -> None:
    real = raced(max_pulls=200)
    drawn = parts(real).data["bands"]
    for record in real.standing.arms:
        ys = drawn["ys"][drawn["arm"].index(record.index)]
        if record.status == "best":
            middle = len(ys) // 2
            low, high = ys[middle - 1], ys[middle]
            assert (low, high) == pytest.approx((record.low, record.high), abs=1e-3)


def test_an_arm_is_drawn_until_it_falls(story: Story, data: dict[str, Any]) -> None:
    ends = dict(zip(data["paths"]["arm"], (xs[-1] for xs in data["paths"]["xs"]), strict=True))
    for arm, at in story.milestones.falls.items():
        if arm in ends:
            assert ends[arm] <= at + 1e-3 * story.standing.elapsed
    assert sorted(data["falls"]["arm"]) == sorted(set(story.milestones.falls) & set(ends))


def test_the_staircase_ends_with_the_arms_that_are_in(story: Story, data: dict[str, Any]) -> None:
    counted = data["survivors"]["arms"]
    assert counted[0] == len(story.standing.arms)
    assert counted[-1] == sum(arm.status in ("best", "in") for arm in story.standing.arms)
    assert counted == sorted(counted, reverse=True)


def area(pool: dict[str, list[Any]]) -> float:
    left, right, bottom, top = (np.array(pool[one]) for one in ("left", "right", "bottom", "top"))
    return float(((right - left) * (top - bottom)).sum())


def test_blocks_have_the_core_time_of_the_pulls(story: Story, data: dict[str, Any]) -> None:
    timeline = story.timeline
    spent = float((timeline.cores * timeline.seconds).sum())
    assert len(data["pool"]["arm"]) >= len(timeline)
    assert 0.93 * spent < area(data["pool"]) <= spent * 1.001  # a little is the gap between rows
    assert max(data["room"]["top"]) == sum(story.milestones.nodes[-1][1])


def test_many_pulls_are_summed_up_and_the_page_says_so() -> None:
    many = made(200, MOST_BLOCKS + 20_000, (32, 32))
    whole = parts(many)
    spent = many.timeline.core_time()
    assert len(whole.data["pool"]["arm"]) < 10_000
    assert area(whole.data["pool"]) == pytest.approx(spent.total - spent.idle, rel=1e-3)
    assert "too many to draw each" in whole.fragments["caption-pool"]


def test_labels_are_there_once(data: dict[str, Any], story: Story) -> None:
    assert len(data["arms"]["label"]) == len(story.standing.arms)
    assert "optimizer=adam" not in json.dumps(data | {"arms": {}})


def test_leaders_have_colours_of_their_own_that_stay() -> None:
    many = made(64, 3000)
    before = colours_of(many)
    leaders = [arm.index for arm in many.standing.ranked()[:HUES]]
    assert sorted(before[arm] for arm in leaders) == list(range(HUES))
    assert all(colour >= HUES for arm, colour in enumerate(before) if arm not in leaders)
    # The two best change places.
    arms = list(many.standing.arms)
    first, second = leaders[:2]
    arms[first] = replace(arms[first], status="out")
    after = colours_of(replace(many, standing=replace(many.standing, arms=tuple(arms))))
    kept = [arm for arm in leaders if after[arm] == before[arm]]
    assert len(kept) >= HUES - 2
    assert second in leaders


def test_fewer_arms_than_colours_keep_theirs_all_the_time() -> None:
    assert colours_of(made(6, 60)) == [0, 1, 2, 3, 4, 5]


def test_rounds_and_core_counts_are_those_of_the_pulls(story: Story, data: dict[str, Any]) -> None:
    assert sum(data["allocation"]["pulls"]) == len(story.values)
    assert sum(data["scaling"]["pulls"]) == len(story.values)
    assert data["scaling"]["cores"] == np.unique(story.values.cores).tolist()
    assert data["fit"]["seconds"][0] == pytest.approx(20.0)


def test_the_opening_is_round_0() -> None:
    real = raced()
    rounds = parts(real).data["allocation"]["round"]
    assert rounds[0] == 0
    assert rounds[-1] <= real.standing.rounds
    assert len(real.milestones.rounds) == real.standing.rounds + 1


def test_parameters_that_differ_have_a_chart_each(story: Story, data: dict[str, Any]) -> None:
    names = [parts(story).fragments[f"parameter-{place}-name"] for place in range(8)]
    assert names == ["rate", "depth", "width", "optimizer", "&lt;/script&gt;", "", "", ""]
    assert data["ticks-parameter-3"]["label"] == ["adam", "sgd", "<b>lion</b>"]
    with_values = sum(arm.pulls > 0 for arm in story.standing.arms)
    assert [len(data[f"parameter-{place}"]["x"]) for place in (0, 4, 5)] == [with_values] * 2 + [0]
    assert len(data["parallel"]["xs"]) == with_values
    # The best is drawn last, in the strongest colour.
    assert data["parallel"]["arm"][-1] == story.outcome.index


@pytest.mark.parametrize(
    "options",
    [
        {"deadline": "1s", "confidence": None},
        {"top": 2},
        {"direction": "minimize"},
        {"paired": True},
        {"max_pulls": 3},
    ],
    ids=str,
)
def test_every_kind_of_race_has_a_page(options: dict[str, Any]) -> None:
    made = parts(raced(**options))
    json.dumps(made.to_json(), allow_nan=False)
    assert made.data["pool"]["arm"]

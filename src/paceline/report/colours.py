"""Which colour an arm has, in all charts alike. Colours are numbered; the style sheet mixes them.

A dozen arms at most can be told apart by colour. So the leaders have colours of their own, and all
others share a few greys. An arm that leads keeps its colour while others come and go.
"""

from collections.abc import Sequence

from paceline.report.markup import Markup, joined, label
from paceline.story.standing import ArmRecord
from paceline.story.story import Story
from paceline.story.timeline import USES

HUES = 10  # 0 … 9: arms of their own colour
_GREYS = 4  # 10 … 13: all other arms
OTHERS = HUES
USE_COLOURS = {"failed": 14, "cancelled": 15, "backups": 16, "starting": 17}
FALLEN = 18  # what arms that are out have left behind
ROOM = 19  # and 20, of every other node: cores that are there
MEANS = 21  # … 28: from a bad mean to a good one
SHADES = 8
COLOURS = MEANS + SHADES


def colours_of(story: Story) -> list[int]:
    """The colour of each arm."""
    arms = story.standing.arms
    if len(arms) <= HUES:
        return list(range(len(arms)))
    colours = [OTHERS + arm % _GREYS for arm in range(len(arms))]
    free = set(range(HUES))
    for record in story.standing.ranked()[:HUES]:
        wanted = record.index % HUES
        mine = wanted if wanted in free else min(free)
        colours[record.index] = mine
        free.discard(mine)
    return colours


def legend_of_race(story: Story, colours: list[int]) -> Markup:
    """The arms that are in; all that are out have one colour."""
    arms = [arm for arm in story.standing.ranked() if arm.status in ("best", "in")]
    out = len(story.standing.arms) - len(arms)
    return joined([*_arms(arms, colours), *_rest(out, FALLEN, "out")])


def legend_of_pool(story: Story, colours: list[int]) -> Markup:
    """The arms that have colours of their own, and what else is coloured."""
    used = {USES[use] for use in set(story.timeline.use.tolist())}
    uses = [_ENTRY.format(colour, use) for use, colour in USE_COLOURS.items() if use in used]
    return joined([*_arms(story.standing.ranked(), colours), *uses, _ENTRY.format(ROOM, "idle")])


_ENTRY = Markup('<li><i class="c{}"></i>{}</li>')


def _arms(arms: Sequence[ArmRecord], colours: list[int]) -> list[Markup]:
    own = [arm for arm in arms if colours[arm.index] < HUES]
    entries = [_ENTRY.format(colours[arm.index], label(arm.label)) for arm in own]
    return [*entries, *_rest(len(arms) - len(own), OTHERS, "other")]


def _rest(arms: int, colour: int, kind: str) -> list[Markup]:
    if not arms:
        return []
    noun = {"other": "other arm", "out": "arm"}[kind] + ("" if arms == 1 else "s")
    return [_ENTRY.format(colour, f"{arms:,} {noun}" + (" out" if kind == "out" else ""))]

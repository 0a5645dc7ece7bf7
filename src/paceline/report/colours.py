"""Which colour an arm has, in all charts alike. Colours are numbered; the style sheet mixes them.

A dozen arms at most can be told apart by colour. So the leaders have colours of their own, and all
others share a few greys. An arm that leads keeps its colour while others come and go.
"""

from paceline.report.markup import Markup, joined, label
from paceline.story.story import Story
from paceline.story.timeline import USES

HUES = 10  # 0 … 9: arms of their own colour
_GREYS = 4  # 10 … 13: all other arms
OTHERS = HUES
USE_COLOURS = {"failed": 14, "cancelled": 15, "backups": 16, "starting": 17}
FALLEN = 18  # what arms that are out have left behind
ROOM = 19  # and 20, of every other node: cores that are there
COLOURS = 21


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


def legend(story: Story, colours: list[int], *, uses: bool) -> Markup:
    """The arms that have colours of their own, and what else is coloured."""
    entry = Markup('<li><i class="c{}"></i>{}</li>')
    leaders = [arm for arm in story.standing.ranked() if colours[arm.index] < HUES]
    entries = [entry.format(colours[arm.index], label(arm.label)) for arm in leaders]
    rest = len(story.standing.arms) - len(leaders)
    if rest:
        noun = "other arm" if rest == 1 else "other arms"
        entries.append(entry.format(OTHERS, f"{rest:,} {noun}"))
    if uses:
        used = {USES[use] for use in set(story.timeline.use.tolist())}
        entries += [entry.format(n, use) for use, n in USE_COLOURS.items() if use in used]
        entries.append(entry.format(ROOM, "idle"))
    return joined(entries)

"""What pulls printed that gave a value; what the others printed stands with the failures."""

from collections import defaultdict

from paceline.characters import visible
from paceline.core.words import count
from paceline.report.markup import Markup, cut, joined, label
from paceline.story.printouts import Printout
from paceline.story.story import Story

_MOST_ARMS = 40  # the best
_MOST_PULLS = 3  # of each, the last ones
_MOST_TEXT = 3000  # characters of each pull


def fragment(story: Story) -> Markup:
    """An entry per arm, the best first."""
    by_arm: dict[int, list[Printout]] = defaultdict(list)
    for one in story.printed:
        if not one.attempt and one.text.strip():
            by_arm[one.arm].append(one)
    arms = [arm for arm in story.standing.ranked() if arm.index in by_arm]
    entry = Markup('<details id="printed-{}"><summary><span>{}</span> <small>{}</small></summary>')
    blocks = []
    for arm in arms[:_MOST_ARMS]:
        said = by_arm[arm.index]
        head = entry.format(arm.index, label(arm.label), count(len(said), "pull"))
        more = len(said) > _MOST_PULLS or arm.index in story.printed.cut
        note = Markup("<p>These are the last; there was more.</p>") if more else Markup("")
        blocks.append(head + note + joined(map(_pull, said[-_MOST_PULLS:])) + Markup("</details>"))
    rest = len(arms) - _MOST_ARMS
    if rest > 0:
        blocks.append(Markup("<p>… and {}</p>").format(count(rest, "more arm")))
    return joined(blocks)


def _pull(one: Printout) -> Markup:
    text = visible(cut(one.text.strip("\n"), _MOST_TEXT))
    return Markup('<p>pull {}</p><pre tabindex="0">{}</pre>').format(one.number, text)

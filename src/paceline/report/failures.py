"""What failed, and what it printed."""

from collections import defaultdict

from paceline.characters import visible
from paceline.core.words import arm_name, count
from paceline.durations import say_seconds
from paceline.report.markup import Markup, cut, joined, label, prose
from paceline.story.story import Story, Trouble

_MOST_CAUSES = 40
_MOST_PULLS = 12  # of each cause
_MOST_TEXT = 6000  # characters of what a pull printed; the end says most


def fragment(story: Story) -> Markup:
    """The causes, the most frequent first, with the pulls that failed of each."""
    by_cause: dict[tuple[str, str], list[Trouble]] = defaultdict(list)
    for trouble in story.troubles:
        by_cause[trouble.kind, trouble.message].append(trouble)
    causes = sorted(by_cause.values(), key=len, reverse=True)
    if not causes:
        return Markup("")
    blocks = [_cause(story, place, cause) for place, cause in enumerate(causes[:_MOST_CAUSES])]
    if len(causes) > _MOST_CAUSES:
        rest = len(causes) - _MOST_CAUSES
        blocks.append(Markup("<p>… and {} more causes</p>").format(rest))
    return Markup("<p>{}</p>{}").format(_summary(story), joined(blocks))


def _summary(story: Story) -> str:
    out = sum(arm.status == "failed" for arm in story.standing.arms)
    attempts = count(len(story.troubles), "attempt")
    if not out:
        return f"{attempts} at pulls failed; later attempts gave a value."
    be = "is" if out == 1 else "are"
    return f"{attempts} at pulls failed; {out} of {len(story.standing.arms)} arms {be} out."


def _cause(story: Story, place: int, troubles: list[Trouble]) -> Markup:
    arms = {trouble.arm for trouble in troubles}
    head = Markup("<summary><span>{}</span> <small>{} of {}</small></summary>").format(
        prose(troubles[0].message, 400),
        count(len(troubles), "attempt"),
        count(len(arms), "arm") if len(arms) > 1 else _name(story, troubles[0]),
    )
    pulls = joined(_pull(story, trouble) for trouble in troubles[:_MOST_PULLS])
    rest = len(troubles) - _MOST_PULLS
    more = Markup("<p>… and {} more</p>").format(rest) if rest > 0 else ""
    return Markup('<details id="failure-{}">{}{}{}</details>').format(place, head, pulls, more)


def _name(story: Story, trouble: Trouble) -> Markup:
    name = arm_name(story.standing.arms[trouble.arm].label)
    return Markup("arm {}").format(label(name))


def _pull(story: Story, trouble: Trouble) -> Markup:
    head = Markup("<p>{}, pull {}, attempt {}, at {}</p>").format(
        _name(story, trouble), trouble.pull, trouble.attempt, say_seconds(trouble.at)
    )
    printed = trouble.detail.strip("\n")
    if not printed.strip():
        return head
    text = visible(cut(printed, _MOST_TEXT))
    return head + Markup('<pre tabindex="0">{}</pre>').format(text)

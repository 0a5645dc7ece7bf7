"""How to repeat the race: what it was made of, with which options and versions, and where."""

import json
from collections.abc import Iterable

from paceline.characters import visible
from paceline.durations import say_seconds
from paceline.report.markup import Markup, joined, label, prose, shown, table
from paceline.story.story import Story

_LONGEST = 4000
_MOST_SESSIONS = 30


def fragment(story: Story) -> Markup:
    """A list of facts, and the sessions in which the race ran."""
    recipe = story.recipe
    entry = Markup("<dt>{}</dt><dd>{}</dd>")
    facts = [entry.format("Evaluates", _code(recipe.what))]
    options = dict(recipe.options)
    seed = options.pop("seed", 0)
    facts.append(entry.format("Seed", _code(_written(seed))))
    if options:
        rows = ((_code(name), _code(_written(value))) for name, value in options.items())
        inside = Markup("<table>{}</table>").format(table(("Option", "Value"), rows, words=(0, 1)))
        facts.append(entry.format("Options", inside))
    versions = ", ".join(f"{name} {version}" for name, version in recipe.versions.items())
    facts.append(entry.format("Versions", prose(versions or "not recorded")))
    if recipe.journal is None:
        facts.append(entry.format("Journal", "none was written"))
    else:
        facts.append(entry.format("Journal", _code(recipe.journal)))
    sessions = list(_sessions(story))
    if sessions:
        heads = ("From", "Began", "Host")
        inside = Markup("<table>{}</table>").format(table(heads, sessions, words=(0, 1, 2)))
        facts.append(entry.format("Sessions", inside))
    return joined(facts)


def _sessions(story: Story) -> Iterable[list[object]]:
    for at, host, began in story.milestones.sessions[-_MOST_SESSIONS:]:
        if host or began:
            yield [say_seconds(at), shown(began.replace("T", " "), 40), label(host)]


def _written(value: object) -> str:
    """A value as users write it; a policy as `--policy` takes it."""
    if isinstance(value, dict) and value.keys() == {"name", "options"}:
        options = ",".join(f"{name}={one}" for name, one in value["options"].items())
        return f"{value['name']}:{options}" if options else str(value["name"])
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)


def _code(text: str) -> Markup:
    """Commands keep their lines; what would act or hide in them is made visible."""
    said = visible(text[:_LONGEST]) + ("…" if len(text) > _LONGEST else "")
    return Markup("<code>{}</code>").format(said)

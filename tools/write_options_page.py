"""Write docs/options.md, and the table on resuming, from the descriptions of the options."""

from pathlib import Path

from paceline.races.option import Option
from paceline.races.options import OPTIONS

_HEAD = """\
# Options of a race

Every option is an argument of `paceline.race`, and unless it says otherwise a flag of `paceline
race` and `paceline run` and a key under `[race]` in a race file.

The journal keeps an option as part of what the *race* is, which must not change, or as how a
*session* of it is run, which a resume may change. The [reference](reference.md#resuming) says what
each change does.
"""
_TABLE_BEGINS, _TABLE_ENDS = "<!-- generated: resume -->", "<!-- end of generated -->"
_TABLE = "| option | default | | flag | journal |\n|---|---|---|---|---|\n"


def options_page() -> str:
    """The page: a table for every group of options."""
    groups: dict[str, list[str]] = {}
    for option in OPTIONS.values():
        groups.setdefault(option.group, []).append(_row(option))
    tables = [
        f"## {group.capitalize()}\n\n{_TABLE}{''.join(rows)}" for group, rows in groups.items()
    ]
    return "\n".join([_HEAD, *tables])


_KINDS = {
    "race": ("no", "refused: the message names both values"),
    "session": ("yes", "applied from then on; an ended race stands as it is"),
    None: ("yes", "as given; the journal does not keep it"),
}


def resume_table() -> str:
    """What a resume may change, option by option, for docs/reference.md."""
    rows = ["| option | may a resume change it? | what happens then |\n|---|---|---|\n"]
    for option in OPTIONS.values():
        may, effect = _KINDS[option.kept]
        resumed = option.on_resume
        may = f"only {resumed.only}" if resumed.only else may
        if option.name == "journal":
            may, effect = "no", "another file is another race"
        rows.append(f"| `{option.name}` | {may} | {resumed.effect or effect} |\n")
    return "".join(rows)


def reference_page(page: str) -> str:
    """The page with the table as it is now; it stands between two lines that do not change."""
    head, _, rest = page.partition(_TABLE_BEGINS)
    _, _, tail = rest.partition(_TABLE_ENDS)
    return f"{head}{_TABLE_BEGINS}\n\n{resume_table()}\n{_TABLE_ENDS}{tail}"


def _row(option: Option) -> str:
    help_ = option.help.replace("|", r"\|")
    cells = [f"`{option.name}`", f"`{option.default!r}`", help_, _flag(option), option.kept or "–"]
    return f"| {' | '.join(cells)} |\n"


def _flag(option: Option) -> str:
    if option.words is None:
        return "only in Python"
    name = f"--{option.name.replace('_', '-')}"
    if option.flag == "each choice":
        return ", ".join(f"`--{choice}`" for choice in option.choices)
    if option.flag == "on or off":
        return f"`{name}`, `{name.replace('--', '--no-', 1)}`"
    takes = "\\|".join(option.choices) or option.takes.replace("|", r"\|")
    return ", ".join(f"`{flag} {takes}`" for flag in (option.short, name) if flag)


if __name__ == "__main__":
    Path("docs/options.md").write_text(options_page(), encoding="utf-8")
    _REFERENCE = Path("docs/reference.md")
    _REFERENCE.write_text(reference_page(_REFERENCE.read_text("utf-8")), encoding="utf-8")

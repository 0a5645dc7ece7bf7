"""Write docs/options.md from the descriptions of the options, so that the page cannot go stale."""

from pathlib import Path

from paceline.races.option import Option
from paceline.races.options import OPTIONS

_HEAD = """\
# Options of a race

Every option is an argument of `paceline.race`, and unless it says otherwise a flag of `paceline
race` and `paceline run` and a key under `[race]` in a race file.

The journal keeps an option as part of what the *race* is, which must not change, or as how a
*session* of it is run: `paceline resume` and `paceline.resume` may change the latter.
"""
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

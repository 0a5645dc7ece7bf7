"""`paceline show --printed`: what pulls have printed."""

import argparse
from typing import Any

from paceline.characters import visible
from paceline.core.words import arm_name
from paceline.display.window import print_lines, print_wrapped
from paceline.errors import InvalidInput, seen, unknown_name
from paceline.exports import json_text
from paceline.result import Result
from paceline.story.printouts import Printout
from paceline.story.standing import ArmRecord

_MOST_NAMED = 50


def add_printed(parser: argparse.ArgumentParser) -> None:
    """Declare the option."""
    parser.add_argument(
        "--printed",
        nargs="*",
        metavar=("ARM", "PULL"),
        help="print what pulls have printed: all, those of an arm (by its label or its number "
        "from 0 on), or one of them",
    )


def print_printed(result: Result[Any], chosen: list[str], *, as_json: bool) -> None:
    """Print what the chosen pulls have printed."""
    arms, pull = _chosen(result.arms, chosen)
    found = [
        one for one in result.printed if one.arm in arms and (pull is None or one.number == pull)
    ]
    if as_json:
        print(json_text([_as_json(one, result.arms) for one in found]))
        return
    for one in found:
        print_wrapped(f"{_name(one, result.arms)}:")
        print_lines(visible(one.text.rstrip("\n")))
        print()
    cut = [record for record in result.arms if record.index in arms & result.printed.cut]
    names = [arm_name(record.label) for record in cut]
    if not found and not cut:
        print(f"Nothing that {'these ' if chosen else ''}pulls have printed is kept.")
    for name in names:
        print_wrapped(f"({name} has printed more than is kept.)")


def _chosen(arms: tuple[ArmRecord, ...], words: list[str]) -> tuple[set[int], int | None]:
    """The arms that are meant, and the number of the pull if one is."""
    if len(words) > 2:
        raise InvalidInput("--printed takes an arm, and the number of one of its pulls: no more")
    if not words:
        return {record.index for record in arms}, None
    named = {record.index for record in arms if record.label == words[0]}
    if not named and words[0].isdecimal() and int(words[0]) < len(arms):
        named = {int(words[0])}
    if not named:
        if len(arms) > _MOST_NAMED:
            raise InvalidInput(
                f"unknown arm {seen(words[0])}: give a label, or a number below {len(arms)}"
            )
        raise unknown_name("arm", words[0], [record.label for record in arms])
    if len(words) == 2 and not words[1].isdecimal():
        raise InvalidInput(f"--printed: the number of a pull is 0, 1, …, and not {words[1]!r}")
    return named, int(words[1]) if len(words) == 2 else None


def _name(one: Printout, arms: tuple[ArmRecord, ...]) -> str:
    failed = f", which failed (attempt {one.attempt})" if one.attempt else ""
    return f"pull {one.number} of arm {arm_name(arms[one.arm].label)}{failed}"


def _as_json(one: Printout, arms: tuple[ArmRecord, ...]) -> dict[str, Any]:
    return {
        "arm": one.arm,
        "label": arms[one.arm].label,
        "pull": one.number,
        "attempt": one.attempt,
        "text": one.text,
    }

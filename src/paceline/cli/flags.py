"""Flags of the command line, made from the descriptions of a race's options."""

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from paceline.errors import InvalidInput
from paceline.races.option import Option
from paceline.races.options import OPTIONS


def add_options(
    parser: argparse.ArgumentParser,
    wanted: Callable[[Option], bool],
    more: Callable[[Option], str] = lambda _: "",
) -> None:
    """Declare a flag for every option that is wanted and can be written as a word.

    `more` is said of an option after its help.
    """
    groups: dict[str, Any] = {}
    for option in OPTIONS.values():
        if option.words is not None and wanted(option):
            if option.group not in groups:
                groups[option.group] = parser.add_argument_group(option.group)
            _add(groups[option.group], replace(option, help=option.help + more(option)))


def given(options: argparse.Namespace, *others: str) -> dict[str, Any]:
    """The options that were given, by name, and also `others` that were given."""
    values = {name: getattr(options, name, None) for name in (*OPTIONS, *others)}
    return {name: value for name, value in values.items() if value is not None}


def _add(group: Any, option: Option) -> None:
    flags = [option.short] if option.short else []
    name = f"--{option.name.replace('_', '-')}"
    if option.flag == "each choice":
        exclusive = group.add_mutually_exclusive_group()
        for choice in option.choices:
            default = " (default)" if choice == option.default else ""
            exclusive.add_argument(
                f"--{choice}",
                action="store_const",
                const=choice,
                dest=option.name,
                help=f"{option.name}: {choice}{default}",
            )
    elif option.flag == "on or off":
        group.add_argument(
            name, action=argparse.BooleanOptionalAction, default=None, help=option.help
        )
    elif option.choices:
        group.add_argument(*flags, name, choices=option.choices, help=option.help)
    else:
        group.add_argument(
            *flags, name, type=_typed(option), metavar=option.takes, help=option.help
        )


def _typed(option: Option) -> Callable[[str], Any]:
    words = option.words
    assert words is not None

    def convert(text: str) -> Any:
        try:
            return words(text)
        except InvalidInput as error:  # argparse shows only its own errors
            raise argparse.ArgumentTypeError(str(error)) from None

    convert.__name__ = words.__name__  # for its message 'invalid int value'
    return convert

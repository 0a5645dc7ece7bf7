"""Commands as arms: what to run for a pull, how its number is read, and which arms there are."""

from paceline.commands.arms import Arm, check_arms, grid, parse_list
from paceline.commands.command import Command, Invocation
from paceline.commands.finding import NoValue
from paceline.commands.value import VALUE_HELP, Value, parse_value

__all__ = [
    "VALUE_HELP",
    "Arm",
    "Command",
    "Invocation",
    "NoValue",
    "Value",
    "check_arms",
    "grid",
    "parse_list",
    "parse_value",
]

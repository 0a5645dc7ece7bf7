"""The parser of the command line: what it does not know it refuses, with the nearest it knows."""

import argparse
import difflib
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NoReturn

from paceline.characters import visible
from paceline.cli.help import Help
from paceline.display.window import print_wrapped
from paceline.errors import seen, unknown_name
from paceline.races.options import OPTIONS

_NUMBERS = {"int": "a whole number", "float": "a number"}
_READERS = {".toml": "run", ".jsonl": "show"}  # what a file is for, if it is given without a verb


class Parser(argparse.ArgumentParser):
    """Parses the words of a command.

    Flags are not abbreviated: a script that says --dead would break when another flag begins so.
    """

    verbs: Mapping[str, "Parser"] = {}  # all that there are

    def __init__(self, **more: Any) -> None:
        super().__init__(formatter_class=Help, allow_abbrev=False, **more)
        # Otherwise -1,1 would be taken for a flag: argparse knows only single negative numbers.
        self._negative_number_matcher = re.compile(r"-\.?\d")

    def summarize(self) -> None:
        """Let the usage name what is needed, and leave the flags to the list below it."""
        needed = [action for action in self._actions if not action.option_strings]
        formatter = self._get_formatter()
        words = [formatter._format_args(action, str(action.metavar)) for action in needed]
        self.usage = " ".join(["%(prog)s", "[option ...]", *words])

    @property
    def flags(self) -> tuple[str, ...]:
        """All flags, short and long."""
        return tuple(self._option_string_actions)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse the words; nothing may be left over."""
        words = list(sys.argv[1:] if args is None else args)
        is_whole = self._subparsers is not None
        if is_whole and not words:
            self.print_help(sys.stderr)
            self.exit(2)
        for before, word in pairwise(("", *words)):
            if word == "--" or (is_whole and not word.startswith("-")):
                break  # what follows is no flag, or one of the verb's
            if self._is_unknown(word):
                self.error(self._about(word.partition("=")[0], before))
        found, left = super().parse_known_args(words, namespace)
        if left:
            self.error(
                f"there is a word too many, {seen(left[0])}: leave it out, or put quotes around "
                "what has blanks in it"
            )
        return found, left

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the words, and end."""
        message = re.sub("^argument ", "", message)
        for kind, what in _NUMBERS.items():
            message = message.replace(f"invalid {kind} value: ", f"give {what}, not ")
        print_wrapped(f"{self.prog}: error: {message}", sys.stderr)
        print_wrapped(f"(all that it takes: {self.prog} --help)", sys.stderr)
        self.exit(2)

    def _is_unknown(self, word: str) -> bool:
        if not word.startswith("-") or word == "-" or " " in word:
            return False
        if word.startswith("--"):
            return word.partition("=")[0] not in self._option_string_actions
        is_number = self._negative_number_matcher.match(word)
        return not is_number and word[:2] not in self._option_string_actions

    def _about(self, flag: str, before: str) -> str:
        """What to write instead of a flag that is not known here."""
        option = OPTIONS.get(flag.lstrip("-").replace("-", "_"))
        written = [f"--{choice}" for choice in option.choices] if option else []
        if option and option.flag == "each choice" and written[0] in self.flags:
            return f"unknown flag {flag}: write {' or '.join(written)}"
        theirs = [name for name, verb in self.verbs.items() if flag in verb.flags]
        instead = nearest(flag, self.flags)
        hint = f": did you mean {instead}?" if instead else ""
        if theirs and self._subparsers is not None:
            return f"{flag} comes after the command, as in paceline {theirs[0]} {flag} …"
        if theirs:
            mine = self.prog.partition(" ")[2]
            hint = hint if instead.startswith(flag) else ""
            return f"{mine} takes no {flag}, which is for {said(theirs)}{hint}"
        if option and option.words is None:
            return f"unknown flag {flag}: {option.name} is for paceline.race in Python"
        if before.startswith("--") and before in self.flags and not instead:
            hint = f"; if it is a value, write {before}={flag}"
        return f"unknown flag {visible(flag)}{hint}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        if not isinstance(action, argparse._SubParsersAction):
            error = unknown_name(action.dest.replace("_", "-"), value, known)
            raise argparse.ArgumentError(None, str(error))
        message = str(unknown_name("command", value, known))
        for suffix, verb in _READERS.items():
            if str(value).endswith(suffix):
                message = f"{value} is a file: did you mean {self.prog} {verb} {value}?"
        raise argparse.ArgumentError(None, message)


def nearest(flag: str, flags: Iterable[str]) -> str:
    """The flag that was probably meant; none if there is no such.

    >>> nearest("--dedline", ["--deadline", "--dry-run", "-d"])
    '--deadline'
    >>> nearest("--dead", ["--deadline", "--dry-run", "-d"]), nearest("-x", ["-d"])
    ('--deadline', '')
    """
    known = [one for one in flags if one.startswith("--")]
    begin = [one for one in known if one.startswith(flag.replace("_", "-"))]
    near = difflib.get_close_matches(flag, known, n=1, cutoff=0.7)
    return (begin or near or [""])[0] if flag.startswith("--") else ""


def said(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> said(["race", "run", "plan"]), said(["show"])
    ('race, run and plan', 'show')
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last

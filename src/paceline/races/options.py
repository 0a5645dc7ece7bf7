"""The options of a race, each described once.

`race()` takes them as arguments, the command line as flags, a race file as keys. `resume` and
`profile` take some of them, the journal keeps most, and docs/options.md lists them. All follow
these descriptions.
"""

from collections.abc import Mapping
from typing import Any

from paceline.commands.ranges import MOST_ARMS
from paceline.core.arrays import positive
from paceline.core.noise.catalog import NOISES
from paceline.errors import unknown_name
from paceline.notation import POLICY_HELP
from paceline.races import checks, forms, resuming
from paceline.races.arms import names_of
from paceline.races.option import Option
from paceline.races.pool_options import POOL_OPTIONS

DIRECTIONS = ("maximize", "minimize")
_LARGEST_SEED = 2**256 - 1
_MOST_RETRIES = 1_000_000

STOP = "when to stop"
VALUES = "the values"
TROUBLE = "when pulls fail"
RECORD = "the record"

_ALL = (
    Option(
        "confidence",
        None,
        "P",
        "stop when the best is known with this probability (default 0.95, or none with a deadline)",
        checks.optional(checks.confidence),
        STOP,
        kept="race",
        short="-c",
        words=float,
        record=lambda settings: settings.goal.confidence,
        on_resume=resuming.RAISED,
    ),
    Option(
        "deadline",
        None,
        "WHEN",
        "answer by then: 90s, 10m, 1h30m, or a moment such as 2030-01-31T18:00",
        checks.optional(checks.deadline),
        STOP,
        kept="session",
        short="-d",
        record=lambda settings: forms.write_deadline(settings.goal.deadline),
        recall=forms.read_deadline,
        on_resume=resuming.DEADLINE,
    ),
    Option(
        "max_pulls",
        None,
        "N",
        "give up after this many pulls",
        checks.optional(checks.max_pulls),
        STOP,
        kept="session",
        words=int,
        on_resume=resuming.CAP,
    ),
    Option(
        "direction",
        "maximize",
        "",
        "whether the highest or the lowest mean is the best",
        checks.one_of(*DIRECTIONS),
        STOP,
        kept="race",
        choices=DIRECTIONS,
        flag="each choice",
    ),
    Option(
        "top",
        1,
        "K",
        "find the best K arms (default 1)",
        checks.count(1, most=MOST_ARMS),
        STOP,
        kept="race",
        words=int,
    ),
    Option(
        "tolerance",
        0.0,
        "X",
        "an arm that is worse by no more than this is good enough (default 0)",
        checks.size,
        STOP,
        kept="race",
        words=float,
        on_resume=resuming.LOWERED,
    ),
    Option(
        "policy",
        None,
        "POLICY",
        POLICY_HELP,
        checks.optional(checks.policy),
        STOP,
        kept="race",
        short="-p",
        record=lambda settings: forms.write_policy(settings.policy),
        recall=forms.read_policy,
        on_resume=resuming.POLICY,
    ),
    Option(
        "noise",
        "auto",
        "",
        "what to assume about the values (default: learned from the first ones)",
        checks.one_of(*NOISES),
        VALUES,
        kept="race",
        choices=tuple(NOISES),
        record=lambda settings: settings.noise.kind,
    ),
    Option(
        "bounds",
        None,
        "LO,HI",
        "all values lie between these",
        checks.optional(checks.bounds),
        VALUES,
        kept="race",
        words=forms.two_numbers,
        recall=forms.tuple_or_other,
    ),
    Option(
        "sigma",
        None,
        "X",
        "the scale of the noise",
        checks.optional(positive),
        VALUES,
        kept="race",
        words=float,
    ),
    Option(
        "paired",
        None,
        "",
        "give pull k of every arm the same seed (default: if pulls take seeds)",
        checks.truth_or_none,
        VALUES,
        kept="race",
        flag="on or off",
        record=lambda settings: settings.pairing.to_json(),
        recall=forms.Pairing.from_json,
    ),
    Option(
        "seed",
        0,
        "N",
        "all seeds of pulls are derived from it (default 0)",
        checks.count(0, most=_LARGEST_SEED),
        VALUES,
        kept="race",
        words=int,
        in_profile=True,
    ),
    *POOL_OPTIONS,
    Option(
        "timeout",
        None,
        "SPAN",
        "a pull that takes longer has failed: 90s, 10m",
        checks.optional(checks.span),
        TROUBLE,
        kept="session",
        in_profile=True,
    ),
    Option(
        "retries",
        2,
        "N",
        "how often a failed pull is tried again (default 2)",
        checks.count(0, most=_MOST_RETRIES),
        TROUBLE,
        kept="session",
        words=int,
        on_resume=resuming.WHEN_FAILING,
    ),
    Option(
        "on_failure",
        "drop-arm",
        "",
        "if all tries fail: continue without the arm (default), or stop",
        checks.one_of("drop-arm", "stop"),
        TROUBLE,
        kept="session",
        choices=("drop-arm", "stop"),
        on_resume=resuming.WHEN_FAILING,
    ),
    Option(
        "journal",
        None,
        "FILE",
        "record every result here; if the file exists, the race resumes from it",
        checks.optional(checks.path),
        RECORD,
        short="-j",
    ),
    Option(
        "keep_prints",
        True,
        "",
        "keep what pulls print, up to a limit, in the result and in the journal",
        checks.truth,
        RECORD,
        kept="session",
        flag="on or off",
    ),
    Option(
        "accept_changes",
        False,
        "",
        "resume although the function, or a file of the command, has changed, with a warning",
        checks.truth,
        RECORD,
        flag="on or off",
        on_resume=resuming.CHANGED_WORK,
    ),
    Option(
        "labels",
        None,
        "list of names",
        "what the arms are called (default: their own names, or what they are made of)",
        checks.optional(names_of),
        RECORD,
        words=None,
    ),
    Option(
        "callbacks",
        (),
        "functions or objects",
        "called after every round, or for every result; one that returns True stops the race",
        checks.callbacks,
        RECORD,
        words=None,
    ),
    Option(
        "progress",
        None,
        "bool",
        "show the standings (default: in a notebook, and if standard error is a terminal)",
        checks.progress,
        RECORD,
        words=None,
    ),
)
OPTIONS: Mapping[str, Option] = {option.name: option for option in _ALL}


def check_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """All options by name: those given, checked one by one, and the defaults of the others.

    >>> check_options({"deadline": "10m"})["retries"]
    2
    """
    for name in given:
        if name not in OPTIONS:
            raise unknown_name("argument", name, OPTIONS)
    return {
        name: option.checked(given.get(name, option.default)) for name, option in OPTIONS.items()
    }

"""Policies written as words, such as `apr:beta=1.5`."""

import dataclasses
import typing

from paceline.errors import unknown_name
from paceline.notation.words import construct, split_word
from paceline.policies.base import Policy
from paceline.policies.catalog import POLICIES

POLICY_HELP = "a policy, with options: apr, or apr:beta=1.5,deviation=0.2; all are listed below"


def policies_page() -> str:
    """Every policy with its options and their defaults, for the help."""
    lines = ["policies, what they stop at, and their options:"]
    for name, kind in POLICIES.items():
        options = ", ".join(f"{f.name}={f.default}" for f in dataclasses.fields(kind))  # type: ignore[arg-type]
        lines.append(f"  {name} ({kind.goal or 'either'})\n      {options}")
    return "\n".join(lines)


def parse_policy(text: str) -> Policy:
    """Make a policy from a word such as `apr:beta=1.5`.

    >>> parse_policy("apr:beta=1.5,deviation=0.2")
    APR(beta=1.5, deviation=0.2, sigma=None)
    """
    name, values, options = split_word(text)
    if name not in POLICIES:
        raise unknown_name("policy", name, POLICIES)
    return typing.cast(Policy, construct(POLICIES[name], text, values, options))

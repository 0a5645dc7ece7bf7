"""Policies, scalings and arms as words on the command line: `name:value,key=value`."""

import csv
import dataclasses
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.measured import Measured
from paceline.core.pool import CorePool
from paceline.core.scaling import Amdahl, Ernest, PowerLaw, Scaling
from paceline.errors import InvalidInput, unknown_name
from paceline.paper.instances import linear_means, uniform_means
from paceline.policies.base import Policy
from paceline.policies.catalog import POLICIES

POLICY_HELP = "a policy, with options: apr, or apr:beta=1.5,deviation=0.2; all are listed below"
SCALING_HELP = (
    "how pulls scale: power:0.5 (λ = m^0.5), amdahl:0.1, ernest:1,8,linear=0.5,cores=16, "
    "cores:16,0.5 (16 whole cores, a pull on c takes c^-0.5 s), "
    "or measured:FILE (CSV: pulls, seconds)"
)
ARMS_HELP = (
    "the arms' true means: 0.9,0.8,0.5; or linear:GAP[,ARMS], the paper's figure 3 (steps of "
    "0.053, clipped at 0); or uniform:ARMS, drawn once by the seed"
)


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
    name, values, options = _split(text)
    if name not in POLICIES:
        raise unknown_name("policy", name, POLICIES)
    return typing.cast(Policy, _construct(POLICIES[name], text, values, options))


def parse_scaling(text: str) -> Scaling:
    """Make a scaling from a word such as `power:0.5`.

    >>> parse_scaling("amdahl:0.1")
    Amdahl(serial=0.1, serial_exponent=0.0, unit_seconds=1.0)
    """
    name, values, options = _split(text)
    kinds: dict[str, Callable[[], Scaling]] = {
        "power": lambda: _construct(PowerLaw, text, values, options),
        "amdahl": lambda: _construct(Amdahl, text, values, options),
        "ernest": lambda: _construct(Ernest, text, values, options),
        "cores": lambda: _core_pool(text, values, options),
        "measured": lambda: _measured(text),
    }
    if name not in kinds:
        raise unknown_name("scaling", name, kinds)
    return kinds[name]()


def parse_means(text: str, seed: int) -> Floats:
    """Make the true means from a word such as `linear:0.1` or `0.9,0.8,0.5`.

    >>> parse_means("0.9,0.5", seed=0)
    array([0.9, 0.5])
    """
    name, values, _ = _split(text)
    if name == "linear":
        if len(values) not in (1, 2):
            raise InvalidInput(
                f"{text!r}: write linear:GAP or linear:GAP,ARMS, as in linear:0.1,16"
            )
        return linear_means(_number(values[0], text), *(_whole(n, text) for n in values[1:]))
    if name == "uniform":
        if len(values) != 1:
            raise InvalidInput(f"{text!r}: write uniform:ARMS, as in uniform:1024")
        return uniform_means(_whole(values[0], text), seed, run=0)
    if ":" in text:
        raise unknown_name("instance", name, ("linear", "uniform"))
    return np.array([_number(word, text) for word in text.split(",") if word.strip()])


def _split(text: str) -> tuple[str, list[str], dict[str, str]]:
    name, _, rest = text.partition(":")
    words = [word.strip() for word in rest.split(",") if word.strip()]
    options = dict(word.split("=", 1) for word in words if "=" in word)
    return name.strip(), [word for word in words if "=" not in word], options


def _construct(kind: Any, text: str, values: list[str], options: dict[str, str]) -> Any:
    """Call a dataclass with words turned into the types of its fields."""
    fields = [field.name for field in dataclasses.fields(kind)]
    types_ = typing.get_type_hints(kind)
    if len(values) > len(fields):
        raise InvalidInput(f"{text!r} has too many values: it takes {', '.join(fields)}")
    named = dict(zip(fields, values, strict=False))
    kind_name = text.partition(":")[0]
    for name in options:
        if name not in fields:
            raise unknown_name(f"option of {kind_name}", name, fields)
        if name in named:
            raise InvalidInput(f"{text!r} gives {name} twice: {named[name]} and {options[name]}")
    words = named | options
    required = [f.name for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING]
    missing = [name for name in required if name not in words]
    if missing:
        raise InvalidInput(f"{text!r} lacks {', '.join(missing)}: write {kind_name}:{missing[0]}=…")
    return kind(**{name: _value(word, types_[name], text) for name, word in words.items()})


def _value(word: str, wanted: Any, text: str) -> Any:
    """Turn a word into a bool, an int, a float, or leave it, as the field's type says."""
    accepted = typing.get_args(wanted) if isinstance(wanted, types.UnionType) else (wanted,)
    if bool in accepted:
        if word.lower() not in ("true", "false"):
            raise InvalidInput(f"in {text!r}, {word!r} must be true or false")
        return word.lower() == "true"
    if int in accepted:
        return _whole(word, text)
    return _number(word, text) if float in accepted else word


def _number(word: str, text: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise InvalidInput(f"in {text!r}, {word!r} is no number") from None


def _whole(word: str, text: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise InvalidInput(f"in {text!r}, {word!r} is no whole number") from None


def _core_pool(text: str, values: list[str], options: dict[str, str]) -> Scaling:
    if len(values) != 2 or options:
        raise InvalidInput(f"{text!r}: write cores:COUNT,EXPONENT, as in cores:16,0.5")
    exponent = _number(values[1], text)
    if not 0 < exponent <= 1:
        raise InvalidInput(f"in {text!r} the exponent must lie in (0, 1]")
    return CorePool(_whole(values[0], text), lambda cores: cores**-exponent)


def _measured(text: str) -> Scaling:
    path = Path(text.partition(":")[2])
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.reader(stream) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error
    if rows and not _is_number(rows[0][0]):
        rows = rows[1:]  # a header
    if any(len(row) < 2 for row in rows):
        raise InvalidInput(f"{path} must have two columns, pulls and seconds")
    return Measured([_number(r[0], text) for r in rows], [_number(r[1], text) for r in rows])


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True

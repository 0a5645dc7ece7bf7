"""How options are written outside Python: in journals, and as words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import Any

from paceline.commands import Command
from paceline.core.pool import CorePool
from paceline.durations import Deadline, say_seconds
from paceline.engines.manual import by_hand
from paceline.errors import InvalidInput
from paceline.policies.base import Policy
from paceline.policies.catalog import POLICIES

_SEEDS_ONLY = "seeds only"
_FUNCTION = "function "
BY_HAND = "pulls by hand"  # of a race that is asked for pulls, and told their values


@dataclass(frozen=True)
class Pairing:
    """Whether pull k of every arm has the same seed, and whether those are judged in pairs."""

    shares_seeds: bool
    judges_pairs: bool

    def to_json(self) -> bool | str:
        """True, False, or "seeds only".

        >>> Pairing.from_json(Pairing(True, False).to_json())
        Pairing(shares_seeds=True, judges_pairs=False)
        """
        return _SEEDS_ONLY if self.shares_seeds and not self.judges_pairs else self.judges_pairs

    @classmethod
    def from_json(cls, plain: bool | str) -> "Pairing":
        """Undo `to_json`."""
        return cls(shares_seeds=bool(plain), judges_pairs=plain is True)


@dataclass(frozen=True)
class RecordedScaling:
    """A scaling read from a journal: seconds by core count, exact or up to a factor."""

    table: CorePool
    exact: bool

    def seconds(self, cores: int) -> float:
        """How long a pull takes; cores beyond the end of the table do not help."""
        seconds = self.table.runtime_seconds
        return float(seconds[min(cores, seconds.size) - 1])


def write_scaling(pool: CorePool | None, shape: CorePool | None) -> dict[str, Any] | None:
    """The given scaling, for the pool of the race: in seconds, or only its shape."""
    if pool is not None:
        return {"pool": pool.to_json()}
    return None if shape is None else {"shape": shape.to_json()}


def read_scaling(plain: Mapping[str, Any] | None) -> RecordedScaling | None:
    """Undo `write_scaling`."""
    if plain is None:
        return None
    exact = "pool" in plain
    return RecordedScaling(CorePool.from_json(plain["pool" if exact else "shape"]), exact)


def write_deadline(deadline: Deadline | None) -> dict[str, Any] | None:
    """The seconds, and the moment if one was given."""
    if deadline is None:
        return None
    moment = None if deadline.moment is None else deadline.moment.isoformat()
    return {"seconds": deadline.seconds, "moment": moment}


def read_deadline(plain: Mapping[str, Any] | None) -> Deadline | None:
    """Undo `write_deadline`."""
    if plain is None:
        return None
    moment = plain["moment"]
    return Deadline(plain["seconds"], None if moment is None else datetime.fromisoformat(moment))


def say_deadline(plain: Mapping[str, Any] | None) -> str:
    """A recorded deadline, for people.

    >>> say_deadline({"seconds": 600.0, "moment": None})
    '10 min'
    """
    if plain is None:
        return "None"
    return str(plain["moment"] or say_seconds(plain["seconds"]))


def say_scaling(plain: Mapping[str, Any] | None) -> str:
    """A recorded scaling, for people; its table is long."""
    return "None" if plain is None else str(CorePool.from_json(next(iter(plain.values()))))


def say_policy(plain: Mapping[str, Any]) -> str:
    """A recorded policy, for people.

    >>> say_policy({"name": "apr", "options": {"beta": 1.5}})
    'apr(beta=1.5)'
    """
    options = (f"{name}={value!r}" for name, value in plain["options"].items())
    return f"{plain['name']}({', '.join(options)})"


def write_policy(policy: Policy) -> dict[str, Any]:
    """The name and the parameters of a policy."""
    names = [one.name for one in fields(policy)] if is_dataclass(policy) else sorted(vars(policy))
    parameters = {name: getattr(policy, name) for name in names}
    plain = {key: name_of(one) if callable(one) else one for key, one in parameters.items()}
    return {"name": policy.name, "options": plain}


def read_policy(plain: Mapping[str, Any]) -> Policy:
    """Undo `write_policy`."""
    kind, options = POLICIES.get(plain["name"]), plain["options"]
    of_code = [name for name, one in options.items() if str(one).startswith(_FUNCTION)]
    if kind is None or of_code:
        what = f"its {of_code[0]} is a {options[of_code[0]]}" if kind and of_code else "it is yours"
        raise InvalidInput(
            f"the journal has only the name of the policy {plain['name']!r}, since {what}: pass "
            "the policy itself, as policy="
        )
    return kind(**options)


def name_of(evaluate: Any) -> Any:
    """What a journal keeps of a command or a function."""
    if isinstance(evaluate, Command):
        return evaluate.to_json()
    if evaluate is by_hand:
        return BY_HAND
    name = getattr(evaluate, "__qualname__", None) or type(evaluate).__qualname__
    return f"{_FUNCTION}{name}"


def tuple_or_other(plain: Any) -> Any:
    """A list as a tuple, which JSON does not have; anything else as it is."""
    return tuple(plain) if isinstance(plain, list) else plain


def two_numbers(text: str) -> tuple[float, float]:
    """Two numbers, separated by a comma.

    >>> two_numbers("0,1")
    (0.0, 1.0)
    """
    try:
        low, high = (float(word) for word in text.split(","))
    except ValueError:
        raise InvalidInput(f"{text!r} is not LO,HI, as in 0,1") from None
    return low, high


def number_or_range(text: str) -> int | tuple[int, int]:
    """A whole number, or two separated by a dash.

    >>> number_or_range("4"), number_or_range("1-8")
    (4, (1, 8))
    """
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", text, re.ASCII)
    if found is None:
        raise InvalidInput(f"{text!r} is neither N nor LO-HI, as in 1-8")
    return int(found[1]) if found[2] is None else (int(found[1]), int(found[2]))

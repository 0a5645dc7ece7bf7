"""The parameters of arms: what they are made of, by name, for tables and pictures."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from paceline.races.labels import written
from paceline.races.parts import named_parts

_PLAIN = (str, int, float, bool, type(None))
_LONGEST = 200


def parameters_of(arms: Iterable[Any]) -> tuple[Mapping[str, Any] | None, ...]:
    """The parameters of each arm by name; nothing at all if no arm has names for them.

    >>> parameters_of([{"lr": 0.1, "layers": (3, 3)}, {"lr": 0.2}])
    ({'lr': 0.1, 'layers': '(3, 3)'}, {'lr': 0.2})
    >>> parameters_of([0.1, 0.2])
    ()
    """
    found = tuple(_parameters(arm) for arm in arms)
    return found if any(found) else ()


def _parameters(arm: Any) -> dict[str, Any] | None:
    try:
        named = named_parts(arm)
        return None if named is None else {str(name): _plain(part) for name, part in named.items()}
    except Exception:  # of the user's own methods: such an arm has no columns
        return None


def _plain(part: Any) -> Any:
    part = part.item() if isinstance(part, np.generic) else part
    return part if isinstance(part, _PLAIN) else written(part)[:_LONGEST]

"""Arms in a few words."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paceline.errors import InvalidInput

_LONGEST_LABEL = 60


def label_of(arm: Any) -> str:
    """An arm in a few words.

    >>> label_of({"x": 4, "mode": "fast"}), label_of(0.5), label_of("adam")
    ('x=4 mode=fast', '0.5', 'adam')
    """
    if isinstance(arm, str):
        text = arm
    elif isinstance(arm, Mapping) or hasattr(arm, "_asdict"):  # or a named tuple
        arm = arm if isinstance(arm, Mapping) else arm._asdict()
        text = " ".join(f"{key}={value}" for key, value in arm.items())
        text = text.removeprefix("command=") if len(arm) == 1 else text  # "command=" adds nothing
    else:
        name = getattr(arm, "__name__", None)
        plain = arm.item() if isinstance(arm, np.generic) else arm
        text = name if isinstance(name, str) else repr(plain)
    text = without_addresses(" ".join(text.split()))
    if len(text) <= _LONGEST_LABEL:
        return text
    half = _LONGEST_LABEL // 2
    return f"{text[:half]}…{text[1 - half :]}"  # labels may differ at either end


def labels_of(arms: Sequence[Any]) -> tuple[str, ...]:
    """A label for every arm; labels that would be the same get the arms' numbers."""
    labels = []
    for number, arm in enumerate(arms):
        try:
            labels.append(label_of(arm))
        except Exception as error:  # of the user's own __repr__
            raise InvalidInput(f"arm {number} cannot be written as text: {error!r}") from error
    often = Counter(labels)
    return tuple(
        f"{label} #{number}" if often[label] > 1 else label for number, label in enumerate(labels)
    )


def without_addresses(text: str) -> str:
    """A `repr` without addresses, which change from process to process.

    >>> without_addresses("<Model object at 0x7f3a>")
    '<Model object>'
    """
    return re.sub(r" at 0x[0-9a-f]+", "", text)

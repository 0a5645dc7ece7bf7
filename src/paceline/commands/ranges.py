"""Ranges of numbers, `first..last` or `first..last..step`."""

import re
from decimal import Decimal
from fractions import Fraction

from paceline.errors import InvalidInput

MOST_ARMS = 1_000_000  # a larger grid is a slip, and would fill the memory before any message

_DECIMAL = r"([+-]?[0-9]+(?:\.[0-9]+)?)"
_RANGE = re.compile(rf"{_DECIMAL}\.\.{_DECIMAL}(?:\.\.{_DECIMAL})?")
_RANGE_LIKE = re.compile(rf"{_DECIMAL}\.\..*")


def expand_range(name: str, word: str) -> tuple[str, ...]:
    """List the numbers of a range as texts; a word that is not a range stays as it is.

    >>> expand_range("x", "8..2..-3"), expand_range("x", "0.1..0.3..0.1"), expand_range("x", "lu")
    (('8', '5', '2'), ('0.1', '0.2', '0.3'), ('lu',))
    """
    found = _RANGE.fullmatch(word)
    if found is None:
        if _RANGE_LIKE.fullmatch(word):
            raise InvalidInput(
                f"{name}: {word!r} is not a range: write first..last or first..last..step, as in "
                "1..8..2, with numbers in plain digits (1000, not 1e3)"
            )
        return (word,)
    texts = [found[1], found[2], found[3] or "1"]
    if found[3] is None and "." in found[1] + found[2]:
        raise InvalidInput(f"{name}: give the step of {word!r}, as in {word}..0.1")
    # In whole steps of the last decimal: as floats, 0.1..0.3..0.1 would miss its end.
    decimals = max(len(text.partition(".")[2]) for text in texts)
    first, last, step = (int(Fraction(text) * 10**decimals) for text in texts)
    if step == 0 or (last - first) * step < 0:
        raise InvalidInput(
            f"{name}: from {texts[0]}, steps of {texts[2]} never reach {texts[1]}: give a "
            "step above 0, or one below 0 to count down, as in 8..1..-1"
        )
    if (last - first) // step >= MOST_ARMS:
        raise InvalidInput(
            f"{name}: {word!r} has more than {MOST_ARMS:,} values: take larger steps"
        )
    steps = range(first, last + (1 if step > 0 else -1), step)
    return tuple(f"{Decimal(f'{number}e-{decimals}'):f}" for number in steps)

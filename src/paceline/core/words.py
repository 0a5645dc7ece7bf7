"""Names in a sentence."""

from collections.abc import Sequence


def listed(names: Sequence[str], most: int) -> str:
    """List at most `most` names, with an 'and' before the last.

    >>> listed(["a", "b", "c"], most=6), listed(["a", "b", "c"], most=2), listed(["a"], most=2)
    ('a, b and c', 'a, b and 1 more', 'a')
    """
    if len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))

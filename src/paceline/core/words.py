"""Names and numbers in a sentence."""

from collections.abc import Sequence


def listed(names: Sequence[str], most: int) -> str:
    """List at most `most` names, with an 'and' before the last.

    >>> listed(["a", "b", "c"], most=6), listed(["a", "b", "c"], most=2), listed(["a"], most=2)
    ('a, b and c', 'a, b and 1 more', 'a')
    """
    if len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "pull"), count(1200, "pull")
    ('1 pull', '1200 pulls')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def arm_name(label: str) -> str:
    """An arm's label inside a sentence: in quotes, unless it clearly is a label, as `x=4` is.

    >>> f"pull 0 of arm {arm_name('1')}, {arm_name('x=4 mode=fast')} leads"
    'pull 0 of arm "1", x=4 mode=fast leads'
    """
    words = label.split()
    return label if words and all("=" in word for word in words) else f'"{label}"'

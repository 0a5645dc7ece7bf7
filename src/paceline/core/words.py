"""Names and numbers in a sentence."""

from collections.abc import Sequence


def runs_at_once(cores: int, nodes: Sequence[int], unit: str = "cores") -> str:
    """How runs share a pool in which each has a fixed number of cores.

    >>> runs_at_once(1, [2]), runs_at_once(4, [8, 6])
    ('each run on 1 core, 2 at once', 'each run on 4 cores, 3 at once')
    >>> runs_at_once(8, [8])
    'each run on 8 cores, one at a time'
    """
    at_once = sum(node // cores for node in nodes)
    together = f"{at_once} at once" if at_once > 1 else "one at a time"
    return f"each run on {count(cores, unit.removesuffix('s'))}, {together}"


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

"""A map over worker processes, for work that splits into independent pieces."""

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

# If workers end just when they are given work, loky warns and starts others.
_IDLE_SECONDS = 300

Item = TypeVar("Item")
Value = TypeVar("Value")


def picklable(*values: Any) -> bool:
    """Whether all of `values` can be sent to another process."""
    import cloudpickle  # loky sends work with it

    try:
        cloudpickle.dumps(values)
    except (pickle.PicklingError, TypeError, AttributeError):
        return False
    return True


def spread(
    function: Callable[[Item], Value], items: Iterable[Item], processes: int
) -> Iterator[Value]:
    """Yield `function(item)` in order; with several processes, computed side by side.

    loky's workers do not run the caller's script again, so a script needs no main guard. Functions
    that the script defines are sent by value.
    """
    if processes <= 1:
        yield from map(function, items)
        return
    from loky import get_reusable_executor

    executor = get_reusable_executor(max_workers=processes, timeout=_IDLE_SECONDS)
    yield from executor.map(function, items)

"""What type checkers are told of arms: which are taken, and what the best of them is."""

from collections.abc import Iterator, KeysView, Mapping, Sequence, ValuesView
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:  # before Python 3.13, only type checkers know defaults of type variables
    from typing_extensions import TypeVar

    Arm = TypeVar("Arm", default=Any)
else:
    from typing import TypeVar

    Arm = TypeVar("Arm")


class Array(Protocol):
    """An array, or a data frame: what its rows are is known to nobody."""

    def __array__(self) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...  # or it would be a single number


# Not any iterable: a dict is one, too, but of names; sets and iterators are refused.
GivenArms: TypeAlias = Mapping[Any, Arm] | Sequence[Arm] | KeysView[Arm] | ValuesView[Arm] | Array

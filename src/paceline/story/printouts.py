"""What the pulls of a race printed, as far as it is kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload


@dataclass(frozen=True)
class Printout:
    """What one pull printed; `attempt` says which attempt at it failed, 0 that it gave a value."""

    arm: int
    number: int
    text: str
    attempt: int = 0


@dataclass(frozen=True, eq=False)
class Printouts(Sequence[Printout]):
    r"""What pulls printed, in the order in which they ended; nothing of those that were silent.

    `cut` has the arms whose pulls printed more than is kept.

    >>> printed = Printouts((Printout(0, 0, "loading\n"), Printout(1, 0, "a warning\n")))
    >>> printed.of(1)
    [Printout(arm=1, number=0, text='a warning\n', attempt=0)]
    >>> printed
    <Printouts of 2 pulls>
    """

    all: tuple[Printout, ...] = ()
    cut: frozenset[int] = frozenset()

    def of(self, arm: int) -> list[Printout]:
        """What the pulls of an arm printed."""
        return [one for one in self.all if one.arm == arm]

    def __len__(self) -> int:
        return len(self.all)

    @overload
    def __getitem__(self, place: int) -> Printout: ...

    @overload
    def __getitem__(self, place: slice) -> list[Printout]: ...

    def __getitem__(self, place: Any) -> Any:
        return list(self.all[place]) if isinstance(place, slice) else self.all[place]

    def __repr__(self) -> str:
        return f"<Printouts of {len(self)} pulls>"

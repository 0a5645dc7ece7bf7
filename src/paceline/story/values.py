"""Every value of a race: which pull gave it, on how many cores, and when."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.story.frames import frame, parameter_columns

COLUMNS = ("arm", "number", "seed", "value", "seconds", "cores", "at")
SeedsOf = Callable[[int, int, int], Sequence[int]]  # of an arm, from a pull on, so many


@dataclass(frozen=True)
class PullRecord:
    """One pull that gave a value; `at` is the second of the race at which it ended."""

    arm: int
    number: int
    seed: int
    value: float
    seconds: float
    cores: int
    at: float


@dataclass(frozen=True, eq=False)
class Values(Sequence[PullRecord]):
    """A row per pull, in the order in which the values came; as columns, for those with many.

    >>> columns = [0, 1], [0, 0], [0.5, 0.7], [2.0, 3.0], [1, 1], [2.0, 3.0]
    >>> values = Values(*map(np.array, columns))
    >>> values[1]
    PullRecord(arm=1, number=0, seed=-1, value=0.7, seconds=3.0, cores=1, at=3.0)
    >>> values.of(0)
    array([0.5])
    """

    arm: Ints
    number: Ints
    value: Floats
    seconds: Floats
    cores: Ints
    at: Floats
    seeds: SeedsOf | None = None
    labels: tuple[str, ...] = ()  # of all arms, and their parameters, if they have any
    parameters: tuple[Mapping[str, Any] | None, ...] = ()

    @cached_property
    def seed(self) -> Ints:
        """The seed of each pull; −1 if it is not known."""
        found = np.full(len(self), -1, dtype=np.int64)
        if self.seeds is not None:
            for arm in np.unique(self.arm).tolist():
                mine = np.flatnonzero(self.arm == arm)
                numbers = self.number[mine]
                found[mine] = np.array(self.seeds(arm, 0, int(numbers.max()) + 1))[numbers]
        return found

    def _seed_of(self, place: int) -> int:
        """Of one pull: a few rows of a million are shown without the seeds of all."""
        if self.seeds is None or "seed" in vars(self):
            return int(self.seed[place])
        return int(self.seeds(int(self.arm[place]), int(self.number[place]), 1)[0])

    def of(self, arm: int) -> Floats:
        """The values of an arm, in the order of its pulls."""
        mine = np.flatnonzero(self.arm == arm)
        return self.value[mine[np.argsort(self.number[mine], kind="stable")]]

    def of_arms(self) -> dict[str, list[Any]]:
        """What else is known of the arms, as columns with a row per arm: labels and parameters."""
        known: dict[str, list[Any]] = {"label": list(self.labels)} if self.labels else {}
        return known | parameter_columns(self.parameters, (*COLUMNS, "label"))

    def to_frame(self) -> Any:
        """The same as a pandas data frame, with the label and the parameters of each pull's arm."""
        columns = {name: getattr(self, name) for name in COLUMNS}
        return frame(columns, "values", of_arms=self.of_arms())

    def __len__(self) -> int:
        return int(self.arm.size)

    @overload
    def __getitem__(self, place: int) -> PullRecord: ...

    @overload
    def __getitem__(self, place: slice) -> list[PullRecord]: ...

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        return PullRecord(
            int(self.arm[place]),
            int(self.number[place]),
            self._seed_of(place),
            float(self.value[place]),
            float(self.seconds[place]),
            int(self.cores[place]),
            float(self.at[place]),
        )

    def __iter__(self) -> Iterator[PullRecord]:
        _ = self.seed  # of all at once, which is quicker than one by one
        return (self[place] for place in range(len(self)))

    def __repr__(self) -> str:
        return f"<Values of {len(self)} pulls of {np.unique(self.arm).size} arms>"

    def _repr_html_(self) -> str:
        from paceline.story.markup import of_values  # which knows this module

        return of_values(self)

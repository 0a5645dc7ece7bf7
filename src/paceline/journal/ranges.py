"""Sets of whole numbers that are nearly consecutive."""

from bisect import bisect_right


class Ranges:
    """Whole numbers, as the ranges that they form: of the pulls of an arm there are few.

    >>> numbers = Ranges()
    >>> numbers.add(0, 3), numbers.add(2, 4)
    (True, False)
    """

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> bool:
        """Add start, …, end − 1; False, and nothing is added, if one of them is there already."""
        starts, ends = self._starts, self._ends
        if len(ends) == 1 and ends[0] == start:
            ends[0] = end
            return True
        place = bisect_right(starts, start)
        if (place and ends[place - 1] > start) or (place < len(starts) and starts[place] < end):
            return False
        follows = place > 0 and ends[place - 1] == start
        precedes = place < len(starts) and starts[place] == end
        if follows and precedes:
            ends[place - 1] = ends.pop(place)
            del starts[place]
        elif follows:
            ends[place - 1] = end
        elif precedes:
            starts[place] = start
        else:
            starts.insert(place, start)
            ends.insert(place, end)
        return True

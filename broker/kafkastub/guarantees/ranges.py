"""Sets of offsets as ranges: what is kept of a partition does not grow with its records."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

MOST: Final = 512
"""Ranges of one set; nearly always one is enough."""

Range = tuple[int, int]
"""From an offset on, up to another one, which is not in it."""


class Ranges:
    """A set of offsets. Beyond `MOST` ranges the lowest are forgotten: below `forgotten` all counts as in it."""

    __slots__ = ("_ends", "_starts", "forgotten")

    def __init__(self, ranges: Iterable[Range] = ()) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self.forgotten = 0
        for start, end in ranges:
            self.add(start, end)

    def __iter__(self) -> Iterator[Range]:
        return iter(zip(self._starts, self._ends, strict=True))

    def __len__(self) -> int:
        """How many ranges."""
        return len(self._starts)

    def __bool__(self) -> bool:
        return bool(self._starts)

    @property
    def end(self) -> int:
        """Behind the last offset; 0 where there is none."""
        return self._ends[-1] if self._ends else 0

    @property
    def count(self) -> int:
        """How many offsets."""
        return sum(self._ends) - sum(self._starts)

    def add(self, start: int, end: int) -> None:
        """Add `start` to `end`, which is not in it."""
        if end <= start:
            return
        starts, ends = self._starts, self._ends
        if not ends or start > ends[-1]:
            starts.append(start)
            ends.append(end)
        elif start == ends[-1]:
            ends[-1] = end
            return
        else:
            first, behind = bisect_left(ends, start), bisect_right(starts, end)
            if first < behind:
                start, end = min(start, starts[first]), max(end, ends[behind - 1])
            starts[first:behind], ends[first:behind] = [start], [end]
        if len(starts) > MOST:
            self.forgotten = max(self.forgotten, ends[0])
            del starts[0], ends[0]

    def within(self, start: int, end: int) -> list[Range]:
        """What of `start` to `end` is in it. What was forgotten is."""
        found: list[Range] = []
        if start < min(end, self.forgotten):
            found.append((start, min(end, self.forgotten)))
        at = bisect_right(self._ends, max(start, self.forgotten))
        while at < len(self._starts) and self._starts[at] < end:
            found.append((max(start, self.forgotten, self._starts[at]), min(end, self._ends[at])))
            at += 1
        return [one for one in found if one[0] < one[1]]

    def without(self, start: int, end: int) -> list[Range]:
        """What of `start` to `end` is not in it."""
        missing: list[Range] = []
        for first, behind in self.within(start, end):
            if start < first:
                missing.append((start, first))
            start = max(start, behind)
        if start < end:
            missing.append((start, end))
        return missing


def left_over(ranges: Iterable[Range], *covered: Ranges) -> list[Range]:
    """What of some ranges is in none of the sets."""
    left = list(ranges)
    for one in covered:
        left = [rest for start, end in left for rest in one.without(start, end)]
    return left


def told(ranges: Iterable[Range]) -> str:
    """`3-5, 9`, for people."""
    return ", ".join(f"{start}" if end == start + 1 else f"{start}-{end - 1}" for start, end in ranges)

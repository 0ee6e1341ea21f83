"""Who has the least to do, where several have as little as another: as Java's queue has it.

Python's `heapq` is a heap too, but takes its items out along another path, so of equals it names another one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class LeastLoaded(Generic[T]):
    """A `PriorityQueue` of items by load. A load does not change while its item is in here.

    Args:
        items: each with its load; they are put in one after the other.
    """

    __slots__ = ("_heap",)

    def __init__(self, items: Iterable[tuple[float, T]] = ()) -> None:
        self._heap: list[tuple[float, T]] = []
        for load, item in items:
            self.add(load, item)

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, load: float, item: T) -> None:
        """One more. Kafka: offer, siftUp."""
        heap = self._heap
        at = len(heap)
        heap.append((load, item))
        while at:
            above = (at - 1) >> 1
            if load >= heap[above][0]:
                break
            heap[at] = heap[above]
            at = above
        heap[at] = (load, item)

    def take(self) -> T:
        """The first one, which is in here no more; there is one. Kafka: poll, siftDown."""
        heap = self._heap
        last = heap.pop()
        if not heap:
            return last[1]
        first, count, load, at = heap[0][1], len(heap), last[0], 0
        while (below := 2 * at + 1) < count:
            if below + 1 < count and heap[below][0] > heap[below + 1][0]:
                below += 1
            if load <= heap[below][0]:
                break
            heap[at] = heap[below]
            at = below
        heap[at] = last
        return first

"""Named deadlines in timer milliseconds: sessions, joins, transactions. One heap a coordinator, with lazy deletion.

Re-arming to a later time, what every heartbeat does, only writes an attribute: the heap keeps the old entry, and puts
it right when it comes to the top. So it keeps those that are cancelled, too, until there are as many as others: a
member may say that it has 24 days, and go.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Iterator
from itertools import count
from typing import Final, Generic, TypeVar

M = TypeVar("M")

_FEW: Final = 64
"""Entries that are not worth looking through; each may hold a group that has gone, with all that it had."""


def _nothing(moment: object) -> None:
    pass


class Deadline(Generic[M]):
    """Something that happens at a time, unless it is cancelled or put off.

    Attributes:
        name: what it is and of whom, for humans: ("session", group, member), ("join", group),
            ("transaction", transactional id).
        at: when, in timer milliseconds; None while it is not armed.
        fire: what happens; is given the moment at which it does.
    """

    __slots__ = ("_queued_at", "_round", "at", "fire", "name")

    def __init__(self, name: tuple[str, ...], fire: Callable[[M], None]) -> None:
        self.name = name
        self.fire = fire
        self.at: int | None = None
        self._queued_at: int | None = None
        self._round = 0

    def cancel(self) -> None:
        """It shall not happen; the heap forgets it in its own time."""
        self.at = None

    def end(self) -> None:
        """The same for good: what it is about is over, refers to it, and is let go of."""
        self.at = None
        self.fire = _nothing

    def __repr__(self) -> str:
        return f"Deadline({'/'.join(self.name)} at {self.at})"


class Deadlines(Generic[M]):
    """All deadlines of a coordinator.

    Attributes:
        mark_dirty: called where the next one may have come nearer.
    """

    __slots__ = ("_heap", "_most", "_round", "_serial", "mark_dirty")

    def __init__(self) -> None:
        self.mark_dirty: Callable[[], None] = lambda: None
        self._heap: list[tuple[int, int, Deadline[M]]] = []
        self._most = _FEW
        self._serial = count()
        self._round = 0

    def arm(self, deadline: Deadline[M], at: int) -> None:
        """Arm or re-arm a deadline; O(1) where it only moves to a later time."""
        deadline.at = at
        deadline._round = self._round
        queued = deadline._queued_at
        if queued is None or at < queued:
            deadline._queued_at = at
            heapq.heappush(self._heap, (at, next(self._serial), deadline))
            if len(self._heap) > self._most:
                self._forget_cancelled()
            self.mark_dirty()

    def _forget_cancelled(self) -> None:
        """Look through the heap, and again when it is twice as large as it is then: little work for each entry."""
        kept = []
        for entry in self._heap:
            queued, _, deadline = entry
            if deadline._queued_at == queued:
                if deadline.at is None:
                    deadline._queued_at = None
                else:
                    kept.append(entry)
        heapq.heapify(kept)
        self._heap[:] = kept
        self._most = max(2 * len(kept), _FEW)

    def next(self) -> int | None:
        """The earliest armed deadline."""
        heap = self._heap
        while heap:
            queued, _, deadline = heap[0]
            if deadline._queued_at != queued:  # superseded by an earlier entry of the same deadline
                heapq.heappop(heap)
            elif deadline.at is None:
                deadline._queued_at = None
                heapq.heappop(heap)
            elif deadline.at > queued:
                deadline._queued_at = deadline.at
                heapq.heapreplace(heap, (deadline.at, next(self._serial), deadline))
            else:
                return queued
        return None

    def due(self, now: int) -> Generator[Deadline[M], None, None]:
        """Take every deadline that is reached, in order; those armed meanwhile are left to the next call.

        Something that is re-armed for at once would otherwise keep its caller busy for ever. Who wants no more closes
        the iterator: what it has not been given is still due.
        """
        self._round += 1
        left = []
        while (at := self.next()) is not None and at <= now:
            entry = heapq.heappop(self._heap)
            deadline = entry[2]
            if deadline._round == self._round:
                left.append(entry)
                continue
            deadline.at = deadline._queued_at = None
            try:
                yield deadline
            except GeneratorExit:  # the rest stays due
                break
        for entry in left:
            heapq.heappush(self._heap, entry)

    def clear(self) -> None:
        """Nothing is armed any more."""
        for deadline in list(self):
            deadline.cancel()

    def __iter__(self) -> Iterator[Deadline[M]]:
        """Every armed deadline, in no order."""
        return iter({id(d): d for _, _, d in self._heap if d.at is not None}.values())

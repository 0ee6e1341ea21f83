"""Fetches that wait for records (Kafka: the delayed-fetch purgatory), and the incremental fetch sessions.

A parked fetch costs nothing until a record is appended to one of its partitions or its time is up. A connection has
at most one, and takes it along when it goes, however long the fetch wanted to wait.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from kafkastub.state.deferred import Deferred
from kafkastub.state.fetch_sessions import SLOTS, FetchSessions

PartitionKey = tuple[bytes, int]
"""Topic id and partition."""


_AT_ONCE: Final = 5_000
"""Keys of fetches that are looked after before others have their turn: some milliseconds."""
_SOON: Final = 0
"""A timer time that has come."""
_FEW: Final = 64
"""Deadlines of fetches that are over that are kept until they come first."""


class _Parked:
    """One that is over has let go of everything: its deadline may be kept for a while."""

    __slots__ = ("deferred", "keys", "ready")

    def __init__(self, deferred: Deferred, keys: tuple[PartitionKey, ...], ready: Callable[[], bool]) -> None:
        self.deferred: Deferred | None = deferred
        self.keys = keys
        self.ready: Callable[[], bool] | None = ready


_NOBODY: Final[dict[_Parked, None]] = {}


class FetchPurgatory:
    """Parked fetches by partition and by deadline (timer time, ms).

    Attributes:
        waiting: how many fetches do.
        looked_at: so many keys had all the fetches that were ever looked after. Who brings about many such looks in one
            go can tell by it when it is time to let others have their turn.
    """

    def __init__(self, mark_dirty: Callable[[], None] = lambda: None, slots: int = SLOTS) -> None:
        self._mark_dirty = mark_dirty
        """Called where the next deadline may have come nearer."""
        self._slots = slots
        self._sessions: dict[int, FetchSessions] = {}
        """By node: each has its own."""
        self._by_partition: dict[PartitionKey, dict[_Parked, None]] = {}
        self._deadlines: list[tuple[int, int, _Parked]] = []
        self._count = 0
        self.waiting = 0
        self._later: dict[_Parked, None] = {}
        """To be looked after when others have had their turn."""
        self.looked_at = 0

    def __len__(self) -> int:
        """How many fetches wait."""
        return self.waiting

    def sessions_of(self, node_id: int) -> FetchSessions:
        """The fetch sessions of one node."""
        sessions = self._sessions.get(node_id)
        if sessions is None:
            sessions = self._sessions[node_id] = FetchSessions(self._slots)
        return sessions

    def node_stopped(self, node_id: int) -> None:
        """The node's sessions are gone."""
        self._sessions.pop(node_id, None)

    def park(
        self, deferred: Deferred, keys: Iterable[PartitionKey], deadline_ms: int, ready: Callable[[], bool]
    ) -> None:
        """Complete `deferred` at `deadline_ms`, or once `ready()` holds after something happened to one of `keys`."""
        parked = _Parked(deferred, tuple(dict.fromkeys(keys)), ready)
        for key in parked.keys:
            self._by_partition.setdefault(key, {})[parked] = None
        self._count += 1
        self.waiting += 1
        heapq.heappush(self._deadlines, (deadline_ms, self._count, parked))
        deferred.on_abandon = partial(self._remove, parked)
        self._mark_dirty()

    def appended(self, topic_id: bytes, partition: int) -> None:
        """Something was appended to the partition, or happened to it: look after those who wait for it."""
        waiting = self._by_partition.get((topic_id, partition))
        if waiting:
            self._look_after(list(waiting))

    def happened(self, keys: Iterable[PartitionKey]) -> None:
        """The same of several partitions: who waits for more than one of them is looked after once."""
        found: dict[_Parked, None] = {}
        for key in keys:
            found.update(self._by_partition.get(key, _NOBODY))
        if found:
            self._look_after(list(found))

    def awaited(self, topic_id: bytes) -> list[int]:
        """The partitions of a topic that somebody waits for."""
        return [partition for waited_for, partition in self._by_partition if waited_for == topic_id]

    def topic_changed(self, topic_id: bytes) -> None:
        """The topic was deleted, or has new leaders."""
        self.happened([key for key in self._by_partition if key[0] == topic_id])

    def next_deadline(self) -> int | None:
        """Timer time at which the next fetch is answered with what there is."""
        if self._later:
            return _SOON
        while self._deadlines and self._deadlines[0][2].deferred is None:
            heapq.heappop(self._deadlines)
        return self._deadlines[0][0] if self._deadlines else None

    def expire(self, timer_ms: int) -> None:
        """Answer every fetch whose time is up, and look after some that are still to be looked after."""
        if self._later:
            later, self._later = self._later, {}
            self._look_after(list(later))
        while self._deadlines and self._deadlines[0][0] <= timer_ms:
            self._complete(heapq.heappop(self._deadlines)[2])

    def _look_after(self, waiting: list[_Parked]) -> None:
        left = _AT_ONCE
        for at, parked in enumerate(waiting):
            if left <= 0:
                self._later.update(dict.fromkeys(waiting[at:]))
                self._mark_dirty()
                break
            size = len(parked.keys)
            left -= size
            self.looked_at += size
            if parked.ready is not None and parked.ready():
                self._complete(parked)

    def _complete(self, parked: _Parked) -> None:
        deferred = parked.deferred
        if deferred is not None:
            self._remove(parked)
            deferred.complete()

    def _remove(self, parked: _Parked) -> None:
        """It is over: answered, or its connection has gone."""
        if parked.deferred is None:
            return
        for key in parked.keys:
            waiting = self._by_partition[key]
            del waiting[parked]
            if not waiting:
                del self._by_partition[key]
        self._later.pop(parked, None)
        parked.keys, parked.deferred, parked.ready = (), None, None
        self.waiting -= 1
        # Its deadline is dropped when it comes first, or here before those of the dead outgrow those of the living.
        if len(self._deadlines) > _FEW and len(self._deadlines) > 2 * self.waiting:
            self._deadlines = [entry for entry in self._deadlines if entry[2].deferred is not None]
            heapq.heapify(self._deadlines)

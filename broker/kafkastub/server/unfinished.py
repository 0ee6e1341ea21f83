"""What the unfinished frames of all connections hold together, and who has to wait for memory. No I/O.

Large frames that are complete and wait to be served count, too.

Kafka's ``MemoryPool`` (`queued.max.request.bytes`) mutes every channel whose frame finds no room, and has no bound by
default. Here there always is one, and the largest frames find it first:

| the unfinished frame | is it read on? |
|---|---|
| a 32nd of the limit, and larger | as long as all of them hold half of the limit |
| a 256th, and larger | as long as they hold three quarters |
| smaller | as long as they hold the limit |
| has waited longest | yes, and does not count: one at a time, so that somebody always gets through, or is found gone |
| the same, and hardly anything comes | no, its connection is ended: all the others wait for it |
| any other, of which hardly anything comes while somebody waits | no, its connection is ended, too |
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Final, Protocol

_PIECE: Final = 1 << 18
"""The most that one read gives (uvloop)."""
LOOK_MS: Final = 1_000
"""How often the one that others wait for is looked at."""
PATIENCE_MS: Final = 5_000
"""How long the one that may grow past the limit may need for `_PROGRESS` bytes, so long as somebody waits,"""
_PROGRESS: Final = 1 << 19
_SOME_PROGRESS: Final = 1 << 16
"""and every other one for these; what has nearly nothing is left alone."""
_NEARLY_NOTHING: Final = 1 << 12
_UNREAD: Final = 6
"""So many times as long one may need that is not read because its own requests have not been answered yet."""
_MUCH: Final = 2
"""A half of the limit, held at once, is so much that memory is given back to the system afterwards."""
_LITTLE: Final = 16
"""A sixteenth is so little that it is over."""


class Holder(Protocol):
    """A connection's protocol, as far as it matters here."""

    unfinished: int
    """Bytes of its unfinished frame, as they were told last. Kept for `UnfinishedFrames`, which alone sets it."""

    @property
    def is_read(self) -> bool:
        """Whether what it sends is read."""

    def starve(self, starved: bool) -> None:
        """Whether no more is to be read of it."""

    def end_starved(self, why: str) -> None:
        """It has to go."""


class UnfinishedFrames:
    """Of all connections of a server."""

    def __init__(self, limit: int, call_later: Callable[[int, Callable[[], None]], object]) -> None:
        """`limit` in bytes; `call_later(ms, call)` is the loop's."""
        self.limit = limit
        self.total = 0
        """Bytes that they hold, but for the one that may, and that complete frames hold which wait."""
        self.much_is_freed: Callable[[], None] | None = None
        """Called when all is over that held a lot, to give memory back."""
        self._call_later = call_later
        self._looking = False
        self._starved: dict[Holder, None] = {}
        """Who is not read, in the order in which they began to wait."""
        self._smallest: list[tuple[int, int, Holder]] = []
        """A heap of them (bytes, a tie-breaker), and of some that are not among them any more."""
        self._count = 0
        self._first: Holder | None = None
        """The one that may grow past the limit, and is not counted in the total."""
        self._most = 0
        """The largest total since memory was given back."""
        self._feeding: dict[Holder, tuple[int, float]] = {}
        """Those that are not starved: what each held when its progress was seen last, and for how many ms more it may
        hold about that.
        """

    @property
    def starved(self) -> int:
        """How many wait."""
        return len(self._starved)

    def hold(self, holder: Holder, size: int) -> None:
        """A connection's unfinished frame has so many bytes now; 0: there is none, or the connection has gone."""
        before, holder.unfinished = holder.unfinished, size
        if holder is not self._first:
            self.total += size - before
        if size < before:
            self._has_less(holder)
        elif size > before:
            if not before:
                self._feeding[holder] = size, PATIENCE_MS
            self._most = max(self._most, self.total)
            if holder is not self._first and holder not in self._starved and self._room(size) < 0:
                self._starve(holder)

    def wait(self, size: int) -> None:
        """So many bytes more of complete frames wait to be served; or fewer."""
        self.total += size
        self._most = max(self._most, self.total)
        if size < 0:
            self._there_is_room()

    def _has_less(self, holder: Holder) -> None:
        self._starved.pop(holder, None)
        self._feeding.pop(holder, None)
        if holder.unfinished:
            self._feeding[holder] = holder.unfinished, PATIENCE_MS
        if holder is self._first:
            self._first = None
            self.total += holder.unfinished
        self._there_is_room()

    def _there_is_room(self) -> None:
        """Less is held than before."""
        if self._starved:
            self._share_out()
            return
        self._smallest.clear()
        if self._is_over:
            self._look_later()

    def _starve(self, holder: Holder) -> None:
        if not self._starved:  # until now nobody has been in anybody's way
            first = self._first
            self._feeding = {
                one: now if one is first else (one.unfinished, PATIENCE_MS) for one, now in self._feeding.items()
            }
        self._feeding.pop(holder, None)
        self._starved[holder] = None
        self._count += 1
        heapq.heappush(self._smallest, (holder.unfinished, self._count, holder))
        holder.starve(True)
        if self._first is None:
            self._let_first()
        self._look_later()

    def _room(self, size: int) -> int:
        """Bytes that there are for the rest of a frame of which there is so much."""
        limit = self.limit
        if size >= limit // 32:
            return limit // 2 - self.total
        if size >= limit // 256:
            return limit // 4 * 3 - self.total
        return limit - self.total

    def _share_out(self) -> None:
        """Read on with those for which there is room now, the smallest first; and with the one that waited longest."""
        promised = 0
        while self._smallest:
            size, _, holder = self._smallest[0]
            if holder in self._starved and holder.unfinished == size:
                if self._room(size) < promised:
                    break
                promised += _PIECE
                self._feed(holder)
            heapq.heappop(self._smallest)
        if self._first is None:
            self._let_first()

    def _let_first(self) -> None:
        holder = next(iter(self._starved), None)
        if holder is not None:
            self._first = holder
            self.total -= holder.unfinished
            self._feed(holder)
            self._share_out()  # what it held is free now

    def _feed(self, holder: Holder) -> None:
        del self._starved[holder]
        self._feeding[holder] = holder.unfinished, PATIENCE_MS
        holder.starve(False)

    def _look_later(self) -> None:
        if not self._looking:
            self._looking = True
            self._call_later(LOOK_MS, self._look)

    def _look(self) -> None:
        """See whether those that are read get on while others wait, and whether all is over."""
        self._looking = False
        if self._starved:
            self._end_the_silent()
        if self._starved:
            self._look_later()
        elif self._is_over:
            self._most = 0
            if self.much_is_freed is not None:
                self.much_is_freed()

    def _end_the_silent(self) -> None:
        """All at once of those that keep what others wait for and send hardly anything."""
        silent = []
        for holder, (then, patience) in self._feeding.items():
            size, is_first = holder.unfinished, holder is self._first
            left = patience - (LOOK_MS if is_first or holder.is_read else LOOK_MS / _UNREAD)
            if size >= then + (_PROGRESS if is_first else _SOME_PROGRESS):
                self._feeding[holder] = size, PATIENCE_MS
            elif left > 0:
                self._feeding[holder] = then, left
            elif is_first or size > _NEARLY_NOTHING:
                silent.append((holder, size))
        for holder, size in silent:
            holder.end_starved(f"others wait for memory, and its request does not end: {size} bytes so far")

    @property
    def _is_over(self) -> bool:
        return self._most > self.limit // _MUCH and self.total <= self.limit // _LITTLE


__all__ = ["Holder", "UnfinishedFrames"]

"""Room for what a proxy keeps whole because of a rule, a hold or chaos: a bound over all connections together.

Whoever wants to keep a large frame takes room for it first. Where there is none, its connection is not read on until
there is, in the order in which they came. Small frames are not counted: a connection has as much in its buffers anyway.

While somebody waits, all who have room have to get on with it: who sends hardly anything of a frame that he has begun,
or does not read what was kept for him, loses his connection. What a rule or a hold has is the test's to end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

UNCOUNTED: Final = 1 << 18
"""Bytes of a frame that needs no room."""
MOST: Final = 1 << 29
"""Bytes that are kept at most, by default."""
LOOK_MS: Final = 1_000
"""How often those who have room are looked at, while somebody waits."""
PATIENCE_MS: Final = 5_000
"""How long one may need for `_PROGRESS` bytes then,"""
_PROGRESS: Final = 1 << 16
_OTHERS: Final = 6
"""and so many times as long where it is not his own doing: we do not read him, or a broker throttles."""


class Holder(Protocol):
    """Who has room for bytes that are on their way."""

    @property
    def to_come(self) -> int:
        """Bytes that are still to move."""

    @property
    def is_slow_itself(self) -> bool:
        """Whether nobody else keeps them from it."""

    def end_silent(self) -> None:
        """It has to go."""


class Room:
    """One a proxy. Belongs to its thread."""

    def __init__(self, most: int, call_later: Callable[[int, Callable[[], None]], object]) -> None:
        """`most`: bytes; a frame that is larger is kept where nothing else is. `call_later(ms, call)` is the loop's."""
        self.most = most
        self.used = 0
        self._call_later = call_later
        self._looking = False
        self._moving: dict[Holder, tuple[int, float]] = {}
        """Who has room: what was to come when its progress was seen last, and how many ms are left for the next."""
        self._waiting: dict[object, tuple[int, Callable[[int], None]]] = {}

    @property
    def waiting(self) -> int:
        """How many connections wait for room."""
        return len(self._waiting)

    def take(self, who: object, size: int, here: Callable[[int], None]) -> bool:
        """Take room for so many bytes; False where there is none: `here` is called with the size once it is taken."""
        if not self._waiting and self._fits(size):
            self.used += size
            return True
        if not self._waiting:  # until now nobody has been in anybody's way
            self._moving = {one: (one.to_come, PATIENCE_MS) for one in self._moving}
        self._waiting[who] = size, here
        self._look_later()
        return False

    def take_at_once(self, size: int) -> None:
        """Take it whether there is room or not: for who would keep others waiting while he waits."""
        self.used += size

    def give(self, size: int) -> None:
        """Give back what was taken, and let those in who wait and fit."""
        self.used -= size
        while self._waiting:
            who = next(iter(self._waiting))
            wanted, here = self._waiting[who]
            if not self._fits(wanted):
                return
            del self._waiting[who]
            self.used += wanted
            here(wanted)

    def forget(self, who: object) -> None:
        """It waits no more: its connection has ended."""
        if self._waiting.pop(who, None) is not None:
            self.give(0)  # who waited behind it may fit

    def begins(self, holder: Holder) -> None:
        """It has room for what is on its way."""
        self._moving[holder] = holder.to_come, PATIENCE_MS

    def ends(self, holder: Holder) -> None:
        """All of it is there, or nobody wants it any more."""
        self._moving.pop(holder, None)

    def _look_later(self) -> None:
        if not self._looking:
            self._looking = True
            self._call_later(LOOK_MS, self._look)

    def _look(self) -> None:
        """See whether those that have room get on while others wait."""
        self._looking = False
        if not self._waiting:
            return
        silent = []
        for holder, (then, patience) in self._moving.items():
            now = holder.to_come
            left = patience - (LOOK_MS if holder.is_slow_itself else LOOK_MS / _OTHERS)
            if now <= then - _PROGRESS:
                self._moving[holder] = now, PATIENCE_MS
            elif left > 0:
                self._moving[holder] = then, left
            else:
                silent.append(holder)
        for holder in silent:
            holder.end_silent()
        self._look_later()

    def _fits(self, size: int) -> bool:
        return self.used + size <= self.most or self.used == 0


class Side(Protocol):
    """One side of a connection."""

    @property
    def to_come(self) -> int:
        """Bytes of the frame that it collects which are not there yet."""

    @property
    def is_read(self) -> bool:
        """Whether what it sends is read."""

    def go_on(self) -> None:
        """There is room at last."""

    def end_silent(self) -> None:
        """Others wait for its room."""


class Taken:
    """The room of what one side of a connection is collecting."""

    __slots__ = ("_room", "_side", "_size", "waits")

    def __init__(self, room: Room, side: Side) -> None:
        self._room = room
        self._side = side
        self._size = 0
        self.waits = False

    def want(self, size: int, at_once: bool = False) -> None:
        """A frame of so many bytes is to be collected; `waits` says whether that has to wait."""
        if size <= UNCOUNTED or self._size or self.waits:
            return
        if at_once:
            self._room.take_at_once(size)
        elif not self._room.take(self, size, self._here):
            self.waits = True
            return
        self._has(size)

    def _here(self, size: int) -> None:
        self.waits = False
        self._has(size)
        self._side.go_on()

    def _has(self, size: int) -> None:
        self._size = size
        self._room.begins(self)

    @property
    def to_come(self) -> int:
        return self._side.to_come

    @property
    def is_slow_itself(self) -> bool:
        return self._side.is_read

    def end_silent(self) -> None:
        self._side.end_silent()

    def hand_over(self) -> int:
        """It is collected: its room goes to who has the frame now, who gives it back."""
        size, self._size = self._size, 0
        if size:
            self._room.ends(self)
        return size

    def end(self) -> None:
        """The connection has ended."""
        if self.waits:
            self.waits = False
            self._room.forget(self)
        if size := self.hand_over():
            self._room.give(size)


class Unread:
    """The room of what was written to one side of a connection, until that has read it."""

    __slots__ = ("_end", "_left", "_room", "_size", "is_slow_itself")

    def __init__(self, room: Room, left: Callable[[], int], end: Callable[[], None], is_slow_itself: bool) -> None:
        """`left`: bytes that it has not read; `end`: others wait for its room."""
        self._room = room
        self._left = left
        self._end = end
        self._size = 0
        self.is_slow_itself = is_slow_itself

    def add(self, size: int) -> None:
        """What has that room was written, and not read at once."""
        if size:
            self._size += size
            self._room.begins(self)

    @property
    def to_come(self) -> int:
        return self._left()

    def end_silent(self) -> None:
        self._end()

    def end(self) -> None:
        """It has read all of it, or never will."""
        size, self._size = self._size, 0
        if size:
            self._room.ends(self)
            self._room.give(size)

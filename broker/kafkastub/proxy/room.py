"""Room for what a proxy keeps whole because of a rule, a hold or chaos: a bound over all connections together.

Whoever wants to keep a large frame takes room for it first. Where there is none, its connection is not read on until
there is, in the order in which they came. Small frames are not counted: a connection has as much in its buffers anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

UNCOUNTED: Final = 1 << 18
"""Bytes of a frame that needs no room."""
MOST: Final = 1 << 29
"""Bytes that are kept at most, by default."""


class Room:
    """One a proxy. Belongs to its thread."""

    def __init__(self, most: int = MOST) -> None:
        """`most`: bytes; a frame that is larger is kept where nothing else is."""
        self.most = most
        self.used = 0
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
        self._waiting[who] = size, here
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

    def _fits(self, size: int) -> bool:
        return self.used + size <= self.most or self.used == 0


class Taken:
    """The room of what one side of a connection is collecting."""

    __slots__ = ("_go_on", "_room", "_size", "waits")

    def __init__(self, room: Room, go_on: Callable[[], object]) -> None:
        """`go_on` is called when there is room at last."""
        self._room = room
        self._go_on = go_on
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
        self._size = size

    def _here(self, size: int) -> None:
        self._size, self.waits = size, False
        self._go_on()

    def hand_over(self) -> int:
        """It is collected: its room goes to who has the frame now, who gives it back."""
        size, self._size = self._size, 0
        return size

    def end(self) -> None:
        """The connection has ended."""
        if self.waits:
            self.waits = False
            self._room.forget(self)
        if size := self.hand_over():
            self._room.give(size)

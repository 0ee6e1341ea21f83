"""Work that is done part by part: others are served between two of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

AT_ONCE: Final = 0
"""A timer time that has come."""


class Turns:
    """Who has such work; each has a part done in turn.

    Args:
        mark_dirty: called where `next_deadline` has come nearer.
    """

    __slots__ = ("_mark_dirty", "_work")

    def __init__(self, mark_dirty: Callable[[], None]) -> None:
        self._work: deque[Iterator[None]] = deque()
        self._mark_dirty = mark_dirty

    def __bool__(self) -> bool:
        return bool(self._work)

    def begin(self, work: Iterator[None]) -> None:
        """Do its first part now; go on with it, if that was not all."""
        if next(work, AT_ONCE) is None:
            self.add(work)

    def add(self, work: Iterator[None]) -> None:
        """Go on with it from the next turn on."""
        self._work.append(work)
        self._mark_dirty()

    def expire(self) -> None:
        """Do a part of the work that waits longest."""
        if self._work:
            self.begin(self._work.popleft())

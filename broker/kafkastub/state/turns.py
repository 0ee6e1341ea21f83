"""Work that is done part by part in the broker's one thread, so that others are served between."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

_AT_ONCE = 0
"""Timer time of what is due now."""


class Turns:
    """What is to be gone on with; each has its turn."""

    __slots__ = ("_mark_dirty", "_work")

    def __init__(self, mark_dirty: Callable[[], None]) -> None:
        self._mark_dirty = mark_dirty
        self._work: deque[Iterator[None]] = deque()

    def add(self, work: Iterator[None]) -> None:
        """Go on with that, part by part."""
        self._work.append(work)
        self._mark_dirty()

    def next_deadline(self) -> int | None:
        """Timer time (ms) at which there is something to do."""
        return _AT_ONCE if self._work else None

    def take(self) -> None:
        """A part of the work that waits longest."""
        if self._work:
            work = self._work.popleft()
            if next(work, _AT_ONCE) is None:
                self._work.append(work)
            self._mark_dirty()

"""For what is worth a line in the log, but not at every request."""

from __future__ import annotations

from collections.abc import Hashable


class RateLimiter:
    """Lets each key pass once in a while. What it remembers of a key is its hash: keys may hold what a client has sent.

    Attributes:
        most: how many keys it remembers; beyond that the one that passed longest ago may pass again too early.
    """

    __slots__ = ("_every", "_passed", "most")

    def __init__(self, every_ms: int = 60_000, most: int = 1_000) -> None:
        self.most = most
        self._every = every_ms
        self._passed: dict[int, int] = {}
        """When each key passed last, in this order."""

    def __len__(self) -> int:
        return len(self._passed)

    def allows(self, key: Hashable, timer_ms: int) -> bool:
        """Whether it is time again for the key; if so, that time is now."""
        remembered = hash(key)
        last = self._passed.get(remembered)
        if last is not None and timer_ms - last < self._every:
            return False
        self._passed.pop(remembered, None)
        if len(self._passed) >= self.most:
            del self._passed[next(iter(self._passed))]
        self._passed[remembered] = timer_ms
        return True

"""Finds the connections on which nothing has moved for `connections.max.idle.ms`. Kafka: ``IdleExpiryManager``.

A connection is looked at once in that time, not at each request: it stands in the slot of time in which it would be
idle if nothing came, and moves on to a later one where something has come. A slot is a hundredth of the time.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from kafkastub.server.clock import Clock
    from kafkastub.server.connection import Connection

_SHORTEST_MS: Final = 10
_LONGEST_MS: Final = 1000


class MayIdle(Protocol):
    """A connection's protocol, as far as it matters here."""

    connection: Connection
    idle_slot: int
    """Kept for `IdleExpiry`, which alone looks at it."""

    def has_moved(self, timer_ms: int) -> bool:
        """Whether the client has read something since we looked last."""

    def end_idle(self) -> None:
        """Nothing has moved for too long."""


class IdleExpiry:
    """All connections of a server."""

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: Clock, idle_ms: int) -> None:
        """`idle_ms` below 0: nobody is ever idle."""
        self.clock = clock
        self._loop = loop
        self._idle_ms = idle_ms
        self._step = min(max(idle_ms // 100, _SHORTEST_MS), _LONGEST_MS)
        self._slots: dict[int, set[MayIdle]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._armed_for = 0

    def add(self, protocol: MayIdle) -> None:
        """A connection, from now on."""
        if self._idle_ms < 0:
            return
        slot = protocol.idle_slot = (protocol.connection.active_ms + self._idle_ms) // self._step + 1
        there = self._slots.get(slot)
        if there is not None:
            there.add(protocol)
            return
        self._slots[slot] = {protocol}
        if self._timer is None or slot < self._armed_for:
            self._arm()

    def discard(self, protocol: MayIdle) -> None:
        """It has ended."""
        there = self._slots.get(protocol.idle_slot)
        if there is not None:
            there.discard(protocol)
            if not there:
                del self._slots[protocol.idle_slot]

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._slots:
            self._armed_for = min(self._slots)
            wait = max(1, self._armed_for * self._step - self.clock.timer_ms())
            self._timer = self._loop.call_later(wait / 1000, self._look)

    def _look(self) -> None:
        self._timer = None
        timer_ms = self.clock.timer_ms()
        try:
            for slot in sorted(slot for slot in self._slots if slot * self._step <= timer_ms):
                there = self._slots[slot]
                while there:
                    protocol = there.pop()
                    if protocol.connection.active_ms + self._idle_ms <= timer_ms and not protocol.has_moved(timer_ms):
                        protocol.end_idle()
                    else:
                        self.add(protocol)
                self._slots.pop(slot, None)
        finally:  # whatever one connection's end comes to, the others have to end too
            self._arm()

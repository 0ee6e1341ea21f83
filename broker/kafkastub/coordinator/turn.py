"""What the coordinator is given and gives back: a moment, and what came of it."""

from __future__ import annotations

from typing import Any

from kafkastub.coordinator.records import Record

Token = Any
"""Whatever the caller parks a join or a sync under; the coordinator only hands it back. Not None."""


class Turn:
    """One thing that happened to the coordinator, a request or a deadline, and everything that followed from it.

    Attributes:
        broker_ms: the moment in broker time, unix milliseconds: it stamps records and states.
        timer_ms: the same moment in timer time, monotonic milliseconds: sessions and rebalances count in it.
        records: what to append to `__consumer_offsets`, in order; already applied.
        completions: parked joins and syncs that have their answer now, as (token, response), in order.
        reply: the answer to the request itself, where it does not come as a completion.
    """

    __slots__ = ("broker_ms", "completions", "records", "reply", "timer_ms")

    def __init__(self, broker_ms: int, timer_ms: int) -> None:
        self.broker_ms = broker_ms
        self.timer_ms = timer_ms
        self.records: list[Record] = []
        self.completions: list[tuple[Token, Any]] = []
        self.reply: Any = None

    def complete(self, token: Token, response: Any) -> None:
        """Answer what is parked under the token."""
        self.completions.append((token, response))

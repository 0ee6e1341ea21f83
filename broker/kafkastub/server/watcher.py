"""What a connection tells whoever watches it: the journal and the metrics are told by `watching.observer`.

A request is told of once, by one of these methods. `broker_ms` is when it came, `began` when we began with it, in ns of
`perf_counter_ns`.
"""

from __future__ import annotations

from typing import Protocol

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.handlers.outcome import Outcome
from kafkastub.server.routes import Exchange
from kafkawire.codec import Parts


class Watcher(Protocol):
    """Is asked for with every read: while nobody watches, `Dispatcher.watch` is None and nothing is told."""

    def served(
        self, info: ConnectionInfo, data: bytes, first: int, last: int, out: Parts, sent: int, upto: int,
        count: int, broker_ms: int, began: int,
    ) -> None:  # fmt: skip
        """`count` requests in `data[first:last]`, sizes included, got the replies `out[sent:upto]`, one each."""

    def served_one(
        self, info: ConnectionInfo, data: bytes, start: int, end: int, replies: Parts, broker_ms: int, began: int
    ) -> None:
        """A request that had to wait for its turn, in `data[start:end]`."""

    def without_reply(
        self, info: ConnectionInfo, data: bytes, start: int, end: int, broker_ms: int, began: int, exchange: Exchange,
        outcome: Outcome,
    ) -> None:  # fmt: skip
        """The request in `data[start:end]` has no reply yet, or none at all."""

    def refused(self, info: ConnectionInfo, data: bytes, start: int, end: int, broker_ms: int, began: int) -> None:
        """What is in `data[start:end]` is no request that can be served."""

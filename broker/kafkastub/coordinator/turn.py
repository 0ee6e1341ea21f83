"""What the coordinator is given and gives back: a moment, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from kafkastub.coordinator.records import Record
from kafkastub.steps import Pace

R = TypeVar("R")

Token = Any
"""Whatever the caller parks a join or a sync under; the coordinator only hands it back. Not None."""


class NotYet(Exception):
    """Nothing has happened: the request needs the result of a long computation, and is to be made again with it.

    Attributes:
        results: what it is to be made again with.
    """

    def __init__(self, results: Results) -> None:
        super().__init__("the result of a long computation is not there yet")
        self.results = results


class Results(Protocol):
    """The results of long computations that a request needs. Whoever has the request made again passes the same."""

    def of(self, inputs: Any, compute: Callable[[Pace], R]) -> R:
        """What `compute` returns, or raises.

        Args:
            inputs: everything that the result depends on. A result is used only where these are equal to those that it
                was computed from: what has happened since the request was made first may have changed them.

        Raises NotYet where it takes too long for one turn of the loop.
        """

    def go_on(self) -> bool:
        """Compute a slice of the last one that was asked for; whether nothing is left to be computed."""


class Turn:
    """One thing that happened to the coordinator, a request or a deadline, and everything that followed from it.

    Attributes:
        broker_ms: the moment in broker time, unix milliseconds: it stamps records and states.
        timer_ms: the same moment in timer time, monotonic milliseconds: sessions and rebalances count in it.
        records: what to append to `__consumer_offsets`, in order; already applied.
        completions: parked joins and syncs that have their answer now, as (token, response), in order.
        reply: the answer to the request itself, where it does not come as a completion.
        results: those of long computations; None where all is computed at once.
    """

    __slots__ = ("broker_ms", "completions", "records", "reply", "results", "timer_ms")

    def __init__(self, broker_ms: int, timer_ms: int) -> None:
        self.broker_ms = broker_ms
        self.timer_ms = timer_ms
        self.records: list[Record] = []
        self.completions: list[tuple[Token, Any]] = []
        self.reply: Any = None
        self.results: Results | None = None

    def complete(self, token: Token, response: Any) -> None:
        """Answer what is parked under the token."""
        self.completions.append((token, response))

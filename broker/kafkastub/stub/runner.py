"""The interface through which the parts of a stub use it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker

T = TypeVar("T")


class Runner(Protocol):
    """An object that runs a broker: a `KafkaStub` in its thread, or the control port. Both raise if no broker runs."""

    def running(self) -> Broker:
        """Return the broker."""

    def call(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, which runs in the broker's thread, between two requests."""


class AsyncRunner(Runner, Protocol):
    """A runner whose loop runs in another thread, so that callers can wait for it."""

    def call_async(self, work: Callable[[Broker], Coroutine[Any, Any, T]]) -> T:
        """Return the result of a coroutine that runs on the broker's loop."""

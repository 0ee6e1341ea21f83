"""What the parts of a stub need of it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker

T = TypeVar("T")


class Runner(Protocol):
    """Whoever runs a broker: a `KafkaStub` in its thread, or the control port. Both raise where it does not run."""

    def running(self) -> Broker:
        """The broker."""

    def call(self, work: Callable[[], T]) -> T:
        """What `work` gives, which is run in the broker's thread, between two requests."""


class AsyncRunner(Runner, Protocol):
    """One whose loop runs in another thread, so that it can be waited for."""

    def call_async(self, work: Callable[[Broker], Coroutine[Any, Any, T]]) -> T:
        """What a coroutine gives that is run on the broker's loop."""

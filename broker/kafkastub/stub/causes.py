"""Why clients of a stub may wait, in sentences, for the report of a test that failed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkastub.findings.watched import Chaos, Fault
    from kafkastub.server.broker import Broker
    from kafkastub.stub.stub import KafkaStub


class _Watched:
    """A stub, as findings look at it."""

    def __init__(self, stub: KafkaStub) -> None:
        self._stub = stub

    @property
    def faults(self) -> Iterable[Fault]:
        return self._stub.faults

    @property
    def chaos(self) -> Chaos:
        return self._stub.chaos

    def running(self) -> Broker:
        return self._stub._thread.running()


def causes_of(stub: KafkaStub, began: datetime) -> list[str]:
    """Return why a test that began at this time may have failed, the most likely cause first (`findings.causes`).

    The result is empty for a stub that does not run, or that runs in a separate process.
    """
    from kafkastub.stub.errors import StubError
    from kafkastub.stub.thread import BrokerThread

    thread = vars(stub).get("_thread")
    if not isinstance(thread, BrokerThread) or thread.broker is None:
        return []
    from kafkastub.findings.causes import causes

    try:
        return thread.call(lambda: causes(_Watched(stub), began))
    except StubError:  # it is closed just now
        return []

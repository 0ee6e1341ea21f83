"""The registry of a broker: what `_schemas` says, read on whenever it is looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from kafkastub.registry.errors import RegistryError, store_failed, too_large
from kafkastub.registry.quick import find_version
from kafkastub.registry.records import TOPIC, Record
from kafkastub.registry.registry import Registry
from kafkastub.registry.store import Store
from kafkastub.state.partitions import log_of
from kafkastub.state.topics import create_topic
from kafkastub.views.records import write
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records import NewRecord

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker

_TOO_LARGE = frozenset((ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE))
_CONFIGS = {"cleanup.policy": "compact"}


class Worker(Protocol):
    """A thread that works on a request."""

    @property
    def is_here(self) -> bool:
        """Whether it is this one that asks."""

    def write(self, records: list[Record]) -> None:
        """What it writes. Raises RegistryError."""


class KeptRegistry:
    """Reads and writes the topic of whatever broker `broker` gives: a reset or a restore puts another state there.

    All of it belongs to the thread of the broker's loop.
    """

    def __init__(self, broker: Callable[[], Broker]) -> None:
        self._broker = broker
        self._log: Any = None
        self._next = 0
        self._store = Store()
        self._registry = Registry(self._store, self._write)
        self.changing = asyncio.Lock()
        """Held by whoever changes the registry, or looks at more of it than one step on the loop may take."""
        self.worker: Worker | None = None
        """Who looks at the store in another thread: meanwhile it stays as it is, but for what is written here."""

    def now(self) -> Registry:
        """The registry as the topic has it now."""
        if self.worker is None:
            self.read_on()
        return self._registry

    @property
    def seen(self) -> tuple[Registry, int]:
        """Of which topic, up to where: another one where somebody has written, or where the state is another one."""
        return self._registry, self._next

    def broker(self) -> Broker:
        """The broker that it is beside."""
        return self._broker()

    def open(self) -> None:
        """Make the topic where there is none, as Confluent's registry does at its start. Raises RegistryError."""
        try:
            self._make_topic()
        except KafkaError as error:
            raise _failed(error) from None
        self.read_on()

    def _make_topic(self) -> None:
        state = self._broker().state
        if state.cluster.topic(TOPIC) is None:
            create_topic(state, TOPIC, 1, configs=_CONFIGS)

    def read_on(self) -> None:
        """Take up what was written to the topic."""
        state = self._broker().state
        topic = state.cluster.topic(TOPIC)
        log = None if topic is None else log_of(state, topic, 0)
        if log is not self._log or (log is not None and log.high_watermark < self._next):
            self._log, self._next, self._store = log, 0, Store()
            self._registry = Registry(self._store, self._write)
        if log is None or log.high_watermark == self._next:
            return
        end, apply, take = log.high_watermark, self._store.apply, self._store.take
        for batch in log.batches_from(max(self._next, log.log_start_offset)):
            if batch.base_offset >= end:
                break
            version = find_version(batch.head) if batch.payload is None and batch.base_offset >= self._next else None
            if version is not None:
                take(*version)
                continue
            if batch.header().control:
                continue
            for record in batch.records():
                if record.offset >= self._next:
                    apply(record.key, record.value, record.timestamp)
        self._next = end

    def _write(self, records: list[Record]) -> None:
        """Raises RegistryError."""
        if self.worker is not None and self.worker.is_here:
            self.worker.write(records)
        elif records:
            self.write(records)

    def write(self, records: list[Record]) -> None:
        """Append records as one batch, and take them up. Raises RegistryError."""
        broker = self._broker()
        try:
            self._make_topic()
            now = broker.clock.broker_ms()
            write(broker.state, TOPIC, 0, [NewRecord(key, value, now) for key, value in records], now)
        except KafkaError as error:
            raise _failed(error) from None
        finally:
            broker.rearm()
        self.read_on()

    async def until_kept(self) -> None:
        """What was written is on the disk. Raises RegistryError."""
        kept: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._broker().when_kept(lambda failure: None if kept.done() else kept.set_result(failure))
        failure = await kept
        if failure is not None:
            raise store_failed(failure)


def _failed(error: KafkaError) -> RegistryError:
    words = error.message or error.code.name
    if error.code in _TOO_LARGE:
        return too_large(f"Register operation failed because schema is too large: {words}")
    return store_failed(f"Error while writing to the topic {TOPIC}: {words}")

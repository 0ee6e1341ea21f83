"""What an internal topic is told of whose records it holds: how they are written, and who they are made true by.

Kafka: CoordinatorRecordSerde, CoordinatorShard (`apply` is its `replay`), CoordinatorResult.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from kafkawire.errors import MalformedMessage
from kafkawire.records import Record as LogRecord

R = TypeVar("R")


class RecordCodec(Protocol[R]):
    """A coordinator's typed records as keys and values of a log, and back."""

    def owner(self, record: R) -> str:
        """Who it is about; all records of one owner are in the same partition (`partition_for`)."""

    def encode(self, record: R) -> tuple[bytes, bytes | None]:
        """Key and value; None is a tombstone's value."""

    def decode(self, key: bytes | None, value: bytes | None) -> R | None:
        """None for what means nothing to this coordinator. MalformedMessage."""


class Turn(Protocol[R]):
    """One thing that happened to a coordinator.

    Attributes:
        broker_ms: when, unix milliseconds; the timestamp of its records.
        records: what to append, in order; already applied.
        completions: parked requests that have their answer now, as (token, response).
    """

    broker_ms: int
    records: list[R]
    completions: list[tuple[Any, Any]]


class Coordinator(Protocol[R]):
    """Whose hard state the records are."""

    def apply(self, record: R) -> None:
        """Make a record true, at load; `loaded` follows the last one."""

    def knows(self, owner: str) -> bool:
        """Whether anything is left of an owner's records."""

    def loaded(self, broker_ms: int, timer_ms: int) -> Turn[R]:
        """All records are applied."""

    def unload(self, broker_ms: int, timer_ms: int) -> Turn[R]:
        """Forget everything; who is parked is told to look for another coordinator."""


class Kept(Protocol):
    """A coordinator that hands its hard state on as a whole, where applying records would take too long."""

    def saved(self) -> object:
        """Its hard state now; nobody changes what is given."""

    def take_up(self, saved: Any) -> None:
        """Have that hard state, of this coordinator or another one; `loaded` follows."""


class Place(NamedTuple, Generic[R]):
    """Where the last record of a key stood that is compacted now."""

    offset: int
    timestamp: int
    record: R


class Loaded(NamedTuple, Generic[R]):
    """What some neighbouring log records stand for.

    Attributes:
        offset: of the first.
        records: how many there are.
        record: None where they mean nothing to the coordinator.
    """

    offset: int
    records: int
    timestamp: int
    record: R | None


Skipped = Callable[[LogRecord, MalformedMessage], None]
"""Is told of records that are none at all: of an unknown type, which Kafka skips as well, or damaged, where Kafka gives
the partition up. Only an admin client can have written such."""


def decoded(codec: RecordCodec[R], records: Iterable[LogRecord], skipped: Skipped) -> Iterator[Loaded[R]]:
    """Each record of a log, in order."""
    for one in records:
        try:
            record = codec.decode(one.key, one.value)
        except MalformedMessage as error:
            skipped(one, error)
            record = None
        yield Loaded(one.offset, 1, one.timestamp, record)

"""The records of the transaction coordinator: the only things that change its hard state, live and at load alike.

Each is one record of `__transaction_state` (`TransactionLogKey/Value`). Kafka: TransactionMetadata, TransactionLog.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from enum import IntEnum
from typing import Final, NamedTuple

from kafkawire.codec import decode_from, encoder
from kafkawire.errors import MalformedMessage
from kafkawire.java_order import hash_map_order, string_hash, string_map_order
from kafkawire.messages.transaction_log_key import TransactionLogKey
from kafkawire.messages.transaction_log_value import PartitionsSchema, TransactionLogValue

NO_TIMESTAMP: Final = -1
_int16 = struct.Struct(">h")
_KEY_VERSION: Final = 0
MOST_ORDERED: Final = 1_000
"""Nobody looks at the order of more, and the hashes of a million take seconds."""
_WHAT: Final = "record of __transaction_state"


class TransactionState(IntEnum):
    """What becomes of a transactional id, by the number in its record. Kafka: TransactionState."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def camel(self) -> str:
        """As DescribeTransactions and ListTransactions tell it: "PrepareCommit"."""
        return _CAMEL[self]


_CAMEL = {state: "".join(word.capitalize() for word in state.name.split("_")) for state in TransactionState}


class TransactionMetadata(NamedTuple):
    """What is known of a transactional id. Never changed once made.

    Attributes:
        previous_producer_id: the id before the last change of the record, -1 for none.
        next_producer_id: the id that follows when the transaction is complete, where the epochs of this one are used
            up; else -1.
        producer_epoch: the current one; -1 before the first.
        last_producer_epoch: what the producer had before, where a repeated request may come with it; else -1. It is not
            in the record.
        timeout_ms: the transaction timeout that the producer asked for.
        partitions: topic and index of each, in the order in which they came.
        start_timestamp: when the first partition was added, broker milliseconds; -1 for none.
        last_update_timestamp: broker milliseconds.
        client_transaction_version: 0 to 2, as the client's requests tell it.
    """

    transactional_id: str
    producer_id: int
    previous_producer_id: int
    next_producer_id: int
    producer_epoch: int
    last_producer_epoch: int
    timeout_ms: int
    state: TransactionState
    partitions: tuple[tuple[str, int], ...]
    start_timestamp: int
    last_update_timestamp: int
    client_transaction_version: int


class TransactionTombstone(NamedTuple):
    """A transactional id has expired."""

    transactional_id: str


TransactionRecord = TransactionMetadata | TransactionTombstone
"""What the coordinator appends to `__transaction_state` and what it is restored from."""


def kafka_order(partitions: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Partitions in the order in which Kafka's `HashSet<TopicPartition>` has them; very many stay as they are."""
    several = list(partitions)
    if len(several) > MOST_ORDERED:
        return several
    hashes = {topic: string_hash(topic) for topic, _ in several}
    return hash_map_order(((31 * (31 + one[1]) + hashes[one[0]]) & 0xFFFFFFFF, one) for one in several)


def by_topic(partitions: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """The indexes of each topic; topics in the order of Kafka's `HashMap` of them, very many as they are."""
    grouped: dict[str, list[int]] = {}
    for topic, index in kafka_order(partitions):
        grouped.setdefault(topic, []).append(index)
    if len(grouped) > MOST_ORDERED:
        return grouped
    return {topic: grouped[topic] for topic in string_map_order(grouped)}


class TransactionCodec:
    """Records as keys and values of `__transaction_state`, and back: a `RecordCodec` of the internal topic.

    Args:
        version: of the values: 1 where the feature `transaction.version` is finalised at 1 or above, else 0.
    """

    __slots__ = ("version",)

    def __init__(self, version: int = 1) -> None:
        self.version = version

    def owner(self, record: TransactionRecord) -> str:
        return record.transactional_id

    def encode(self, record: TransactionRecord) -> tuple[bytes, bytes | None]:
        key = TransactionLogKey(record.transactional_id)
        value = None if isinstance(record, TransactionTombstone) else self._value(record)
        return b"".join((_int16.pack(_KEY_VERSION), *encoder(TransactionLogKey, _KEY_VERSION)(key))), value

    def _value(self, record: TransactionMetadata) -> bytes:
        partitions = None
        if record.state is not TransactionState.EMPTY:
            partitions = [PartitionsSchema(*one) for one in by_topic(record.partitions).items()]
        value = TransactionLogValue(
            producer_id=record.producer_id,
            previous_producer_id=record.previous_producer_id,
            next_producer_id=record.next_producer_id,
            producer_epoch=record.producer_epoch,
            transaction_timeout_ms=record.timeout_ms,
            transaction_status=record.state,
            transaction_partitions=partitions,
            transaction_last_update_timestamp_ms=record.last_update_timestamp,
            transaction_start_timestamp_ms=record.start_timestamp,
            client_transaction_version=record.client_transaction_version,
        )
        return b"".join((_int16.pack(self.version), *encoder(TransactionLogValue, self.version)(value)))

    def decode(self, key: bytes | None, value: bytes | None) -> TransactionRecord | None:
        """MalformedMessage for what is no record of the topic; as in Kafka, bytes behind a message are ignored."""
        if key is None or len(key) < 2 or _int16.unpack_from(key)[0] != _KEY_VERSION:
            raise MalformedMessage(_WHAT, "key", 0, "its version is not known")
        transactional_id = decode_from(TransactionLogKey, _KEY_VERSION, key, 2)[0].transactional_id
        if value is None:
            return TransactionTombstone(transactional_id)
        version = _int16.unpack_from(value)[0] if len(value) >= 2 else -1
        if version not in (0, 1):
            raise MalformedMessage(_WHAT, "value", 0, f"version {version} is not known")
        found = decode_from(TransactionLogValue, version, value, 2)[0]
        try:
            state = TransactionState(found.transaction_status)
        except ValueError:
            raise MalformedMessage(_WHAT, "status", 0, f"{found.transaction_status} is not a state") from None
        return TransactionMetadata(
            transactional_id=transactional_id,
            producer_id=found.producer_id,
            previous_producer_id=found.previous_producer_id,
            next_producer_id=found.next_producer_id,
            producer_epoch=found.producer_epoch,
            last_producer_epoch=-1,
            timeout_ms=found.transaction_timeout_ms,
            state=state,
            partitions=tuple(
                (one.topic, index) for one in found.transaction_partitions or () for index in one.partition_ids
            ),
            start_timestamp=found.transaction_start_timestamp_ms,
            last_update_timestamp=found.transaction_last_update_timestamp_ms,
            client_transaction_version=found.client_transaction_version,
        )

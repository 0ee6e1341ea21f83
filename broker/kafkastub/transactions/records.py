"""The records of the transaction coordinator: the only things that change its hard state, live and at load alike.

Each is one record of `__transaction_state` (`TransactionLogKey/Value`). Kafka: TransactionMetadata, TransactionLog.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

NO_TIMESTAMP = -1


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


@dataclass(frozen=True, slots=True)
class TransactionMetadata:
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


@dataclass(frozen=True, slots=True)
class TransactionTombstone:
    """A transactional id has expired."""

    transactional_id: str


TransactionRecord = TransactionMetadata | TransactionTombstone
"""What the coordinator appends to `__transaction_state` and what it is restored from."""


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
        raise NotImplementedError

    def decode(self, key: bytes | None, value: bytes | None) -> TransactionRecord | None:
        raise NotImplementedError

"""The transaction coordinator: pure state machine; time is an argument. `TransactionCoordinator` is the face."""

from __future__ import annotations

from kafkastub.transactions.coordinator import TransactionCoordinator
from kafkastub.transactions.records import (
    TransactionCodec,
    TransactionMetadata,
    TransactionRecord,
    TransactionState,
    TransactionTombstone,
)
from kafkastub.transactions.settings import TransactionSettings
from kafkastub.transactions.store import Transaction, TransactionDescription
from kafkastub.transactions.turn import NO_PRODUCER, Markers, ProducerIdAndEpoch, TopicPartition, Turn

__all__ = [
    "NO_PRODUCER",
    "Markers",
    "ProducerIdAndEpoch",
    "TopicPartition",
    "Transaction",
    "TransactionCodec",
    "TransactionCoordinator",
    "TransactionDescription",
    "TransactionMetadata",
    "TransactionRecord",
    "TransactionSettings",
    "TransactionState",
    "TransactionTombstone",
    "Turn",
]

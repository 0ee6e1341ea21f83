"""The transaction coordinator: pure state machine; time is an argument. `TransactionCoordinator` is the face."""

from __future__ import annotations

from kafkastub.transaction_coordinator.coordinator import TransactionCoordinator
from kafkastub.transaction_coordinator.records import (
    TransactionCodec,
    TransactionMetadata,
    TransactionRecord,
    TransactionState,
    TransactionTombstone,
)
from kafkastub.transaction_coordinator.settings import TransactionSettings
from kafkastub.transaction_coordinator.store import Transaction, TransactionDescription
from kafkastub.transaction_coordinator.turn import NO_PRODUCER, Markers, ProducerIdAndEpoch, TopicPartition, Turn

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

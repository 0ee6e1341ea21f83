"""The way in to the transaction coordinator; the way of its decisions out is `Transactions.settle`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub.coordinator import partition_for
from kafkastub.metadata import TRANSACTION_STATE, Topic
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.topics import auto_create
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.transactions import TransactionCoordinator


def coordinator_of(state: BrokerState) -> TransactionCoordinator:
    """The coordinator; the first request that needs it brings `__transaction_state` into being.

    KafkaError COORDINATOR_LOAD_IN_PROGRESS while it is loading, NOT_COORDINATOR where another node is asked,
    COORDINATOR_NOT_AVAILABLE where the topic cannot be made.
    """
    if state.refusal is not None:
        raise KafkaError(state.refusal)
    transactions = state.transactions
    if transactions.loading is not None:
        raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    ensure_transactions_topic(state)
    return transactions.coordinator


def ensure_transactions_topic(state: BrokerState) -> Topic:
    """`__transaction_state`, made when first needed. KafkaError COORDINATOR_NOT_AVAILABLE where it cannot be made."""
    topic = state.cluster.topic(TRANSACTION_STATE) or auto_create(state, TRANSACTION_STATE)
    if topic is None:
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return topic


def coordinates(state: BrokerState, node_id: int, transactional_id: str) -> bool:
    """Whether the node is the coordinator of a transactional id. KafkaError COORDINATOR_NOT_AVAILABLE."""
    topic = ensure_transactions_topic(state)
    return topic.partitions[partition_for(transactional_id, len(topic.partitions))].leader == node_id

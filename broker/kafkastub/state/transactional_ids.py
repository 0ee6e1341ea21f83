"""The way in to the transaction coordinator; the way of its decisions out is `TransactionRuntime.settle`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kafkastub.coordinator import partition_for
from kafkastub.metadata import TRANSACTION_STATE, Topic
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.topics import auto_create
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.transaction_coordinator import TransactionCoordinator


def coordinator_of(state: BrokerState) -> TransactionCoordinator:
    """The coordinator; the first request that needs it brings `__transaction_state` into being.

    KafkaError COORDINATOR_LOAD_IN_PROGRESS while it is loading, NOT_COORDINATOR where another node is asked,
    COORDINATOR_NOT_AVAILABLE where the topic cannot be made.
    """
    if state.refusal is None:
        ensure_transactions_topic(state)
    return existing_coordinator(state)


def existing_coordinator(state: BrokerState) -> TransactionCoordinator:
    """The coordinator, for requests that bring nothing into being.

    KafkaError COORDINATOR_LOAD_IN_PROGRESS while it is loading, NOT_COORDINATOR where another node is asked, or where
    there is no `__transaction_state` yet.
    """
    if state.refusal is not None:
        raise KafkaError(state.refusal)
    if state.cluster.topic(TRANSACTION_STATE) is None:
        raise KafkaError(ErrorCode.NOT_COORDINATOR)
    transactions = state.transactions
    if transactions.loading is not None:
        raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return transactions.coordinator


@contextmanager
def without_fencing(old: bool) -> Iterator[None]:
    """For an `old` version of an API, which does not know PRODUCER_FENCED: it is called INVALID_PRODUCER_EPOCH."""
    try:
        yield
    except KafkaError as error:
        if old and error.code == ErrorCode.PRODUCER_FENCED:
            raise KafkaError(ErrorCode.INVALID_PRODUCER_EPOCH) from None
        raise


def ensure_transactions_topic(state: BrokerState) -> Topic:
    """`__transaction_state`, made when first needed. KafkaError COORDINATOR_NOT_AVAILABLE where it cannot be made."""
    topic = state.cluster.topic(TRANSACTION_STATE) or auto_create(state, TRANSACTION_STATE)
    if topic is None:
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return topic


def coordinates(state: BrokerState, node_id: int, transactional_id: str) -> bool:
    """Whether the node is the coordinator of a transactional id; nobody is while there is no `__transaction_state`."""
    topic = state.cluster.topic(TRANSACTION_STATE)
    if topic is None:
        return False
    return topic.partitions[partition_for(transactional_id, len(topic.partitions))].leader == node_id

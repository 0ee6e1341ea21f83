"""Transactions, asked of any broker: what `kafkastub transactions` needs.

Results are plain data. Errors are BrokerError with Kafka's text, or ClientError. What is asked of which API, and what
an error is called, follows Kafka's `KafkaAdminClient` and `TransactionsCommand`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kafkastub.client import topics
from kafkastub.client.errors import BrokerError, Unsupported
from kafkastub.client.routing import TRANSACTION, Client, Node
from kafkastub.client.topics import TopicPartition
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_producers_request import DescribeProducersRequest, TopicRequest
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.list_transactions_request import ListTransactionsRequest
from kafkawire.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

_DURATION_FROM: Final = 1
_PATTERN_FROM: Final = 2
"""Versions of ListTransactions that have the filter (KIP-994, KIP-1152)."""
_INIT_VERSION: Final = 5
"""The newest stable one of InitProducerId."""
_TIMEOUT_MS: Final = 30_000
_TOO_EARLY: Final = frozenset({ErrorCode.CONCURRENT_TRANSACTIONS})
_BATCH: Final = 500
"""Partitions in a DescribeProducers."""


@dataclass(frozen=True)
class Listing:
    """A transactional id as its coordinator lists it."""

    transactional_id: str
    coordinator: int
    producer_id: int
    state: str


@dataclass(frozen=True)
class Transaction:
    """A transactional id as its coordinator describes it.

    Attributes:
        start_ms: Unix milliseconds; None where no transaction is open.
    """

    transactional_id: str
    coordinator: int
    producer_id: int
    producer_epoch: int
    state: str
    timeout_ms: int
    start_ms: int | None
    partitions: list[TopicPartition]


@dataclass(frozen=True)
class Producer:
    """A producer of a partition.

    Attributes:
        coordinator_epoch: of its last marker; -1 where there was none.
        start_offset: of its open transaction; None where none is open.
    """

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    last_sequence: int
    last_timestamp: int
    start_offset: int | None


@dataclass(frozen=True)
class Hanging:
    """A transaction that is open in a partition, and of which its coordinator knows nothing."""

    topic: str
    partition: int
    producer: Producer


def list_transactions(
    client: Client,
    *,
    states: Sequence[str] = (),
    producer_ids: Sequence[int] = (),
    duration_ms: int | None = None,
    pattern: str | None = None,
) -> list[Listing]:
    """The transactional ids of all brokers, in the order of their answers; no filter lets all pass.

    Raises BrokerError, Unsupported.
    """
    request = ListTransactionsRequest(
        list(states), list(producer_ids), -1 if duration_ms is None else duration_ms, pattern or None
    )
    found = []
    for node in client.nodes():
        version = client.connection(node).common_version(ApiKey.LIST_TRANSACTIONS)
        for given, first, what in ((duration_ms, _DURATION_FROM, "durations"), (pattern, _PATTERN_FROM, "patterns")):
            if given is not None and version < first:
                raise Unsupported(f"broker {node.id} cannot filter transactions by {what}")
        answer = client.ask_patiently(request, node)
        if answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION:
            raise BrokerError(answer.error_code, f"the pattern {pattern!r} is not a regular expression of RE2")
        if answer.error_code:
            reason = f"ListTransactions request sent to broker {node.id} failed with an unexpected exception"
            raise BrokerError(answer.error_code, reason)
        found += [
            Listing(row.transactional_id, node.id, row.producer_id, row.transaction_state)
            for row in answer.transaction_states
        ]
    return found


def describe(client: Client, transactional_id: str) -> Transaction:
    """A transactional id. Raises BrokerError, TRANSACTIONAL_ID_NOT_FOUND where the coordinator knows nothing of it."""
    node = client.coordinator(transactional_id, TRANSACTION)
    request = DescribeTransactionsRequest([transactional_id])
    (row,) = client.ask_coordinator(transactional_id, request, TRANSACTION).transaction_states
    if row.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
        why = "failed because the ID could not be found"
        raise BrokerError(
            row.error_code, f"DescribeTransactions request for transactionalId `{transactional_id}` {why}"
        )
    if row.error_code:
        raise BrokerError(row.error_code)
    return Transaction(
        transactional_id,
        node.id,
        row.producer_id,
        row.producer_epoch,
        row.transaction_state,
        row.transaction_timeout_ms,
        row.transaction_start_time_ms if row.transaction_start_time_ms >= 0 else None,
        [(topic.topic, index) for topic in row.topics for index in topic.partitions],
    )


def producers(
    client: Client, partitions: Iterable[TopicPartition], broker_id: int | None = None
) -> dict[TopicPartition, list[Producer]]:
    """The producers of partitions, as their leaders or that broker know them. Raises BrokerError, ValueError."""
    wanted = list(partitions)
    node = (
        None if broker_id is None else _node(client, broker_id)
    )  # one that is not there is refused whatever is wanted
    found: dict[TopicPartition, list[Producer]] = {}
    for first in range(0, len(wanted), _BATCH):
        some = wanted[first : first + _BATCH]
        answers = client.ask_leaders(some, _producers_of) if node is None else [client.ask(_producers_of(some), node)]
        for answer in answers:
            for topic in answer.topics:
                for row in topic.partitions:
                    if row.error_code:
                        raise BrokerError(row.error_code, row.error_message)
                    found[topic.name, row.partition_index] = [_producer(each) for each in row.active_producers]
    return found


def _producers_of(partitions: list[TopicPartition]) -> DescribeProducersRequest:
    by_topic: dict[str, list[int]] = {}
    for name, index in partitions:
        by_topic.setdefault(name, []).append(index)
    return DescribeProducersRequest([TopicRequest(name, indexes) for name, indexes in by_topic.items()])


def _producer(row: Any) -> Producer:
    start = row.current_txn_start_offset
    return Producer(
        row.producer_id,
        row.producer_epoch,
        row.coordinator_epoch,
        row.last_sequence,
        row.last_timestamp,
        start if start >= 0 else None,
    )


def _node(client: Client, broker_id: int) -> Node:
    known = client.nodes()
    for node in known:
        if node.id == broker_id:
            return node
    ids = ", ".join(str(node.id) for node in known)
    raise ValueError(f"there is no broker {broker_id} in the cluster: there are {ids}")


def abort(
    client: Client, partition: TopicPartition, producer_id: int, producer_epoch: int, coordinator_epoch: int
) -> None:
    """Write an abort marker into a partition, past the coordinator (WriteTxnMarkers). Raises BrokerError.

    A coordinator epoch below 0 is 0: that of no marker is no epoch of a coordinator's.
    """
    name, index = partition
    marker = WritableTxnMarker(
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transaction_result=False,
        topics=[WritableTxnMarkerTopic(name, [index])],
        coordinator_epoch=max(coordinator_epoch, 0),
    )
    (answer,) = client.ask_leaders([partition], lambda _: WriteTxnMarkersRequest([marker]))
    codes = [row.error_code for one in answer.markers for topic in one.topics for row in topic.partitions]
    code = codes[0] if codes else ErrorCode.UNKNOWN_SERVER_ERROR
    if code:
        raise BrokerError(code)


def open_at(client: Client, partition: TopicPartition, start_offset: int) -> Producer | None:
    """The producer whose transaction began at an offset of a partition. Raises BrokerError."""
    known = producers(client, [partition]).get(partition, [])
    return next((each for each in known if each.start_offset == start_offset), None)


def find_hanging(
    client: Client, partitions: Iterable[TopicPartition], older_than_ms: int, now_ms: int, broker_id: int | None = None
) -> list[Hanging]:
    """Transactions that no coordinator is going to end, of those that were open `older_than_ms` before `now_ms`.

    The coordinator of a transaction that goes on names the partition among its own; one that hangs does not, or there
    is no transactional id with that producer (KIP-664). Raises BrokerError, ValueError.
    """
    candidates: dict[int, list[Hanging]] = {}
    for (name, index), known in producers(client, partitions, broker_id).items():
        for producer in known:
            if producer.start_offset is not None and now_ms - producer.last_timestamp > older_than_ms:
                candidates.setdefault(producer.producer_id, []).append(Hanging(name, index, producer))
    if not candidates:
        return []
    listed = list_transactions(client, producer_ids=list(candidates))
    ids = {row.producer_id: row.transactional_id for row in listed}
    hanging = []
    for producer_id, found in candidates.items():
        going_on = _partitions_of(client, ids[producer_id]) if producer_id in ids else frozenset()
        hanging += [each for each in found if (each.topic, each.partition) not in going_on]
    return hanging


def _partitions_of(client: Client, transactional_id: str) -> frozenset[TopicPartition]:
    try:
        return frozenset(describe(client, transactional_id).partitions)
    except BrokerError as error:
        if error.code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
            return frozenset()
        raise


def partitions_on(client: Client, names: Iterable[str], broker_id: int | None) -> list[TopicPartition]:
    """The partitions of topics, those that have a replica on that broker. Raises BrokerError."""
    return [
        (topic.name, partition.index)
        for topic in topics.describe(client, names).values()
        for partition in topic.partitions
        if broker_id is None or broker_id in partition.replicas
    ]


def fence(client: Client, transactional_id: str) -> None:
    """End what a transactional id has open, and fence its producer (InitProducerId). Raises BrokerError.

    Kafka: FenceProducersHandler.
    """
    request = InitProducerIdRequest(transactional_id, _TIMEOUT_MS, producer_id=-1, producer_epoch=-1)
    version = min(client.connection().common_version(ApiKey.INIT_PRODUCER_ID), _INIT_VERSION)
    answer = client.ask_coordinator(transactional_id, request, TRANSACTION, version, _TOO_EARLY)
    if answer.error_code:
        raise BrokerError(answer.error_code)

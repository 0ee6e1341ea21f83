"""Transactions as those see them who look from outside, and what they may do to them past the protocol.

What an administrator has of Kafka goes over the protocol: DescribeTransactions, DescribeProducers, WriteTxnMarkers
(KIP-664). This is the same at once, for the stub's own faces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from kafkastub.state.transaction_coordinator.markers import TopicPartition, write_marker
from kafkastub.state.transaction_coordinator.needed_state import NeededState
from kafkastub.state.transaction_coordinator.runtime import TransactionRuntime
from kafkastub.storage import Marker
from kafkastub.transaction_coordinator import TransactionState, Turn
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records import NewRecord, build_batch

_TRANSACTIONAL: Final = 0x10
"""In a batch's attributes."""
_PAST_THE_COORDINATOR: Final = 0
"""The transaction version of a marker that an administrator has written (Kafka: AbortTransactionHandler)."""


class TransactionView(NamedTuple):
    """A transactional id.

    Attributes:
        state: "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort".
        start_ms: the start of its transaction, broker time in Unix milliseconds; None before the first transaction.
        partitions: the partitions of its transaction that have no marker yet.
        pending_markers: the partitions whose marker is being written.
        held: whether a test holds its markers.
    """

    transactional_id: str
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_ms: int | None
    partitions: tuple[TopicPartition, ...]
    pending_markers: tuple[TopicPartition, ...]
    held: bool


class HangingTransaction(NamedTuple):
    """A transaction that is open in a partition and that no coordinator will end (KIP-664).

    Attributes:
        start_offset: the offset at which it begins. Consumers of committed records stop there.
        last_timestamp_ms: the timestamp of its producer's last record, in Unix milliseconds.
    """

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    start_offset: int
    last_timestamp_ms: int


def view(transactions: TransactionRuntime, transactional_id: str) -> TransactionView | None:
    """A transactional id; None where the coordinator knows nothing of it."""
    known = transactions.coordinator.transactions.get(transactional_id)
    if known is None:
        return None
    metadata = known.metadata
    return TransactionView(
        transactional_id,
        metadata.state.camel,
        metadata.producer_id,
        metadata.producer_epoch,
        metadata.timeout_ms,
        metadata.start_timestamp if metadata.start_timestamp >= 0 else None,
        tuple(known.partitions),
        tuple(transactions.under_way_of(transactional_id)),
        transactions.is_held(transactional_id),
    )


def abort(transactions: TransactionRuntime, transactional_id: str, broker_ms: int, timer_ms: int) -> None:
    """Do to an open transaction what its timeout would do: it is aborted, its producer fenced.

    KafkaError TRANSACTIONAL_ID_NOT_FOUND, INVALID_TXN_STATE where none is open, COORDINATOR_LOAD_IN_PROGRESS.
    """
    if transactions.loading is not None:
        raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    known = transactions.coordinator.transactions.get(transactional_id)
    if known is None:
        raise KafkaError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
    if known.metadata.state is not TransactionState.ONGOING:
        raise KafkaError(ErrorCode.INVALID_TXN_STATE, f"no transaction is open: it is {known.metadata.state.camel}")
    turn = Turn(broker_ms, timer_ms)
    known.deadline.fire(turn)
    transactions.settle(turn, batch_per_id=True)


def hanging(
    state: NeededState, transactions: TransactionRuntime | None, places: Iterable[TopicPartition] | None = None
) -> list[HangingTransaction]:
    """Every hanging transaction, or those in some places, by topic, partition and offset, at once.

    `transactions` is None where there never were any.
    """
    wanted = every_place(state) if places is None else places
    return [one for one in each_hanging(state, transactions, wanted) if one is not None]


def every_place(state: NeededState) -> Iterator[TopicPartition]:
    """All partitions by topic and number, as far as they are still there when it is their turn."""
    for name in sorted(state.cluster.topics):
        topic = state.cluster.topics.get(name)
        for index in range(0 if topic is None else len(topic.partitions)):
            yield name, index


def each_hanging(
    state: NeededState, transactions: TransactionRuntime | None, places: Iterable[TopicPartition]
) -> Iterator[HangingTransaction | None]:
    """Those that hang in some places, one by one, and None on the way, where others may have their turn.

    The coordinator is asked behind the logs, and the logs once more: it knows a transaction that begins on the way, and
    they no longer have one that ends. KafkaError COORDINATOR_LOAD_IN_PROGRESS.
    """
    found: dict[tuple[int, TopicPartition], HangingTransaction] = {}
    for place in places:
        for one in sorted(_open_in(state, *place), key=lambda each: each.start_offset):
            found[one.producer_id, place] = one
        yield None
    if found and transactions is not None:
        if transactions.loading is not None:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        for known in list(transactions.coordinator.transactions.values()):
            for place in known.partitions:
                found.pop((known.metadata.producer_id, place), None)
            yield None
    for one in found.values():
        yield next((each for each in _open_in(state, one.topic, one.partition) if each[:5] == one[:5]), None)


def _open_in(state: NeededState, name: str, index: int) -> Iterator[HangingTransaction]:
    topic = state.cluster.topics.get(name)
    log = None if topic is None else state.logs.log(topic.topic_id, index)
    if log is None or log.last_stable_offset == log.high_watermark:
        return
    for producer in log.producers():
        start = producer.transaction_start
        if start is not None:
            yield HangingTransaction(name, index, producer.producer_id, producer.epoch, start, producer.last_timestamp)


def hang(state: NeededState, name: str, index: int, value: bytes, broker_ms: int) -> HangingTransaction:
    """Append a record of a transaction that no coordinator knows, by a producer that nobody has.

    So did clients and brokers before partitions were verified (KIP-890): a late batch came behind the marker.
    KafkaError UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER, and what a producer would be told.
    """
    topic = state.cluster.topic(name)
    if topic is None or not 0 <= index < len(topic.partitions):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    log = state.logs.log(topic.topic_id, index)
    if log is None or topic.internal:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name} is written by the broker itself")
    if topic.partitions[index].leader < 0:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"no node leads {name}-{index}")
    producer = state.logs.producer_ids.allocate()
    state.producer_ids_changed()
    record = NewRecord(timestamp=broker_ms, key=None, value=value)
    batch = build_batch(
        [record],
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        base_sequence=0,
        attributes=_TRANSACTIONAL,
    )
    leader_epoch = topic.partitions[index].leader_epoch
    offset = log.append(batch, leader_epoch=leader_epoch, now_ms=broker_ms).first_offset
    state.fetch_purgatory.appended(topic.topic_id, index)
    return HangingTransaction(name, index, producer.producer_id, producer.epoch, offset, broker_ms)


def end_hanging(state: NeededState, one: HangingTransaction, broker_ms: int) -> None:
    """Write an abort marker past the coordinator, as `kafka-transactions.sh abort` has it. KafkaError."""
    marker = Marker(one.producer_id, one.producer_epoch, False, 0, _PAST_THE_COORDINATOR)
    for _, code in write_marker(state, marker, [(one.topic, one.partition)], broker_ms):
        if code:
            raise KafkaError(code)

"""Records for those who look at a log, or write to it, without a client: decoded, with what became of transactions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafkastub.metadata import Topic
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.partitions import log_of
from kafkastub.storage import AbortedTransaction
from kafkastub.storage.segment import StoredBatch
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.murmur2 import partition_of_key
from kafkawire.records import NewRecord, Record, build_batch

COMMITTED, ABORTED, OPEN = "committed", "aborted", "open"
_LOG_APPEND_TIME = 0x08


class LogRecord(NamedTuple):
    """A record in a log.

    Attributes:
        timestamp: Unix milliseconds; `timestamp_type` is "CreateTime" or "LogAppendTime".
        producer_id, producer_epoch: -1 for a producer that is neither idempotent nor transactional.
        transaction: the state of its transaction: "committed", "aborted", "open"; None without a transaction.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    timestamp_type: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    producer_id: int
    producer_epoch: int
    transaction: str | None


class Stretch(NamedTuple):
    """What a log has from an offset on. Nothing of it changes any more: it can be decoded in another thread.

    Attributes:
        end: no record from this offset on is meant.
        open: by producer id, where its open transaction begins.
        aborted: the aborted transactions that reach into it.
    """

    topic: str
    partition: int
    start: int
    end: int
    batches: list[StoredBatch]
    open: dict[int, int]
    aborted: list[AbortedTransaction]


def partition_named(state: BrokerState, name: str, index: int) -> Topic:
    """The topic. KafkaError UNKNOWN_TOPIC_OR_PARTITION."""
    topic = state.cluster.topic(name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"topic {name!r} does not exist")
    if not 0 <= index < len(topic.partitions):
        count = len(topic.partitions)
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"topic {name!r} has partitions 0 to {count - 1}, not {index}"
        )
    return topic


def chosen_partition(topic: Topic, key: bytes | None, turns: Iterator[int]) -> int:
    """Where a record goes: by its key, as Kafka's producers do it; without one the next of `turns` decides."""
    count = len(topic.partitions)
    return next(turns) % count if key is None else partition_of_key(key, count)


def stretch(
    state: BrokerState, name: str, index: int, start: int, *, committed: bool, most_bytes: int | None = None
) -> Stretch:
    """What there is from offset `start` on: with `committed` up to the last stable offset.

    `most_bytes`: once there are so many, no further batch is taken. KafkaError UNKNOWN_TOPIC_OR_PARTITION.
    """
    log = log_of(state, partition_named(state, name, index), index)
    end = log.last_stable_offset if committed else log.high_watermark
    start = max(start, log.log_start_offset)
    batches: list[StoredBatch] = []
    size = 0
    for batch in log.batches_from(start) if start < end else ():
        if batch.base_offset >= end or (most_bytes is not None and size >= most_bytes):
            break
        batches.append(batch)
        size += batch.size
    going_on = {one.producer_id: one.transaction_start for one in log.producers() if one.transaction_start is not None}
    return Stretch(name, index, start, end, batches, going_on, log.aborted_transactions(start, end))


def decoded(found: Stretch, *, committed: bool, most: int | None = None) -> Iterator[LogRecord]:
    """The records, markers left out; with `committed`, those of aborted transactions as well. KafkaError.

    `most`: bytes that a batch may have once it is unpacked, for those who ask on somebody else's behalf.
    """
    for batch in found.batches:
        header = batch.header()
        if header.control:
            continue
        kind = "LogAppendTime" if header.attributes & _LOG_APPEND_TIME else "CreateTime"
        for record in batch.records(most):
            if record.offset < found.start <= batch.base_offset or record.offset >= found.end:
                break  # nothing of ours follows; offsets before the batch's own are a producer's invention
            if record.offset < found.start:
                continue
            transaction = _transaction(found, header.producer_id, record.offset) if header.transactional else None
            if committed and transaction == ABORTED:
                continue
            yield LogRecord(
                found.topic, found.partition, record.offset, record.timestamp, kind, record.key, record.value,
                _headers(record), header.producer_id, header.producer_epoch, transaction,
            )  # fmt: skip


def offsets(state: BrokerState, name: str, index: int, start: int, end: int) -> list[tuple[int, int]] | None:
    """Where committed records are from an offset up to another one; None of a partition that is not there."""
    try:
        found = stretch(state, name, index, start, committed=True)
    except KafkaError:
        return None
    ranges: list[tuple[int, int]] = []
    for record in decoded(found, committed=True):
        if record.offset >= end:
            break
        if ranges and ranges[-1][1] == record.offset:
            ranges[-1] = ranges[-1][0], record.offset + 1
        else:
            ranges.append((record.offset, record.offset + 1))
    return ranges


def _headers(record: Record) -> tuple[tuple[str, bytes | None], ...]:
    return tuple((name.decode(errors="backslashreplace"), value) for name, value in record.headers)


def _transaction(found: Stretch, producer_id: int, offset: int) -> str:
    start = found.open.get(producer_id)
    if start is not None and offset >= start:
        return OPEN
    for one in found.aborted:
        if one.producer_id == producer_id and one.first_offset <= offset <= one.last_offset:
            return ABORTED
    return COMMITTED


def write(state: BrokerState, name: str, index: int, records: Iterable[NewRecord], broker_ms: int) -> tuple[int, int]:
    """Append records as a client without idempotence would; (first offset, log append time or -1).

    KafkaError UNKNOWN_TOPIC_OR_PARTITION, INVALID_TOPIC_EXCEPTION (the broker's own), NOT_LEADER_OR_FOLLOWER, and what
    the topic's configuration refuses (MESSAGE_TOO_LARGE, INVALID_RECORD, INVALID_TIMESTAMP).
    """
    topic = partition_named(state, name, index)
    if topic.internal:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name} is written by the broker itself")
    partition = topic.partitions[index]
    if partition.leader < 0:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"no node leads {name}-{index}")
    state.check_writable()
    appended = state.logs.append(
        log_of(state, topic, index),
        build_batch(list(records)),
        leader_epoch=partition.leader_epoch,
        now_ms=broker_ms,
    )
    state.fetch_purgatory.appended(topic.topic_id, index)
    return appended.first_offset, appended.log_append_time_ms

"""Markers: control batches that end a producer's transaction in a partition (WriteTxnMarkers).

Kafka: KafkaApis.handleWriteTxnMarkersRequest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkastub.metadata import CONSUMER_OFFSETS
from kafkastub.state.transaction_coordinator.needed_state import NeededState
from kafkastub.storage import Marker
from kafkawire.errors import ErrorCode, KafkaError

TopicPartition = tuple[str, int]


def write_marker(
    state: NeededState,
    marker: Marker,
    partitions: Iterable[TopicPartition],
    broker_ms: int,
    *,
    node_id: int | None = None,
) -> Iterator[tuple[TopicPartition, ErrorCode]]:
    """Write a marker into these partitions, one at a step: user topics' logs, and `__consumer_offsets`.

    There the group coordinator has the producer's pending offsets committed, or gone. With a `node_id`, only what that
    node leads is written. Each step gives a partition and its error code: UNKNOWN_TOPIC_OR_PARTITION,
    NOT_LEADER_OR_FOLLOWER, INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED, KAFKA_STORAGE_ERROR, and
    UNSUPPORTED_FOR_MESSAGE_FORMAT for topics that no transaction can be in: those of other coordinators.

    Who waits for records is woken behind the last one, as in Kafka (ReplicaManager.appendRecords).
    """
    written: list[tuple[bytes, int]] = []
    try:
        for name, index in partitions:
            try:
                where = _write(state, marker, name, index, broker_ms, node_id)
            except KafkaError as error:
                yield (name, index), error.code
            else:
                if where is not None and state.fetch_purgatory.waiting:
                    written.append(where)
                yield (name, index), ErrorCode.NONE
    finally:
        state.fetch_purgatory.happened(written)


def _write(
    state: NeededState, marker: Marker, name: str, index: int, broker_ms: int, node_id: int | None
) -> tuple[bytes, int] | None:
    """Gives topic id and partition of a log that has it now; None for `__consumer_offsets`, whose readers are told."""
    topic = state.cluster.topic(name)
    if topic is None or not 0 <= index < len(topic.partitions):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    partition = topic.partitions[index]
    if node_id not in (None, partition.leader, *partition.replicas):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if partition.leader < 0 or node_id not in (None, partition.leader):
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if name == CONSUMER_OFFSETS:
        end_transaction_of_offsets(state, index, marker, broker_ms)
        return None
    log = state.logs.log(topic.topic_id, index)
    if log is None or name in state.runtimes:
        raise KafkaError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT)
    log.append_marker(marker, leader_epoch=partition.leader_epoch, now_ms=broker_ms)
    return topic.topic_id, index


def end_transaction_of_offsets(state: NeededState, partition: int, marker: Marker, broker_ms: int) -> None:
    """Write a marker into a partition of `__consumer_offsets`, which is there: what was pending is committed, or gone.

    Readers are woken. KafkaError as `OffsetsTopic.append_marker`, and NOT_LEADER_OR_FOLLOWER while groups are loaded.
    """
    if state.groups.loading is not None:  # GroupCoordinatorService.completeTransaction, as KafkaApis calls its errors
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    state.offsets_topic.append_marker(partition, marker, broker_ms)
    state.tell_watchers()

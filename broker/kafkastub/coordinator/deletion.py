"""Everything that ends an offset or a group: OffsetDelete, DeleteGroups, a deleted topic, the expiry sweep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkastub.coordinator.expiry import examine
from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.records import OffsetTombstone
from kafkastub.coordinator.turn import Turn
from kafkawire.errors import ErrorCode, KafkaError


def delete_offsets(groups: Groups, group_id: str, topics: Iterable[tuple[str, Sequence[int]]], turn: Turn) -> Turn:
    """Delete offsets of partitions. One that was never committed is no error. Kafka: deleteOffsets.

    The reply is an error code a topic: NONE or GROUP_SUBSCRIBED_TO_TOPIC. Raises INVALID_GROUP_ID,
    GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP.
    """
    if not group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)
    group = groups.groups.get(group_id)
    if group is None:
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND)
    group.validate_offset_delete()
    offsets = groups.offsets
    turn.reply = []
    for topic, partitions in topics:
        if group.subscribes(topic):
            turn.reply.append(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC)
            continue
        turn.reply.append(ErrorCode.NONE)
        for partition in partitions:
            if offsets.get(group_id, topic, partition) or offsets.is_pending(group_id, topic, partition):
                groups.log(turn, OffsetTombstone(group_id, topic, partition))
                groups.meters.offset_deletions += 1
    if not offsets.topics(group_id):
        groups.index.touch(group, turn.broker_ms)
    return turn


def delete_group(groups: Groups, group_id: str, turn: Turn) -> Turn:
    """Delete a group without members, and its offsets. Raises GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP."""
    group = groups.groups.get(group_id)
    if group is None:
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND)
    group.validate_delete()
    offsets = groups.offsets
    gone = [(topic, p) for topic, columns in offsets.topics(group_id).items() for p in columns.partitions()]
    pending = dict.fromkeys((topic, p) for topic, p, _ in offsets.pending.each(group_id))
    gone += [(topic, p) for topic, p in pending if offsets.get(group_id, topic, p) is None]
    for topic, partition in gone:
        groups.log(turn, OffsetTombstone(group_id, topic, partition))
    if groups.profile.deletions_meter_counts_group_deletes:
        groups.meters.offset_deletions += len(gone)
    groups.remove(group, turn)
    return turn


def topics_deleted(groups: Groups, topics: Iterable[str]) -> None:
    """Every group's offsets of the topics are gone; `write_tombstones` follows."""
    groups.dropped.take(groups.offsets, dict.fromkeys(topics))


def write_tombstones(groups: Groups, turn: Turn, most: int) -> Turn:
    """Tombstones of offsets of deleted topics, about so many. Kafka: OffsetMetadataManager.onTopicsDeleted."""
    offsets = groups.offsets
    for group_id, tombstones in groups.dropped.some(offsets, most):
        for one in tombstones:
            groups.log(turn, one)
        group = groups.groups.get(group_id)
        if group is not None and not offsets.topics(group_id):
            groups.index.touch(group, turn.broker_ms)
    return turn


def sweep(groups: Groups, turn: Turn, most: int | None = None) -> Turn:
    """Expire what is due. Kafka: GroupCoordinatorShard.cleanupGroupMetadata."""
    for group in groups.index.due(turn.broker_ms, most):
        if groups.groups.get(group.group_id) is not group:
            continue
        found = examine(groups.expiry, group, groups.offsets, turn.broker_ms)
        for topic, partition in found.expired:
            groups.log(turn, OffsetTombstone(group.group_id, topic, partition))
            groups.expired.note(group.group_id, topic, partition, turn.broker_ms)
        groups.meters.offset_expirations += len(found.expired)
        if found.all_gone and group.is_empty and not group.lasting:
            groups.remove(group, turn)
        else:
            groups.index.touch(group, found.check_at)
    return turn

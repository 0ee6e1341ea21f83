"""What the records say of consumer groups, live and at load alike: one `ConsumerGroupState` a group.

It is the last record of every key, no more, so that compaction changes nothing. A tombstone of something that is not
there means nothing. Kafka: GroupMetadataManager.replay; where that gives a partition up because tombstones have come in
another order than they are written in, here the rest of the group stays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from kafkastub.coordinator.consumer.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupCurrentMemberAssignmentTombstone,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMemberMetadataTombstone,
    ConsumerGroupMetadata,
    ConsumerGroupMetadataTombstone,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupPartitionMetadataTombstone,
    ConsumerGroupRegularExpression,
    ConsumerGroupRegularExpressionTombstone,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMemberTombstone,
    ConsumerGroupTargetAssignmentMetadata,
    ConsumerGroupTargetAssignmentMetadataTombstone,
)
from kafkastub.coordinator.records import ConsumerRecord
from kafkastub.coordinator.typed_state import Place, RecordsOfType, TypedGroupState


class ConsumerGroupState(TypedGroupState):
    """One group, as its records say; to be read only.

    Attributes:
        metadata: its epoch; None before its record.
        target_metadata: the epoch of its target assignment; None before its record.
        members: by member id. A member may have a current assignment and no metadata.
        target: by member id.
        current: by member id.
        expressions: resolved regular expressions.
        partition_metadata: the old record that Kafka before 4.1 wrote, while it is there.
    """

    __slots__ = ("current", "expressions", "members", "metadata", "partition_metadata", "target", "target_metadata")

    def __init__(self) -> None:
        self.metadata: ConsumerGroupMetadata | None = None
        self.target_metadata: ConsumerGroupTargetAssignmentMetadata | None = None
        self.members: dict[str, ConsumerGroupMemberMetadata] = {}
        self.target: dict[str, ConsumerGroupTargetAssignmentMember] = {}
        self.current: dict[str, ConsumerGroupCurrentMemberAssignment] = {}
        self.expressions: dict[str, ConsumerGroupRegularExpression] = {}
        self.partition_metadata: ConsumerGroupPartitionMetadata | None = None


def _weight(record: ConsumerRecord) -> int:
    """Bytes that a record takes in memory, roughly."""
    if isinstance(record, ConsumerGroupCurrentMemberAssignment):
        return _A_RECORD + sum(map(_weight_of, (record.assigned, record.pending_revocation)))
    if isinstance(record, ConsumerGroupTargetAssignmentMember):
        return _A_RECORD + _weight_of(record.partitions)
    if isinstance(record, ConsumerGroupMemberMetadata):
        protocols = record.classic.supported_protocols if record.classic is not None else ()
        texts = (*record.subscribed_topic_names, record.subscribed_topic_regex or "", record.client_id)
        return _A_RECORD + sum(_A_TEXT + len(one) for one in texts) + sum(len(one.metadata) for one in protocols)
    if isinstance(record, ConsumerGroupRegularExpression):
        return _A_RECORD + len(record.regular_expression) + sum(_A_TEXT + len(one) for one in record.topics)
    return _A_RECORD


def _weight_of(partitions: Mapping[bytes, Collection[int]]) -> int:
    return sum(_A_TOPIC + _A_PARTITION * len(some) for some in partitions.values())


_A_RECORD: Final = 300
_A_TOPIC: Final = 200
_A_PARTITION: Final = 60
_A_TEXT: Final = 60
"""Bytes of each, measured on 64 bits."""
RECORDS: Final = RecordsOfType(
    ConsumerGroupState,
    {
        ConsumerGroupMetadata: Place("metadata", "", True),
        ConsumerGroupMetadataTombstone: Place("metadata", "", False),
        ConsumerGroupPartitionMetadata: Place("partition_metadata", "", True),
        ConsumerGroupPartitionMetadataTombstone: Place("partition_metadata", "", False),
        ConsumerGroupMemberMetadata: Place("members", "member_id", True),
        ConsumerGroupMemberMetadataTombstone: Place("members", "member_id", False),
        ConsumerGroupTargetAssignmentMetadata: Place("target_metadata", "", True),
        ConsumerGroupTargetAssignmentMetadataTombstone: Place("target_metadata", "", False),
        ConsumerGroupTargetAssignmentMember: Place("target", "member_id", True),
        ConsumerGroupTargetAssignmentMemberTombstone: Place("target", "member_id", False),
        ConsumerGroupCurrentMemberAssignment: Place("current", "member_id", True),
        ConsumerGroupCurrentMemberAssignmentTombstone: Place("current", "member_id", False),
        ConsumerGroupRegularExpression: Place("expressions", "regular_expression", True),
        ConsumerGroupRegularExpressionTombstone: Place("expressions", "regular_expression", False),
    },
    _weight,
)

"""What the records say of share groups, live and at load alike: one `ShareGroupState` a group.

Kafka: GroupMetadataManager.replay.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from kafkastub.coordinator.records import ShareRecord
from kafkastub.coordinator.share.records import (
    ShareGroupCurrentMemberAssignment,
    ShareGroupCurrentMemberAssignmentTombstone,
    ShareGroupMemberMetadata,
    ShareGroupMemberMetadataTombstone,
    ShareGroupMetadata,
    ShareGroupMetadataTombstone,
    ShareGroupStatePartitionMetadata,
    ShareGroupStatePartitionMetadataTombstone,
    ShareGroupTargetAssignmentMember,
    ShareGroupTargetAssignmentMemberTombstone,
    ShareGroupTargetAssignmentMetadata,
    ShareGroupTargetAssignmentMetadataTombstone,
)
from kafkastub.coordinator.typed_state import Place, RecordsOfType, TypedGroupState


class ShareGroupState(TypedGroupState):
    """One group, as its records say; to be read only.

    Attributes:
        metadata: its epoch; None before its record.
        target_metadata: the epoch of its target assignment; None before its record.
        partition_metadata: of which partitions its state is kept; None before its record.
        members: by member id. A member may have a current assignment and no metadata.
        target: by member id.
        current: by member id.
    """

    __slots__ = ("current", "members", "metadata", "partition_metadata", "target", "target_metadata")

    def __init__(self) -> None:
        self.metadata: ShareGroupMetadata | None = None
        self.target_metadata: ShareGroupTargetAssignmentMetadata | None = None
        self.partition_metadata: ShareGroupStatePartitionMetadata | None = None
        self.members: dict[str, ShareGroupMemberMetadata] = {}
        self.target: dict[str, ShareGroupTargetAssignmentMember] = {}
        self.current: dict[str, ShareGroupCurrentMemberAssignment] = {}


def _weight(record: ShareRecord) -> int:
    """Bytes that a record takes in memory, roughly."""
    if isinstance(record, ShareGroupCurrentMemberAssignment):
        return _A_RECORD + _weight_of(record.assigned)
    if isinstance(record, ShareGroupTargetAssignmentMember):
        return _A_RECORD + _weight_of(record.partitions)
    if isinstance(record, ShareGroupMemberMetadata):
        texts = (*record.subscribed_topic_names, record.client_id)
        return _A_RECORD + sum(_A_TEXT + len(one) for one in texts)
    if isinstance(record, ShareGroupStatePartitionMetadata):
        topics = (*record.initializing.values(), *record.initialized.values())
        partitions = sum(_A_TOPIC + len(one.name) + _A_PARTITION * len(one.partitions) for one in topics)
        return _A_RECORD + partitions + sum(_A_TOPIC + len(name) for name in record.deleting.values())
    return _A_RECORD


def _weight_of(partitions: Mapping[bytes, Collection[int]]) -> int:
    return sum(_A_TOPIC + _A_PARTITION * len(some) for some in partitions.values())


_A_RECORD: Final = 300
_A_TOPIC: Final = 200
_A_PARTITION: Final = 60
_A_TEXT: Final = 60
"""Bytes of each, measured on 64 bits."""
RECORDS: Final = RecordsOfType(
    ShareGroupState,
    {
        ShareGroupMetadata: Place("metadata", "", True),
        ShareGroupMetadataTombstone: Place("metadata", "", False),
        ShareGroupStatePartitionMetadata: Place("partition_metadata", "", True),
        ShareGroupStatePartitionMetadataTombstone: Place("partition_metadata", "", False),
        ShareGroupMemberMetadata: Place("members", "member_id", True),
        ShareGroupMemberMetadataTombstone: Place("members", "member_id", False),
        ShareGroupTargetAssignmentMetadata: Place("target_metadata", "", True),
        ShareGroupTargetAssignmentMetadataTombstone: Place("target_metadata", "", False),
        ShareGroupTargetAssignmentMember: Place("target", "member_id", True),
        ShareGroupTargetAssignmentMemberTombstone: Place("target", "member_id", False),
        ShareGroupCurrentMemberAssignment: Place("current", "member_id", True),
        ShareGroupCurrentMemberAssignmentTombstone: Place("current", "member_id", False),
    },
    _weight,
)

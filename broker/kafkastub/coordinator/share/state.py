"""What the records say of share groups beyond what they say of any with epochs: see `typed_state`."""

from __future__ import annotations

from typing import Final

from kafkastub.coordinator.share.records import (
    ShareGroupCurrentMemberAssignment,
    ShareGroupMemberMetadata,
    ShareGroupStatePartitionMetadata,
    ShareGroupTargetAssignmentMember,
    ShareRecord,
)
from kafkastub.coordinator.typed_state import (
    A_PARTITION,
    A_RECORD,
    A_TEXT,
    A_TOPIC,
    PARTS,
    ModernGroupState,
    weight_of,
)


class ShareGroupState(ModernGroupState):
    """One group.

    Attributes:
        partition_metadata: of which partitions its state is kept.
    """

    __slots__ = (*PARTS, "partition_metadata")
    once = ModernGroupState.once | {"partition_metadata"}

    @staticmethod
    def weight(record: ShareRecord) -> int:
        """Bytes that a record takes in memory, roughly."""
        if isinstance(record, ShareGroupCurrentMemberAssignment):
            return A_RECORD + weight_of(record.assigned)
        if isinstance(record, ShareGroupTargetAssignmentMember):
            return A_RECORD + weight_of(record.partitions)
        if isinstance(record, ShareGroupMemberMetadata):
            texts = (*record.subscribed_topic_names, record.client_id)
            return A_RECORD + sum(A_TEXT + len(one) for one in texts)
        if isinstance(record, ShareGroupStatePartitionMetadata):
            topics = (*record.initializing.values(), *record.initialized.values())
            partitions = sum(A_TOPIC + len(one.name) + A_PARTITION * len(one.partitions) for one in topics)
            return A_RECORD + partitions + sum(A_TOPIC + len(name) for name in record.deleting.values())
        return A_RECORD


STATE: Final = ShareGroupState

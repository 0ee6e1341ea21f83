"""The group coordinator: pure state machine; time is an argument.

`coordinator.GroupCoordinator` is the face. A group type is a package of its own beside `classic`; offsets, expiry and
deletion are shared.
"""

from __future__ import annotations

from kafkastub.coordinator.commits import Refused, TopicCommit
from kafkastub.coordinator.coordinator import GroupCoordinator
from kafkastub.coordinator.partitions import GROUP_METADATA_TOPIC, BatchOrder, batch_order, partition_for
from kafkastub.coordinator.records import (
    CommittedOffset,
    GroupMetadata,
    GroupTombstone,
    MemberMetadata,
    OffsetCommit,
    OffsetTombstone,
    PartitionCommit,
    PendingOffsets,
    Record,
    TransactionMarker,
)
from kafkastub.coordinator.turn import Turn

__all__ = [
    "GROUP_METADATA_TOPIC",
    "BatchOrder",
    "CommittedOffset",
    "GroupCoordinator",
    "GroupMetadata",
    "GroupTombstone",
    "MemberMetadata",
    "OffsetCommit",
    "OffsetTombstone",
    "PartitionCommit",
    "PendingOffsets",
    "Record",
    "Refused",
    "TopicCommit",
    "TransactionMarker",
    "Turn",
    "batch_order",
    "partition_for",
]

"""What the records say of share groups, live and at load alike: one `ShareGroupState` a group.

It is the last record of every key, no more, so that compaction changes nothing. A tombstone of something that is not
there means nothing. Kafka: GroupMetadataManager.replay.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from kafkastub.coordinator.records import ShareRecord
from kafkastub.coordinator.share_records import (
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


class ShareGroupState:
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

    def copy(self) -> ShareGroupState:
        """Another one that is the same; records, which nobody changes, are shared."""
        copied = ShareGroupState()
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(copied, name, value.copy() if type(value) is dict else value)
        return copied

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing left of it."""
        return not any(getattr(self, name) for name in self.__slots__)


ShareStates = dict[str, ShareGroupState]
"""The groups, by id."""


class ShareRecordKey(NamedTuple):
    """What stands for a record's key: two records with the same are about the same thing.

    Attributes:
        part: the attribute of `ShareGroupState` that the record is in.
        name: a member id; "" for what a group has once.
        group_type: tells it from the key of a consumer group's record.
    """

    part: str
    group_id: str
    name: str
    group_type: str = "share"


def key_of(record: ShareRecord) -> tuple[ShareRecordKey, bool]:
    """A record's key, and whether it has a value; else it is a tombstone."""
    part, name, has_value = _PARTS[type(record)]
    return ShareRecordKey(part, record.group_id, getattr(record, name) if name else ""), has_value


def held(groups: ShareStates, key: ShareRecordKey) -> ShareRecord | None:
    """The last record with that key, None where there is none or a tombstone."""
    state = groups.get(key.group_id)
    if state is None:
        return None
    found: ShareRecord | dict[str, ShareRecord] | None = getattr(state, key.part)
    return found.get(key.name) if isinstance(found, dict) else found


def apply(groups: ShareStates, record: ShareRecord) -> None:
    """Make a record true."""
    part, name, has_value = _PARTS[type(record)]
    group_id = record.group_id
    state = groups.get(group_id)
    if state is None:
        if not has_value:
            return
        state = groups[group_id] = ShareGroupState()
    if not name:
        setattr(state, part, record if has_value else None)
    elif has_value:
        getattr(state, part)[getattr(record, name)] = record
    else:
        getattr(state, part).pop(getattr(record, name), None)
    if not has_value and state.is_empty:
        del groups[group_id]


def weight(record: ShareRecord) -> int:
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
_PARTS: Final[dict[type[ShareRecord], tuple[str, str, bool]]] = {
    ShareGroupMetadata: ("metadata", "", True),
    ShareGroupMetadataTombstone: ("metadata", "", False),
    ShareGroupStatePartitionMetadata: ("partition_metadata", "", True),
    ShareGroupStatePartitionMetadataTombstone: ("partition_metadata", "", False),
    ShareGroupMemberMetadata: ("members", "member_id", True),
    ShareGroupMemberMetadataTombstone: ("members", "member_id", False),
    ShareGroupTargetAssignmentMetadata: ("target_metadata", "", True),
    ShareGroupTargetAssignmentMetadataTombstone: ("target_metadata", "", False),
    ShareGroupTargetAssignmentMember: ("target", "member_id", True),
    ShareGroupTargetAssignmentMemberTombstone: ("target", "member_id", False),
    ShareGroupCurrentMemberAssignment: ("current", "member_id", True),
    ShareGroupCurrentMemberAssignmentTombstone: ("current", "member_id", False),
}
"""Where each is, under what, and whether it is there."""

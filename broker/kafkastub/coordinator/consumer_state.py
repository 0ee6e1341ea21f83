"""What the records say of consumer groups, live and at load alike: one `ConsumerGroupState` a group.

It is the last record of every key, no more, so that compaction changes nothing. A tombstone of something that is not
there means nothing. Kafka: GroupMetadataManager.replay; where that gives a partition up because tombstones have come in
another order than they are written in, here the rest of the group stays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from kafkastub.coordinator.consumer_records import (
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


class ConsumerGroupState:
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

    def copy(self) -> ConsumerGroupState:
        """Another one that is the same; records, which nobody changes, are shared."""
        copied = ConsumerGroupState()
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(copied, name, value.copy() if type(value) is dict else value)
        return copied

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing left of it."""
        return not any(getattr(self, name) for name in self.__slots__)


ConsumerStates = dict[str, ConsumerGroupState]
"""The groups, by id."""


class RecordKey(NamedTuple):
    """What stands for a record's key: two records with the same are about the same thing.

    Attributes:
        part: the attribute of `ConsumerGroupState` that the record is in.
        name: a member id, or a regular expression; "" for what a group has once.
    """

    part: str
    group_id: str
    name: str


def key_of(record: ConsumerRecord) -> tuple[RecordKey, bool]:
    """A record's key, and whether it has a value; else it is a tombstone."""
    part, name, has_value = _PARTS[type(record)]
    return RecordKey(part, record.group_id, getattr(record, name) if name else ""), has_value


def held(groups: ConsumerStates, key: RecordKey) -> ConsumerRecord | None:
    """The last record with that key, None where there is none or a tombstone."""
    state = groups.get(key.group_id)
    if state is None:
        return None
    found: ConsumerRecord | dict[str, ConsumerRecord] | None = getattr(state, key.part)
    return found.get(key.name) if isinstance(found, dict) else found


def apply(groups: ConsumerStates, record: ConsumerRecord) -> None:
    """Make a record true."""
    part, name, has_value = _PARTS[type(record)]
    group_id = record.group_id
    state = groups.get(group_id)
    if state is None:
        if not has_value:
            return
        state = groups[group_id] = ConsumerGroupState()
    if not name:
        setattr(state, part, record if has_value else None)
    elif has_value:
        getattr(state, part)[getattr(record, name)] = record
    else:
        getattr(state, part).pop(getattr(record, name), None)
    if not has_value and state.is_empty:
        del groups[group_id]


def weight(record: ConsumerRecord) -> int:
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
_PARTS: Final[dict[type[ConsumerRecord], tuple[str, str, bool]]] = {
    ConsumerGroupMetadata: ("metadata", "", True),
    ConsumerGroupMetadataTombstone: ("metadata", "", False),
    ConsumerGroupPartitionMetadata: ("partition_metadata", "", True),
    ConsumerGroupPartitionMetadataTombstone: ("partition_metadata", "", False),
    ConsumerGroupMemberMetadata: ("members", "member_id", True),
    ConsumerGroupMemberMetadataTombstone: ("members", "member_id", False),
    ConsumerGroupTargetAssignmentMetadata: ("target_metadata", "", True),
    ConsumerGroupTargetAssignmentMetadataTombstone: ("target_metadata", "", False),
    ConsumerGroupTargetAssignmentMember: ("target", "member_id", True),
    ConsumerGroupTargetAssignmentMemberTombstone: ("target", "member_id", False),
    ConsumerGroupCurrentMemberAssignment: ("current", "member_id", True),
    ConsumerGroupCurrentMemberAssignmentTombstone: ("current", "member_id", False),
    ConsumerGroupRegularExpression: ("expressions", "regular_expression", True),
    ConsumerGroupRegularExpressionTombstone: ("expressions", "regular_expression", False),
}
"""Where each is, under what, and whether it is there."""

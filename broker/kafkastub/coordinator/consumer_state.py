"""What the records say of consumer groups, live and at load alike: one `ConsumerGroupState` a group.

It is the last record of every key, no more, so that compaction changes nothing. A tombstone of something that is not
there means nothing. Kafka: GroupMetadataManager.replay; where that gives a partition up because tombstones have come in
another order than they are written in, here the rest of the group stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

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

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing left of it."""
        parts = (self.metadata, self.target_metadata, self.partition_metadata)
        return not any((*parts, self.members, self.target, self.current, self.expressions))


ConsumerStates = dict[str, ConsumerGroupState]
"""The groups, by id."""


def apply(groups: ConsumerStates, record: ConsumerRecord) -> None:
    """Make a record true."""
    change = _CHANGES.get(type(record))
    state = groups.get(record.group_id)
    if change is not None:
        change(state if state is not None else groups.setdefault(record.group_id, ConsumerGroupState()), record)
    elif state is not None:
        _TOMBSTONES[type(record)](state, record)
        if state.is_empty:
            del groups[record.group_id]


def _metadata(state: ConsumerGroupState, record: ConsumerGroupMetadata) -> None:
    state.metadata = record


def _partition_metadata(state: ConsumerGroupState, record: ConsumerGroupPartitionMetadata) -> None:
    state.partition_metadata = record


def _member(state: ConsumerGroupState, record: ConsumerGroupMemberMetadata) -> None:
    state.members[record.member_id] = record


def _target_metadata(state: ConsumerGroupState, record: ConsumerGroupTargetAssignmentMetadata) -> None:
    state.target_metadata = record


def _target(state: ConsumerGroupState, record: ConsumerGroupTargetAssignmentMember) -> None:
    state.target[record.member_id] = record


def _current(state: ConsumerGroupState, record: ConsumerGroupCurrentMemberAssignment) -> None:
    state.current[record.member_id] = record


def _expression(state: ConsumerGroupState, record: ConsumerGroupRegularExpression) -> None:
    state.expressions[record.regular_expression] = record


def _no_metadata(state: ConsumerGroupState, record: ConsumerGroupMetadataTombstone) -> None:
    state.metadata = None


def _no_partition_metadata(state: ConsumerGroupState, record: ConsumerGroupPartitionMetadataTombstone) -> None:
    state.partition_metadata = None


def _no_member(state: ConsumerGroupState, record: ConsumerGroupMemberMetadataTombstone) -> None:
    state.members.pop(record.member_id, None)


def _no_target_metadata(state: ConsumerGroupState, record: ConsumerGroupTargetAssignmentMetadataTombstone) -> None:
    state.target_metadata = None


def _no_target(state: ConsumerGroupState, record: ConsumerGroupTargetAssignmentMemberTombstone) -> None:
    state.target.pop(record.member_id, None)


def _no_current(state: ConsumerGroupState, record: ConsumerGroupCurrentMemberAssignmentTombstone) -> None:
    state.current.pop(record.member_id, None)


def _no_expression(state: ConsumerGroupState, record: ConsumerGroupRegularExpressionTombstone) -> None:
    state.expressions.pop(record.regular_expression, None)


_CHANGES: Final[dict[type[ConsumerRecord], Callable[[ConsumerGroupState, Any], None]]] = {
    ConsumerGroupMetadata: _metadata,
    ConsumerGroupPartitionMetadata: _partition_metadata,
    ConsumerGroupMemberMetadata: _member,
    ConsumerGroupTargetAssignmentMetadata: _target_metadata,
    ConsumerGroupTargetAssignmentMember: _target,
    ConsumerGroupCurrentMemberAssignment: _current,
    ConsumerGroupRegularExpression: _expression,
}
_TOMBSTONES: Final[dict[type[ConsumerRecord], Callable[[ConsumerGroupState, Any], None]]] = {
    ConsumerGroupMetadataTombstone: _no_metadata,
    ConsumerGroupPartitionMetadataTombstone: _no_partition_metadata,
    ConsumerGroupMemberMetadataTombstone: _no_member,
    ConsumerGroupTargetAssignmentMetadataTombstone: _no_target_metadata,
    ConsumerGroupTargetAssignmentMemberTombstone: _no_target,
    ConsumerGroupCurrentMemberAssignmentTombstone: _no_current,
    ConsumerGroupRegularExpressionTombstone: _no_expression,
}

"""The records that groups with epochs have whatever their type, as Kafka's schemas have them.

A type's `records` gives them their names and has what is the type's own. They are loaded with the first of them: a
broker without such groups pays for none of it. They are never changed once made, their mappings neither: the hard
state, a live group and a log may share them. (Python could forbid it, in four times the time that it takes to load
this.) Kafka: GroupCoordinatorRecordHelpers, StreamsCoordinatorRecordHelpers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from kafkastub.coordinator.records import Record, Tombstone, TypedRecord

Partitions = Mapping[bytes, frozenset[int]]
"""Partitions by topic id."""


@dataclass(slots=True, repr=False, eq=False)
class GroupEpoch(TypedRecord):
    """A group's epoch.

    Attributes:
        metadata_hash: of the metadata of the topics that it needs, a signed 64-bit number; 0 for none.
    """

    part = "metadata"

    group_id: str
    epoch: int
    metadata_hash: int = 0


@dataclass(slots=True, repr=False, eq=False)
class TargetEpoch(TypedRecord):
    """The epoch of the group's target assignment.

    Attributes:
        assignment_timestamp: when it was computed, broker milliseconds; 0 where there was nobody to compute it for, or
            where that is not known (Kafka before 4.4).
    """

    part = "target_metadata"

    group_id: str
    assignment_epoch: int
    assignment_timestamp: int = 0


@dataclass(slots=True, repr=False, eq=False)
class TargetOfMember(TypedRecord):
    """What a member is to have, where that is partitions."""

    part = "target"
    named_by = "member_id"

    group_id: str
    member_id: str
    partitions: Partitions


@dataclass(slots=True, repr=False, eq=False)
class CurrentOfMember(TypedRecord):
    """Where a member stands; what it has is the type's.

    Attributes:
        state: the number of a `MemberState` of the type, or one that is unknown here.
    """

    part = "current"
    named_by = "member_id"

    group_id: str
    member_id: str
    member_epoch: int
    previous_member_epoch: int
    state: int


class RecordTypes(NamedTuple):
    """The classes of one type's records that every type has. What the tombstone of each says:

    Attributes:
        epoch: the group is gone.
        member: a member is gone, of whom this is what it has said of itself; those of its assignments come before.
        target: a member is to have nothing: it is on its way out.
        current: a member has nothing: it is on its way out, or a static one is replaced.
    """

    epoch: type[GroupEpoch]
    member: type[Any]
    target_epoch: type[TargetEpoch]
    target: type[Any]
    current: type[CurrentOfMember]

    def removal(self, group_id: str, member_id: str) -> list[Record]:
        """The tombstones that end a member."""
        return [Tombstone(one, group_id, member_id) for one in (self.current, self.target, self.member)]

    def ending(self, group_id: str, members: Sequence[str], own: Iterable[Record]) -> list[Record]:
        """The tombstones that end a group with these members; what it has of its type's `own` comes last but one.

        Kafka: createGroupTombstoneRecords.
        """
        return [
            *(Tombstone(self.current, group_id, one) for one in members),
            *(Tombstone(self.target, group_id, one) for one in members),
            Tombstone(self.target_epoch, group_id),
            *(Tombstone(self.member, group_id, one) for one in members),
            *own,
            Tombstone(self.epoch, group_id),
        ]

"""The records of share groups (KIP-932), named as Kafka's schemas without Key and Value.

Beside `records`, and loaded with the first of them. They are never changed once made, their mappings neither: the hard
state, a live group and a log may share them. Kafka: GroupCoordinatorRecordHelpers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kafkastub.coordinator.records import OfGroup, OfMember, ShareRecord

Partitions = Mapping[bytes, frozenset[int]]
"""Partitions by topic id."""


class TopicPartitions(NamedTuple):
    """Partitions of a topic whose state is kept.

    Attributes:
        name: as the topic was called; `<UNKNOWN>` where it was gone by then.
    """

    name: str
    partitions: frozenset[int]


@dataclass(slots=True, repr=False, eq=False)
class ShareGroupMetadata(ShareRecord):
    """A group's epoch.

    Attributes:
        metadata_hash: of the subscribed topics' metadata, a signed 64-bit number; 0 for none.
    """

    group_id: str
    epoch: int
    metadata_hash: int = 0


class ShareGroupMetadataTombstone(OfGroup, ShareRecord):
    """The group is gone; the tombstones of everything else in it come before."""

    __slots__ = ()


@dataclass(slots=True, repr=False, eq=False)
class ShareGroupMemberMetadata(ShareRecord):
    """What a member has said of itself.

    Attributes:
        client_host: with a slash: `/127.0.0.1`.
        subscribed_topic_names: sorted.
    """

    group_id: str
    member_id: str
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]


class ShareGroupMemberMetadataTombstone(OfMember, ShareRecord):
    """A member is gone; the tombstones of its assignments come before."""

    __slots__ = ()


@dataclass(slots=True, repr=False, eq=False)
class ShareGroupTargetAssignmentMetadata(ShareRecord):
    """The epoch of the group's target assignment.

    Attributes:
        assignment_timestamp: when it was computed, broker milliseconds; 0 where there was nobody to compute it for.
    """

    group_id: str
    assignment_epoch: int
    assignment_timestamp: int = 0


class ShareGroupTargetAssignmentMetadataTombstone(OfGroup, ShareRecord):
    """There is no target assignment any more."""

    __slots__ = ()


@dataclass(slots=True, repr=False, eq=False)
class ShareGroupTargetAssignmentMember(ShareRecord):
    """What a member is to have."""

    group_id: str
    member_id: str
    partitions: Partitions


class ShareGroupTargetAssignmentMemberTombstone(OfMember, ShareRecord):
    """A member is to have nothing: it is on its way out."""

    __slots__ = ()


@dataclass(slots=True, repr=False, eq=False)
class ShareGroupCurrentMemberAssignment(ShareRecord):
    """What a member has.

    Attributes:
        state: 0, STABLE: others have nothing to wait for in a share group (Kafka: MemberState).
    """

    group_id: str
    member_id: str
    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned: Partitions


class ShareGroupCurrentMemberAssignmentTombstone(OfMember, ShareRecord):
    """A member has nothing: it is on its way out."""

    __slots__ = ()


@dataclass(slots=True, repr=False, eq=False)
class ShareGroupStatePartitionMetadata(ShareRecord):
    """Of which partitions the share coordinator has the group's state.

    Attributes:
        initializing: it has been, or is about to be, asked to make it, by topic id.
        initialized: it has made it, by topic id.
        deleting: it has been asked to forget it: topic names by topic id.
    """

    group_id: str
    initializing: Mapping[bytes, TopicPartitions]
    initialized: Mapping[bytes, TopicPartitions]
    deleting: Mapping[bytes, str]


class ShareGroupStatePartitionMetadataTombstone(OfGroup, ShareRecord):
    """The group is about to be gone."""

    __slots__ = ()

"""The records of share groups (KIP-932), named as Kafka's schemas without Key and Value: what is their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from kafkastub.coordinator.modern.records import (
    CurrentOfMember,
    GroupEpoch,
    Partitions,
    RecordTypes,
    TargetEpoch,
    TargetOfMember,
)
from kafkastub.coordinator.records import TypedRecord


class TopicPartitions(NamedTuple):
    """Partitions of a topic whose state is kept.

    Attributes:
        name: as the topic was called; `<UNKNOWN>` where it was gone by then.
    """

    name: str
    partitions: frozenset[int]


class ShareRecord(TypedRecord):
    """What the records of share groups have in common."""

    __slots__ = ()
    group_type = "share"


@dataclass(slots=True, repr=False, eq=False)
class ShareGroupMemberMetadata(ShareRecord):
    """What a member has said of itself.

    Attributes:
        client_host: with a slash: `/127.0.0.1`.
        subscribed_topic_names: sorted.
    """

    part = "members"
    named_by = "member_id"

    group_id: str
    member_id: str
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]


@dataclass(slots=True, repr=False, eq=False)
class ShareGroupCurrentMemberAssignment(CurrentOfMember, ShareRecord):
    """What a member has.

    Attributes:
        state: 0, STABLE: others have nothing to wait for in a share group (Kafka: MemberState).
    """

    assigned: Partitions


@dataclass(slots=True, repr=False, eq=False)
class ShareGroupStatePartitionMetadata(ShareRecord):
    """Of which partitions the share coordinator has the group's state.

    Attributes:
        initializing: it has been, or is about to be, asked to make it, by topic id.
        initialized: it has made it, by topic id.
        deleting: it has been asked to forget it: topic names by topic id.
    """

    part = "partition_metadata"

    group_id: str
    initializing: Mapping[bytes, TopicPartitions]
    initialized: Mapping[bytes, TopicPartitions]
    deleting: Mapping[bytes, str]


# -- what every type has: see `modern.records` -------------------------------------------------------------------------


class ShareGroupMetadata(GroupEpoch, ShareRecord):
    __slots__ = ()


class ShareGroupTargetAssignmentMetadata(TargetEpoch, ShareRecord):
    __slots__ = ()


class ShareGroupTargetAssignmentMember(TargetOfMember, ShareRecord):
    __slots__ = ()


TYPES: Final = RecordTypes(
    epoch=ShareGroupMetadata,
    member=ShareGroupMemberMetadata,
    target_epoch=ShareGroupTargetAssignmentMetadata,
    target=ShareGroupTargetAssignmentMember,
    current=ShareGroupCurrentMemberAssignment,
)

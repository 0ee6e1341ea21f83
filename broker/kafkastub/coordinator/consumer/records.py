"""The records of consumer groups (KIP-848), named as Kafka's schemas without Key and Value: what is their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from kafkastub.coordinator.modern.records import (
    CurrentOfMember,
    GroupEpoch,
    RecordTypes,
    TargetEpoch,
    TargetOfMember,
)
from kafkastub.coordinator.records import TypedRecord

EpochsOfPartitions = Mapping[bytes, Mapping[int, int]]
"""By topic id and partition the epoch in which the member was assigned it (KIP-1251)."""


class ClassicProtocol(NamedTuple):
    """One protocol of a member that speaks the classic protocol, as its JoinGroup had it."""

    name: str
    metadata: bytes


class ClassicMemberMetadata(NamedTuple):
    """What is known of a member of a consumer group that speaks the classic protocol. Milliseconds."""

    session_timeout_ms: int
    supported_protocols: tuple[ClassicProtocol, ...]


class ConsumerRecord(TypedRecord):
    """What the records of consumer groups have in common."""

    __slots__ = ()
    group_type = "consumer"


@dataclass(slots=True, repr=False, eq=False)
class ConsumerGroupPartitionMetadata(ConsumerRecord):
    """The subscribed topics' partitions, as Kafka before 4.1 wrote them; what they are is of no use any more.

    Attributes:
        topics: their names, sorted.
    """

    part = "partition_metadata"

    group_id: str
    topics: tuple[str, ...] = ()


@dataclass(slots=True, repr=False, eq=False)
class ConsumerGroupMemberMetadata(ConsumerRecord):
    """What a member has said of itself.

    Attributes:
        subscribed_topic_names: sorted.
        subscribed_topic_regex: "" or None where it has none.
        rebalance_timeout_ms: milliseconds; -1 where not known.
        classic: of a member that speaks the classic protocol.
    """

    part = "members"
    named_by = "member_id"

    group_id: str
    member_id: str
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: int
    server_assignor: str | None
    classic: ClassicMemberMetadata | None = None


@dataclass(slots=True, repr=False, eq=False)
class ConsumerGroupCurrentMemberAssignment(CurrentOfMember, ConsumerRecord):
    """What a member has, and where it stands.

    Attributes:
        state: 0 STABLE, 1 UNREVOKED_PARTITIONS, 2 UNRELEASED_PARTITIONS; any other is unknown (Kafka: MemberState).
    """

    assigned: EpochsOfPartitions
    pending_revocation: EpochsOfPartitions


@dataclass(slots=True, repr=False, eq=False)
class ConsumerGroupRegularExpression(ConsumerRecord):
    """The topics that a regular expression of the group has matched.

    Attributes:
        topics: sorted.
        version: of the metadata that it was resolved with (Kafka: the metadata log's offset).
        timestamp: when it was resolved, broker milliseconds.
    """

    part = "expressions"
    named_by = "regular_expression"

    group_id: str
    regular_expression: str
    topics: tuple[str, ...]
    version: int
    timestamp: int


# -- what every type has: see `modern.records` -------------------------------------------------------------------------


class ConsumerGroupMetadata(GroupEpoch, ConsumerRecord):
    __slots__ = ()


class ConsumerGroupTargetAssignmentMetadata(TargetEpoch, ConsumerRecord):
    __slots__ = ()


class ConsumerGroupTargetAssignmentMember(TargetOfMember, ConsumerRecord):
    __slots__ = ()


TYPES: Final = RecordTypes(
    epoch=ConsumerGroupMetadata,
    member=ConsumerGroupMemberMetadata,
    target_epoch=ConsumerGroupTargetAssignmentMetadata,
    target=ConsumerGroupTargetAssignmentMember,
    current=ConsumerGroupCurrentMemberAssignment,
)

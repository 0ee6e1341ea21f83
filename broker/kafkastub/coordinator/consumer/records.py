"""The records of consumer groups (KIP-848), named as Kafka's schemas without Key and Value.

Beside `records`, and loaded with the first of them: a broker without such groups pays for none of it. They are never
changed once made, their mappings neither: the hard state, a live group and a log may share them. (Python could forbid
it, in four times the time that it takes to load this.) Kafka: GroupCoordinatorRecordHelpers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kafkastub.coordinator.records import ConsumerRecord, OfGroup, OfMember

Partitions = Mapping[bytes, frozenset[int]]
"""Partitions by topic id."""
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


@dataclass(slots=True, repr=False, eq=False)
class ConsumerGroupMetadata(ConsumerRecord):
    """A group's epoch.

    Attributes:
        metadata_hash: of the subscribed topics' metadata, a signed 64-bit number; 0 for none.
    """

    group_id: str
    epoch: int
    metadata_hash: int = 0


class ConsumerGroupMetadataTombstone(OfGroup, ConsumerRecord):
    """The group is gone; the tombstones of everything else in it come before."""

    __slots__ = ()


@dataclass(slots=True, repr=False, eq=False)
class ConsumerGroupPartitionMetadata(ConsumerRecord):
    """The subscribed topics' partitions, as Kafka before 4.1 wrote them; what they are is of no use any more.

    Attributes:
        topics: their names, sorted.
    """

    group_id: str
    topics: tuple[str, ...] = ()


class ConsumerGroupPartitionMetadataTombstone(OfGroup, ConsumerRecord):
    """Written with the first epoch after such a record was found."""

    __slots__ = ()


@dataclass(slots=True, repr=False, eq=False)
class ConsumerGroupMemberMetadata(ConsumerRecord):
    """What a member has said of itself.

    Attributes:
        subscribed_topic_names: sorted.
        subscribed_topic_regex: "" or None where it has none.
        rebalance_timeout_ms: milliseconds; -1 where not known.
        classic: of a member that speaks the classic protocol.
    """

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


class ConsumerGroupMemberMetadataTombstone(OfMember, ConsumerRecord):
    """A member is gone; the tombstones of its assignments come before."""

    __slots__ = ()


@dataclass(slots=True, repr=False, eq=False)
class ConsumerGroupTargetAssignmentMetadata(ConsumerRecord):
    """The epoch of the group's target assignment.

    Attributes:
        assignment_timestamp: when it was computed, broker milliseconds; 0 where not known (Kafka before 4.4).
    """

    group_id: str
    assignment_epoch: int
    assignment_timestamp: int = 0


class ConsumerGroupTargetAssignmentMetadataTombstone(OfGroup, ConsumerRecord):
    """There is no target assignment any more."""

    __slots__ = ()


@dataclass(slots=True, repr=False, eq=False)
class ConsumerGroupTargetAssignmentMember(ConsumerRecord):
    """What a member is to have."""

    group_id: str
    member_id: str
    partitions: Partitions


class ConsumerGroupTargetAssignmentMemberTombstone(OfMember, ConsumerRecord):
    """A member is to have nothing: it is on its way out."""

    __slots__ = ()


@dataclass(slots=True, repr=False, eq=False)
class ConsumerGroupCurrentMemberAssignment(ConsumerRecord):
    """What a member has, and where it stands.

    Attributes:
        state: 0 STABLE, 1 UNREVOKED_PARTITIONS, 2 UNRELEASED_PARTITIONS; any other is unknown (Kafka: MemberState).
    """

    group_id: str
    member_id: str
    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned: EpochsOfPartitions
    pending_revocation: EpochsOfPartitions


class ConsumerGroupCurrentMemberAssignmentTombstone(OfMember, ConsumerRecord):
    """A member has nothing: it is on its way out, or a static one is replaced."""

    __slots__ = ()


@dataclass(slots=True, repr=False, eq=False)
class ConsumerGroupRegularExpression(ConsumerRecord):
    """The topics that a regular expression of the group has matched.

    Attributes:
        topics: sorted.
        version: of the metadata that it was resolved with (Kafka: the metadata log's offset).
        timestamp: when it was resolved, broker milliseconds.
    """

    group_id: str
    regular_expression: str
    topics: tuple[str, ...]
    version: int
    timestamp: int


@dataclass(slots=True, repr=False, eq=False)
class ConsumerGroupRegularExpressionTombstone(ConsumerRecord):
    """Nobody in the group uses the regular expression any more."""

    group_id: str
    regular_expression: str

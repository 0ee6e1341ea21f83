"""A member of a share group. Kafka: ShareGroupMember."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from kafkastub.coordinator.modern.member import MemberForms, ModernMember
from kafkastub.coordinator.modern.partition_sets import written_and_read
from kafkastub.coordinator.modern.records import Partitions
from kafkastub.coordinator.share.records import (
    ShareGroupCurrentMemberAssignment,
    ShareGroupMemberMetadata,
)

NOTHING: Final[Partitions] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ShareMember(ModernMember):
    """One member, always in the state 0, STABLE: it has nothing to wait for (Kafka: MemberState).

    Attributes:
        subscribed_topic_names: a set by content; iterates in no promised order.
        assigned: what it reads from, beside others.
    """

    subscribed_topic_names: frozenset[str] = frozenset()
    assigned: Partitions = field(default_factory=lambda: NOTHING)


def with_metadata(member: ShareMember, record: ShareGroupMemberMetadata) -> ShareMember:
    """The member as the record says."""
    return replace(
        member,
        rack_id=record.rack_id,
        client_id=record.client_id,
        client_host=record.client_host,
        subscribed_topic_names=frozenset(record.subscribed_topic_names),
    )


def with_assignment(member: ShareMember, record: ShareGroupCurrentMemberAssignment) -> ShareMember:
    """The member with what the record says that it has."""
    return replace(
        member,
        member_epoch=record.member_epoch,
        previous_member_epoch=record.previous_member_epoch,
        state=record.state,
        assigned={topic_id: written_and_read(some) for topic_id, some in record.assigned.items()},
    )


def without_assignment(member: ShareMember) -> ShareMember:
    """The member with nothing, on its way out."""
    return replace(member, member_epoch=-1, previous_member_epoch=-1, assigned=NOTHING)


def metadata_record(group_id: str, member: ShareMember) -> ShareGroupMemberMetadata:
    """What the member has said of itself."""
    return ShareGroupMemberMetadata(
        group_id,
        member.member_id,
        member.rack_id,
        member.client_id,
        member.client_host,
        tuple(sorted(member.subscribed_topic_names)),
    )


def assignment_record(group_id: str, member: ShareMember) -> ShareGroupCurrentMemberAssignment:
    """What the member has."""
    return ShareGroupCurrentMemberAssignment(
        group_id, member.member_id, member.member_epoch, member.previous_member_epoch, member.state, member.assigned
    )


FORMS: Final = MemberForms(
    ShareMember, with_metadata, with_assignment, without_assignment, metadata_record, assignment_record
)

"""Members out of records, and records out of members.

Kafka: ConsumerGroupMember.Builder, GroupCoordinatorRecordHelpers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kafkastub.coordinator.consumer.member import NOTHING, ConsumerMember, MemberState
from kafkastub.coordinator.consumer.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
)
from kafkastub.coordinator.modern.member import MemberForms

_STATES = {state.value: state for state in MemberState}


def with_metadata(member: ConsumerMember, record: ConsumerGroupMemberMetadata) -> ConsumerMember:
    """The member as the record says."""
    return replace(
        member,
        instance_id=record.instance_id,
        rack_id=record.rack_id,
        client_id=record.client_id,
        client_host=record.client_host,
        subscribed_topic_names=frozenset(record.subscribed_topic_names),
        subscribed_topic_regex=record.subscribed_topic_regex,
        rebalance_timeout_ms=record.rebalance_timeout_ms,
        server_assignor=record.server_assignor,
        classic=record.classic,
    )


def with_assignment(member: ConsumerMember, record: ConsumerGroupCurrentMemberAssignment) -> ConsumerMember:
    """The member with what the record says that it has."""
    return replace(
        member,
        member_epoch=record.member_epoch,
        previous_member_epoch=record.previous_member_epoch,
        state=_STATES.get(record.state, MemberState.UNKNOWN),
        assigned=record.assigned,
        pending_revocation=record.pending_revocation,
    )


def without_assignment(member: ConsumerMember) -> ConsumerMember:
    """The member with nothing, on its way out."""
    return replace(member, member_epoch=-1, previous_member_epoch=-1, assigned=NOTHING, pending_revocation=NOTHING)


def metadata_record(group_id: str, member: ConsumerMember) -> ConsumerGroupMemberMetadata:
    """What the member has said of itself."""
    return ConsumerGroupMemberMetadata(
        group_id,
        member.member_id,
        member.instance_id,
        member.rack_id,
        member.client_id,
        member.client_host,
        tuple(sorted(member.subscribed_topic_names)),
        member.subscribed_topic_regex,
        member.rebalance_timeout_ms,
        member.server_assignor,
        member.classic,
    )


def assignment_record(group_id: str, member: ConsumerMember) -> ConsumerGroupCurrentMemberAssignment:
    """What the member has."""
    return ConsumerGroupCurrentMemberAssignment(
        group_id,
        member.member_id,
        member.member_epoch,
        member.previous_member_epoch,
        member.state.value,
        member.assigned,
        member.pending_revocation,
    )


FORMS: Final = MemberForms(
    ConsumerMember, with_metadata, with_assignment, without_assignment, metadata_record, assignment_record
)

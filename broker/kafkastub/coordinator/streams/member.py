"""A member of a streams group. Kafka: StreamsGroupMember, MemberState."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from types import MappingProxyType
from typing import Final, TypeVar

from kafkastub.coordinator.modern.member import MemberForms, RevokingMember
from kafkastub.coordinator.streams.records import (
    Endpoint,
    EpochsOfKinds,
    StreamsGroupCurrentMemberAssignment,
    StreamsGroupMemberMetadata,
    TasksOfKinds,
)
from kafkastub.coordinator.streams.tasks import (
    EMPTY_WITH_EPOCHS,
    TasksTuple,
    TasksTupleWithEpochs,
    in_map_order,
)
from kafkawire.java_order import string_map_order, string_order

V = TypeVar("V")
NO_TAGS: Final[Mapping[str, str]] = MappingProxyType({})


class MemberState(IntEnum):
    """How far a member is on its way to its target."""

    STABLE = 1
    UNREVOKED_TASKS = 2
    UNRELEASED_TASKS = 3
    UNKNOWN = 127


@dataclass(frozen=True, slots=True)
class StreamsMember(RevokingMember):
    """One member.

    Attributes:
        process_id: shared by the members that run in one process.
        user_endpoint: where it answers questions about its state; None where it does not.
        client_tags: in the order of Kafka's map.
        assigned: what it has …
        pending_revocation: … and what it has to let go of.
    """

    previous_member_epoch: int = 0
    state: MemberState = MemberState.STABLE
    topology_epoch: int = -1
    process_id: str = ""
    user_endpoint: Endpoint | None = None
    client_tags: Mapping[str, str] = field(default_factory=lambda: NO_TAGS)
    assigned: TasksTupleWithEpochs = EMPTY_WITH_EPOCHS
    pending_revocation: TasksTupleWithEpochs = EMPTY_WITH_EPOCHS

    stable = MemberState.STABLE
    unrevoked = MemberState.UNREVOKED_TASKS


def with_metadata(member: StreamsMember, record: StreamsGroupMemberMetadata) -> StreamsMember:
    """The member as the record says."""
    tags = dict(record.client_tags)
    return replace(
        member,
        instance_id=record.instance_id,
        rack_id=record.rack_id,
        client_id=record.client_id,
        client_host=record.client_host,
        rebalance_timeout_ms=record.rebalance_timeout_ms,
        topology_epoch=record.topology_epoch,
        process_id=record.process_id,
        user_endpoint=record.user_endpoint,
        client_tags={name: tags[name] for name in string_map_order(tags)},
    )


def with_assignment(member: StreamsMember, record: StreamsGroupCurrentMemberAssignment) -> StreamsMember:
    """The member with what the record says that it has."""
    known = record.state in frozenset(MemberState)
    return replace(
        member,
        member_epoch=record.member_epoch,
        previous_member_epoch=record.previous_member_epoch,
        state=MemberState(record.state) if known else MemberState.UNKNOWN,
        assigned=_read(record.assigned),
        pending_revocation=_read(record.pending_revocation),
    )


def without_assignment(member: StreamsMember) -> StreamsMember:
    """The member with nothing, on its way out."""
    return replace(
        member,
        member_epoch=-1,
        previous_member_epoch=-1,
        assigned=EMPTY_WITH_EPOCHS,
        pending_revocation=EMPTY_WITH_EPOCHS,
    )


def metadata_record(group_id: str, member: StreamsMember) -> StreamsGroupMemberMetadata:
    """What the member has said of itself."""
    tags = member.client_tags
    return StreamsGroupMemberMetadata(
        group_id,
        member.member_id,
        member.instance_id,
        member.rack_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        member.topology_epoch,
        member.process_id,
        member.user_endpoint,
        tuple((name, tags[name]) for name in sorted(tags, key=string_order)),
    )


def assignment_record(group_id: str, member: StreamsMember) -> StreamsGroupCurrentMemberAssignment:
    """What the member has."""
    return StreamsGroupCurrentMemberAssignment(
        group_id,
        member.member_id,
        member.member_epoch,
        member.previous_member_epoch,
        member.state,
        member.assigned,
        member.pending_revocation,
    )


def read_target(tasks: TasksOfKinds) -> TasksTuple:
    """Tasks as they are read from the record that they are written to: in the order of its map."""
    return TasksTuple(*(_in_order(some) for some in tasks))


def _read(tasks: EpochsOfKinds) -> TasksTupleWithEpochs:
    active, standby, warmup = tasks
    return TasksTupleWithEpochs(_in_order(active), _in_order(standby), _in_order(warmup))


def _in_order(tasks: Mapping[str, V]) -> Mapping[str, V]:
    if len(tasks) < 2:
        return tasks
    return in_map_order({subtopology_id: tasks[subtopology_id] for subtopology_id in sorted(tasks, key=string_order)})


FORMS: Final = MemberForms(
    StreamsMember, with_metadata, with_assignment, without_assignment, metadata_record, assignment_record
)

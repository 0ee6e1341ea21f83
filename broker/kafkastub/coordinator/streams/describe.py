"""A streams group as StreamsGroupDescribe tells it. Kafka: StreamsGroup.asDescribedGroup, StreamsGroupMember."""

from __future__ import annotations

from collections.abc import Iterator

from kafkastub.coordinator.modern.describe import group_fields, member_fields
from kafkastub.coordinator.streams.described_topology import topology_described
from kafkastub.coordinator.streams.group import StreamsGroup
from kafkastub.coordinator.streams.member import StreamsMember
from kafkastub.coordinator.streams.offsets import NO_TASK_OFFSETS, MemberTaskOffsets, OffsetsOfTasks
from kafkastub.coordinator.streams.tasks import EMPTY, TasksTuple, written
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import string_order
from kafkawire.messages.streams_group_describe_response import (
    Assignment,
    DescribedGroup,
    Endpoint,
    KeyValue,
    Member,
    TaskIds,
    TaskOffset,
)


def described(group: StreamsGroup, assignor: str) -> tuple[DescribedGroup, Iterator[Member | None]]:
    """See `GroupType.description`.

    Raises UNKNOWN_SERVER_ERROR for one without a topology, as Kafka fails at it.
    """
    if group.topology is None:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    found = DescribedGroup(
        **group_fields(group, assignor), topology=topology_described(group.topology, group.volatile.published)
    )
    target, offsets = dict(group.target), dict(group.volatile.task_offsets)
    return found, (
        None
        if member is None
        else _member(member, target.get(member.member_id, EMPTY), offsets.get(member.member_id, NO_TASK_OFFSETS))
        for member in group.members_now()
    )


def _member(member: StreamsMember, target: TasksTuple, said: MemberTaskOffsets) -> Member:
    endpoint = member.user_endpoint
    return Member(
        **member_fields(member),
        instance_id=member.instance_id,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=None if endpoint is None else Endpoint(endpoint.host, endpoint.port),
        client_tags=[KeyValue(name, value) for name, value in member.client_tags.items()],
        task_offsets=_offsets(said.offsets),
        task_end_offsets=_offsets(said.end_offsets),
        assignment=_assignment(member.assigned.without_epochs()),
        target_assignment=_assignment(target),
    )


def _assignment(tasks: TasksTuple) -> Assignment:
    return Assignment(*([TaskIds(name, some) for name, some in written(one)] for one in tasks))


def _offsets(told: OffsetsOfTasks) -> list[TaskOffset]:
    return [
        TaskOffset(name, partition, told[name][partition])
        for name in sorted(told, key=string_order)
        for partition in sorted(told[name])
    ]

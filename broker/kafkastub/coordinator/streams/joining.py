"""Which member a heartbeat comes from, and what it says of itself.

Kafka: getOrMaybeCreateDynamicStreamsGroupMember, getOrMaybeCreateStaticStreamsGroupMember.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kafkastub.coordinator.modern import membership
from kafkastub.coordinator.modern.membership import LEAVE_GROUP_STATIC_MEMBER_EPOCH, fenced, unreleased
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.streams.group import StreamsGroup
from kafkastub.coordinator.streams.member import StreamsMember
from kafkastub.coordinator.streams.records import Endpoint
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import string_map_order
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest, TaskIds


def check_room(group: StreamsGroup, request: StreamsGroupHeartbeatRequest, most: int, known_have_room: bool) -> None:
    """Raises GROUP_MAX_SIZE_REACHED; a known instance or member has its place, where `StreamsRules` say so."""
    has_place = request.instance_id in group.static_members or (known_have_room and request.member_id in group.members)
    membership.check_room(group, most, has_place=has_place)


def dynamic_member(group: StreamsGroup, request: StreamsGroupHeartbeatRequest) -> StreamsMember:
    """The member; a new one where it joins. Raises UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH."""
    if request.member_epoch == 0:
        return group.known_or_new(request.member_id)
    member = group.member(request.member_id)
    _check_epoch(member, request)
    return member


def static_member(group: StreamsGroup, request: StreamsGroupHeartbeatRequest, records: list[Record]) -> StreamsMember:
    """The member with that instance id; a new one where it joins, with all that the instance's last member had.

    Raises UNRELEASED_INSTANCE_ID, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, FENCED_MEMBER_EPOCH.
    """
    instance_id, member_id = request.instance_id, request.member_id
    assert instance_id is not None
    if request.member_epoch != 0:
        member = group.known_static_member(instance_id, member_id)
        _check_epoch(member, request)
        return member
    there = group.static_member(instance_id)
    if there is None:
        return group.known_or_new(member_id)
    if there.member_epoch != LEAVE_GROUP_STATIC_MEMBER_EPOCH:
        raise unreleased(member_id, instance_id, there.member_id)
    return group.in_place_of(there, member_id, records)


def updated(
    member: StreamsMember,
    request: StreamsGroupHeartbeatRequest,
    client_id: str,
    client_host: str,
    endpoints_change: bool,
) -> StreamsMember:
    """The member, with what the request says of it; null says nothing, but that one who joins has no endpoint.

    Args:
        endpoints_change: as `StreamsRules` has it.
    """
    endpoint, tags = request.user_endpoint, request.client_tags
    told = None if endpoint is None else Endpoint(endpoint.host, endpoint.port)
    return replace(
        member,
        instance_id=_or(request.instance_id, member.instance_id),
        rack_id=_or(request.rack_id, member.rack_id),
        rebalance_timeout_ms=(
            member.rebalance_timeout_ms if request.rebalance_timeout_ms == -1 else request.rebalance_timeout_ms
        ),
        topology_epoch=member.topology_epoch if request.topology is None else request.topology.epoch,
        client_id=client_id,
        client_host=client_host,
        process_id=member.process_id if request.process_id is None else request.process_id,
        client_tags=member.client_tags if tags is None else _tags([(one.key, one.value) for one in tags]),
        user_endpoint=member.user_endpoint if told is None and (request.member_epoch or not endpoints_change) else told,
    )


def matters_to_assignor(before: StreamsMember, after: StreamsMember) -> bool:
    """Whether a static member says anything else that a target may depend on.

    Kafka: hasEpochRelevantMemberConfigChanged.
    """
    return (
        before.topology_epoch != after.topology_epoch
        or before.rack_id != after.rack_id
        or before.client_tags != after.client_tags
        or before.process_id != after.process_id
    )


def _or(said: str | None, known: str | None) -> str | None:
    return known if said is None else said


def _tags(pairs: Sequence[tuple[str, str]]) -> Mapping[str, str]:
    """Raises UNKNOWN_SERVER_ERROR where one comes twice, as Kafka fails at it."""
    tags = dict(pairs)
    if len(tags) < len(pairs):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return {name: tags[name] for name in string_map_order(tags)}


def _check_epoch(member: StreamsMember, request: StreamsGroupHeartbeatRequest) -> None:
    """Raises FENCED_MEMBER_EPOCH. The epoch before is all right where the answer to it may have been lost.

    Kafka: throwIfStreamsGroupMemberEpochIsInvalid.
    """
    epoch, known, assigned = request.member_epoch, member.member_epoch, member.assigned
    if epoch == known:
        return
    if epoch > known:
        how = "greater"
    elif (
        epoch != member.previous_member_epoch
        or not _are_in(request.active_tasks, assigned.active)
        or not _are_in(request.standby_tasks, assigned.standby)
        or not _are_in(request.warmup_tasks, assigned.warmup)
    ):
        how = "smaller"
    else:
        return
    raise fenced("streams", how, epoch, known)


def _are_in(owned: Sequence[TaskIds] | None, assigned: Mapping[str, Collection[int]]) -> bool:
    """Whether a member says that it has these tasks, and no others. Kafka: areOwnedTasksContainedInAssignedTasks."""
    if owned is None:
        return False
    for one in owned:
        there = assigned.get(one.subtopology_id)
        if there is None or not all(partition in there for partition in one.partitions):
            return False
    return True

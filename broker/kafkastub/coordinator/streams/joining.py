"""Which member a heartbeat comes from, and what it says of itself.

Kafka: getOrMaybeCreateDynamicStreamsGroupMember, getOrMaybeCreateStaticStreamsGroupMember.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafkastub.coordinator.modern import membership
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


def member(group: StreamsGroup, request: StreamsGroupHeartbeatRequest, records: list[Record]) -> StreamsMember:
    """The member; one that joins is new, or has all that its instance's last member had.

    Raises UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, UNRELEASED_INSTANCE_ID, FENCED_MEMBER_EPOCH. Kafka:
    throwIfStreamsGroupMemberEpochIsInvalid, areOwnedTasksContainedInAssignedTasks.
    """
    member_id, instance_id = request.member_id, request.instance_id
    if request.member_epoch == 0:
        return group.joining(member_id, instance_id, records)
    found = group.staying(member_id, instance_id)
    tasks: Sequence[Sequence[TaskIds] | None] = (request.active_tasks, request.standby_tasks, request.warmup_tasks)
    membership.check_epoch(
        "streams",
        found,
        request.member_epoch,
        lambda: all(
            membership.within(told, "subtopology_id", has) for told, has in zip(tasks, found.assigned, strict=True)
        ),
    )
    return found


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
    after: StreamsMember = membership.updated(
        member,
        request,
        client_id,
        client_host,
        ("instance_id", "rack_id", "rebalance_timeout_ms", "process_id"),
        topology_epoch=member.topology_epoch if request.topology is None else request.topology.epoch,
        client_tags=member.client_tags if tags is None else _tags([(one.key, one.value) for one in tags]),
        user_endpoint=member.user_endpoint if told is None and (request.member_epoch or not endpoints_change) else told,
    )
    return after


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


def _tags(pairs: Sequence[tuple[str, str]]) -> Mapping[str, str]:
    """Raises UNKNOWN_SERVER_ERROR where one comes twice, as Kafka fails at it."""
    tags = dict(pairs)
    if len(tags) < len(pairs):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return {name: tags[name] for name in string_map_order(tags)}

"""A heartbeat that changes nothing, which members send over and over: what the one before it was answered.

All steps of `heartbeat` were gone once, and nothing came of them: no record, no status, no tasks and no addresses. As
long as everything that they looked at is what it was then, they need not be gone again. What a heartbeat reads is never
changed in place, but replaced; so that it is the same object says that it is the same.
"""

from __future__ import annotations

from kafkastub.coordinator.streams.context import StreamsContext
from kafkastub.coordinator.streams.group import StreamsGroup
from kafkastub.coordinator.streams.member import StreamsMember
from kafkastub.coordinator.streams.volatile_state import LastAnswer
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest
from kafkawire.messages.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse


def remember(
    context: StreamsContext,
    group: StreamsGroup,
    member: StreamsMember,
    response: StreamsGroupHeartbeatResponse,
    version: int,
) -> None:
    """A heartbeat without a record was answered: the next one is answered likewise, if it told nothing either."""
    volatile, configured, topology = group.volatile, group.configured, group.topology
    quiet = (
        not response.status
        and response.active_tasks is None
        and response.partitions_by_user_endpoint is None
        and response.endpoint_information_epoch == volatile.endpoint_epoch
        and configured is not None
        and not configured.internal_topics_to_create
        and topology is not None
        and not group.metadata_stale
        and volatile.shutdown_by is None
        and group.state_name == "Stable"
        and member.is_reconciled_to(group.target_epoch)
    )
    if not quiet or configured is None or topology is None:
        volatile.last_answers.pop(member.member_id, None)
        return
    volatile.last_answers[member.member_id] = LastAnswer(
        response,
        version,
        member,
        group.metadata,
        topology,
        configured,
        context.of(group.group_id),
        group.target_epoch,
        group.target_version,
        volatile.refined_version,
    )


def unchanged_answer(
    context: StreamsContext,
    request: StreamsGroupHeartbeatRequest,
    version: int,
    client_id: str,
    client_host: str,
    timer_ms: int,
) -> StreamsGroupHeartbeatResponse | None:
    """The same answer, and the member's session counts anew; None, and nothing has happened, where steps are needed."""
    group = context.groups.groups.get(request.group_id)
    if type(group) is not StreamsGroup:
        return None
    volatile, member_id = group.volatile, request.member_id
    known = volatile.last_answers.get(member_id)
    if known is None:
        return None
    member, response, settings = known.member, known.response, context.of(group.group_id)
    timers = group.timers.get(member_id)
    if (
        timers is None
        or not _says_nothing(request, member, volatile.endpoint_epoch)
        or known.version != version
        or member.client_id != client_id
        or member.client_host != client_host
        or group.members.get(member_id) is not member
        or group.metadata is not known.metadata
        or group.target_epoch != known.target_epoch
        or group.target_version != known.target_version
        or group.topology is not known.topology
        or group.metadata_stale
        or volatile.configured is not known.configured
        or volatile.refined_version != known.refined_version
        or volatile.shutdown_by is not None
        or response.endpoint_information_epoch != volatile.endpoint_epoch
        or settings is not known.settings
    ):
        return None
    timers.session_timeout_ms = settings.session_timeout_ms
    context.groups.deadlines.arm(timers.session, timer_ms + settings.session_timeout_ms)
    return response


def _says_nothing(request: StreamsGroupHeartbeatRequest, member: StreamsMember, endpoint_epoch: int) -> bool:
    """Whether it only says that the member is alive, and knows what there is to know."""
    return (
        request.member_epoch == member.member_epoch
        and request.endpoint_information_epoch == endpoint_epoch
        and request.active_tasks is None
        and request.standby_tasks is None
        and request.warmup_tasks is None
        and (request.instance_id is None or request.instance_id == member.instance_id)
        and request.rack_id is None
        and request.rebalance_timeout_ms in (-1, member.rebalance_timeout_ms)
        and request.topology is None
        and request.process_id is None
        and request.user_endpoint is None
        and request.client_tags is None
        and request.task_offsets is None
        and request.task_end_offsets is None
        and not request.shutdown_application
    )

"""What a heartbeat is answered. Kafka: the end of GroupMetadataManager.streamsGroupHeartbeat."""

from __future__ import annotations

from typing import NamedTuple

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.streams.context import RACK_AWARE_ASSIGNMENT_TAGS
from kafkastub.coordinator.streams.endpoints import endpoint_to_partitions
from kafkastub.coordinator.streams.group import StreamsGroup
from kafkastub.coordinator.streams.member import StreamsMember
from kafkastub.coordinator.streams.records import Pairs
from kafkastub.coordinator.streams.settings import StreamsGroupSettings, StreamsRules
from kafkastub.coordinator.streams.statuses import Status
from kafkawire.messages.streams_group_heartbeat_response import (
    EndpointToPartitions,
    StreamsGroupHeartbeatResponse,
    TaskIds,
)
from kafkawire.messages.streams_group_heartbeat_response import Status as ToldStatus


def answer(member: StreamsMember, settings: StreamsGroupSettings) -> StreamsGroupHeartbeatResponse:
    """What every answer has."""
    return StreamsGroupHeartbeatResponse(
        member_id=member.member_id,
        member_epoch=member.member_epoch,
        heartbeat_interval_ms=settings.heartbeat_interval_ms,
        task_offset_interval_ms=settings.task_offset_interval_ms,
        acceptable_recovery_lag=settings.acceptable_recovery_lag,
    )


def tell_tasks(response: StreamsGroupHeartbeatResponse, member: StreamsMember) -> None:
    """What the member has, subtopologies in the order of Kafka's map."""
    tasks = member.assigned
    response.active_tasks = [TaskIds(name, sorted(some)) for name, some in tasks.active.items()]
    response.standby_tasks = [TaskIds(name, sorted(some)) for name, some in tasks.standby.items()]
    response.warmup_tasks = [TaskIds(name, sorted(some)) for name, some in tasks.warmup.items()]


class Endpoints(NamedTuple):
    """Where the group's partitions can be asked for, before and after a heartbeat.

    Attributes:
        before, after: the member whose heartbeat it is.
        replaced: the static member whose place it takes; None where there is none.
    """

    group: StreamsGroup
    before: StreamsMember
    after: StreamsMember
    replaced: StreamsMember | None
    image: ClusterImage
    rules: StreamsRules

    @property
    def changed(self) -> bool:
        """Whether the member has another address. Kafka: hasUserEndpointChanged."""
        return self.rules.endpoints_change and self.before.user_endpoint != self.after.user_endpoint

    def all(self) -> list[EndpointToPartitions]:
        """The addresses of the group, the member's own last. Kafka: buildEndpointToPartitions.

        Raises UNKNOWN_SERVER_ERROR, as Kafka fails where the topics do not do for the topology.
        """
        skipped = {self.after.member_id, "" if self.replaced is None else self.replaced.member_id}
        members = [member for member in self.group.in_order() if member.member_id not in skipped]
        found = [self._of(member) for member in (*members, self.after)]
        return [one for one in found if one is not None]

    def _of(self, member: StreamsMember) -> EndpointToPartitions | None:
        if member.user_endpoint is None:
            return None
        known = self.group.volatile.endpoints
        found = known.get(member.member_id)
        if found is None:
            configured = self.group.configured
            subtopologies = None if configured is None else configured.subtopologies
            found = endpoint_to_partitions(member, subtopologies, self.image, self.rules.endpoints_in_order)
            if found is not None:
                known[member.member_id] = found
        return found


def tell_endpoints(
    response: StreamsGroupHeartbeatResponse, endpoints: Endpoints, tasks_changed: bool, joins: bool, known_epoch: int
) -> None:
    """Addresses are told where they are others than the member knows. Raises UNKNOWN_SERVER_ERROR."""
    volatile, after, replaced = endpoints.group.volatile, endpoints.after, endpoints.replaced
    tasks_changed = tasks_changed or (joins and not endpoints.rules.endpoints_change)
    if joins or tasks_changed or endpoints.changed or replaced is not None:
        volatile.endpoints.pop(after.member_id, None)
        if replaced is not None:
            volatile.endpoints.pop(replaced.member_id, None)
    if endpoints.changed or (tasks_changed and after.user_endpoint is not None):
        volatile.endpoint_epoch += 1
    if volatile.endpoint_epoch != known_epoch:
        response.partitions_by_user_endpoint = endpoints.all()


# -- statuses ----------------------------------------------------------------------------------------------------------


def stale_topology(of_member: int, of_group: int) -> ToldStatus:
    """The member runs an older topology than the group."""
    what = f"The member's topology epoch {of_member} is behind the group's topology epoch {of_group}."
    return ToldStatus(Status.STALE_TOPOLOGY, what)


def shutdown(member_id: str) -> ToldStatus:
    """Somebody wants all to end."""
    why = "encountered a fatal error and requested a shutdown for the entire application."
    return ToldStatus(Status.SHUTDOWN_APPLICATION, f"Streams group member {member_id} {why}")


def missing_tags(configs: Pairs, member: StreamsMember) -> ToldStatus | None:
    """The member lacks tags that standby tasks are to be spread by; None where it has all."""
    names = dict(configs).get(RACK_AWARE_ASSIGNMENT_TAGS, "").strip()
    missing = [name for name in _split(names) if name not in member.client_tags] if names else []
    if not missing:
        return None
    what = f"Missing required client tags for rack-aware standby assignment: [{', '.join(missing)}]."
    return ToldStatus(
        Status.MISSING_CLIENT_TAGS, f"{what} Configure them via 'client.tag.<tagKey>' in your Streams config."
    )


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",")]

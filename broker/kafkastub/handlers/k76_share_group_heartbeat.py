"""ShareGroupHeartbeat (key 76), version 1.

GH-1   A member id that is empty, or has more than 36 characters: INVALID_REQUEST without a text; what else cannot be,
       with one; before anybody looks for the group or its coordinator.     Kafka: KafkaApis, GroupCoordinatorService
GH-2   Epoch 0 joins: the answer has the member's epoch, its assignment and the heartbeat interval.            KIP-932
GH-3   Partitions are assigned once the share coordinator has made their state, which it is asked for behind the
       answer: the first assignment is empty.                         Kafka: GroupCoordinatorService.persisterInitialize
GH-4   Epoch -1 leaves; the last member leaves the group Empty, and an empty share group stays until it is deleted.
GH-5   An unknown group, or one of another type: GROUP_ID_NOT_FOUND; an unknown member: UNKNOWN_MEMBER_ID; another
       epoch: FENCED_MEMBER_EPOCH, but for the one before.
GH-6   A member too many (group.share.max.size): GROUP_MAX_SIZE_REACHED.
GH-7   Named topics that the principal may not describe: TOPIC_AUTHORIZATION_FAILED.                  Kafka: KafkaApis
GH-8   Where share groups are switched off (share.version 0): UNSUPPORTED_VERSION, whoever asks.
GH-9   The group's own configuration goes before the broker's.                                                 KIP-932
GH-10  Topics that grow, come or go are noticed with a member's next heartbeat.                Kafka: onMetadataUpdate
GH-11  A target is computed once in share.assignment.interval.ms; partitions are shared where there are more members
       than partitions.                                                                          Kafka: SimpleAssignor
GH-12  A session that is over takes its member out.                                share.session.timeout.ms, timer time
GH-13  State that the share coordinator has not made in group.share.initialize.retry.interval.ms is asked for again.
GH-14  An error has its code and Kafka's text, and nothing else.
GH-15  Topics that are deleted are forgotten: a new one of the name begins anew.    Kafka: maybeCleanupShareGroupState
GH-16  The first heartbeat brings in the code that serves it, part by part, so that nobody waits for that.
Not done: -
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.group_heartbeats import GroupHeartbeats
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.group_protocols import is_share_member_id, serves_share_protocol
from kafkawire.api import ApiKey
from kafkawire.errors import KafkaError
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.share_group_heartbeat_response import ShareGroupHeartbeatResponse

if TYPE_CHECKING:
    from kafkastub.coordinator.share.state_partitions import Initialization


class _Heartbeats(GroupHeartbeats):
    def is_possible(self, request: ShareGroupHeartbeatRequest) -> bool:
        return is_share_member_id(request.member_id)

    def follow_up(
        self,
        ctx: RequestContext,
        request: ShareGroupHeartbeatRequest,
        answer: ShareGroupHeartbeatResponse,
        wanted: Initialization,
    ) -> None:
        """Ask the share coordinator for the state of partitions."""
        from kafkastub.state.share_group_persister_calls import go_on

        with suppress(KafkaError):  # it is behind the answer: nobody is told
            go_on(ctx.state, wanted, ctx.broker_ms, ctx.timer_ms)


HEARTBEATS: Final = _Heartbeats(
    "share",
    serves_share_protocol,
    ShareGroupHeartbeatResponse,
    (
        "coordinator.share.records",
        "coordinator.share.state",
        "coordinator.modern.assignors.simple",
        "coordinator.share.group",
        "coordinator.share.heartbeat",
        "coordinator.share.groups",
        "state.group_overrides",
        "coordinator.share.codec",
        "share_partitions.partition",
        "state.share_partitions.manager",
        "state.share_group_persister_calls",
    ),
)


@handles(ApiKey.SHARE_GROUP_HEARTBEAT, 1, 1, error_response=HEARTBEATS.error_response)
def share_group_heartbeat(ctx: RequestContext, request: ShareGroupHeartbeatRequest) -> Outcome:
    return HEARTBEATS.answer(ctx, request)

"""StreamsGroupHeartbeat (key 88), versions 0-1.

TH-1   What cannot be said in any group is INVALID_REQUEST with a text, before anybody looks for the group or its
       coordinator: an empty id, no topology or tasks when joining, a topology later, regular expressions.
                                                                                      Kafka: GroupCoordinatorService
TH-2   A topology with topics of the broker, or names that no topic may have: STREAMS_INVALID_TOPOLOGY.
                                                                                                       Kafka: KafkaApis
TH-3   Epoch 0 joins: the answer has the member's epoch, its tasks and how often it is to beat.               KIP-1071
TH-4   The first member of an empty group waits for others (streams.initial.rebalance.delay.ms); a target is computed
       once in streams.assignment.interval.ms. Meanwhile there is the status ASSIGNMENT_DELAYED.
TH-5   Missing source topics, internal topics, and topics with other partitions than they need are statuses; tasks are
       assigned once all is well.                                                         Kafka: InternalTopicManager
TH-6   Internal topics that are missing are created behind the answer, with the partitions and configurations that the
       topology asks for; what speaks against it is told later on.            Kafka: DefaultAutoTopicCreationManager
TH-7   Another topology in a group: INVALID_REQUEST; one of an older epoch is told so (STALE_TOPOLOGY).
TH-8   A member gets tasks once those who had them have let go of them; tasks that there are not: INVALID_REQUEST.
                                                                                        Kafka: CurrentAssignmentBuilder
TH-9   Epoch -1 leaves; the last member leaves the group Empty. Epoch -2 of a static member: its tasks are kept for the
       instance's next member, until the session is over.
TH-10  An unknown group, or one of another type: GROUP_ID_NOT_FOUND; an unknown member: UNKNOWN_MEMBER_ID; another
       epoch: FENCED_MEMBER_EPOCH, but for the one before with tasks that it has. Instance ids: UNRELEASED_INSTANCE_ID,
       FENCED_INSTANCE_ID.
TH-11  A member too many (group.streams.max.size): GROUP_MAX_SIZE_REACHED.
TH-12  An empty classic group becomes a streams group; a classic JoinGroup makes an empty streams group classic.
TH-13  Members with endpoints are told those of all, with their partitions, whenever they know an older state of them.
TH-14  A shutdown of the application that one asks for is told to all, until the group is empty.
TH-15  A session that is over, and a member that does not let go of tasks in its rebalance timeout: it is out.
TH-16  Topics that grow, come or go are noticed with a member's next heartbeat.                 Kafka: onMetadataUpdate
TH-17  The group's own configuration goes before the broker's: standby replicas ask for a new target.        KIP-1071
TH-18  What the assignor wants tags of clients for, and a member lacks, is a status (version 1).             KIP-1071
TH-19  How far tasks are is remembered, and told again by StreamsGroupDescribe; a task twice: INVALID_REQUEST.
TH-20  Where streams groups are switched off (streams.version 0, group.coordinator.rebalance.protocols):
       UNSUPPORTED_VERSION, whoever asks.
TH-21  An error has its code and Kafka's text, and nothing else; what Kafka fails at is UNKNOWN_SERVER_ERROR without a
       text.                                                              Kafka: CoordinatorOperationExceptionHelper
TH-22  The first heartbeat brings in the code that serves it, part by part, so that nobody waits for that.
TH-23  Who may not read the group: GROUP_AUTHORIZATION_FAILED, before all but TH-20. A topology with a topic that the
       principal may not describe: TOPIC_AUTHORIZATION_FAILED, behind TH-2 and before TH-1.            Kafka: KafkaApis
TH-24  A topology of more than 5,000 parts, topics and configurations, or with more than 20,000 tasks, is
       INVALID_REQUEST with a text, and nothing of it is kept. Kafka takes what fits into a record.
TH-25  Of a member that does not come in, because its heartbeat is refused, nothing is kept. Kafka keeps the offsets of
       its tasks as long as the group lives.
Not done: a plugin that keeps descriptions of topologies: members are never asked for theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkastub.coordinator.turn import Turn
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.group_heartbeats import GroupHeartbeats
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.group_protocols import serves_streams_protocol
from kafkawire.api import ApiKey
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest
from kafkawire.messages.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse

if TYPE_CHECKING:
    from kafkastub.coordinator.streams.configured import ConfiguredTopology


class _Heartbeats(GroupHeartbeats):
    def unchanged(
        self, ctx: RequestContext, request: StreamsGroupHeartbeatRequest
    ) -> StreamsGroupHeartbeatResponse | None:
        serving = ctx.state.serving
        if serving is None or not serving.has_streams:
            return None
        answer = serving.streams.repeat_heartbeat(
            request, ctx.api_version, ctx.client_id or "", ctx.client_host, ctx.timer_ms
        )
        if answer is not None:
            ctx.state.settle(Turn(ctx.broker_ms, ctx.timer_ms))
        return answer

    def check(self, ctx: RequestContext, request: StreamsGroupHeartbeatRequest) -> None:
        from kafkastub.state.streams_groups import check_names

        check_names(request, ctx.pace)
        super().check(ctx, request)

    def follow_up(
        self,
        ctx: RequestContext,
        request: StreamsGroupHeartbeatRequest,
        answer: StreamsGroupHeartbeatResponse,
        wanted: ConfiguredTopology,
    ) -> None:
        """Create the internal topics that the topology lacks."""
        from kafkastub.state.streams_groups import create_topics

        if wanted.internal_topics_to_create:
            create_topics(ctx.state, ctx, request.group_id, wanted, answer.status or (), ctx.broker_ms)


HEARTBEATS: Final = _Heartbeats(
    "streams",
    serves_streams_protocol,
    StreamsGroupHeartbeatResponse,
    (
        "coordinator.streams.records",
        "coordinator.streams.state",
        "coordinator.streams.topology",
        "coordinator.streams.configured",
        "coordinator.modern.assignors.sticky_tasks",
        "coordinator.streams.reconciliation",
        "coordinator.streams.group",
        "coordinator.streams.heartbeat",
        "coordinator.streams.groups",
        "state.group_overrides",
        "coordinator.streams.codec",
        "state.streams_internal_topics",
        "state.streams_groups",
    ),
)


@handles(ApiKey.STREAMS_GROUP_HEARTBEAT, 0, 1, error_response=HEARTBEATS.error_response)
def streams_group_heartbeat(ctx: RequestContext, request: StreamsGroupHeartbeatRequest) -> Outcome:
    return HEARTBEATS.answer(ctx, request)

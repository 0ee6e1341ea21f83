"""ConsumerGroupHeartbeat (key 68), versions 0-1.

CG-1   A request that cannot be is INVALID_REQUEST with a text, an assignor that is not configured UNSUPPORTED_ASSIGNOR,
       before anybody looks for the group or its coordinator.                          Kafka: GroupCoordinatorService
CG-2   Epoch 0 joins: the answer has the member's epoch, its assignment and the heartbeat interval.          KIP-848
CG-3   Version 0: the broker makes the id of a member that has none.                                   Kafka: KIP-1082
CG-4   Epoch -1 leaves; the last member leaves the group Empty.
CG-5   Epoch -2: a static member leaves for a while, and what is its stays.
CG-6   An unknown group: GROUP_ID_NOT_FOUND; an unknown member: UNKNOWN_MEMBER_ID; another epoch: FENCED_MEMBER_EPOCH,
       but for the one before, where the answer to it was lost.
CG-7   Named topics that the principal may not describe: TOPIC_AUTHORIZATION_FAILED; a regular expression does not see
       them.                                                          Kafka: KafkaApis, TopicRegexResolver
CG-8   Where the consumer protocol is switched off (group.coordinator.rebalance.protocols, group.version):
       UNSUPPORTED_VERSION, whoever asks. Brokers before 4.0 have it off unless they are told.
CG-9   The group's own configuration goes before the broker's.                                          KIP-848, 1043
CG-10  Topics that grow, come or go are noticed with a member's next heartbeat.       Kafka: onMetadataUpdate
CG-11  An error has its code and Kafka's text, and nothing else.
CG-12  Epoch 0 into a classic group with members makes it a consumer group, as far as group.consumer.migration.policy
       lets it; its generation is the epoch, who is parked there is told REBALANCE_IN_PROGRESS. Else GROUP_ID_NOT_FOUND;
       where only the members' metadata or assignments stand against it, who is parked has been sent away by then.
CG-13  The last member of this protocol goes, and classic ones stay: the group becomes classic, and they rebalance.
CG-14  The first heartbeat brings in the code that serves it, part by part, so that nobody waits for that.
Not done: -
"""

from __future__ import annotations

from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.group_heartbeats import GroupHeartbeats
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.group_protocols import serves_consumer_protocol
from kafkawire.api import ApiKey
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse

HEARTBEATS: Final = GroupHeartbeats(
    "consumer",
    serves_consumer_protocol,
    ConsumerGroupHeartbeatResponse,
    (
        "coordinator.modern.regex.parser",
        "coordinator.modern.expressions",
        "coordinator.consumer.embedded",
        "coordinator.consumer.member",
        "coordinator.consumer.group",
        "coordinator.consumer.context",
        "coordinator.consumer.expressions",
        "coordinator.consumer.heartbeat",
        "coordinator.consumer.classic_joins",
        "coordinator.consumer.migration",
        "coordinator.consumer.groups",
        "coordinator.modern.assignors.uniform",
        "coordinator.modern.assignors.uniform_heterogeneous",
        "coordinator.modern.assignors.uniform_homogeneous",
        "coordinator.modern.assignors.range",
        "coordinator.consumer.state",
        "state.group_overrides",
    ),
)


@handles(ApiKey.CONSUMER_GROUP_HEARTBEAT, 0, 1, error_response=HEARTBEATS.error_response)
def consumer_group_heartbeat(ctx: RequestContext, request: ConsumerGroupHeartbeatRequest) -> Outcome:
    return HEARTBEATS.answer(ctx, request)

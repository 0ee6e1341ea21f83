"""DescribeQuorum (key 55), versions 0-2.    KIP-595, KIP-836, KIP-853; Kafka: KafkaRaftClient, RaftUtil

QU-1  The one partition of __cluster_metadata: leader, epoch, high watermark, voters and those that look on, each with
      the end of its log. Of several nodes the first one votes, and the others look on.
QU-2  Version 1+: when each of them was last heard of and last caught up.    KIP-836
QU-3  Version 2: directory ids, and where the voters listen, under the name of the controllers' listener. As there is no
      such listener here, it is the address of the first node on the client's own one.    KIP-853
QU-4  Anything else than that one partition: UNKNOWN_TOPIC_OR_PARTITION at every partition, of __cluster_metadata too,
      and no nodes; from version 2 on with a text.
QU-5  A node that was stopped stays for five minutes, where it was then.
QU-6  With controller.quorum.voters the voters are those, without directory ids until kraft.version is 1.
Not done: a high watermark that grows by itself, and observers that lag.
"""

from __future__ import annotations

from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import CLUSTER_METADATA
from kafkastub.state import quorum
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_quorum_request import DescribeQuorumRequest
from kafkawire.messages.describe_quorum_response import (
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
)

_UNKNOWN: Final = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def error_response(request: DescribeQuorumRequest, code: ErrorCode, version: int) -> DescribeQuorumResponse:
    """The code at the top."""
    return DescribeQuorumResponse(error_code=code, error_message=default_text(code))


@handles(ApiKey.DESCRIBE_QUORUM, 0, 2, error_response=error_response)
def describe_quorum(ctx: RequestContext, request: DescribeQuorumRequest) -> Outcome:
    asked = [
        (topic.topic_name, [one.partition_index for one in paced(topic.partitions, ctx.pace)])
        for topic in paced(request.topics, ctx.pace)
    ]
    if asked != [(CLUSTER_METADATA, [0])]:
        return DescribeQuorumResponse(
            topics=[
                TopicData(
                    name, [PartitionData(index, _UNKNOWN, default_text(_UNKNOWN)) for index in paced(indexes, ctx.pace)]
                )
                for name, indexes in paced(asked, ctx.pace)
            ]
        )
    state, now_ms = ctx.state, ctx.broker_ms
    partition = PartitionData(
        leader_id=quorum.leader_id(state.config),
        leader_epoch=state.metadata_epoch,
        high_watermark=state.metadata_offset + 1,
        current_voters=[_replica(one) for one in quorum.voters(state, now_ms)],
        observers=[_replica(one) for one in quorum.observers(state, now_ms)],
    )
    return DescribeQuorumResponse(
        topics=[TopicData(CLUSTER_METADATA, [partition])],
        nodes=[
            Node(one.node_id, [Listener(one.listener, one.host, one.port)])
            for one in quorum.addresses(state, ctx.listener)
        ],
    )


def _replica(one: quorum.Replica) -> ReplicaState:
    return ReplicaState(one.node_id, one.directory_id, one.end_offset, one.seen_ms, one.seen_ms)

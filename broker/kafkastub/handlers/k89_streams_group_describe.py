"""StreamsGroupDescribe (key 89), versions 0-1.

KS-1   A group's state, epochs, assignor and topology, and its members with their epochs, processes, endpoints, tags,
       task offsets, tasks and targets.                                      KIP-1071; Kafka: StreamsGroup.asDescribed…
KS-2   The topology as it was sent until its topics are there, then with the partitions that the broker has decided, as
       they were when the last record was written to the group's partition.
                                                                       Kafka: CoordinatorRuntime.scheduleReadOperation
KS-3   An unknown group, and one of another type: GROUP_ID_NOT_FOUND with a text.
KS-4   The empty group id: INVALID_GROUP_ID, before the others.
KS-5   A group named twice is answered twice; the answers come by the partition of __consumer_offsets, in the order of
       Kafka's map.
KS-6   The operations on a group where asked for and there is no error, else the lowest int32.             KIP-430
KS-7   Where streams groups are switched off: UNSUPPORTED_VERSION at every group (TH-20).
KS-8   Whoever asks for a topology's description (version 1) is told that none is kept: NOT_STORED, where there is no
       error.                                                        Kafka: StreamsGroupTopologyDescriptionManager
KS-9   A request that names very many groups is served part by part, others between; each group is as it is when it is
       looked at. An error is told of all of them.
KS-10  A group that the principal may not describe: GROUP_AUTHORIZATION_FAILED, before the others; one with a topic in
       its topology that it may not: TOPIC_AUTHORIZATION_FAILED with a text, and nothing else.         Kafka: KafkaApis
Not done: descriptions of topologies, as there is no plugin that keeps them.
"""

from __future__ import annotations

from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.group_descriptions import OfType
from kafkastub.state.group_protocols import serves_streams_protocol
from kafkawire.api import ApiKey
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.messages.streams_group_describe_response import DescribedGroup, StreamsGroupDescribeResponse

_NOT_STORED: Final = 1


def _add(described: DescribedGroup, request: StreamsGroupDescribeRequest) -> None:
    if request.include_topology_description:
        described.topology_description_status = _NOT_STORED


_TYPE: Final = OfType("streams", serves_streams_protocol, DescribedGroup, StreamsGroupDescribeResponse, _add)


@handles(ApiKey.STREAMS_GROUP_DESCRIBE, 0, 1, error_response=_TYPE.error_response)
def streams_group_describe(ctx: RequestContext, request: StreamsGroupDescribeRequest) -> Outcome:
    return _TYPE.answer(ctx.state, request, ctx.api_version)

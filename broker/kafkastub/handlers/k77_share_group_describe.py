"""ShareGroupDescribe (key 77), version 1.

SD-1   A group's state, epochs and assignor, and its members with their epochs, subscriptions and assignments.
                                                                             KIP-932; Kafka: ShareGroup.asDescribedGroup
SD-2   An unknown group, and one of another type: GROUP_ID_NOT_FOUND with a text.
SD-3   The empty group id: INVALID_GROUP_ID, before the others.
SD-4   A group named twice is answered twice; the answers come by the partition of __consumer_offsets, in the order of
       Kafka's map.
SD-5   The operations on a group where asked for and there is no error, else the lowest int32.             KIP-430
SD-6   Topics that are gone are not shown.
SD-7   Where share groups are switched off: UNSUPPORTED_VERSION at every group (GH-8).
SD-8   A group with an assigned topic that the principal may not describe: TOPIC_AUTHORIZATION_FAILED with a text, and
       nothing of the group.                                                                          Kafka: KafkaApis
SD-9   A request that names very many groups is served part by part, others between; each group is as it is when it is
       looked at. An error is told of all of them.
Not done: -
"""

from __future__ import annotations

from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.group_descriptions import OfType
from kafkastub.state.group_protocols import serves_share_protocol
from kafkawire.api import ApiKey
from kafkawire.messages.share_group_describe_request import ShareGroupDescribeRequest
from kafkawire.messages.share_group_describe_response import DescribedGroup, ShareGroupDescribeResponse

_TYPE: Final = OfType("share", serves_share_protocol, DescribedGroup, ShareGroupDescribeResponse)


@handles(ApiKey.SHARE_GROUP_DESCRIBE, 1, 1, error_response=_TYPE.error_response)
def share_group_describe(ctx: RequestContext, request: ShareGroupDescribeRequest) -> Outcome:
    return _TYPE.answer(ctx.state, request, ctx.api_version)

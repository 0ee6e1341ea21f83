"""ConsumerGroupDescribe (key 69), versions 0-1.

CD-1   A group's state, epochs and assignor, and its members with their epochs, subscriptions, assignments and targets.
                                                                          KIP-848; Kafka: ConsumerGroup.asDescribedGroup
CD-2   An unknown group, and one of another type: GROUP_ID_NOT_FOUND with a text.
CD-3   The empty group id: INVALID_GROUP_ID, before the others.
CD-4   A group named twice is answered twice; the answers come by the partition of __consumer_offsets, in the order of
       Kafka's map.
CD-5   The operations on a group where asked for and there is no error, else the lowest int32.             KIP-430
CD-6   Version 1: whether a member uses the classic or the consumer protocol.                              KIP-1099
CD-7   Topics that are gone are not shown.
CD-8   Where the consumer protocol is switched off: UNSUPPORTED_VERSION at every group (CG-8).
CD-9   A group with a topic, assigned or to be, that the principal may not describe: TOPIC_AUTHORIZATION_FAILED with a
       text, and nothing of the group.                                                          Kafka: KafkaApis
CD-10  A request that names very many groups is served part by part, others between; each group is as it is when it is
       looked at. An error is told of all of them.
Not done: -
"""

from __future__ import annotations

from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.group_descriptions import OfType
from kafkastub.state.group_protocols import serves_consumer_protocol
from kafkawire.api import ApiKey
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_describe_response import ConsumerGroupDescribeResponse, DescribedGroup

_TYPE: Final = OfType("consumer", serves_consumer_protocol, DescribedGroup, ConsumerGroupDescribeResponse)


@handles(ApiKey.CONSUMER_GROUP_DESCRIBE, 0, 1, error_response=_TYPE.error_response)
def consumer_group_describe(ctx: RequestContext, request: ConsumerGroupDescribeRequest) -> Outcome:
    return _TYPE.answer(ctx.state, request, ctx.api_version)

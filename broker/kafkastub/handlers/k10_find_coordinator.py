"""FindCoordinator (key 10), versions 0-6.

FC-1   A group's coordinator is the leader of its partition of __consumer_offsets.   Kafka: KafkaApis.getCoordinator
FC-2   The internal topic is made when it is first needed; the first answer is a coordinator already. Kafka answers
       COORDINATOR_NOT_AVAILABLE until it is there.
FC-3   Versions 1-3: success has the error message "NONE"; an error has its text, and node -1, "", -1.
FC-4   Versions 4+: a batch of keys, each with its own answer; no error message.      KIP-699
FC-5   Key type 1 finds the transaction coordinator (__transaction_state).            KIP-98
FC-6   Key type 2 (share groups): the leader in __share_group_state; INVALID_REQUEST below version 6, and for a key that
       is not "group:topic id:partition".                                             KIP-932
FC-7   Another key type: INVALID_REQUEST, with its text from version 4 on too, for every key.
FC-8   The empty group id has a coordinator like others.
FC-9   The coordinator's address is that of the listener that the client came in on; where the node has none there,
       COORDINATOR_NOT_AVAILABLE.                                                     Kafka: KafkaApis.getCoordinator
Not done: -
"""

from __future__ import annotations

from re import fullmatch

from kafkastub.coordinator import partition_for
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import Endpoint
from kafkastub.state.internal_topics.catalog import BY_KEY_TYPE
from kafkastub.state.pace import paced
from kafkastub.state.topics import auto_create
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.find_coordinator_response import Coordinator, FindCoordinatorResponse

_SHARE = 2
_NO_NODE = Endpoint(-1, "", -1, None)


def error_response(request: FindCoordinatorRequest, code: ErrorCode, version: int) -> FindCoordinatorResponse:
    """The code at every key; at the top below version 4."""
    text = default_text(code)
    if version < 4:
        return FindCoordinatorResponse(error_code=code, error_message=text, node_id=-1, host="", port=-1)
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(key=key, node_id=-1, host="", port=-1, error_code=code, error_message=text)
            for key in request.coordinator_keys
        ]
    )


@handles(ApiKey.FIND_COORDINATOR, 0, 6, error_response=error_response)
def find_coordinator(ctx: RequestContext, request: FindCoordinatorRequest) -> Outcome:
    if ctx.api_version < 4:
        node = _coordinator(ctx, request.key_type, request.key)
        return FindCoordinatorResponse(error_message="NONE", node_id=node.node_id, host=node.host, port=node.port)
    answers = []
    for key in paced(request.coordinator_keys, ctx.pace):
        try:
            node, code = _coordinator(ctx, request.key_type, key), ErrorCode.NONE
        except KafkaError as error:
            if request.key_type not in BY_KEY_TYPE:
                raise
            node, code = _NO_NODE, error.code
        answers.append(Coordinator(key, node.node_id, node.host, node.port, code, ""))
    return FindCoordinatorResponse(coordinators=answers)


def _coordinator(ctx: RequestContext, key_type: int, key: str) -> Endpoint:
    """The node that coordinates the key. Raises INVALID_REQUEST, COORDINATOR_NOT_AVAILABLE."""
    name = BY_KEY_TYPE.get(key_type)
    if name is None or (key_type == _SHARE and ctx.api_version < 6):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    if key_type == _SHARE and not is_share_key(key):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    cluster = ctx.state.cluster
    topic = cluster.topic(name) or auto_create(ctx.state, name)
    node = None
    if topic is not None:
        partition = partition_for(key, len(topic.partitions))
        node = cluster.node_seen_from(ctx.listener, topic.partitions[partition].leader)
    if node is None:
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return node


def is_share_key(key: str) -> bool:
    """Whether a key is `group:topic id:partition`, the group not blank. Kafka: SharePartitionKey.getInstance."""
    group, _, rest = key.rstrip(":").rpartition(":")
    group, _, topic_id = group.rpartition(":")
    if not group.strip() or not fullmatch(r"[+-]?\d{1,4000}", rest) or not -(2**31) <= int(rest) < 2**31:
        return False
    # 16 bytes of base64url are 22 characters; the padding may be left out, not halved.
    return fullmatch(r"[A-Za-z0-9_-]{22}(==)?", topic_id) is not None

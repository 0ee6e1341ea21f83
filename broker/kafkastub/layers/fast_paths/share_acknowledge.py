"""ShareAcknowledge, straight from the frame to the answer's bytes: of one partition, in the member's session.

What is said is done by `state.share_partitions.at_once`. Anything else is left to `k79_share_acknowledge`: nothing has
happened then.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.layers.fast_paths.contract import FastPath, IsClear, always_clear
from kafkastub.layers.fast_paths.share_requests import Members, TopicPartition, acknowledged
from kafkastub.state.broker_state import BrokerState
from kafkawire.codec import encode
from kafkawire.messages.share_acknowledge_request import (
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafkawire.messages.share_acknowledge_response import (
    PartitionData,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)

RENEW_FROM: Final = 2
"""From this version on a request says whether it renews, and the answer how long locks are."""
_REJECT: Final = 3
"""The highest type that is none of renewing."""
_MOST: Final = 1_000
"""Partitions whose answers are remembered."""
_epoch = Struct(">i").unpack_from


def fast_path(state: BrokerState, version: int, is_clear: IsClear = always_clear) -> FastPath:
    """The fast path for one version."""
    renews = version >= RENEW_FROM
    answers: dict[tuple[TopicPartition, int], bytes] = {}

    def is_clear_of(group_id: str, member_id: str, partition: TopicPartition) -> bool:
        topic = AcknowledgeTopic(partition[0], [AcknowledgePartition(partition[1])])
        return is_clear(ShareAcknowledgeRequest(group_id, member_id, topics=[topic]))

    members = Members(state, is_clear_of)

    def share_acknowledge(
        info: ConnectionInfo, data: bytes, body: int, end: int, broker_ms: int, timer_ms: int
    ) -> bytes | None:
        at = body + data[body]
        at += data[at]
        who, at_once = members.find(data[body:at]), members.at_once()
        if who is None or at_once is None:
            return None
        topics = at + 4
        if renews:
            if data[topics]:
                return None
            topics += 1
        said = acknowledged(data, topics, end - 1, _REJECT)
        epoch = _epoch(data, at)[0]
        if said is None or epoch <= 0 or data[end - 1]:
            return None
        partition, batches = said
        session = at_once.session(info.node_id, who.group_id, who.member_id, epoch)
        if session is None or partition not in session.partitions or not members.is_clear(who, partition):
            return None
        lock_ms = at_once.acknowledge(info.node_id, session, partition, batches, (broker_ms, timer_ms))
        if lock_ms is None:
            return None
        answer = answers.get((partition, lock_ms))
        if answer is None:
            if len(answers) >= _MOST:
                answers.clear()
            answer = answers[partition, lock_ms] = _answer(partition, lock_ms, version)
        return answer

    return share_acknowledge


def _answer(partition: TopicPartition, lock_ms: int, version: int) -> bytes:
    topic_id, index = partition
    topics = [ShareAcknowledgeTopicResponse(topic_id, [PartitionData(partition_index=index)])]
    return encode(ShareAcknowledgeResponse(acquisition_lock_timeout_ms=lock_ms, responses=topics), version)

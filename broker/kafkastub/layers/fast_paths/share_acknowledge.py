"""ShareAcknowledge, straight from the frame to the answer's bytes: of one partition, in the member's session.

What is said is done by `state.sharing.at_once`. Anything else is left to `k79_share_acknowledge`: nothing has happened
then.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from kafkastub.layers.fast_paths.contract import FastPath, IsClear, always_clear
from kafkastub.layers.fast_paths.share_requests import Members, TopicPartition, acknowledged, is_open, names_end
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
_LOCK_AT: Final = 7
"""Where in an answer the duration of locks is."""
_MOST: Final = 1_000
"""Partitions whose answers are remembered."""
_epoch = Struct(">i").unpack_from
_lock = Struct(">i").pack


def fast_path(state: BrokerState, version: int, is_clear: IsClear = always_clear) -> FastPath:
    """The fast path for one version."""
    renews = version >= RENEW_FROM
    answers: dict[TopicPartition, bytes] = {}

    def is_clear_of(group_id: str, member_id: str, partition: TopicPartition) -> bool:
        topic = AcknowledgeTopic(partition[0], [AcknowledgePartition(partition[1])])
        return is_clear(ShareAcknowledgeRequest(group_id, member_id, topics=[topic]))

    members = Members(is_clear_of)

    def share_acknowledge(
        node_id: int, data: bytes, body: int, end: int, broker_ms: int, timer_ms: int
    ) -> bytes | None:
        at = names_end(data, body)
        if not at or end - at < _LOCK_AT or data[end - 1] or not is_open(state):
            return None
        epoch = _epoch(data, at)[0]
        topics = at + 4
        if renews:
            if data[topics]:
                return None
            topics += 1
        said = acknowledged(data, topics, end - 1, _REJECT)
        if said is None or epoch <= 0:
            return None
        who = members.find(data[body:at])
        if who is None:
            return None
        partition, batches = said
        at_once = state.sharing.at_once
        session = at_once.session(node_id, who.group_id, who.member_id, epoch)
        if session is None or partition not in session.partitions or not members.is_clear(who, partition):
            return None
        lock_ms = at_once.acknowledge(node_id, session, partition, batches, (broker_ms, timer_ms))
        if lock_ms is None:
            return None
        answer = answers.get(partition)
        if answer is None:
            if len(answers) >= _MOST:
                answers.clear()
            answer = answers[partition] = _answer(partition, version)
        return answer[:_LOCK_AT] + _lock(lock_ms) + answer[_LOCK_AT + 4 :] if renews else answer

    return share_acknowledge


def _answer(partition: TopicPartition, version: int) -> bytes:
    topic_id, index = partition
    topics = [ShareAcknowledgeTopicResponse(topic_id, [PartitionData(partition_index=index)])]
    return encode(ShareAcknowledgeResponse(responses=topics), version)

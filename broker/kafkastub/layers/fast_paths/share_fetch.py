"""ShareFetch, straight from the frame to the answer's bytes: in a session with one partition, where there is something.

With it comes, as a consumer does it, what is said of the records before. What is done `state.sharing.at_once` has.
Anything else is left to `k78_share_fetch`: nothing has happened then.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from kafkastub.layers.fast_paths.contract import FastPath, IsClear, always_clear
from kafkastub.layers.fast_paths.share_requests import Members, TopicPartition, acknowledged, is_open
from kafkastub.state.broker_state import BrokerState
from kafkawire.codec import encode
from kafkawire.codec.varint import uvarint
from kafkawire.messages.share_fetch_request import FetchPartition, FetchTopic, ShareFetchRequest
from kafkawire.messages.share_fetch_response import PartitionData, ShareFetchableTopicResponse, ShareFetchResponse

MODES_FROM: Final = 2
"""From this version on a request has an acquire mode, and may renew locks."""
_ACCEPT: Final = 1
_MOST: Final = 1_000
"""Partitions whose answers are remembered."""
_asked = Struct(">iiiiii")
"""Epoch, longest wait, minimum and maximum of bytes, records, batch size."""
_acquired = Struct(">qqhB").pack
_NO_TOPICS: Final = b"\1"
_END: Final = b"\1\0"
"""Of a request: no partitions that are forgotten, no tags."""
_NOTHING: Final = b"\1\1"
_TAIL: Final = b"\0\0\1\0"
"""Of an answer: the tags of partition and topic, no endpoints, no tags."""


def fast_path(state: BrokerState, version: int, is_clear: IsClear = always_clear) -> FastPath:
    """The fast path for one version."""
    has_mode = version >= MODES_FROM
    size = _asked.size + 2 if has_mode else _asked.size
    unpack = _asked.unpack_from
    answers: dict[tuple[TopicPartition, int], bytes] = {}

    def is_clear_of(group_id: str, member_id: str, partition: TopicPartition) -> bool:
        topic = FetchTopic(partition[0], [FetchPartition(partition[1])])
        return is_clear(ShareFetchRequest(group_id, member_id, topics=[topic]))

    members = Members(is_clear_of)

    def share_fetch(node_id: int, data: bytes, body: int, end: int, broker_ms: int, timer_ms: int) -> bytes | None:
        at = body + data[body]
        at += data[at]
        who = members.find(data[body:at])
        if who is None or not is_open(state):
            return None
        topics = at + size
        said = None
        if data[topics:end] != _NO_TOPICS + _END:
            said = acknowledged(data, topics, end - len(_END), _ACCEPT)
            if said is None or data[end - len(_END) : end] != _END:
                return None
        epoch, _, *asked = unpack(data, at)
        mode = 0
        if has_mode:
            mode = data[topics - 2]
            if mode > 1 or data[topics - 1]:
                return None
        at_once = state.sharing.at_once
        session = at_once.session(node_id, who.group_id, who.member_id, epoch) if epoch > 0 else None
        if session is None or len(session.partitions) != 1:
            return None
        (partition,) = session.partitions
        if not members.is_clear(who, partition):
            return None
        got = at_once.fetch(node_id, session, partition, (*asked, mode), said, (broker_ms, timer_ms))
        if got is None:
            return None
        lock_ms, records, acquired = got
        answer = answers.get((partition, lock_ms))
        if answer is None:
            if len(answers) >= _MOST:
                answers.clear()
            answer = answers[partition, lock_ms] = _answer(partition, lock_ms, version)
        chunks = (records,) if isinstance(records, bytes | memoryview) else records
        told = [_acquired(first, last, count, 0) for first, last, count in acquired]
        return b"".join((answer, uvarint(sum(map(len, chunks)) + 1), *chunks, uvarint(len(told) + 1), *told, _TAIL))

    return share_fetch


def _answer(partition: TopicPartition, lock_ms: int, version: int) -> bytes:
    """An answer up to its records."""
    topic_id, index = partition
    topics = [ShareFetchableTopicResponse(topic_id, [PartitionData(partition_index=index, records=b"")])]
    whole = encode(ShareFetchResponse(acquisition_lock_timeout_ms=lock_ms, responses=topics), version)
    assert whole.endswith(_NOTHING + _TAIL)
    return whole[: -len(_NOTHING + _TAIL)]

"""ShareFetch, straight from the frame to the answer's bytes: in a session with one partition, where there is something.

With it comes, as a consumer does it, what is said of the records before. What is done `state.share_partitions.at_once`
has. Anything else is left to `k78_share_fetch`: nothing has happened then.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import TYPE_CHECKING, Final

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.layers.fast_paths.contract import FastPath, IsClear, always_clear
from kafkastub.layers.fast_paths.share_requests import Members, TopicPartition, acknowledged
from kafkastub.state.broker_state import BrokerState
from kafkawire.codec import encode
from kafkawire.codec.varint import uvarint
from kafkawire.messages.share_fetch_request import FetchPartition, FetchTopic, ShareFetchRequest
from kafkawire.messages.share_fetch_response import PartitionData, ShareFetchableTopicResponse, ShareFetchResponse

if TYPE_CHECKING:
    from kafkastub.share_partitions.log_batches import Acquired
    from kafkastub.state.share_partitions.at_once import FetchLimits

MODES_FROM: Final = 2
"""From this version on a request has an acquire mode, and may renew locks."""
_ACCEPT: Final = 1
_MOST: Final = 1_000
"""Partitions whose answers are remembered; and of what is asked for."""
_epoch = Struct(">i").unpack_from
_asked = Struct(">iiiii")
"""Behind the epoch: longest wait, minimum and maximum of bytes, records, batch size."""
_acquired = Struct(">qqhB").pack
_one = Struct(">BqqhB").pack
_END: Final = b"\1\0"
"""Of a request: no partitions that are forgotten, no tags."""
_NOTHING_SAID: Final = b"\1" + _END
"""No topics before that."""
_NOTHING: Final = b"\1\1"
_TAIL: Final = b"\0\0\1\0"
"""Of an answer: the tags of partition and topic, no endpoints, no tags."""


def fast_path(state: BrokerState, version: int, is_clear: IsClear = always_clear) -> FastPath:
    """The fast path for one version."""
    has_mode = version >= MODES_FROM
    size = 4 + _asked.size + (2 if has_mode else 0)
    """Bytes from the epoch to the topics."""
    wanted: dict[bytes, FetchLimits | None] = {}
    answers: dict[tuple[TopicPartition, int], bytes] = {}

    def is_clear_of(group_id: str, member_id: str, partition: TopicPartition) -> bool:
        topic = FetchTopic(partition[0], [FetchPartition(partition[1])])
        return is_clear(ShareFetchRequest(group_id, member_id, topics=[topic]))

    members = Members(state, is_clear_of)

    def share_fetch(
        info: ConnectionInfo, data: bytes, body: int, end: int, broker_ms: int, timer_ms: int
    ) -> bytes | None:
        at = body + data[body]
        at += data[at]
        who, at_once = members.find(data[body:at]), members.at_once()
        if who is None or at_once is None:
            return None
        epoch, topics = _epoch(data, at)[0], at + size
        raw = data[at + 4 : topics]
        asked = wanted.get(raw)
        if asked is None:
            if raw in wanted:
                return None
            if len(wanted) >= _MOST:
                wanted.clear()
            asked = wanted[raw] = _asked_for(raw, has_mode)
            if asked is None:
                return None
        said = None
        if data[topics:end] != _NOTHING_SAID:
            said = acknowledged(data, topics, end - 2, _ACCEPT)
            if said is None or data[end - 2 : end] != _END:
                return None
        session = at_once.session(info.node_id, who.group_id, who.member_id, epoch) if epoch > 0 else None
        if session is None or len(session.partitions) != 1:
            return None
        (partition,) = session.partitions
        if not members.is_clear(who, partition):
            return None
        got = at_once.fetch(info.node_id, session, partition, asked, said, (broker_ms, timer_ms))
        if got is None:
            return None
        lock_ms, chunks, acquired = got
        answer = answers.get((partition, lock_ms))
        if answer is None:
            if len(answers) >= _MOST:
                answers.clear()
            answer = answers[partition, lock_ms] = _answer(partition, lock_ms, version)
        if len(acquired) == 1:
            first, last, count = acquired[0]
            told = _one(2, first, last, count, 0)
        else:
            told = _told(acquired)
        return b"".join((answer, uvarint(sum(map(len, chunks)) + 1), *chunks, told, _TAIL))

    return share_fetch


def _asked_for(raw: bytes, has_mode: bool) -> FetchLimits | None:
    """What stands between epoch and topics; None for what is for the handler."""
    if len(raw) < _asked.size + (2 if has_mode else 0):
        return None
    _, *asked = _asked.unpack_from(raw)
    min_bytes, max_bytes, max_records, batch_size = asked
    mode, renews = raw[_asked.size :] if has_mode else (0, 0)
    return None if mode > 1 or renews else (min_bytes, max_bytes, max_records, batch_size, mode)


def _told(acquired: Sequence[Acquired]) -> bytes:
    """The list of what was acquired."""
    return b"".join((uvarint(len(acquired) + 1), *(_acquired(*each, 0) for each in acquired)))


def _answer(partition: TopicPartition, lock_ms: int, version: int) -> bytes:
    """An answer up to its records."""
    topic_id, index = partition
    topics = [ShareFetchableTopicResponse(topic_id, [PartitionData(partition_index=index, records=b"")])]
    whole = encode(ShareFetchResponse(acquisition_lock_timeout_ms=lock_ms, responses=topics), version)
    assert whole.endswith(_NOTHING + _TAIL)
    return whole[: -len(_NOTHING + _TAIL)]

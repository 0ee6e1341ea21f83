"""OffsetCommit, straight from the frame to the answer's bytes: what a consumer commits over and over.

Its requests differ in nothing but offsets and leader epochs. So everything before the partitions is decoded once, by
the codec, and known again by its bytes; and as long as all is committed the answer is the same, encoded once. What is
checked and done each time is what the coordinator checks and does: nothing of it is remembered.

Only versions 8 to 10, one topic, and neighbouring partitions without metadata; and only what is committed without any
error. Anything else is left to `k08_offset_commit`: nothing has happened then.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from kafkastub.coordinator.commits import commit_run
from kafkastub.handlers.context import ConnectionInfo
from kafkastub.layers.fast_paths.contract import FastPath, IsClear, always_clear
from kafkastub.state.broker_state import BrokerState
from kafkawire.codec import encode, fast_decoder
from kafkawire.errors import KafkaError
from kafkawire.messages.offset_commit_request import OffsetCommitRequest, OffsetCommitRequestPartition
from kafkawire.messages.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafkawire.rows import Run

FLEXIBLE_FROM: Final = 8
TOPIC_IDS_FROM: Final = 10
_LONGEST: Final = 300
"""Bytes of a beginning that is remembered."""
_MOST_PLANS: Final = 1000
"""Beginnings that are remembered."""
_ROW: Final = b"\xff\xff\xff\xff" + bytes(12) + b"\xff\xff"
"""Of a partition (index, offset, leader epoch, metadata, tags): the bits that are the same in every request."""
_TAIL: Final = b"\xff\xff"
"""Behind the partitions: the topic's tags and the request's."""

from_bytes = int.from_bytes


class _Plan(NamedTuple):
    """What a request that begins so asks for, and how it is answered."""

    begin: bytes
    at: int
    """How long that is."""
    size: int
    """How many bytes follow it."""
    mask: int
    still: int
    """What these bytes are under the mask, as a number."""
    request: OffsetCommitRequest
    """Whatever it says of partitions is another request's."""
    name: str
    topic_id: bytes
    run: Run[OffsetCommitRequestPartition]
    end: int
    """Behind the last partition's index."""
    answer: bytes


def fast_path(state: BrokerState, version: int, is_clear: IsClear = always_clear) -> FastPath | None:
    """The fast path for one version; None where there is none."""
    if version < FLEXIBLE_FROM:
        return None
    plans: dict[bytes, _Plan | None] = {}
    last: _Plan | None = None
    cluster, by_id = state.cluster, version >= TOPIC_IDS_FROM

    def find(data: bytes, body: int, end: int) -> _Plan | None:
        # Where the partitions are, if the request begins as one with short names and one topic does.
        at = body + data[body] + 4  # behind group and generation,
        at += data[at]  # the member,
        at += data[at] or 1  # the instance,
        at += 18 if by_id else 2 + data[at + 1]  # the count of topics, the topic, and the count of partitions
        begin = data[body:at]
        plan = plans.get(begin)
        if plan is None and begin not in plans and 0 < len(begin) <= _LONGEST:
            if len(plans) >= _MOST_PLANS:
                plans.clear()
            plan = plans[begin] = _planned(data[body:end], len(begin), version, is_clear)
        return plan

    def commit(info: ConnectionInfo, data: bytes, body: int, end: int, broker_ms: int, timer_ms: int) -> bytes | None:
        nonlocal last
        plan = last
        if plan is None or data[body : body + plan.at] != plan.begin:
            plan = find(data, body, end)
            if plan is None:
                return None
            last = plan
        _, at, size, mask, still, request, name, topic_id, like, behind, answer = plan
        rows = data[body + at : end]
        if len(rows) != size or from_bytes(rows, "big") & mask != still:
            return None
        topic = cluster.topic_by_id(topic_id) if by_id else cluster.topics.get(name)
        coordinator = state.serving
        if (
            topic is None
            or coordinator is None
            or coordinator.unseen
            or coordinator.unpublished
            or behind > len(topic.partitions)
        ):
            return None
        run = like.with_rows(rows)
        try:
            record = commit_run(coordinator, request, topic.name, topic.topic_id, run, version, broker_ms, timer_ms)
        except KafkaError:
            return None
        if record is None:
            return None
        offsets = state.offsets_topic
        offsets.write_commit(record, run.size)
        if offsets.watched or state.group_watchers:
            try:
                state.tell_watchers()
            except Exception:  # it is not this request's trouble: that is done, and must not be done again
                state.log.exception("who waited for a commit cannot be told", group=request.group_id)
        return answer

    return commit


def _planned(whole: bytes, at: int, version: int, is_clear: IsClear) -> _Plan | None:
    """The plan for requests that are as this one up to `at`; None where they are for the handler."""
    try:
        request, stop = fast_decoder(OffsetCommitRequest, version)(whole, 0, len(whole))
    except Exception:
        return None
    assert isinstance(request, OffsetCommitRequest)
    if stop != len(whole) or not request.group_id or len(request.topics) != 1:
        return None
    (topic,) = request.topics
    run, rows = topic.partitions, whole[at:]
    if not isinstance(run, Run) or len(rows) != run.size * len(_ROW) + len(_TAIL) or not rows.endswith(b"\0\0"):
        return None
    if not is_clear(request):
        return None
    request.topics = []
    mask, end = from_bytes(_ROW * run.size + _TAIL, "big"), run.first + run.size
    committed = [OffsetCommitResponsePartition(index) for index in range(run.first, end)]
    answer = OffsetCommitResponse(topics=[OffsetCommitResponseTopic(topic.name, topic.topic_id, committed)])
    return _Plan(
        whole[:at],
        at,
        len(rows),
        mask,
        from_bytes(rows, "big") & mask,
        request,
        topic.name,
        topic.topic_id,
        run,
        end,
        encode(answer, version),
    )

"""The errors in an answer are counted in one go, and piece by piece alike."""

from __future__ import annotations

import pytest

from kafkastub.journal.extract import error_steps, error_tally
from kafkastub.steps import a_part, at_once
from kafkawire.errors import ErrorCode
from kafkawire.messages.create_topics_response import CreateTopicsResponse
from kafkawire.messages.heartbeat_response import HeartbeatResponse
from kafkawire.messages.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafkawire.messages.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kafkawire.schema import Message

COUNT = 1000

PRODUCED = ProduceResponse(
    [TopicProduceResponse(f"t{n}", partition_responses=[PartitionProduceResponse(n, n % 3)]) for n in range(COUNT)]
)
COMMITTED = OffsetCommitResponse(
    topics=[
        OffsetCommitResponseTopic("t", partitions=[OffsetCommitResponsePartition(n, n % 2) for n in range(COUNT)]),
        OffsetCommitResponseTopic("empty"),
    ]
)


@pytest.mark.parametrize(
    ("answer", "version", "counts"),
    [
        (PRODUCED, 9, {0: 334, 1: 333, 2: 333}),
        (COMMITTED, 9, {0: 500, 1: 500}),
        (HeartbeatResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID), 4, {ErrorCode.UNKNOWN_MEMBER_ID: 1}),
        (CreateTopicsResponse(), 7, {}),
    ],
    ids=["Produce", "OffsetCommit", "Heartbeat", "CreateTopics"],
)
def test_both_ways_count_the_same(answer: Message, version: int, counts: dict[int, int]) -> None:
    of = type(answer)
    assert error_tally(of, version)(answer) == counts
    assert at_once(error_steps(of, version)(answer)) == counts


def test_what_counts_is_made_once_for_a_version() -> None:
    """Somebody looks at thousands of entries, and to make it takes longer than to use it."""
    assert error_tally(HeartbeatResponse, 3) is error_tally(HeartbeatResponse, 3)
    assert error_tally(HeartbeatResponse, 3) is not error_tally(HeartbeatResponse, 4)


def test_a_large_answer_is_counted_piece_by_piece() -> None:
    steps = error_steps(ProduceResponse, 9)(PRODUCED)
    pieces = 1
    while (found := a_part(steps, 100)) is None:
        pieces += 1
    assert found[0] == {0: 334, 1: 333, 2: 333}
    assert pieces > COUNT // 100

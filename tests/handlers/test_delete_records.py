"""DeleteRecords: the log start offset moves, or says why not."""

from __future__ import annotations

import pytest

from kafkawire.errors import ErrorCode
from kafkawire.messages.delete_records_request import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from kafkawire.messages.delete_records_response import DeleteRecordsResponse
from tests.handlers.desk import Desk, batch


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.topic()
    desk.fill(batch(b"a", b"b", b"c"), batch(b"d"))
    return desk


def ask(
    desk: Desk, *offsets: int, topic: str = "orders", partition: int = 0, version: int = 2
) -> list[tuple[int, int]]:
    """(error code, low watermark) of each partition in the answer."""
    asked = [DeleteRecordsPartition(partition_index=partition, offset=offset) for offset in offsets]
    request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=topic, partitions=asked)], timeout_ms=1000)
    (answer,) = desk.ask(version, request, DeleteRecordsResponse).topics
    return [(one.error_code, one.low_watermark) for one in answer.partitions]


@pytest.mark.behaviour("DR-1")
def test_the_log_start_moves_up_and_never_back(desk: Desk):
    for version, (offset, start) in enumerate([(2, 2), (1, 2), (4, 4)]):
        assert ask(desk, offset, version=version) == [(ErrorCode.NONE, start)]


@pytest.mark.behaviour("DR-1")
def test_records_get_their_offsets_as_before(desk: Desk):
    ask(desk, -1)
    assert desk.produce(batch()).base_offset == 4
    assert desk.produce(batch()).log_start_offset == 4


@pytest.mark.behaviour("DR-2")
def test_everything_goes(desk: Desk):
    assert ask(desk, -1) == [(ErrorCode.NONE, 4)]


@pytest.mark.behaviour("DR-3")
@pytest.mark.parametrize("offset", [5, -2])
def test_out_of_range(desk: Desk, offset: int):
    assert ask(desk, offset) == [(ErrorCode.OFFSET_OUT_OF_RANGE, -1)]


@pytest.mark.behaviour("DR-4")
def test_what_does_not_exist(desk: Desk):
    unknown = [(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)]
    assert ask(desk, 0, topic="nope") == ask(desk, 0, partition=1) == unknown


@pytest.mark.behaviour("DR-5")
def test_a_topic_that_only_compacts_keeps_its_records(desk: Desk):
    desk.topic("compacted", cleanup_policy="compact")
    desk.topic("both", cleanup_policy="compact,delete")
    assert ask(desk, 0, topic="compacted") == [(ErrorCode.POLICY_VIOLATION, -1)]
    assert ask(desk, 0, topic="both") == [(ErrorCode.NONE, 0)]


@pytest.mark.behaviour("DR-6")
def test_internal_topics_are_the_brokers_own(desk: Desk):
    desk.topic("__consumer_offsets")
    assert ask(desk, 0, topic="__consumer_offsets") == [(ErrorCode.INVALID_TOPIC_EXCEPTION, -1)]


@pytest.mark.behaviour("DR-7")
def test_a_partition_named_twice(desk: Desk):
    assert ask(desk, 3, 1) == [(ErrorCode.NONE, 1)]

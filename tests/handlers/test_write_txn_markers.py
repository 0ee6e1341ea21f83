"""WriteTxnMarkers: who may end a transaction in a partition, and what it is told."""

from __future__ import annotations

import pytest

from kafkastub.state.topics import ensure_offsets_topic
from kafkawire.errors import ErrorCode
from kafkawire.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kafkawire.messages.write_txn_markers_response import WriteTxnMarkersResponse
from tests.handlers.desk import Desk
from tests.transactions.desk import Writer, committed, log, stable_to

NONE, UNKNOWN = ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
FENCED, OTHER_COORDINATOR = ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.topic("orders", 3)
    return desk


def marker(
    producer_id: int,
    epoch: int = 0,
    commit: bool = True,
    coordinator_epoch: int = 0,
    version: int = 0,
    **topics: list[int],
) -> WritableTxnMarker:
    asked = [WritableTxnMarkerTopic(name, indexes) for name, indexes in (topics or {"orders": [0]}).items()]
    return WritableTxnMarker(producer_id, epoch, commit, asked, coordinator_epoch, version)


def mark(desk: Desk, *markers: WritableTxnMarker, version: int = 2) -> dict[int, dict[str, dict[int, int]]]:
    """The error codes, by producer id, topic and partition."""
    answer = desk.ask(version, WriteTxnMarkersRequest(markers), WriteTxnMarkersResponse)
    return {
        one.producer_id: {
            topic.name: {each.partition_index: each.error_code for each in topic.partitions} for topic in one.topics
        }
        for one in answer.markers
    }


@pytest.mark.behaviour("WM-1")
@pytest.mark.parametrize("version", [1, 2])
def test_a_marker_ends_a_transaction_whoever_sends_it(desk: Desk, version: int):
    producer = Writer(desk)
    producer.write(b"a")
    assert mark(desk, marker(producer.id, commit=False), version=version) == {producer.id: {"orders": {0: NONE}}}
    assert (committed(desk), stable_to(desk)) == ([], 2)
    assert producer.state == "Ongoing"


@pytest.mark.behaviour("WM-1")
def test_a_marker_of_no_transaction_stands_for_itself(desk: Desk):
    assert mark(desk, marker(7, orders=[1, 2])) == {7: {"orders": {1: NONE, 2: NONE}}}
    assert [log(desk, partition=index).high_watermark for index in range(3)] == [0, 1, 1]


@pytest.mark.behaviour("WM-2")
def test_in_consumer_offsets_too(desk: Desk):
    ensure_offsets_topic(desk.state)
    assert mark(desk, marker(7, __consumer_offsets=[3, 99])) == {7: {"__consumer_offsets": {3: NONE, 99: UNKNOWN}}}
    assert log(desk, "__consumer_offsets", 3).high_watermark == 1


@pytest.mark.behaviour("WM-3")
def test_what_is_not_there_disturbs_nobody(desk: Desk):
    assert mark(desk, marker(7, orders=[0, 9], none=[0])) == {
        7: {"orders": {0: NONE, 9: UNKNOWN}, "none": {0: UNKNOWN}}
    }


@pytest.mark.behaviour("WM-3")
def test_what_another_node_leads():
    desk = Desk(nodes=2)
    topic = desk.topic("orders", 2)
    codes = {one.index: NONE if one.leader == 1 else UNKNOWN for one in topic.partitions}
    assert mark(desk, marker(7, orders=[0, 1])) == {7: {"orders": codes}}


@pytest.mark.behaviour("WM-4")
def test_who_is_fenced(desk: Desk):
    def told(epoch: int, coordinator_epoch: int, version: int = 0) -> int:
        return mark(desk, marker(7, epoch, True, coordinator_epoch, version))[7]["orders"][0]

    assert [told(3, 2), told(2, 2), told(4, 1), told(3, 2), told(4, 3)] == [NONE, FENCED, OTHER_COORDINATOR, NONE, NONE]


@pytest.mark.behaviour("WM-4")
@pytest.mark.parametrize(("version", "code"), [(1, NONE), (2, FENCED)])
def test_an_epoch_that_was_not_raised(desk: Desk, version: int, code: int):
    producer = Writer(desk)
    producer.write(b"a")
    assert mark(desk, marker(producer.id, version=version))[producer.id]["orders"][0] == code


@pytest.mark.behaviour("WM-5")
def test_each_producer_is_told_once(desk: Desk):
    assert mark(desk) == {}
    assert mark(desk, WritableTxnMarker(7, 0, True, [], 0, 0)) == {}
    two = mark(desk, marker(7), marker(8), marker(7, orders=[1], none=[0]))
    assert two == {7: {"orders": {0: NONE, 1: NONE}, "none": {0: UNKNOWN}}, 8: {"orders": {0: NONE}}}


@pytest.mark.behaviour("WM-6")
@pytest.mark.parametrize(("producer_id", "epoch"), [(-1, 0), (7, -1)])
def test_nobodys_marker(desk: Desk, producer_id: int, epoch: int):
    code = ErrorCode.UNKNOWN_SERVER_ERROR
    answer = mark(desk, marker(8), marker(producer_id, epoch))
    assert answer == {8: {"orders": {0: code}}, producer_id: {"orders": {0: code}}}

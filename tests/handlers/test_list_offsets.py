"""ListOffsets: special timestamps, searches by time, errors."""

from __future__ import annotations

import pytest

from kafkawire.errors import ErrorCode
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.list_offsets_response import ListOffsetsResponse
from kafkawire.records import Compression
from tests.handlers.desk import Desk, altered, batch

NOTHING = (ErrorCode.NONE, -1, -1, -1)


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.topic()
    return desk


def ask(
    desk: Desk,
    timestamp: int,
    version: int = 11,
    topic: str = "orders",
    partition: int = 0,
    epoch: int = -1,
    isolation: int = 0,
) -> tuple[int, int, int, int]:
    """(error code, timestamp, offset, leader epoch)"""
    asked = ListOffsetsPartition(partition_index=partition, current_leader_epoch=epoch, timestamp=timestamp)
    request = ListOffsetsRequest(
        replica_id=-1, isolation_level=isolation, topics=[ListOffsetsTopic(name=topic, partitions=[asked])]
    )
    answer = desk.ask(version, request, ListOffsetsResponse).topics[0].partitions[0]
    return answer.error_code, answer.timestamp, answer.offset, answer.leader_epoch


def times(desk: Desk) -> None:
    """Records at 1000, 1001, 1002 | 1100, 1101 | 5000, 5001 | 1200, each with offsets from 0 on."""
    desk.fill(batch(b"a", b"b", b"c", timestamp=1000), batch(b"d", b"e", timestamp=1100, compression=Compression.GZIP))
    desk.fill(batch(b"f", b"g", timestamp=5000, compression=Compression.LZ4), batch(b"h", timestamp=1200))


@pytest.mark.behaviour("LO-1")
def test_earliest_and_latest(desk: Desk):
    assert ask(desk, -2) == ask(desk, -1) == (0, -1, 0, 0)
    times(desk)
    assert ask(desk, -2) == (0, -1, 0, 0)
    assert ask(desk, -1) == (0, -1, 8, 0)


@pytest.mark.behaviour("LO-2")
@pytest.mark.parametrize(
    ("timestamp", "found"),
    [(0, (1000, 0)), (1001, (1001, 1)), (1003, (1100, 3)), (1101, (1101, 4)), (1102, (5000, 5)), (5001, (5001, 6))],
)
def test_the_first_record_that_is_late_enough(desk: Desk, timestamp: int, found: tuple[int, int]):
    times(desk)
    assert ask(desk, timestamp) == (0, *found, 0)


@pytest.mark.behaviour("LO-2")
def test_no_record_is_late_enough(desk: Desk):
    assert ask(desk, 0) == NOTHING
    times(desk)
    assert ask(desk, 5002) == NOTHING


@pytest.mark.behaviour("LO-2")
def test_a_search_never_meets_a_batch_that_only_claims_to_be_late(desk: Desk):
    late = altered(batch(b"a", timestamp=1000, compression=Compression.GZIP), max_timestamp=2000)
    desk.fill(late, batch(b"b", timestamp=1500))
    assert ask(desk, 1500) == (0, 1500, 1, 0)


@pytest.mark.behaviour("LO-3")
def test_the_largest_timestamp(desk: Desk):
    assert ask(desk, -3) == NOTHING
    times(desk)
    assert ask(desk, -3) == (0, 5001, 6, 0)
    desk.fill(batch(b"a", timestamp=5001))
    assert ask(desk, -3) == (0, 5001, 6, 0)


@pytest.mark.behaviour("LO-3")
def test_the_largest_timestamp_where_the_broker_stamps():
    desk = Desk()
    desk.topic(message_timestamp_type="LogAppendTime")
    desk.fill(batch(b"a", b"b"), batch(b"c", b"d"))
    assert ask(desk, -3) == (0, desk.broker_ms, 0, 0)


@pytest.mark.behaviour("LO-4")
def test_the_earliest_local_offset(desk: Desk):
    times(desk)
    assert ask(desk, -4) == (0, -1, 0, 0)


@pytest.mark.behaviour("LO-5")
@pytest.mark.parametrize("timestamp", [-5, -6])
def test_nothing_is_tiered(desk: Desk, timestamp: int):
    times(desk)
    assert ask(desk, timestamp) == NOTHING


@pytest.mark.behaviour("LO-6")
@pytest.mark.parametrize(("timestamp", "since"), [(-3, 7), (-4, 8), (-5, 9), (-6, 11), (-7, 99)])
def test_special_timestamps_came_with_their_versions(desk: Desk, timestamp: int, since: int):
    for version in range(1, 12):
        expected = ErrorCode.NONE if version >= since else ErrorCode.UNSUPPORTED_VERSION
        assert ask(desk, timestamp, version)[0] == expected


@pytest.mark.behaviour("LO-7")
def test_what_does_not_exist(desk: Desk):
    unknown = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1, -1)
    assert ask(desk, -1, topic="nope") == ask(desk, -1, partition=1) == unknown


@pytest.mark.behaviour("LO-8")
def test_the_clients_leader_epoch_has_to_be_the_partitions(desk: Desk):
    topic = desk.state.cluster.topic("orders")
    assert topic is not None
    topic.partitions[0].leader_epoch = 1
    assert ask(desk, -1, epoch=0)[0] == ErrorCode.FENCED_LEADER_EPOCH
    assert ask(desk, -1, epoch=1)[0] == ErrorCode.NONE
    assert ask(desk, -1, epoch=2)[0] == ErrorCode.UNKNOWN_LEADER_EPOCH


@pytest.mark.behaviour("LO-9")
def test_the_leader_epoch_of_what_was_found(desk: Desk):
    desk.fill(batch(b"a", timestamp=1000))
    topic = desk.state.cluster.topic("orders")
    assert topic is not None
    log = desk.state.logs.log(topic.topic_id, 0)
    assert log is not None
    topic.partitions[0].leader_epoch = 4
    log.become_leader(4)
    desk.fill(batch(b"b", timestamp=2000))
    epochs = {timestamp: ask(desk, timestamp)[3] for timestamp in (-2, -1, -3, 0, 1500)}
    assert epochs == {-2: 0, -1: 4, -3: 4, 0: 0, 1500: 4}
    assert ask(desk, 1500, version=3) == (0, 2000, 1, -1)


@pytest.mark.behaviour("LO-10")
def test_a_partition_named_twice(desk: Desk):
    twice = [ListOffsetsPartition(timestamp=-1), ListOffsetsPartition(timestamp=-2)]
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name="orders", partitions=twice)])
    (answer,) = desk.ask(9, request, ListOffsetsResponse).topics[0].partitions
    assert (answer.error_code, answer.offset) == (ErrorCode.INVALID_REQUEST, -1)


@pytest.mark.behaviour("LO-11")
def test_isolation_levels(desk: Desk):
    times(desk)
    assert ask(desk, -1, isolation=1) == ask(desk, -1, isolation=0)
    assert ask(desk, -1, isolation=2) == (ErrorCode.UNKNOWN_SERVER_ERROR, -1, -1, -1)


@pytest.mark.behaviour("LO-12")
def test_what_was_deleted_is_not_found(desk: Desk):
    times(desk)
    topic = desk.state.cluster.topic("orders")
    assert topic is not None
    log = desk.state.logs.log(topic.topic_id, 0)
    assert log is not None
    log.delete_records_before(4)
    assert ask(desk, 0) == (0, 1101, 4, 0)
    assert ask(desk, -2) == (0, -1, 4, 0)

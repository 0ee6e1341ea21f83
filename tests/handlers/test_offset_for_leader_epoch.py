"""OffsetForLeaderEpoch."""

from __future__ import annotations

import pytest

from kafkawire.errors import ErrorCode
from kafkawire.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafkawire.messages.offset_for_leader_epoch_response import EpochEndOffset, OffsetForLeaderEpochResponse
from tests.handlers.desk import Desk, batch


@pytest.fixture
def desk() -> Desk:
    """Epoch 2 wrote offsets 0 to 2, epoch 5 offset 3."""
    desk = Desk()
    topic = desk.topic()
    log = desk.state.logs.log(topic.topic_id, 0)
    assert log is not None
    for epoch, values in ((2, (b"a", b"b", b"c")), (5, (b"d",))):
        topic.partitions[0].leader_epoch = epoch
        log.become_leader(epoch)
        desk.fill(batch(*values))
    log.delete_records_before(1)
    return desk


def ask(desk: Desk, epoch: int, current: int = -1, topic: str = "orders", partition: int = 0, version: int = 4):
    asked = OffsetForLeaderPartition(partition=partition, current_leader_epoch=current, leader_epoch=epoch)
    request = OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic(topic=topic, partitions=[asked, asked])])
    first, second = desk.ask(version, request, OffsetForLeaderEpochResponse).topics[0].partitions
    assert first == second
    return first


@pytest.mark.behaviour("LE-1")
@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize("epoch", [2, 3, 4])
def test_where_an_epoch_ended(desk: Desk, version: int, epoch: int):
    assert ask(desk, epoch, version=version) == EpochEndOffset(leader_epoch=2, end_offset=3)


@pytest.mark.behaviour("LE-2")
def test_the_current_epoch_and_those_to_come(desk: Desk):
    assert ask(desk, 5) == EpochEndOffset(leader_epoch=5, end_offset=4)
    assert ask(desk, 6) == ask(desk, -1) == EpochEndOffset(leader_epoch=-1, end_offset=-1)


@pytest.mark.behaviour("LE-3")
def test_an_epoch_before_all_others(desk: Desk):
    assert ask(desk, 1) == EpochEndOffset(leader_epoch=1, end_offset=1)


@pytest.mark.behaviour("LE-4")
def test_the_clients_leader_epoch_has_to_be_the_partitions(desk: Desk):
    assert ask(desk, 2, current=4) == EpochEndOffset(error_code=ErrorCode.FENCED_LEADER_EPOCH)
    assert ask(desk, 2, current=5).error_code == ErrorCode.NONE
    assert ask(desk, 2, current=6) == EpochEndOffset(error_code=ErrorCode.UNKNOWN_LEADER_EPOCH)


@pytest.mark.behaviour("LE-5")
def test_what_does_not_exist(desk: Desk):
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert ask(desk, 2, topic="nope") == EpochEndOffset(error_code=unknown)
    assert ask(desk, 2, partition=3) == EpochEndOffset(partition=3, error_code=unknown)


@pytest.mark.behaviour("LE-6")
def test_what_is_asked_twice_is_answered_twice(desk: Desk):
    asked = OffsetForLeaderTopic(topic="orders", partitions=[OffsetForLeaderPartition(leader_epoch=2)] * 2)
    answer = desk.ask(4, OffsetForLeaderEpochRequest(topics=[asked, asked]), OffsetForLeaderEpochResponse)
    assert [len(topic.partitions) for topic in answer.topics] == [2, 2]

"""InitializeShareGroupState, Read-, Write-, Delete- and ReadShareGroupStateSummary: what brokers ask each other."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub.metadata import SHARE_GROUP_STATE
from kafkastub.share_coordinator.records import ShareRecord
from kafkastub.state.topics import auto_create
from kafkawire.errors import ErrorCode
from kafkawire.messages import (
    delete_share_group_state_request as delete,
)
from kafkawire.messages import (
    initialize_share_group_state_request as initialize,
)
from kafkawire.messages import (
    read_share_group_state_request as read,
)
from kafkawire.messages import (
    read_share_group_state_summary_request as summary,
)
from kafkawire.messages import (
    write_share_group_state_request as write,
)
from kafkawire.messages.delete_share_group_state_response import DeleteShareGroupStateResponse
from kafkawire.messages.initialize_share_group_state_response import InitializeShareGroupStateResponse
from kafkawire.messages.read_share_group_state_response import ReadShareGroupStateResponse
from kafkawire.messages.read_share_group_state_summary_response import ReadShareGroupStateSummaryResponse
from kafkawire.messages.write_share_group_state_response import WriteShareGroupStateResponse
from tests.handlers.desk import Desk

Batch = tuple[int, int, int, int]
"""First and last offset, delivery state and count."""
NOT_READ = "Read operation on uninitialized share partition not allowed."
NOT_WRITTEN = "Write operation on uninitialized share partition not allowed."
FENCED_STATE = "The coordinator rejected the request because the state epoch did not match."
FENCED_LEADER = "The leader epoch in the request is older than the epoch on the broker."
NOBODYS = "This server does not host this topic-partition."


class Brokers(Desk):
    """Asks as other brokers do, about group "g" and topic "orders"."""

    def __init__(self, partitions: int = 3, nodes: int = 1, **config: object) -> None:
        super().__init__({name.replace("_", "."): value for name, value in config.items()}, nodes)
        self.topic_id = self.topic("orders", partitions).topic_id
        auto_create(self.state, SHARE_GROUP_STATE)

    def initialize(self, *wanted: tuple[int, int, int], group: str = "g") -> list[tuple[Any, ...]]:
        """(partition, state epoch, start offset) -> (partition, error, text)."""
        topic = initialize.InitializeStateData(self.topic_id, [initialize.PartitionData(*one) for one in wanted])
        request = initialize.InitializeShareGroupStateRequest(group, [topic])
        return errors(self.ask(0, request, InitializeShareGroupStateResponse))

    def read(self, *wanted: tuple[int, int], group: str = "g") -> list[Any]:
        """(partition, leader epoch) -> what is answered of each."""
        topic = read.ReadStateData(self.topic_id, [read.PartitionData(*one) for one in wanted])
        answer = self.ask(0, read.ReadShareGroupStateRequest(group, [topic]), ReadShareGroupStateResponse)
        return [one for result in answer.results for one in result.partitions]

    def batches(self, partition: int = 0, leader_epoch: int = 0) -> list[Batch]:
        (found,) = self.read((partition, leader_epoch))
        assert not found.error_code, found.error_message
        return [(b.first_offset, b.last_offset, b.delivery_state, b.delivery_count) for b in found.state_batches]

    def write(
        self,
        *batches: Batch,
        partition: int = 0,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        complete: int = 0,
        version: int = 1,
    ) -> tuple[Any, ...]:
        """(error, text)."""
        asked = write.PartitionData(
            partition, state_epoch, leader_epoch, start_offset, complete, [write.StateBatch(*one) for one in batches]
        )
        request = write.WriteShareGroupStateRequest("g", [write.WriteStateData(self.topic_id, [asked])])
        ((_, code, text),) = errors(self.ask(version, request, WriteShareGroupStateResponse))
        return code, text

    def forget(self, *partitions: int) -> list[tuple[Any, ...]]:
        topic = delete.DeleteStateData(self.topic_id, [delete.PartitionData(one) for one in partitions])
        return errors(self.ask(0, delete.DeleteShareGroupStateRequest("g", [topic]), DeleteShareGroupStateResponse))

    def records(self) -> list[ShareRecord]:
        """All that there are, in all of __share_group_state; of one share partition in order."""
        topic = self.state.share_partitions.coordinator.topic
        return [record for log in topic.logs for _, record in topic.kept(log)]

    def summary(self, *partitions: int, version: int = 1, group: str = "g") -> list[tuple[Any, ...]]:
        """(partition, error, text, state epoch, leader epoch, start offset, delivery complete count)."""
        topic = summary.ReadStateSummaryData(self.topic_id, [summary.PartitionData(one, 0) for one in partitions])
        request = summary.ReadShareGroupStateSummaryRequest(group, [topic])
        answer = self.ask(version, request, ReadShareGroupStateSummaryResponse)
        return [
            (
                one.partition,
                one.error_code,
                one.error_message,
                one.state_epoch,
                one.leader_epoch,
                one.start_offset,
                one.delivery_complete_count,
            )
            for result in answer.results
            for one in result.partitions
        ]


def errors(answer: Any) -> list[tuple[Any, ...]]:
    return [
        (one.partition, one.error_code, one.error_message) for result in answer.results for one in result.partitions
    ]


GOOD = (0, None)


@pytest.mark.behaviour("IS-1", "SS-1")
def test_what_is_initialised_is_known() -> None:
    brokers = Brokers()
    assert brokers.initialize((0, 5, 10), (2, 5, -1)) == [(0, 0, None), (2, 0, None)]
    assert brokers.summary(0, 2) == [(0, 0, None, 5, 0, 10, 0), (2, 0, None, 5, 0, -1, -1)]
    brokers.write((10, 14, 2, 1), state_epoch=5, start_offset=10, complete=5)
    brokers.initialize((0, 5, 3))
    assert brokers.batches() == []
    assert brokers.summary(0) == [(0, 0, None, 5, 0, 3, 0)]
    assert brokers.summary(0, version=0) == [(0, 0, None, 5, 0, 3, -1)]


@pytest.mark.behaviour("IS-2", "IS-3")
def test_what_cannot_be_initialised_is_told_beside_its_neighbours() -> None:
    brokers = Brokers()
    brokers.initialize((0, 5, 10))
    invalid = ErrorCode.INVALID_REQUEST
    assert brokers.initialize((-1, 0, 0), (0, 4, 0), (1, -1, 0), (2, 0, -7), (9, 0, 0)) == [
        (-1, invalid, "The partition id cannot be a negative number."),
        (0, ErrorCode.FENCED_STATE_EPOCH, FENCED_STATE),
        (1, invalid, "The state epoch cannot be a negative number."),
        (2, 0, None),
        (9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NOBODYS),
    ]
    assert brokers.summary(0, 1, 2) == [
        (0, 0, None, 5, 0, 10, 0),
        (1, 0, None, 0, 0, -1, -1),
        (2, 0, None, 0, 0, -7, 0),
    ]


@pytest.mark.behaviour("IS-4", "RS-4")
def test_each_partition_is_answered_once_in_the_order_of_maps() -> None:
    brokers = Brokers(40)
    wanted = [(one, 0, 0) for one in (17, 1, 33, 1, 16, 0)]
    assert [one[0] for one in brokers.initialize(*wanted)] == [16, 0, 17, 1, 33]
    assert brokers.initialize() == []
    assert brokers.initialize((0, 0, 0), group="") == []
    assert brokers.read((0, 0), group="") == []
    assert brokers.read() == []
    assert brokers.summary(0, group="") == []


@pytest.mark.behaviour("IS-5", "RS-5")
def test_only_the_leader_of_its_part_of_the_topic_knows_a_share_partition() -> None:
    brokers = Brokers(8, nodes=2)
    refusal = "Unable to {} share group state: This is not the correct coordinator."
    found: dict[int, set[int]] = {}
    for node_id in (1, 2):
        brokers.node_id = node_id
        for partition, code, text in brokers.initialize(*((one, 0, 0) for one in range(8))):
            assert (code, text) in (GOOD, (ErrorCode.NOT_COORDINATOR, refusal.format("initialize")))
            found.setdefault(partition, set()).add(code)
    assert all(codes == {0, ErrorCode.NOT_COORDINATOR} for codes in found.values())
    answers = [one for one in brokers.read(*((one, 0) for one in range(8))) if one.error_code]
    assert {(one.error_code, one.error_message) for one in answers} == {
        (ErrorCode.NOT_COORDINATOR, refusal.format("read"))
    }
    brokers.delete(SHARE_GROUP_STATE)
    assert [code for _, code, _ in brokers.initialize((0, 0, 0), (1, 0, 0))] == [ErrorCode.NOT_COORDINATOR] * 2


@pytest.mark.behaviour("RS-1", "WS-1", "WS-2")
def test_batches_are_put_over_those_that_are_known() -> None:
    brokers = Brokers()
    brokers.initialize((0, 5, 3))
    assert brokers.write((10, 14, 2, 1), state_epoch=6, start_offset=10) == GOOD
    assert brokers.write((6, 12, 0, 1), (5, 7, 4, 1), state_epoch=5, start_offset=5, complete=9) == GOOD
    assert brokers.batches() == [(10, 14, 2, 1)]
    assert brokers.summary(0) == [(0, 0, None, 5, 0, 10, 0)]
    assert brokers.write((15, 25, 4, 2), (20, 20, 2, 3), state_epoch=5, start_offset=20, complete=4) == GOOD
    assert brokers.batches() == [(20, 20, 2, 3), (21, 25, 4, 2)]
    assert brokers.write(state_epoch=5, start_offset=20, complete=2) == GOOD
    assert brokers.summary(0) == [(0, 0, None, 5, 0, 20, 4)]
    assert brokers.write(state_epoch=5, start_offset=30, version=0) == GOOD
    assert brokers.summary(0) == [(0, 0, None, 5, 0, 30, -1)]


@pytest.mark.behaviour("RS-2", "WS-3")
def test_who_comes_with_an_older_epoch_is_fenced() -> None:
    brokers = Brokers()
    brokers.initialize((0, 5, 0))
    assert brokers.write(state_epoch=5, leader_epoch=3) == GOOD
    assert brokers.summary(0)[0][4] == 0
    assert brokers.batches(leader_epoch=2) == []
    assert brokers.batches(leader_epoch=3) == []
    assert brokers.summary(0)[0][4] == 3
    assert brokers.write(state_epoch=5, leader_epoch=2) == (ErrorCode.FENCED_LEADER_EPOCH, FENCED_LEADER)
    assert brokers.write(state_epoch=4, leader_epoch=3) == (ErrorCode.FENCED_STATE_EPOCH, FENCED_STATE)
    (refused,) = brokers.read((0, 2))
    assert (refused.error_code, refused.error_message) == (ErrorCode.FENCED_LEADER_EPOCH, FENCED_LEADER)


@pytest.mark.behaviour("RS-3", "WS-4", "WS-6")
def test_what_was_never_initialised_is_neither_read_nor_written() -> None:
    brokers = Brokers()
    invalid = ErrorCode.INVALID_REQUEST
    found = brokers.read((0, 0), (-1, 0), (1, -1), (9, 0))
    assert {one.partition: (one.error_code, one.error_message) for one in found} == {
        0: (invalid, NOT_READ),
        -1: (invalid, "The partition id cannot be a negative number."),
        1: (invalid, "The leader epoch cannot be a negative number."),
        9: (invalid, NOT_READ),
    }
    assert brokers.write() == (invalid, NOT_WRITTEN)
    assert brokers.write(partition=-1) == (invalid, "The partition id cannot be a negative number.")
    assert brokers.write(leader_epoch=-1) == (invalid, "The leader epoch cannot be a negative number.")
    assert brokers.write(state_epoch=-1) == (invalid, "The state epoch cannot be a negative number.")
    brokers.initialize((0, 0, 0))
    code, text = brokers.write((9, 8, 2, 1))
    assert (code, "first offset" in text) == (invalid, True)
    assert brokers.batches() == []


@pytest.mark.behaviour("WS-7")
def test_what_nobody_could_write_down_is_refused() -> None:
    brokers = Brokers()
    brokers.initialize((0, 0, 0))
    code, text = brokers.write(*((2 * one, 2 * one, 2, 1) for one in range(2_001)))
    assert (code, text) == (
        ErrorCode.INVALID_REQUEST,
        "2001 state batches for one partition are refused: allowed are 2000 in one request.",
    )
    for first in range(0, 80_000, 4_000):
        assert brokers.write(*((one, one, 2, 1) for one in range(first, first + 4_000, 2))) == GOOD
    code, text = brokers.write((80_000, 80_000, 2, 1))
    assert (code, "40000" in str(text)) == (ErrorCode.INVALID_REQUEST, True)
    assert brokers.write(*((one, one, 2, 1) for one in range(1, 4_000, 2)), start_offset=70_000) != GOOD
    assert len(brokers.batches()) == 40_000


@pytest.mark.behaviour("DS-1", "DS-2", "SS-2", "SS-3")
def test_what_is_deleted_is_not_known_any_more() -> None:
    brokers = Brokers()
    brokers.initialize((0, 5, 10))
    assert brokers.forget(0, 1, 1, 9, -1) == [
        (0, 0, None),
        (-1, ErrorCode.INVALID_REQUEST, "The partition id cannot be a negative number."),
        (1, 0, None),
        (9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NOBODYS),
    ]
    assert brokers.summary(0, 9, -1) == [
        (0, 0, None, 0, 0, -1, -1),
        (-1, ErrorCode.INVALID_REQUEST, "The partition id cannot be a negative number.", 0, 0, 0, -1),
        (9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NOBODYS, 0, 0, 0, -1),
    ]
    assert brokers.initialize((0, 0, 0)) == [(0, 0, None)]


@pytest.mark.behaviour("WS-5")
def test_after_so_many_updates_everything_is_written_again() -> None:
    brokers = Brokers(share_coordinator_snapshot_update_records_per_snapshot=2)
    brokers.initialize((0, 1, 0))
    for offset in range(5):
        brokers.write((offset, offset, 2, 1), state_epoch=1, complete=offset + 1)
    written = [type(record).__name__ for record in brokers.records()]
    assert written == ["ShareSnapshot", "ShareUpdate", "ShareUpdate"] * 2
    assert brokers.batches() == [(0, 4, 2, 1)]


def test_a_deleted_topic_takes_its_share_partitions_with_it() -> None:
    brokers = Brokers()
    brokers.initialize((0, 1, 0), (1, 1, 0))
    brokers.delete("orders")
    written = sorted(type(record).__name__ for record in brokers.records())
    assert written == ["ShareSnapshot", "ShareSnapshot", "ShareTombstone", "ShareTombstone"]
    assert not brokers.state.share_partitions.coordinator.coordinator.states


def test_a_coordinator_that_was_away_knows_what_it_knew() -> None:
    brokers = Brokers(share_coordinator_snapshot_update_records_per_snapshot=2)
    brokers.initialize((0, 1, 0), (1, 1, 7), (2, 1, 7))
    for offset in range(0, 9, 2):
        brokers.write((offset, offset, 2, 1), state_epoch=1, leader_epoch=4, complete=offset + 1)
    brokers.forget(2)
    found = brokers.batches(leader_epoch=4), brokers.summary(0, 1, 2)
    shares = brokers.state.share_partitions.coordinator
    shares.topic.reload(brokers.broker_ms, brokers.timer_ms)
    assert (brokers.batches(leader_epoch=4), brokers.summary(0, 1, 2)) == found

"""Markers under way: each partition has its own in the end, and nobody waits for who cannot be reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from kafkastub.state.transaction_coordinator.markers import TopicPartition
from kafkastub.state.transaction_coordinator.pending_markers import PendingMarkers
from kafkastub.storage import Marker
from kafkastub.transaction_coordinator import Markers
from kafkawire.errors import ErrorCode

MANY = tuple(("orders", index) for index in range(250))


class Partitions:
    """Take markers, but for those that `refused` names; remember them in order."""

    def __init__(self) -> None:
        self.refused: dict[TopicPartition, ErrorCode] = {}
        self.written: list[tuple[int, TopicPartition]] = []
        self.coordinators = True
        self.under_way = PendingMarkers(self._write, lambda name: self.coordinators)

    def _write(
        self, marker: Marker, partitions: Iterable[TopicPartition], broker_ms: int
    ) -> Iterator[tuple[TopicPartition, ErrorCode]]:
        for one in partitions:
            code = self.refused.get(one, ErrorCode.NONE)
            if code == ErrorCode.NONE:
                self.written.append((marker.producer_id, one))
            yield one, code

    def end(self, *partitions: TopicPartition, name: str = "tx", producer_id: int = 7, safe: bool = True) -> None:
        told = self.under_way.add(Markers(name, producer_id, 0, True, partitions, 0, 2))
        if safe:
            told()

    def step(self) -> list[tuple[str, list[TopicPartition]]]:
        """Whose markers were done with, and where."""
        return [(markers.transactional_id, done) for markers, done in self.under_way.step(0)]


@pytest.fixture
def partitions() -> Partitions:
    return Partitions()


def test_many_are_written_a_part_at_a_time(partitions: Partitions):
    partitions.end(*MANY)
    done: list[TopicPartition] = []
    while partitions.under_way.is_due:
        ((_, some),) = partitions.step()
        assert 0 < len(some) <= 100
        done += some
    assert tuple(done) == MANY
    assert not partitions.under_way


def test_a_transaction_without_partitions_is_reported_too(partitions: Partitions):
    partitions.end()
    assert partitions.step() == [("tx", [])]
    assert not partitions.under_way


@pytest.mark.parametrize("code", [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR])
def test_who_cannot_be_reached_keeps_nobody_waiting(partitions: Partitions, code: ErrorCode):
    partitions.refused = dict.fromkeys(MANY[:150], code)
    partitions.end(*MANY)
    done = [some for _ in range(5) for _, some in partitions.step()]
    assert [one for some in done for one in some] == list(MANY[150:])
    assert not partitions.under_way.is_due
    assert partitions.under_way.left() == {"tx": list(MANY[:150])}
    partitions.refused.clear()
    partitions.under_way.send_all()
    assert sum(len(some) for _ in range(5) for _, some in partitions.step()) == 150
    assert partitions.under_way.left() == {}


def test_a_topic_that_is_gone_is_done_with(partitions: Partitions):
    partitions.refused["gone", 0] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    partitions.end(("gone", 0), ("orders", 0))
    assert partitions.step() == [("tx", [("gone", 0), ("orders", 0)])]
    assert partitions.written == [(7, ("orders", 0))]


@pytest.mark.parametrize("code", [ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED])
def test_who_is_fenced_gives_up(partitions: Partitions, code: ErrorCode):
    partitions.refused["orders", 1] = code
    partitions.end(("orders", 0), ("orders", 1))
    assert partitions.step() == [("tx", [("orders", 0)])]
    assert not partitions.under_way
    partitions.under_way.send_all()
    assert not partitions.under_way.is_due


def test_what_is_held_waits(partitions: Partitions):
    partitions.under_way.held.add("tx")
    partitions.end(("orders", 0))
    partitions.end(("orders", 0), name="other", producer_id=8)
    assert partitions.step() == [("other", [("orders", 0)])]
    partitions.under_way.send_all()
    assert partitions.step() == []
    partitions.under_way.held.discard("tx")
    partitions.under_way.send("tx")
    assert partitions.step() == [("tx", [("orders", 0)])]


def test_held_while_they_are_being_written(partitions: Partitions):
    partitions.end(*MANY)
    partitions.step()
    partitions.under_way.held.add("tx")
    assert partitions.step() == []
    assert len(partitions.under_way.left()["tx"]) == 150


def test_nothing_goes_before_the_decision_is_safe(partitions: Partitions):
    told = partitions.under_way.add(Markers("tx", 7, 0, True, (("orders", 0),), 0, 2))
    partitions.under_way.send_all()
    assert partitions.step() == []
    assert told()
    assert partitions.step() == [("tx", [("orders", 0)])]


def test_a_decision_that_was_taken_back_sends_nothing(partitions: Partitions):
    told = partitions.under_way.add(Markers("tx", 7, 0, True, (("orders", 0),), 0, 2))
    partitions.under_way.clear()
    assert not told()
    assert partitions.step() == []


def test_a_new_coordinator_sends_in_the_place_of_the_old_one(partitions: Partitions):
    old = partitions.under_way.add(Markers("tx", 7, 0, True, (("orders", 0),), 0, 2))
    partitions.end(("orders", 1))
    assert not old()
    assert partitions.step() == [("tx", [("orders", 1)])]


def test_nobody_sends_without_a_coordinator(partitions: Partitions):
    partitions.coordinators = False
    partitions.end(("orders", 0))
    assert partitions.step() == []
    partitions.coordinators = True
    partitions.under_way.send_all()
    assert partitions.step() == [("tx", [("orders", 0)])]

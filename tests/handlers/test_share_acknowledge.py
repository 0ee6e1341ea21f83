"""ShareAcknowledge: sessions, what is refused, what becomes of records, what is written."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub.handlers.outcome import Deferred
from kafkastub.metadata import SHARE_GROUP_STATE
from kafkastub.state.leadership import move_leader
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.share_acknowledge_response import LeaderIdAndEpoch, ShareAcknowledgeResponse
from kafkawire.schema import Message
from tests.handlers.desk import answered, batch
from tests.handlers.share_desk import ACCEPT, REJECT, RELEASE, RENEW, ShareDesk, later, ranges

FIVE = batch(*[b"v"] * 5)
HUGE = 2**62
TRIED = "Exhausted max retries to complete write state RPC without success."


@pytest.fixture
def desk() -> ShareDesk:
    """Offsets 0 to 9, which member "m" has acquired; its session is at epoch 1."""
    desk = ShareDesk()
    desk.fill(FIVE, FIVE)
    assert ranges(desk.fetch()) == [(0, 9, 1)]
    return desk


def written(desk: ShareDesk) -> tuple[int, list[tuple[int, ...]]]:
    """Start offset and batches, as the share coordinator has them."""
    read = desk.state.share_partitions.persister.read("g", desk.orders.topic_id, 0, 0, desk.broker_ms)
    return read.start_offset, [tuple(one) for one in read.batches]


def answer_of(outcome: ShareAcknowledgeResponse | Deferred) -> ShareAcknowledgeResponse:
    assert isinstance(outcome, ShareAcknowledgeResponse)
    return outcome


def codes(outcome: ShareAcknowledgeResponse | Deferred) -> dict[int, int]:
    """By partition."""
    return {one.partition_index: one.error_code for topic in answer_of(outcome).responses for one in topic.partitions}


@pytest.mark.behaviour("AK-3")
def test_the_session_goes_on(desk):
    assert answer_of(desk.acknowledging(0, {})).error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH
    assert answer_of(desk.acknowledging(2, {})).error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH
    assert answer_of(desk.acknowledging(1, {}, member="n")).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
    assert answer_of(desk.acknowledging(-1, {}, member="n")).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
    assert desk.acknowledge(1, (0, 0, [ACCEPT])).error_code == 0
    assert desk.acknowledge(2, (1, 1, [ACCEPT])).error_code == 0


@pytest.mark.behaviour("AK-3")
def test_the_final_epoch_gives_back_the_rest(desk):
    assert desk.acknowledge(-1, (0, 3, [ACCEPT])).error_code == 0
    assert written(desk) == (4, [(4, 9, 0, 1)])
    assert answer_of(desk.acknowledging(2, {})).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
    assert ranges(desk.fetch(member="n")) == [(4, 9, 2)]


@pytest.mark.behaviour("AK-4", "AK-12")
def test_partitions_that_are_not_there():
    desk = ShareDesk(partitions=3)
    desk.fill(FIVE)
    desk.fetch(partitions=(0,))
    said = (0, 0, [ACCEPT])
    strange = desk.acknowledging(1, {0: [said]}, topic_id=b"\7" * 16)
    assert codes(strange) == {0: ErrorCode.UNKNOWN_TOPIC_ID}
    answer = answer_of(desk.acknowledging(2, {0: [said], 1: [said], 2: [], 9: [said]}))
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert codes(answer) == {0: 0, 1: unknown, 2: 0, 9: unknown}
    texts = {one.partition_index: one.error_message for one in answer.responses[0].partitions}
    assert texts == {0: None, 1: "This server does not host this topic-partition.", 2: None, 9: None}
    assert codes(desk.acknowledging(3, {0: [], 9: [said]})) == {9: unknown}


@pytest.mark.behaviour("AK-5")
@pytest.mark.parametrize(
    "said",
    [
        [(3, 2, [ACCEPT])],
        [(-2, 2, [ACCEPT])],
        [(4, 6, [ACCEPT]), (0, 2, [ACCEPT])],
        [(0, 4, [ACCEPT]), (3, 6, [ACCEPT])],
        [(0, 4, [])],
        [(0, 4, [ACCEPT, ACCEPT])],
        [(0, 1, [ACCEPT, 5])],
        [(0, 1, [-1])],
        [(-HUGE, HUGE, [ACCEPT])],
        [(-HUGE, HUGE, [ACCEPT, ACCEPT])],
    ],
)
def test_batches_that_can_not_be(desk, said):
    refused = desk.acknowledge(1, (0, 0, [ACCEPT]), *said) if said[0][0] > 0 else desk.acknowledge(1, *said)
    assert (refused.error_code, refused.error_message) == (ErrorCode.INVALID_REQUEST, None)
    assert desk.states() == [(0, 9, "ACQUIRED", 1)]
    assert desk.acknowledge(2, (0, 9, [ACCEPT])).error_code == 0


@pytest.mark.behaviour("AK-6")
def test_locks_are_renewed(desk):
    desk.timer_ms = 20_000
    assert desk.acknowledge(1, (0, 4, [RENEW])).error_code == ErrorCode.INVALID_REQUEST
    assert desk.acknowledge(2, (0, 4, [RENEW]), renew=True).error_code == 0
    desk.wait_until(30_000)
    assert desk.states() == [(0, 4, "ACQUIRED", 1), (5, 9, "AVAILABLE", 1)]
    assert desk.acknowledge(3, (0, 0, [RENEW]), version=1).error_code == ErrorCode.INVALID_REQUEST
    desk.wait_until(50_000)
    assert desk.states() == [(0, 9, "AVAILABLE", 1)]


@pytest.mark.behaviour("AK-6")
def test_a_lock_that_is_renewed_four_hundred_times_is_renewed_once(desk):
    assert desk.acknowledge(1, *[(0, 0, [RENEW])] * 400, (1, 1, [RENEW]), renew=True).error_code == 0
    desk.wait_until(30_000)
    assert desk.states() == [(0, 9, "AVAILABLE", 1)]


@pytest.mark.behaviour("AK-7")
def test_all_of_a_partition_or_nothing(desk):
    refused = desk.acknowledge(1, (0, 4, [ACCEPT]), (8, 12, [ACCEPT]))
    assert refused.error_code == ErrorCode.INVALID_REQUEST
    assert refused.error_message == "Batch record not found. The last offset in request is past acquired records."
    assert desk.states() == [(0, 9, "ACQUIRED", 1)]
    assert desk.acknowledge(2, (0, 4, [ACCEPT, RELEASE, REJECT, 0, ACCEPT])).error_code == 0
    again = desk.acknowledge(3, (2, 2, [ACCEPT]))
    assert again.error_code == ErrorCode.INVALID_RECORD_STATE
    assert again.error_message == "The offset cannot be acknowledged. The offset is not acquired."
    assert written(desk) == (0, [(0, 0, 2, 1), (1, 1, 0, 1), (2, 3, 4, 1), (4, 4, 2, 1)])


@pytest.mark.behaviour("AK-7")
def test_a_range_that_kafka_falls_over():
    desk = ShareDesk(partitions=2)
    desk.fetch(max_wait_ms=0, partitions=(0, 1))
    desk.fill(FIVE, partition=1)
    answer = desk.fetch(1)
    assert ranges(answer, 1) == [(0, 4, 1)]
    fallen = answer_of(desk.acknowledging(2, {1: [(0, 4, [ACCEPT])], 0: [(-1, 3, [ACCEPT])]}))
    assert (fallen.error_code, fallen.responses, fallen.acquisition_lock_timeout_ms) == (-1, (), 0)
    assert answer_of(desk.acknowledging(3, {})).error_code == 0
    assert desk.states(partition=1) == []  # what was begun before has happened


@pytest.mark.behaviour("AK-7")
def test_of_another_member(desk):
    desk.fetching(member="n", connection="d")
    refused = desk.acknowledge(1, (0, 9, [ACCEPT]), member="n", connection="d")
    assert refused.error_code == ErrorCode.INVALID_RECORD_STATE
    assert refused.error_message == "Member is not the owner of batch record"


@pytest.mark.behaviour("AK-8")
def test_what_is_held_is_answered_when_it_is_let_go(desk):
    sharing = desk.state.share_partitions
    sharing.hold_acknowledgements("g")
    outcome = desk.acknowledging(1, {0: [(0, 9, [ACCEPT])]})
    assert isinstance(outcome, Deferred)
    assert answered(outcome, 2, ShareAcknowledgeResponse) is None
    assert sharing.held == {"g"}
    assert written(desk) == (-1, [])
    waiting = desk.fetching(member="n", connection="d")
    sharing.release_acknowledgements("g", desk.broker_ms, desk.timer_ms)
    answer = answered(outcome, 2, ShareAcknowledgeResponse)
    assert answer is not None
    assert codes(answer) == {0: 0}
    assert written(desk)[1] == [(0, 9, 2, 1)]
    assert sharing.held == frozenset()
    assert later(waiting) is None


@pytest.mark.behaviour("AK-8")
@pytest.mark.parametrize(
    ("said", "told", "why", "stays"),
    [
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE, TRIED, True),
        (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE, TRIED, True),
        (ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_SERVER_ERROR, "because", True),
        (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER, "because", False),
        (ErrorCode.FENCED_STATE_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER, "because", False),
        (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.GROUP_ID_NOT_FOUND, "because", False),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, TRIED, False),
    ],
)
def test_what_can_not_be_written_has_not_happened(desk, monkeypatch, said, told, why, stays):
    def refuse(*_: Any) -> None:
        raise KafkaError(said, "because")

    monkeypatch.setattr(desk.state.share_partitions.persister, "write", refuse)
    refused = desk.acknowledge(1, (0, 9, [ACCEPT]))
    assert (refused.error_code, refused.error_message) == (told, f"Error in write state RPC. {why}")
    assert bool(desk.state.share_partitions.of_group("g")) is stays
    if stays:
        assert desk.states() == [(0, 9, "ACQUIRED", 1)]
        monkeypatch.undo()
        assert desk.acknowledge(2, (0, 9, [ACCEPT])).error_code == 0


@pytest.mark.behaviour("AK-8")
def test_the_share_coordinator_is_away():
    desk = ShareDesk(nodes=2)
    desk.fill(FIVE)
    leader = desk.orders.partitions[0].leader
    desk.node_id = leader
    desk.fetch()
    for one in desk.state.cluster.topics[SHARE_GROUP_STATE].partitions:
        one.leader = -1
    refused = desk.acknowledge(1, (0, 4, [ACCEPT]))
    assert refused.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert desk.states() == [(0, 4, "ACQUIRED", 1)]
    desk.wait_until(30_000)
    assert desk.states() == [(0, 4, "AVAILABLE", 1)]  # whether or not it can be written


@pytest.mark.behaviour("AK-10")
def test_a_leader_that_is_fenced_names_the_leader(desk, monkeypatch):
    def refuse(*_: Any) -> None:
        raise KafkaError(ErrorCode.FENCED_STATE_EPOCH)

    monkeypatch.setattr(desk.state.share_partitions.persister, "write", refuse)
    answer = answer_of(desk.acknowledging(1, {0: [(0, 9, [ACCEPT])]}))
    assert answer.responses[0].partitions[0].current_leader == LeaderIdAndEpoch(1, 0)
    assert [(one.node_id, one.port) for one in answer.node_endpoints] == [(1, 9092)]


def test_what_is_altered_meanwhile_fences_the_leader(desk):
    desk.state.share_partitions.persister.initialize("g", desk.orders.topic_id, 0, 5, 7, desk.broker_ms)
    assert desk.acknowledge(1, (0, 9, [ACCEPT])).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert ranges(desk.fetch(2)) == [(7, 9, 1)]


def test_the_share_coordinator_moves_and_nothing_is_lost():
    desk = ShareDesk(nodes=2)
    desk.fill(FIVE)
    desk.node_id = desk.orders.partitions[0].leader
    desk.fetch()
    now = desk.broker_ms, desk.timer_ms
    desk.acknowledge(1, (0, 1, [ACCEPT]))
    state_topic = desk.state.cluster.topics[SHARE_GROUP_STATE]
    for one in state_topic.partitions:
        move_leader(desk.state, state_topic, one.index, 3 - one.leader, now)
    assert desk.acknowledge(2, (2, 2, [RELEASE])).error_code == 0
    assert written(desk) == (2, [(2, 2, 0, 1)])


@pytest.mark.behaviour("AK-13")
@pytest.mark.parametrize(
    "said",
    [
        [(0, 0, [RENEW])] * 5_000,
        [(0, 0, [RENEW]), (0, 0, [RENEW, RENEW][:1])] * 2_000 + [(0, 9, [7])],
        [(0, 99_999, [ACCEPT] * 100_000)] * 2,
    ],
)
def test_many_are_looked_at_in_parts(desk, said):
    outcome = desk.acknowledging(1, {0: said}, renew=True)
    assert isinstance(outcome, Deferred)
    assert outcome.reply is None
    for _ in range(200):
        desk.wait_until(0)
    assert isinstance(outcome.reply, Message)
    answer = decode(ShareAcknowledgeResponse, 2, encode(outcome.reply, 2))
    right = said[-1][2] == [RENEW]
    assert codes(answer) == {0: 0 if right else ErrorCode.INVALID_REQUEST}


def test_what_is_said_is_counted_when_it_is_written(desk):
    desk.acknowledge(1, (0, 4, [ACCEPT]), (5, 9, [ACCEPT, RELEASE, REJECT, 0, REJECT]))
    desk.acknowledge(2, (0, 4, [ACCEPT]))
    sharing = desk.state.share_partitions
    assert sharing.acknowledged == {0: 1, ACCEPT: 6, RELEASE: 1, REJECT: 2}
    assert (sharing.sessions, len(sharing.partitions), sharing.in_flight()) == (1, 1, 4)

"""InitProducerId and DescribeProducers."""

from __future__ import annotations

from typing import Any

import pytest

from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_producers_request import DescribeProducersRequest, TopicRequest
from kafkawire.messages.describe_producers_response import DescribeProducersResponse, PartitionResponse, ProducerState
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.init_producer_id_response import InitProducerIdResponse
from tests.handlers.desk import START_MS, Desk, batch


@pytest.fixture
def desk() -> Desk:
    return Desk()


def init(desk: Desk, version: int = 5, **request: Any) -> tuple[int, int, int]:
    """(error code, producer id, epoch)"""
    asked = InitProducerIdRequest(**{"transactional_id": None, "transaction_timeout_ms": 1000, **request})
    answer = desk.ask(version, asked, InitProducerIdResponse)
    return answer.error_code, answer.producer_id, answer.producer_epoch


def error(code: ErrorCode) -> tuple[int, int, int]:
    return code, -1, -1


@pytest.mark.behaviour("IP-1")
def test_every_producer_gets_an_id_of_its_own(desk: Desk):
    assert [init(desk, version) for version in range(6)] == [(0, number, 0) for number in range(6)]
    assert init(desk, transaction_timeout_ms=0) == (0, 6, 0)


@pytest.mark.behaviour("IP-2")
def test_id_and_epoch_belong_together(desk: Desk):
    assert init(desk, producer_id=3, producer_epoch=0) == (0, 0, 0)
    assert init(desk, producer_id=3) == init(desk, producer_epoch=3) == error(ErrorCode.INVALID_REQUEST)


@pytest.mark.behaviour("IP-3")
def test_a_transactional_id_keeps_its_producer_id(desk: Desk):
    assert [init(desk, transactional_id="tx") for _ in range(3)] == [(0, 0, 0), (0, 0, 1), (0, 0, 2)]
    assert init(desk, transactional_id="other", producer_id=9, producer_epoch=9) == (0, 1, 0)


@pytest.mark.behaviour("IP-4")
def test_who_has_another_epoch_is_fenced(desk: Desk):
    init(desk, transactional_id="tx")
    init(desk, transactional_id="tx")
    fenced = error(ErrorCode.PRODUCER_FENCED)
    assert init(desk, transactional_id="tx", producer_id=0, producer_epoch=0) == fenced
    assert init(desk, transactional_id="tx", producer_id=9, producer_epoch=1) == fenced
    assert init(desk, 4, transactional_id="tx", producer_id=0, producer_epoch=0) == fenced
    assert init(desk, 3, transactional_id="tx", producer_id=0, producer_epoch=0) == error(
        ErrorCode.INVALID_PRODUCER_EPOCH
    )
    bumped = (0, 0, 2)
    assert init(desk, transactional_id="tx", producer_id=0, producer_epoch=1) == bumped
    assert init(desk, transactional_id="tx", producer_id=0, producer_epoch=1) == bumped


@pytest.mark.behaviour("IP-5")
@pytest.mark.parametrize("version", range(6))
def test_an_empty_transactional_id(desk: Desk, version: int):
    assert init(desk, version, transactional_id="") == error(ErrorCode.INVALID_REQUEST)


@pytest.mark.behaviour("IP-6")
@pytest.mark.parametrize("timeout", [0, -1, 900_001])
def test_a_transaction_has_a_timeout(desk: Desk, timeout: int):
    wrong = error(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
    assert init(desk, transactional_id="tx", transaction_timeout_ms=timeout) == wrong


@pytest.mark.behaviour("IP-6")
@pytest.mark.parametrize("timeout", [1, 900_000])
def test_the_shortest_and_the_longest_timeout_of_a_transaction(desk: Desk, timeout: int):
    assert init(desk, transactional_id="tx", transaction_timeout_ms=timeout) == (ErrorCode.NONE, 0, 0)


def describe(desk: Desk, topic: str, *partitions: int) -> tuple[PartitionResponse, ...]:
    request = DescribeProducersRequest(topics=[TopicRequest(name=topic, partition_indexes=partitions)])
    return tuple(desk.ask(0, request, DescribeProducersResponse).topics[0].partitions)


@pytest.mark.behaviour("DP-1")
def test_producers_are_described(desk: Desk):
    desk.topic(partitions=2)
    desk.fill(batch(b"a", b"b", producer_id=7, producer_epoch=3, base_sequence=0), batch(b"plain"))
    state = ProducerState(
        producer_id=7, producer_epoch=3, last_sequence=1, last_timestamp=START_MS + 1, coordinator_epoch=-1
    )
    assert describe(desk, "orders", 0, 1) == (
        PartitionResponse(active_producers=[state]),
        PartitionResponse(partition_index=1),
    )


@pytest.mark.behaviour("DP-2")
def test_what_does_not_exist(desk: Desk):
    desk.topic()
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert describe(desk, "orders", 5) == (PartitionResponse(partition_index=5, error_code=unknown),)
    text = "This server does not host this topic-partition."
    assert describe(desk, "nope", 0) == (PartitionResponse(error_code=unknown, error_message=text),)


@pytest.mark.behaviour("DP-3")
def test_an_impossible_name(desk: Desk):
    text = "Topic name is invalid: the empty string is not allowed"
    (answer,) = describe(desk, "", 0)
    assert (answer.error_code, answer.error_message) == (ErrorCode.INVALID_TOPIC_EXCEPTION, text)


@pytest.mark.behaviour("DP-5")
def test_any_replica_describes_producers() -> None:
    desk = Desk({"default.replication.factor": 2}, nodes=3)
    leader, follower = desk.topic().partitions[0].replicas
    desk.node_id = leader
    desk.fill(batch(b"a", producer_id=7, producer_epoch=3, base_sequence=0))
    (known,) = describe(desk, "orders", 0)
    assert [state.producer_id for state in known.active_producers] == [7]
    desk.node_id = follower
    assert describe(desk, "orders", 0) == (known,)
    desk.node_id = 6 - leader - follower
    assert describe(desk, "orders", 0) == (PartitionResponse(error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER),)

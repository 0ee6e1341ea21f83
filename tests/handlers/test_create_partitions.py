"""CreatePartitions."""

from __future__ import annotations

import pytest

from kafkastub.state.topics import create_topic
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from tests.handlers.in_process import InProcess


@pytest.fixture
def broker() -> InProcess:
    broker = InProcess(nodes=2)
    create_topic(broker.state, "a", 2)
    return broker


def grow(broker: InProcess, *topics: tuple[str, int, list[list[int]] | None], version: int = 3, **options: object):
    asked = [
        CreatePartitionsTopic(
            name=name,
            count=count,
            assignments=place and [CreatePartitionsAssignment(broker_ids=nodes) for nodes in place],
        )
        for name, count, place in topics
    ]
    request = CreatePartitionsRequest(topics=asked, **({"timeout_ms": 1000} | options))
    return [(topic.name, topic.error_code) for topic in broker.ask(request, version).results]


def partitions(broker: InProcess) -> int:
    return len(broker.state.cluster.topics["a"].partitions)


@pytest.mark.behaviour("CP-1")
@pytest.mark.parametrize("version", range(4))
def test_a_topic_grows(broker: InProcess, version: int):
    assert grow(broker, ("a", 5, None), version=version) == [("a", ErrorCode.NONE)]
    topic = broker.state.cluster.topics["a"]
    assert [partition.index for partition in topic.partitions] == [0, 1, 2, 3, 4]
    assert broker.state.logs.log(topic.topic_id, 4) is not None


@pytest.mark.behaviour("CP-2")
@pytest.mark.parametrize("count", [2, 1, 0, -1])
def test_a_topic_only_grows(broker: InProcess, count: int):
    assert grow(broker, ("a", count, None), ("nope", 9, None)) == [
        ("a", ErrorCode.INVALID_PARTITIONS),
        ("nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]


@pytest.mark.behaviour("CP-3")
@pytest.mark.parametrize("place", [[[1]], [[1], []], [[1], [3]], [[1], [2, 2]], [[1], [1, 2]]])
def test_assignments_that_are_refused(broker: InProcess, place: list[list[int]]):
    assert grow(broker, ("a", 4, place)) == [("a", ErrorCode.INVALID_REPLICA_ASSIGNMENT)]
    assert partitions(broker) == 2


@pytest.mark.behaviour("CP-3")
def test_assignments_are_kept(broker: InProcess):
    assert grow(broker, ("a", 4, [[2], [1]])) == [("a", ErrorCode.NONE)]
    assert [partition.leader for partition in broker.state.cluster.topics["a"].partitions[2:]] == [2, 1]


@pytest.mark.behaviour("CP-4")
def test_a_topic_named_twice_does_not_grow(broker: InProcess):
    assert grow(broker, ("nope", 3, None), ("a", 3, None), ("a", 4, None)) == [
        ("a", ErrorCode.INVALID_REQUEST),
        ("nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert partitions(broker) == 2


@pytest.mark.behaviour("CP-5")
def test_validation_adds_nothing(broker: InProcess):
    assert grow(broker, ("a", 3, None), validate_only=True) == [("a", ErrorCode.NONE)]
    assert grow(broker, ("a", 1, None), validate_only=True) == [("a", ErrorCode.INVALID_PARTITIONS)]
    assert partitions(broker) == 2


@pytest.mark.behaviour("CP-6")
def test_without_time_nothing_grows(broker: InProcess):
    for timeout_ms in (0, -1):
        assert grow(broker, ("a", 3, None), timeout_ms=timeout_ms) == [("a", ErrorCode.REQUEST_TIMED_OUT)]
    assert partitions(broker) == 2
    assert grow(broker, ("a", 3, None), timeout_ms=1) == [("a", ErrorCode.NONE)]


@pytest.mark.behaviour("CP-7")
def test_more_than_a_batch_of_kafkas_controller_is_refused(broker: InProcess):
    create_topic(broker.state, "b", 1)
    assert grow(broker, ("a", 2_000_000_000, None), ("b", 2, None)) == [
        ("a", ErrorCode.POLICY_VIOLATION),
        ("b", ErrorCode.POLICY_VIOLATION),
    ]
    assert partitions(broker) == 2
    assert grow(broker, ("a", 10_002, None)) == [("a", ErrorCode.NONE)]


def test_nobody_creates_a_topic_of_a_billion_partitions(broker: InProcess):
    with pytest.raises(KafkaError, match="excessively large"):
        create_topic(broker.state, "huge", 999_999_999)

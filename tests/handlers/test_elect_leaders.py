"""ElectLeaders; `test_topics_as_kafka` compares it with Apache Kafka as well."""

from __future__ import annotations

from typing import Any

import pytest

from kafkawire.errors import ErrorCode
from kafkawire.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kafkawire.messages.elect_leaders_response import ElectLeadersResponse
from tests.handlers.desk import Desk

NOT_NEEDED = (ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")


@pytest.fixture
def desk() -> Desk:
    desk = Desk(nodes=2)
    desk.topic("a", 2)
    return desk


def ask(
    desk: Desk, *topics: tuple[str, list[int]], every: bool = False, version: int = 2, **fields: Any
) -> ElectLeadersResponse:
    asked = None if every else [TopicPartitions(topic=name, partitions=indexes) for name, indexes in topics]
    return desk.ask(version, ElectLeadersRequest(topic_partitions=asked, **fields), ElectLeadersResponse)


def told(answer: ElectLeadersResponse) -> list[tuple[str, int, int, str | None]]:
    return [
        (topic.topic, one.partition_id, one.error_code, one.error_message)
        for topic in answer.replica_election_results
        for one in topic.partition_result
    ]


@pytest.mark.behaviour("EL-1")
@pytest.mark.parametrize(("version", "kind"), [(0, 0), (1, 0), (2, 0), (1, 1), (2, 1)])
def test_not_needed(desk: Desk, version: int, kind: int):
    answer = ask(desk, ("a", [0, 1]), version=version, election_type=kind)
    assert answer.error_code == ErrorCode.NONE
    assert told(answer) == [("a", 0, *NOT_NEEDED), ("a", 1, *NOT_NEEDED)]


@pytest.mark.behaviour("EL-1")
def test_any_leader_is_leader_enough_for_an_unclean_election(desk: Desk):
    partition = desk.state.cluster.topics["a"].partitions[0]
    partition.replicas, partition.isr, partition.leader, partition.leader_epoch = [2, 1], [1, 2], 1, 4
    assert told(ask(desk, ("a", [0]), election_type=1)) == [("a", 0, *NOT_NEEDED)]
    assert (partition.leader, partition.leader_epoch) == (1, 4)


@pytest.mark.behaviour("EL-2")
def test_unknown(desk: Desk):
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert told(ask(desk, ("a", [7, 0, 0]), ("nope", [1]))) == [
        ("a", 7, unknown, "No such partition as a-7"),
        ("a", 0, *NOT_NEEDED),
        ("a", 0, *NOT_NEEDED),
        ("nope", 1, unknown, "No such topic as nope"),
    ]


@pytest.mark.behaviour("EL-3")
def test_everywhere(desk: Desk):
    answer = ask(desk, every=True)
    assert [(topic.topic, topic.partition_result) for topic in answer.replica_election_results] == [("a", ())]


@pytest.mark.behaviour("EL-3")
@pytest.mark.parametrize("timeout_ms", [0, 60000])
@pytest.mark.parametrize("kind", [0, 7])
def test_nowhere_is_no_error_whatever_else_is_asked(desk: Desk, kind: int, timeout_ms: int):
    answer = ask(desk, version=1, election_type=kind, timeout_ms=timeout_ms)
    assert (answer.error_code, told(answer)) == (ErrorCode.NONE, [])


@pytest.mark.behaviour("EL-4")
@pytest.mark.parametrize("version", [1, 2])
def test_no_such_election(desk: Desk, version: int):
    answer = ask(desk, ("a", [0]), ("nope", [1]), version=version, election_type=7)
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    text = "Unknown election type 7"
    assert told(answer) == [(name, n, ErrorCode.INVALID_REQUEST, text) for n, name in enumerate(("a", "nope"))]


@pytest.mark.behaviour("EL-5")
@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_no_time(desk: Desk, timeout_ms: int):
    answer = ask(desk, ("a", [0]), timeout_ms=timeout_ms)
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert told(answer) == [("a", 0, ErrorCode.REQUEST_TIMED_OUT, None)]
    assert told(ask(desk, ("a", [0]), timeout_ms=timeout_ms, version=0))[0][2] == ErrorCode.REQUEST_TIMED_OUT


@pytest.mark.behaviour("EL-6")
def test_the_preferred_leader_takes_over_if_it_can(desk: Desk):
    partition = desk.state.cluster.topics["a"].partitions[0]
    partition.replicas, partition.isr, partition.leader, partition.leader_epoch = [2, 1], [1], 1, 4
    assert told(ask(desk, every=True)) == [
        ("a", 0, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "The preferred leader was not available.")
    ]
    partition.isr = [1, 2]
    assert told(ask(desk, ("a", [0]))) == [("a", 0, ErrorCode.NONE, None)]
    assert (partition.leader, partition.leader_epoch) == (2, 5)
    assert told(ask(desk, ("a", [0]))) == [("a", 0, *NOT_NEEDED)]

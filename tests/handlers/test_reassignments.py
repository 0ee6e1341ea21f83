"""AlterPartitionReassignments and ListPartitionReassignments; partitions without leader."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafkastub.handlers.leadership import node_started, node_stopped
from kafkawire.errors import ErrorCode
from kafkawire.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafkawire.messages.alter_partition_reassignments_response import AlterPartitionReassignmentsResponse
from kafkawire.messages.describe_topic_partitions_request import DescribeTopicPartitionsRequest, TopicRequest
from kafkawire.messages.describe_topic_partitions_response import (
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
)
from kafkawire.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kafkawire.messages.elect_leaders_response import ElectLeadersResponse
from kafkawire.messages.list_partition_reassignments_request import ListPartitionReassignmentsRequest
from kafkawire.messages.list_partition_reassignments_response import ListPartitionReassignmentsResponse
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.metadata_response import MetadataResponse, MetadataResponsePartition
from tests.handlers.desk import Desk

UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
INVALID = ErrorCode.INVALID_REPLICA_ASSIGNMENT


@pytest.fixture
def desk() -> Desk:
    desk = Desk({"default.replication.factor": 2}, nodes=3)
    desk.topic("a", 2)
    return desk


def ask(
    desk: Desk, *wanted: tuple[str, int, Sequence[int] | None], version: int = 1
) -> list[tuple[str, int, int, str | None]]:
    topics = [ReassignableTopic(name, [ReassignablePartition(index, replicas)]) for name, index, replicas in wanted]
    request = AlterPartitionReassignmentsRequest(topics=topics)
    answer = desk.ask(version, request, AlterPartitionReassignmentsResponse)
    assert (answer.error_code, answer.error_message) == (0, None)
    return [
        (topic.name, one.partition_index, one.error_code, one.error_message)
        for topic in answer.responses
        for one in topic.partitions
    ]


@pytest.mark.behaviour("RA-1", "RA-2")
@pytest.mark.parametrize("version", [0, 1])
def test_a_partition_gets_other_replicas(desk: Desk, version: int):
    partition = desk.state.cluster.topics["a"].partitions[0]
    others = [node_id for node_id in (3, 2, 1) if node_id not in partition.replicas] + [partition.replicas[1]]
    assert ask(desk, ("a", 0, others), version=version) == [("a", 0, 0, None)]
    assert (partition.replicas, partition.isr) == (others, others)
    assert (partition.leader, partition.leader_epoch) == (others[0], 1)


@pytest.mark.behaviour("RA-2")
def test_a_leader_that_stays_a_replica_stays_the_leader(desk: Desk):
    partition = desk.state.cluster.topics["a"].partitions[0]
    leader = partition.leader
    ask(desk, ("a", 0, [*(node_id for node_id in (1, 2, 3) if node_id != leader), leader]))
    assert (partition.leader, partition.leader_epoch) == (leader, 0)


@pytest.mark.behaviour("RA-3", "RA-4", "RA-5", "RA-6")
def test_what_cannot_be_is_refused_and_spares_the_others(desk: Desk):
    assert ask(
        desk, ("b", 0, [1]), ("a", 7, [1]), ("a", 0, []), ("a", 0, [1, 1]), ("a", 0, [9]), ("a", 0, None), ("a", 1, [3])
    ) == [
        ("b", 0, UNKNOWN, "Unable to find a topic named b."),
        ("a", 7, UNKNOWN, "Unable to find partition a:7."),
        ("a", 0, INVALID, "The manual partition assignment includes an empty replica list."),
        ("a", 0, INVALID, "The manual partition assignment includes the broker 1 more than once."),
        ("a", 0, INVALID, "The manual partition assignment includes broker 9, but no such broker is registered."),
        ("a", 0, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, None),
        ("a", 1, 0, None),
    ]
    assert desk.state.cluster.topics["a"].partitions[1].replicas == [3]


@pytest.mark.behaviour("RL-1")
def test_no_reassignment_is_under_way(desk: Desk):
    ask(desk, ("a", 0, [3, 1]))
    answer = desk.ask(0, ListPartitionReassignmentsRequest(topics=None), ListPartitionReassignmentsResponse)
    assert (answer.error_code, answer.topics) == (0, ())


def metadata(desk: Desk, version: int) -> MetadataResponsePartition:
    return desk.ask(version, MetadataRequest(topics=None if version else []), MetadataResponse).topics[0].partitions[0]


def described(desk: Desk) -> DescribeTopicPartitionsResponsePartition:
    request = DescribeTopicPartitionsRequest(topics=[TopicRequest("a")], response_partition_limit=10)
    return desk.ask(0, request, DescribeTopicPartitionsResponse).topics[0].partitions[0]


@pytest.mark.behaviour("MD-13", "TP-8")
def test_a_partition_whose_nodes_have_stopped_has_no_leader(desk: Desk):
    partition = desk.state.cluster.topics["a"].partitions[0]
    leader, follower = partition.replicas
    node_stopped(desk.state, leader, (0, 0))
    one = metadata(desk, 12)
    assert (one.error_code, one.leader_id, one.leader_epoch) == (0, follower, 1)
    assert (list(one.isr_nodes), list(one.offline_replicas)) == ([follower], [leader])
    zero = metadata(desk, 0)
    assert (zero.error_code, list(zero.replica_nodes)) == (ErrorCode.REPLICA_NOT_AVAILABLE, [follower])
    node_stopped(desk.state, follower, (0, 0))
    one = metadata(desk, 12)
    assert (one.error_code, one.leader_id, one.leader_epoch) == (ErrorCode.LEADER_NOT_AVAILABLE, -1, 2)
    two = described(desk)
    assert (two.error_code, two.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)
    assert list(two.offline_replicas) == [leader, follower]
    assert list(two.eligible_leader_replicas) == [follower]
    # the one that was in sync at last leads again; the other follows
    node_started(desk.state, leader, (0, 0))
    assert metadata(desk, 12).leader_id == -1
    node_started(desk.state, follower, (0, 0))
    one = metadata(desk, 12)
    assert (one.leader_id, one.leader_epoch, sorted(one.isr_nodes)) == (follower, 3, sorted([leader, follower]))
    assert list(described(desk).eligible_leader_replicas) == []


@pytest.mark.behaviour("MD-13", "TP-8")
def test_a_leader_that_the_clients_listener_does_not_have(desk: Desk):
    desk.listener = "EXTERNAL"
    one, old, two = metadata(desk, 6), metadata(desk, 5), described(desk)
    assert (one.error_code, one.leader_id) == (ErrorCode.LISTENER_NOT_FOUND, -1)
    assert (old.error_code, old.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)
    assert (two.error_code, two.leader_id) == (ErrorCode.LISTENER_NOT_FOUND, -1)


@pytest.mark.behaviour("EL-7")
def test_an_unclean_election_takes_whoever_lives(desk: Desk):
    partition = desk.state.cluster.topics["a"].partitions[0]
    first, last = partition.replicas
    node_stopped(desk.state, first, (0, 0))
    node_stopped(desk.state, last, (0, 0))

    def elect(kind: int) -> int:
        request = ElectLeadersRequest(election_type=kind, topic_partitions=[TopicPartitions("a", [0])])
        answer = desk.ask(2, request, ElectLeadersResponse)
        return answer.replica_election_results[0].partition_result[0].error_code

    assert elect(1) == ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    node_started(desk.state, first, (0, 0))
    assert partition.leader == -1
    assert elect(0) == ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    assert elect(1) == ErrorCode.NONE
    assert (partition.leader, partition.isr) == (first, [first])

"""AlterPartitionReassignments and ListPartitionReassignments; partitions without leader."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafkastub.metadata import PartitionState
from kafkastub.state.leadership import node_started, node_stopped
from kafkastub.state.topics import create_logs
from kafkawire.errors import ErrorCode
from kafkawire.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafkawire.messages.alter_partition_reassignments_response import AlterPartitionReassignmentsResponse
from kafkawire.messages.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafkawire.messages.create_partitions_response import CreatePartitionsResponse
from kafkawire.messages.create_topics_request import CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest
from kafkawire.messages.create_topics_response import CreatableTopicResult, CreateTopicsResponse
from kafkawire.messages.describe_cluster_request import DescribeClusterRequest
from kafkawire.messages.describe_cluster_response import DescribeClusterResponse
from kafkawire.messages.describe_topic_partitions_request import DescribeTopicPartitionsRequest, TopicRequest
from kafkawire.messages.describe_topic_partitions_response import (
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
)
from kafkawire.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kafkawire.messages.elect_leaders_response import ElectLeadersResponse
from kafkawire.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
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
    assert (partition.replicas, sorted(partition.isr)) == (others, sorted(others))
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


def under_way(desk: Desk, *named: tuple[str, Sequence[int]]) -> list[tuple[str, int, list[int], list[int], list[int]]]:
    """(topic, partition, replicas, adding, removing) of what is under way, of all topics or of those named."""
    topics = [ListPartitionReassignmentsTopics(name, indexes) for name, indexes in named] or None
    answer = desk.ask(0, ListPartitionReassignmentsRequest(topics=topics), ListPartitionReassignmentsResponse)
    return [
        (topic.name, one.partition_index, list(one.replicas), list(one.adding_replicas), list(one.removing_replicas))
        for topic in answer.topics
        for one in topic.partitions
    ]


@pytest.fixture
def stopped() -> tuple[Desk, PartitionState]:
    """The partition b-0 on the nodes 1 and 2; node 3 does not run."""
    desk = Desk(nodes=3)
    topic = desk.state.cluster.create_topic("b", assignments=[[1, 2]])
    create_logs(desk.state, topic)
    node_stopped(desk.state, 3, (0, 0))
    return desk, topic.partitions[0]


@pytest.mark.behaviour("RA-1", "RA-2", "RL-1")
def test_a_reassignment_to_a_stopped_node_is_under_way_until_it_starts(stopped: tuple[Desk, PartitionState]):
    desk, partition = stopped
    assert ask(desk, ("b", 0, [3, 1])) == [("b", 0, 0, None)]
    assert (partition.replicas, partition.isr, partition.leader) == ([3, 1, 2], [1, 2], 1)
    assert under_way(desk) == under_way(desk, ("a", [0]), ("b", [7, 0])) == [("b", 0, [3, 1, 2], [3], [2])]
    node_started(desk.state, 3, (0, 0))
    assert (partition.replicas, sorted(partition.isr)) == ([3, 1], [1, 3])
    assert (partition.leader, partition.leader_epoch) == (1, 1), "a replica that went brings another epoch"
    assert under_way(desk) == under_way(desk, ("b", [0])) == []


@pytest.mark.behaviour("RA-1", "RL-1")
def test_fewer_replicas_have_to_be_in_sync_all_of_them(stopped: tuple[Desk, PartitionState]):
    """As many new ones as old ones go need not wait for those that stay (Kafka: PartitionReassignmentReplicas)."""
    desk, partition = stopped
    ask(desk, ("b", 0, [1, 2, 3]))
    assert under_way(desk) == [("b", 0, [1, 2, 3], [3], [])]
    node_started(desk.state, 3, (0, 0))
    node_stopped(desk.state, 2, (0, 0))
    ask(desk, ("b", 0, [1, 2]))
    assert under_way(desk) == [("b", 0, [1, 2, 3], [], [3])]
    node_started(desk.state, 2, (0, 0))
    assert partition.replicas == [1, 2]
    node_stopped(desk.state, 2, (0, 0))
    ask(desk, ("b", 0, [2, 3]))
    assert under_way(desk) == []
    assert (partition.replicas, partition.isr, partition.leader) == ([2, 3], [3], 3)


@pytest.mark.behaviour("RA-5")
def test_a_reassignment_is_cancelled(stopped: tuple[Desk, PartitionState]):
    desk, partition = stopped
    ask(desk, ("b", 0, [3, 1]))
    assert ask(desk, ("b", 0, None)) == [("b", 0, 0, None)]
    assert (partition.replicas, partition.isr, partition.leader) == ([1, 2], [1, 2], 1)
    assert under_way(desk) == []
    node_stopped(desk.state, 2, (0, 0))
    node_stopped(desk.state, 1, (0, 0))
    ask(desk, ("b", 0, [3]))
    text = "Unable to revert partition assignment for b:0 because it would require an unclean leader election."
    assert ask(desk, ("b", 0, None)) == [("b", 0, INVALID, text)]


@pytest.mark.behaviour("RA-5")
def test_a_reassignment_that_only_adds_or_only_takes_away_is_cancelled_too(stopped: tuple[Desk, PartitionState]):
    desk, partition = stopped
    ask(desk, ("b", 0, [1, 2, 3]))
    assert ask(desk, ("b", 0, None)) == [("b", 0, 0, None)]
    assert partition.replicas == [1, 2]
    ask(desk, ("b", 0, [1, 2, 3]))
    node_started(desk.state, 3, (0, 0))
    node_stopped(desk.state, 2, (0, 0))
    ask(desk, ("b", 0, [1, 2]))
    assert under_way(desk) == [("b", 0, [1, 2, 3], [], [3])]
    assert ask(desk, ("b", 0, None)) == [("b", 0, 0, None)]
    assert (partition.replicas, under_way(desk)) == ([1, 2, 3], [])


@pytest.mark.behaviour("RA-7")
def test_the_number_of_replicas_stays_where_it_must(stopped: tuple[Desk, PartitionState]):
    desk, partition = stopped

    def keep(*replicas: int) -> tuple[int, str | None]:
        topics = [ReassignableTopic("b", [ReassignablePartition(0, replicas)])]
        request = AlterPartitionReassignmentsRequest(topics=topics, allow_replication_factor_change=False)
        answer = desk.ask(1, request, AlterPartitionReassignmentsResponse)
        assert answer.allow_replication_factor_change is False
        one = answer.responses[0].partitions[0]
        return one.error_code, one.error_message

    changed = ErrorCode.INVALID_REPLICATION_FACTOR, "The replication factor is changed from 2 to 1"
    assert keep(1) == changed
    assert keep(3, 1) == (0, None)
    # three replicas now, of which one goes when it is complete
    assert keep(1) == changed
    assert keep(2, 1) == (0, None)
    assert partition.replicas[:2] == [2, 1]


@pytest.mark.behaviour("RA-8")
def test_a_reassignment_without_time_is_not_tried(desk: Desk):
    topics = [ReassignableTopic("a", [ReassignablePartition(0, [3])])]
    before = list(desk.state.cluster.topics["a"].partitions[0].replicas)
    for timeout_ms in (0, -1):
        request = AlterPartitionReassignmentsRequest(timeout_ms, topics=topics, allow_replication_factor_change=False)
        answer = desk.ask(1, request, AlterPartitionReassignmentsResponse)
        assert (answer.error_code, answer.error_message) == (ErrorCode.REQUEST_TIMED_OUT, None)
        assert answer.allow_replication_factor_change
        assert answer.responses[0].partitions[0].error_code == ErrorCode.REQUEST_TIMED_OUT
    assert desk.state.cluster.topics["a"].partitions[0].replicas == before
    nothing = desk.ask(1, AlterPartitionReassignmentsRequest(0, False), AlterPartitionReassignmentsResponse)
    assert (nothing.error_code, nothing.error_message, nothing.responses) == (0, "", ())


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
    zero = metadata(desk, 0)
    assert (zero.error_code, zero.replica_nodes, zero.isr_nodes) == (ErrorCode.LEADER_NOT_AVAILABLE, (), ())
    two = described(desk)
    assert (two.error_code, two.leader_id) == (0, -1)
    assert list(two.offline_replicas) == [leader, follower]
    assert (list(two.eligible_leader_replicas), list(two.last_known_elr)) == ([follower], [follower])
    # the one that was in sync at last leads again; the other follows
    node_started(desk.state, leader, (0, 0))
    assert metadata(desk, 12).leader_id == -1
    node_started(desk.state, follower, (0, 0))
    one = metadata(desk, 12)
    assert (one.leader_id, one.leader_epoch, sorted(one.isr_nodes)) == (follower, 3, sorted([leader, follower]))
    two = described(desk)
    assert (list(two.eligible_leader_replicas), list(two.last_known_elr)) == ([], [])


@pytest.mark.behaviour("MD-13", "TP-8")
def test_a_leader_that_the_clients_listener_does_not_have(desk: Desk):
    desk.listener = "EXTERNAL"
    one, old, two = metadata(desk, 6), metadata(desk, 5), described(desk)
    assert (one.error_code, one.leader_id) == (ErrorCode.LISTENER_NOT_FOUND, -1)
    assert (old.error_code, old.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)
    assert (two.error_code, two.leader_id) == (0, -1)


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


@pytest.mark.behaviour("EL-8")
def test_where_it_may_be_unclean_somebody_leads_by_itself():
    desk = Desk(nodes=3)
    topic = desk.state.cluster.create_topic(
        "b", assignments=[[1, 2]], configs={"unclean.leader.election.enable": "true"}
    )
    create_logs(desk.state, topic)
    partition = topic.partitions[0]
    for node_id in (2, 1):
        node_stopped(desk.state, node_id, (0, 0))
    assert (partition.leader, partition.isr, partition.elr) == (-1, [], [1])
    node_started(desk.state, 2, (0, 0))
    assert (partition.leader, partition.isr, partition.elr) == (2, [2], [])
    node_started(desk.state, 1, (0, 0))
    assert (partition.leader, partition.isr) == (2, [2, 1])


@pytest.mark.behaviour("CT-7", "CP-3")
def test_nobody_could_lead_a_partition_on_stopped_nodes_alone(stopped: tuple[Desk, PartitionState]):
    desk, _ = stopped
    text = "All brokers specified in the manual partition assignment for partition 1 are fenced or in "
    text += "controlled shutdown."

    def create(*replicas: int) -> CreatableTopicResult:
        assigned = [CreatableReplicaAssignment(0, [1]), CreatableReplicaAssignment(1, replicas)]
        request = CreateTopicsRequest([CreatableTopic("c", -1, -1, assigned)])
        return desk.ask(7, request, CreateTopicsResponse).topics[0]

    refused = create(3)
    assert (refused.error_code, refused.error_message) == (INVALID, text)
    grow = CreatePartitionsTopic("b", 2, [CreatePartitionsAssignment([3])])
    desk.state.cluster.topics["b"].partitions[0].replicas = [1]
    grown = desk.ask(3, CreatePartitionsRequest([grow], 1000), CreatePartitionsResponse).results[0]
    assert (grown.error_code, grown.error_message) == (INVALID, text)
    assert create(2).error_code == 0


@pytest.mark.behaviour("CL-4")
def test_a_stopped_node_is_fenced(stopped: tuple[Desk, PartitionState]):
    desk, _ = stopped

    def brokers(fenced: bool) -> list[tuple[int, bool]]:
        request = DescribeClusterRequest(include_fenced_brokers=fenced)
        answer = desk.ask(2, request, DescribeClusterResponse)
        return [(node.broker_id, node.is_fenced) for node in answer.brokers]

    assert brokers(False) == [(1, False), (2, False)]
    assert brokers(True) == [(1, False), (2, False), (3, True)]

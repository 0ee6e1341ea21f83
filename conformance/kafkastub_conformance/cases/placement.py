"""Who leads a partition and where its replicas are: elections and reassignments."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import NOT_EMPTY, Answer, Matcher, expect, expect_that
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

ELECTING = "KIP-183, KIP-460, Kafka: ReplicationControlManager.electLeader"
MOVING = "KIP-455, Kafka: ReplicationControlManager"
PREFERRED, UNCLEAN = 0, 1
Rows = list[dict[str, Any]]


def elect(on: Broker, *rows: tuple[str, list[int]], kind: int = PREFERRED, **more: Any) -> Answer:
    named = [{"topic": name, "partitions": indexes} for name, indexes in rows]
    body: dict[str, Any] = {"election_type": kind, "topic_partitions": named, "timeout_ms": 10000}
    return on.ask("ElectLeaders", **body | more)


def elected(name: str, *rows: tuple[int, int]) -> dict[str, Any]:
    """A topic in the answer, with (partition, error code)."""
    results = [{"partition_id": index, "error_code": code} for index, code in rows]
    return {"topic": name, "partition_result": results}


@case("ElectLeaders", "A partition that its first replica leads: ELECTION_NOT_NEEDED, with a text.", source=ELECTING)
def not_needed(on: Broker) -> None:
    topic = on.topic()
    row = {"partition_id": 0, "error_code": E.ELECTION_NOT_NEEDED, "error_message": NOT_EMPTY}
    answer = elect(on, (topic.name, [0]))
    expect(answer, error_code=E.NONE, replica_election_results=[{"topic": topic.name, "partition_result": [row]}])


@case(
    "ElectLeaders",
    "An unclean election where there is a leader: ELECTION_NOT_NEEDED.",
    source=ELECTING,
    versions=(1, 2),
)
def unclean_not_needed(on: Broker) -> None:
    topic = on.topic()
    answer = elect(on, (topic.name, [0]), kind=UNCLEAN)
    expect(answer, error_code=E.NONE, replica_election_results=[elected(topic.name, (0, E.ELECTION_NOT_NEEDED))])


@case("ElectLeaders", "A missing topic or partition: UNKNOWN_TOPIC_OR_PARTITION with a text.", source=ELECTING)
def elect_missing(on: Broker) -> None:
    for name, index in ((on.topic().name, 9), (on.topic().name, -1), (on.name(), 0)):
        row = {"partition_id": index, "error_code": E.UNKNOWN_TOPIC_OR_PARTITION, "error_message": NOT_EMPTY}
        answer = elect(on, (name, [index]))
        expect(answer, error_code=E.NONE, replica_election_results=[{"topic": name, "partition_result": [row]}])


@case(
    "ElectLeaders", "Partitions are answered in the order in which they are named, twice where twice.", source=ELECTING
)
def elect_in_order(on: Broker) -> None:
    topic = on.topic(3)
    rows = [(index, E.ELECTION_NOT_NEEDED if index < 3 else E.UNKNOWN_TOPIC_OR_PARTITION) for index in (2, 0, 9, 0)]
    answer = elect(on, (topic.name, [index for index, _ in rows]))
    expect(answer, replica_election_results=[elected(topic.name, *rows)])


@case(
    "ElectLeaders",
    "An election type that does not exist: INVALID_REQUEST, at the top and for each.",
    source=ELECTING,
    versions=(1, 2),
)
def unknown_election(on: Broker) -> None:
    topic = on.topic()
    answer = elect(on, (topic.name, [0]), kind=7)
    expect(answer, error_code=E.INVALID_REQUEST, replica_election_results=[elected(topic.name, (0, E.INVALID_REQUEST))])


@case("ElectLeaders", "No time to do it in: REQUEST_TIMED_OUT.", source="Kafka: ControllerApis")
def elect_no_time(on: Broker) -> None:
    topic = on.topic()
    answer = elect(on, (topic.name, [0]), timeout_ms=0)
    code = E.REQUEST_TIMED_OUT
    expect(answer, error_code=code, replica_election_results=[elected(topic.name, (0, code))])


@case("ElectLeaders", "No topics is an empty answer.", source=ELECTING)
def elect_nothing(on: Broker) -> None:
    expect(elect(on), error_code=E.NONE, replica_election_results=[])


@case("ElectLeaders", "Null means all partitions; those that need no election are left out.", source=ELECTING)
def elect_everything(on: Broker) -> None:
    topic = on.topic()
    answer = elect(on, topic_partitions=None)
    expect(answer, error_code=E.NONE)
    told = [row for one in answer.replica_election_results if one.topic == topic.name for row in one.partition_result]
    expect_that("the results of a topic that needs none", told, [])


def reassign(on: Broker, *rows: tuple[str, int, list[int] | None], **more: Any) -> Answer:
    topics: dict[str, Rows] = {}
    for name, index, replicas in rows:
        topics.setdefault(name, []).append({"partition_index": index, "replicas": replicas})
    named = [{"name": name, "partitions": partitions} for name, partitions in topics.items()]
    body: dict[str, Any] = {"topics": named, "timeout_ms": 10000}
    return on.ask("AlterPartitionReassignments", **body | more)


def moved(name: str, *rows: tuple[int, int]) -> dict[str, Any]:
    """A topic in the answer, with (partition, error code)."""
    results = [
        {"partition_index": index, "error_code": code, "error_message": NOT_EMPTY if code else None}
        for index, code in rows
    ]
    return {"name": name, "partitions": results}


@case("AlterPartitionReassignments", "The replicas that it has: NONE.", source=MOVING)
def reassigned(on: Broker) -> None:
    topic = on.topic()
    answer = reassign(on, (topic.name, 0, [on.cluster.node_id]))
    expect(answer, error_code=E.NONE, error_message=None, responses=[moved(topic.name, (0, E.NONE))])


@case("AlterPartitionReassignments", "Replicas that cannot be: INVALID_REPLICA_ASSIGNMENT.", source=MOVING)
def reassigned_badly(on: Broker) -> None:
    topic, node = on.topic(), on.cluster.node_id
    for replicas in ([], [999999], [node, node], [-1]):
        answer = reassign(on, (topic.name, 0, replicas))
        expect(answer, error_code=E.NONE, responses=[moved(topic.name, (0, E.INVALID_REPLICA_ASSIGNMENT))])


@case("AlterPartitionReassignments", "Nothing to cancel: NO_REASSIGNMENT_IN_PROGRESS.", source=MOVING)
def nothing_to_cancel(on: Broker) -> None:
    topic = on.topic()
    answer = reassign(on, (topic.name, 0, None))
    row = {"partition_index": 0, "error_code": E.NO_REASSIGNMENT_IN_PROGRESS}
    expect(answer, error_code=E.NONE, responses=[{"name": topic.name, "partitions": [row]}])


@case("AlterPartitionReassignments", "A missing topic or partition: UNKNOWN_TOPIC_OR_PARTITION.", source=MOVING)
def reassign_missing(on: Broker) -> None:
    for name, index in ((on.topic().name, 9), (on.topic().name, -1), (on.name(), 0)):
        answer = reassign(on, (name, index, [on.cluster.node_id]))
        expect(answer, error_code=E.NONE, responses=[moved(name, (index, E.UNKNOWN_TOPIC_OR_PARTITION))])


@case(
    "AlterPartitionReassignments",
    "Answers in the order of the request; a refused one spares the others.",
    source=MOVING,
)
def reassign_in_order(on: Broker) -> None:
    topic, node = on.topic(3), on.cluster.node_id
    answer = reassign(
        on, (topic.name, 2, [node]), (topic.name, 9, [node]), (topic.name, 0, []), (topic.name, 1, [node])
    )
    rows = [(2, E.NONE), (9, E.UNKNOWN_TOPIC_OR_PARTITION), (0, E.INVALID_REPLICA_ASSIGNMENT), (1, E.NONE)]
    expect(answer, error_code=E.NONE, responses=[moved(topic.name, *rows)])


@case("AlterPartitionReassignments", "No topics is an empty answer.", source=MOVING)
def reassign_nothing(on: Broker) -> None:
    expect(reassign(on), error_code=E.NONE, responses=[])


@case("AlterPartitionReassignments", "No time to do it in: REQUEST_TIMED_OUT.", source="Kafka: ControllerApis")
def reassign_no_time(on: Broker) -> None:
    topic = on.topic()
    answer = reassign(on, (topic.name, 0, [on.cluster.node_id]), timeout_ms=0)
    row = {"partition_index": 0, "error_code": E.REQUEST_TIMED_OUT}
    expect(answer, error_code=E.REQUEST_TIMED_OUT, responses=[{"name": topic.name, "partitions": [row]}])


@case(
    "AlterPartitionReassignments",
    "On a cluster: another number of replicas where that is not allowed: INVALID_REPLICATION_FACTOR.",
    source="KIP-860",
    versions=(1, 1),
)
def fixed_number(on: Broker) -> None:
    topic, both = on.topic(), [on.cluster.node_id, on.another_node()]
    answer = reassign(on, (topic.name, 0, both), allow_replication_factor_change=False)
    expect(
        answer,
        error_code=E.NONE,
        allow_replication_factor_change=False,
        responses=[moved(topic.name, (0, E.INVALID_REPLICATION_FACTOR))],
    )


def under_way(on: Broker, *rows: tuple[str, list[int]]) -> Answer:
    named = [{"name": name, "partition_indexes": indexes} for name, indexes in rows]
    return on.ask("ListPartitionReassignments", topics=named, timeout_ms=10000)


@case("ListPartitionReassignments", "Of partitions that stay where they are nothing is under way.", source=MOVING)
def no_reassignments(on: Broker) -> None:
    answer = under_way(on, (on.some_topic().name, [0, 1, 2]))
    expect(answer, error_code=E.NONE, error_message=None, topics=[])


@case("ListPartitionReassignments", "Partitions that do not exist are left out without an error.", source=MOVING)
def no_such_reassignments(on: Broker) -> None:
    expect(under_way(on, (on.name(), [0]), (on.some_topic().name, [99, -1])), error_code=E.NONE, topics=[])


@case("ListPartitionReassignments", "No topics is an empty answer, null is all of them.", source=MOVING)
def all_reassignments(on: Broker) -> None:
    expect(under_way(on), error_code=E.NONE, topics=[])
    mine = on.some_topic().name
    without = Matcher(f"no {mine}", lambda topics: mine not in {topic.name for topic in topics})
    answer = on.ask("ListPartitionReassignments", topics=None, timeout_ms=10000)
    expect(answer, error_code=E.NONE, topics=without)


def led_by(on: Broker, topic: Topic) -> int:
    """The leader of partition 0."""
    return int(on.ask("Metadata", topics=[{"name": topic.name}]).topics[0].partitions[0].leader_id)


@case(
    "AlterPartitionReassignments",
    "On a cluster: a partition moves to another node, which leads it then.",
    source=MOVING,
    also=["ListPartitionReassignments", "Metadata"],
)
def moves(on: Broker) -> None:
    other = on.another_node()
    topic = on.topic()
    answer = reassign(on, (topic.name, 0, [other]))
    expect(answer, error_code=E.NONE, responses=[moved(topic.name, (0, E.NONE))])
    on.in_time(lambda: led_by(on, topic) == other)
    expect_that("the leader", led_by(on, topic), other)
    on.in_time(lambda: not under_way(on, (topic.name, [0])).topics)
    expect(under_way(on, (topic.name, [0])), topics=[])


@case(
    "ElectLeaders",
    "On a cluster: the first replica leads after an election, with the next leader epoch.",
    source=ELECTING,
    also=["AlterPartitionReassignments", "Metadata"],
)
def first_again(on: Broker) -> None:
    other, here = on.another_node(), on.cluster.node_id
    topic = on.topic()
    # The leader stays while it is among the new replicas, whichever comes first.
    reassign(on, (topic.name, 0, [other, here]))

    def partition() -> Any:
        return on.ask("Metadata", topics=[{"name": topic.name}]).topics[0].partitions[0]

    on.in_time(lambda: sorted(partition().isr_nodes) == sorted((other, here)))
    before = partition()
    expect_that("the leader before", before.leader_id, here)
    answer = elect(on, (topic.name, [0]))
    expect(answer, error_code=E.NONE, replica_election_results=[elected(topic.name, (0, E.NONE))])
    on.in_time(lambda: partition().leader_id == other)
    expect_that("the leader", partition().leader_id, other)
    expect_that("the leader epoch", partition().leader_epoch, before.leader_epoch + 1)

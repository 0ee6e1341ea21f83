"""Topics: Metadata, CreateTopics, DeleteTopics, CreatePartitions, DescribeTopicPartitions."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import NOT_EMPTY, Answer, containing, expect, expect_that, unordered
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

METADATA = "Kafka: KafkaApis.getTopicMetadata"
CREATING = "Kafka: ReplicationControlManager.createTopics"
DELETING = "Kafka: ControllerApis.deleteTopics"
GROWING = "Kafka: ReplicationControlManager.createPartitions"
LISTING = "KIP-966"


def new(name: str, partitions: int = 1, factor: int = 1, **more: Any) -> dict[str, Any]:
    return {"name": name, "num_partitions": partitions, "replication_factor": factor, **more}


def create(on: Broker, *topics: dict[str, Any], **more: Any) -> Answer:
    return on.ask("CreateTopics", **{"topics": topics, "timeout_ms": 10000, **more})


def delete(on: Broker, *names: str, timeout_ms: int = 10000) -> Answer:
    states = [{"name": name} for name in names]
    return on.ask("DeleteTopics", topics=states, topic_names=names, timeout_ms=timeout_ms)


def grow(on: Broker, *topics: dict[str, Any], **more: Any) -> Answer:
    return on.ask("CreatePartitions", **{"topics": topics, "timeout_ms": 10000, **more})


def exists(on: Broker, name: str) -> bool:
    answer = on.cluster.ask("Metadata", topics=[{"name": name}], allow_auto_topic_creation=False)
    return not answer.topics[0].error_code


def metadata(on: Broker, *names: str, **more: Any) -> Answer:
    topics = [{"name": name} for name in names]
    return on.ask("Metadata", **{"topics": topics, "allow_auto_topic_creation": False, **more})


@case("Metadata", "Brokers, the controller and the cluster id.", source=METADATA)
def brokers(on: Broker) -> None:
    answer = metadata(on, on.some_topic().name)
    row = {"node_id": on.cluster.node_id, "host": NOT_EMPTY, "port": NOT_EMPTY}
    expect(answer, brokers=containing(row, by="node_id"), cluster_id=NOT_EMPTY)
    if on.version >= 1:
        known = {broker.node_id for broker in answer.brokers}
        expect_that("whether the controller is a broker", answer.controller_id in known, True)


@case("Metadata", "A topic with its partitions, leaders and replicas.", source=METADATA)
def one_topic(on: Broker) -> None:
    topic, node = on.topic(2), on.cluster.node_id
    found = metadata(on, topic.name).topics[0]
    rows = [{"error_code": 0, "leader_id": node, "replica_nodes": [node], "isr_nodes": [node]} for _ in range(2)]
    answer = metadata(on, topic.name)
    told = {"error_code": E.NONE, "name": topic.name, "topic_id": topic.id, "is_internal": False, "partitions": rows}
    expect(answer, topics=[told])
    expect_that("the partitions", sorted(row.partition_index for row in found.partitions), [0, 1])


@case("Metadata", "A missing topic: UNKNOWN_TOPIC_OR_PARTITION, no partitions.", source=METADATA, versions=(4, 13))
def missing_topic(on: Broker) -> None:
    name = on.name()
    row = {"error_code": E.UNKNOWN_TOPIC_OR_PARTITION, "name": name, "partitions": [], "topic_id": bytes(16)}
    expect(metadata(on, name), topics=[row])
    expect_that("whether it exists now", exists(on, name), False)


@case("Metadata", "Names that cannot be: INVALID_TOPIC_EXCEPTION.", source=METADATA, versions=(4, 13))
def invalid_names(on: Broker) -> None:
    for name in ("", ".", "..", "a/b", "x" * 250, "ü"):
        expect(metadata(on, name), topics=[{"error_code": E.INVALID_TOPIC_EXCEPTION, "name": name, "partitions": []}])


@case("Metadata", "A topic named twice is answered once.", source=METADATA)
def named_twice(on: Broker) -> None:
    name = on.some_topic().name
    expect(metadata(on, name, name), topics=[{"error_code": E.NONE, "name": name}])


@case("Metadata", "Null means all topics.", source="Kafka: MetadataRequest.isAllTopics", versions=(1, 13))
def all_topics(on: Broker) -> None:
    name = on.some_topic().name
    expect(on.ask("Metadata", topics=None), topics=containing({"name": name, "error_code": E.NONE}, by="name"))


@case("Metadata", "An empty list means all topics.", source="Kafka: MetadataRequest.isAllTopics", versions=(0, 0))
def all_topics_of_old(on: Broker) -> None:
    name = on.some_topic().name
    expect(on.ask("Metadata", topics=[]), topics=containing({"name": name, "error_code": E.NONE}, by="name"))


@case("Metadata", "An empty list means none.", source="Kafka: MetadataRequest.isAllTopics", versions=(1, 13))
def no_topics(on: Broker) -> None:
    expect(on.ask("Metadata", topics=[]), topics=[], brokers=NOT_EMPTY)


@case("Metadata", "A topic by its id; an id that nobody has: UNKNOWN_TOPIC_ID.", source="KIP-516", versions=(12, 13))
def by_id(on: Broker) -> None:
    topic, other = on.some_topic(), b"\7" * 16
    answer = on.ask("Metadata", topics=[{"topic_id": topic.id, "name": None}, {"topic_id": other, "name": None}])
    rows = [
        {"error_code": E.NONE, "name": topic.name, "topic_id": topic.id},
        {"error_code": E.UNKNOWN_TOPIC_ID, "name": None, "topic_id": other, "partitions": []},
    ]
    expect(answer, topics=unordered(*rows, by="topic_id"))


@case("Metadata", "The allowed operations of a topic are returned if requested.", source="KIP-430", versions=(8, 13))
def operations(on: Broker) -> None:
    name = on.some_topic().name
    expect(metadata(on, name), topics=[{"topic_authorized_operations": -(2**31)}])
    found = metadata(on, name, include_topic_authorized_operations=True).topics[0].topic_authorized_operations
    expect_that("Read, Write and Describe among them", found & 0b100011000, 0b100011000)


@case("Metadata", "Internal topics are flagged.", source=METADATA, versions=(1, 13), also=["OffsetCommit"])
def internal(on: Broker) -> None:
    on.commit(on.group(), [(on.some_topic(), 0, 1)])
    expect(metadata(on, "__consumer_offsets"), topics=[{"error_code": E.NONE, "is_internal": True}])


@case("CreateTopics", "A created topic is there.", source=CREATING)
def created(on: Broker) -> None:
    name = on.name()
    row = {"name": name, "error_code": E.NONE, "num_partitions": 3, "replication_factor": 1, "topic_id": NOT_EMPTY}
    expect(create(on, new(name, 3)), topics=[row | {"error_message": None}])
    expect_that("its partitions", on.cluster.await_topic(name, 3, led_here=False).partitions, 3)


@case("CreateTopics", "A name that exists: TOPIC_ALREADY_EXISTS.", source=CREATING)
def exists_already(on: Broker) -> None:
    name = on.some_topic().name
    expect(
        create(on, new(name)), topics=[{"name": name, "error_code": E.TOPIC_ALREADY_EXISTS, "error_message": NOT_EMPTY}]
    )


@case("CreateTopics", "Names that cannot be: INVALID_TOPIC_EXCEPTION.", source="Kafka: Topic.validate")
def bad_names(on: Broker) -> None:
    names = ("", ".", "..", "a/b", "x" * 250)
    rows = [{"name": name, "error_code": E.INVALID_TOPIC_EXCEPTION} for name in names]
    expect(create(on, *map(new, names)), topics=unordered(*rows, by="name"))


@case(
    "CreateTopics",
    "Names that differ in dots and underscores only: INVALID_TOPIC_EXCEPTION.",
    source="Kafka: Topic.hasCollision",
)
def collision(on: Broker) -> None:
    name = f"{on.name()}.x"
    on.cluster.topics.add(name)
    create(on, new(name))
    other = name.replace(".x", "_x")
    expect(create(on, new(other)), topics=[{"name": other, "error_code": E.INVALID_TOPIC_EXCEPTION}])


@case(
    "CreateTopics", "A name given twice: INVALID_REQUEST once, and it is not created.", source="Kafka: ControllerApis"
)
def doubled(on: Broker) -> None:
    name, other = on.name(), on.name()
    rows = [{"name": name, "error_code": E.INVALID_REQUEST}, {"name": other, "error_code": E.NONE}]
    expect(create(on, new(name), new(other), new(name)), topics=unordered(*rows, by="name"))
    expect_that("whether it exists", exists(on, name), False)


@case("CreateTopics", "Partitions 0 and -2: INVALID_PARTITIONS.", source=CREATING)
def bad_counts(on: Broker) -> None:
    for count in (0, -2):
        expect(create(on, new(on.name(), count)), topics=[{"error_code": E.INVALID_PARTITIONS}])


@case("CreateTopics", "Replication factors 0, -2 and beyond the brokers: INVALID_REPLICATION_FACTOR.", source=CREATING)
def bad_factors(on: Broker) -> None:
    for factor in (0, -2, on.cluster.nodes + 1):
        answer = create(on, new(on.name(), 1, factor))
        expect(answer, topics=[{"error_code": E.INVALID_REPLICATION_FACTOR}])


@case("CreateTopics", "-1 and -1 are the broker's defaults.", source="KIP-464", versions=(4, 7))
def defaults(on: Broker) -> None:
    answer = create(on, new(on.name(), -1, -1))
    expect(answer, topics=[{"error_code": E.NONE}])
    if on.version >= 5:
        found = answer.topics[0]
        expect_that("whether there are any", found.num_partitions > 0 and found.replication_factor > 0, True)


@case("CreateTopics", "Assignments are accepted; together with counts: INVALID_REQUEST.", source=CREATING)
def assignments(on: Broker) -> None:
    rows = [{"partition_index": index, "broker_ids": [on.cluster.node_id]} for index in (0, 1)]
    name = on.name()
    expect(create(on, new(name, -1, -1, assignments=rows)), topics=[{"error_code": E.NONE, "num_partitions": 2}])
    expect(create(on, new(on.name(), 2, -1, assignments=rows)), topics=[{"error_code": E.INVALID_REQUEST}])


@case(
    "CreateTopics",
    "Assignments with a gap, an empty list or an unknown broker: INVALID_REPLICA_ASSIGNMENT.",
    source=CREATING,
)
def bad_assignments(on: Broker) -> None:
    node = on.cluster.node_id
    bad: list[list[tuple[int, list[int]]]] = [[(1, [node])], [(0, [])], [(0, [999999])], [(0, [node, node])]]
    for rows in bad:
        wanted = [{"partition_index": index, "broker_ids": ids} for index, ids in rows]
        answer = create(on, new(on.name(), -1, -1, assignments=wanted))
        expect(answer, topics=[{"error_code": E.INVALID_REPLICA_ASSIGNMENT}])


@case(
    "CreateTopics",
    "Settings that there are not, or with values that cannot be: INVALID_CONFIG.",
    source="Kafka: LogConfig.validate",
)
def bad_settings(on: Broker) -> None:
    for name, value in (("nope", "1"), ("retention.ms", "x"), ("cleanup.policy", "bogus"), ("retention.ms", None)):
        configs = [{"name": name, "value": value}]
        answer = create(on, new(on.name(), configs=configs))
        expect(answer, topics=[{"error_code": E.INVALID_CONFIG, "error_message": NOT_EMPTY}])


@case("CreateTopics", "Settings are in the answer, with their sources.", source="KIP-525", versions=(5, 7))
def settings(on: Broker) -> None:
    answer = create(on, new(on.name(), configs=[{"name": "retention.ms", "value": "5000"}]))
    row = {"name": "retention.ms", "value": "5000", "config_source": 1, "read_only": False, "is_sensitive": False}
    expect(answer, topics=[{"error_code": E.NONE, "configs": containing(row, by="name")}])


@case("CreateTopics", "validate_only checks and creates nothing.", source=CREATING)
def validate_only(on: Broker) -> None:
    name = on.name()
    rows = [{"name": name, "error_code": E.NONE}, {"name": f"{name}-0", "error_code": E.INVALID_PARTITIONS}]
    answer = create(on, new(name), new(f"{name}-0", 0), validate_only=True)
    expect(answer, topics=unordered(*rows, by="name"))
    expect_that("whether it exists", exists(on, name), False)


@case("CreateTopics", "A timeout of 0: REQUEST_TIMED_OUT.", source="Kafka: ControllerApis")
def no_time(on: Broker) -> None:
    expect(create(on, new(on.name()), timeout_ms=0), topics=[{"error_code": E.REQUEST_TIMED_OUT}])


@case("CreateTopics", "No topics is an empty answer.", source=CREATING)
def create_nothing(on: Broker) -> None:
    expect(create(on), topics=[])


@case("DeleteTopics", "A deleted topic is gone.", source=DELETING)
def deleted(on: Broker) -> None:
    topic = on.topic()
    row = {"name": topic.name, "error_code": E.NONE, "topic_id": topic.id, "error_message": None}
    expect(delete(on, topic.name), responses=[row])
    expect_that("whether it goes", on.in_time(lambda: not exists(on, topic.name)), True)


@case("DeleteTopics", "A name that does not exist: UNKNOWN_TOPIC_OR_PARTITION.", source=DELETING)
def delete_missing(on: Broker) -> None:
    name = on.name()
    expect(delete(on, name), responses=[{"name": name, "error_code": E.UNKNOWN_TOPIC_OR_PARTITION}])


@case("DeleteTopics", "A name given twice: INVALID_REQUEST once, and it stays.", source=DELETING)
def delete_doubled(on: Broker) -> None:
    topic = on.topic()
    expect(delete(on, topic.name, topic.name), responses=[{"name": topic.name, "error_code": E.INVALID_REQUEST}])
    expect_that("whether it exists", exists(on, topic.name), True)


@case("DeleteTopics", "By id; an id that nobody has: UNKNOWN_TOPIC_ID.", source="KIP-516", versions=(6, 6))
def delete_by_id(on: Broker) -> None:
    topic, other = on.topic(), b"\7" * 16
    answer = on.ask(
        "DeleteTopics",
        topics=[{"topic_id": topic.id, "name": None}, {"topic_id": other, "name": None}],
        timeout_ms=10000,
    )
    rows = [
        {"topic_id": topic.id, "name": topic.name, "error_code": E.NONE},
        {"topic_id": other, "name": None, "error_code": E.UNKNOWN_TOPIC_ID},
    ]
    expect(answer, responses=unordered(*rows, by="topic_id"))


@case(
    "DeleteTopics", "An id given twice: INVALID_REQUEST once, and its topic stays.", source="KIP-516", versions=(6, 6)
)
def delete_id_doubled(on: Broker) -> None:
    topic = on.topic()
    answer = on.ask("DeleteTopics", topics=[{"topic_id": topic.id, "name": None}] * 2, timeout_ms=10000)
    expect(answer, responses=[{"topic_id": topic.id, "name": None, "error_code": E.INVALID_REQUEST}])
    expect_that("whether it exists", exists(on, topic.name), True)


@case("DeleteTopics", "Neither name nor id, or both: INVALID_REQUEST.", source="KIP-516", versions=(6, 6))
def delete_ambiguous(on: Broker) -> None:
    topic = on.some_topic()
    for state in ({"name": None}, {"name": topic.name, "topic_id": topic.id}):
        answer = on.ask("DeleteTopics", topics=[state], timeout_ms=10000)
        expect(answer, responses=[{"error_code": E.INVALID_REQUEST}])


@case("DeleteTopics", "A timeout of 0: REQUEST_TIMED_OUT, and it stays.", source=DELETING)
def delete_no_time(on: Broker) -> None:
    topic = on.topic()
    expect(delete(on, topic.name, timeout_ms=0), responses=[{"error_code": E.REQUEST_TIMED_OUT}])
    expect_that("whether it exists", exists(on, topic.name), True)


@case("CreatePartitions", "A topic grows.", source="KIP-195")
def grown(on: Broker) -> None:
    topic = on.topic()
    row = {"name": topic.name, "error_code": E.NONE, "error_message": None}
    expect(grow(on, {"name": topic.name, "count": 3, "assignments": None}), results=[row])
    expect_that("its partitions", on.cluster.await_topic(topic.name, 3, led_here=False).partitions, 3)


@case(
    "CreatePartitions",
    "More than 10,000 new partitions in a request: every topic POLICY_VIOLATION.",
    source="Kafka: ReplicationControlManager.validateTotalNumberOfPartitions",
    since="4.4",
    before="a topic alone may grow by more",
)
def too_many_at_once(on: Broker) -> None:
    topic = on.topic()
    nobody = on.cluster.name()
    asked = [{"name": name, "count": 20000, "assignments": None} for name in (topic.name, nobody)]
    row = {"error_code": E.POLICY_VIOLATION, "error_message": NOT_EMPTY}
    expect(grow(on, *asked, validate_only=True), results=[{"name": one["name"], **row} for one in asked])


@case("CreatePartitions", "As many or fewer: INVALID_PARTITIONS.", source=GROWING)
def not_grown(on: Broker) -> None:
    topic = on.topic(2)
    for count in (2, 1, 0, -1):
        answer = grow(on, {"name": topic.name, "count": count, "assignments": None})
        expect(answer, results=[{"name": topic.name, "error_code": E.INVALID_PARTITIONS, "error_message": NOT_EMPTY}])


@case("CreatePartitions", "A missing topic: UNKNOWN_TOPIC_OR_PARTITION.", source=GROWING)
def grow_missing(on: Broker) -> None:
    answer = grow(on, {"name": on.name(), "count": 3, "assignments": None})
    expect(answer, results=[{"error_code": E.UNKNOWN_TOPIC_OR_PARTITION}])


@case("CreatePartitions", "Assignments that do not fit: INVALID_REPLICA_ASSIGNMENT.", source=GROWING)
def grow_assigned(on: Broker) -> None:
    topic, node = on.topic(), on.cluster.node_id
    bad: list[list[list[int]]] = [[[node], [node]], [[]], [[999999]], [[node, node]]]
    for ids in bad:
        rows = [{"broker_ids": one} for one in ids]
        answer = grow(on, {"name": topic.name, "count": 2, "assignments": rows})
        expect(answer, results=[{"error_code": E.INVALID_REPLICA_ASSIGNMENT}])


@case("CreatePartitions", "A topic named twice: INVALID_REQUEST once.", source=GROWING)
def grow_doubled(on: Broker) -> None:
    topic = on.topic()
    rows = [{"name": topic.name, "count": count, "assignments": None} for count in (2, 3)]
    expect(grow(on, *rows), results=[{"name": topic.name, "error_code": E.INVALID_REQUEST}])


@case("CreatePartitions", "validate_only adds nothing.", source=GROWING)
def grow_validated(on: Broker) -> None:
    topic = on.topic()
    answer = grow(on, {"name": topic.name, "count": 4, "assignments": None}, validate_only=True)
    expect(answer, results=[{"error_code": E.NONE}])
    expect_that("its partitions", on.cluster.await_topic(topic.name, 1).partitions, 1)


@case("CreatePartitions", "A timeout of 0: REQUEST_TIMED_OUT.", source=GROWING)
def grow_no_time(on: Broker) -> None:
    answer = grow(on, {"name": on.topic().name, "count": 4, "assignments": None}, timeout_ms=0)
    expect(answer, results=[{"error_code": E.REQUEST_TIMED_OUT}])


def partitions(on: Broker, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None) -> Answer:
    at = None if cursor is None else {"topic_name": cursor[0], "partition_index": cursor[1]}
    topics = [{"name": name} for name in names]
    return on.ask("DescribeTopicPartitions", topics=topics, response_partition_limit=limit, cursor=at)


@case("DescribeTopicPartitions", "Topics sorted by name, each once, missing ones in their place.", source=LISTING)
def described(on: Broker) -> None:
    one, other, missing = on.topic(2), on.topic(), on.name()
    rows = [
        {"name": one.name, "error_code": E.NONE, "topic_id": one.id, "partitions": [{}, {}]},
        {"name": other.name, "error_code": E.NONE, "topic_id": other.id, "partitions": [{}]},
        {"name": missing, "error_code": E.UNKNOWN_TOPIC_OR_PARTITION, "partitions": []},
    ]
    answer = partitions(on, missing, other.name, one.name, one.name)
    expect(answer, topics=sorted(rows, key=lambda row: str(row["name"])), next_cursor=None)


@case("DescribeTopicPartitions", "A limit cuts the answer, and the cursor goes on.", source=LISTING)
def pages(on: Broker) -> None:
    topic = on.topic(3)
    answer = partitions(on, topic.name, limit=2)
    expect_that("the partitions", [row.partition_index for row in answer.topics[0].partitions], [0, 1])
    expect(answer, next_cursor={"topic_name": topic.name, "partition_index": 2})
    answer = partitions(on, topic.name, limit=2, cursor=(topic.name, 2))
    expect_that("the partitions", [row.partition_index for row in answer.topics[0].partitions], [2])
    expect(answer, next_cursor=None)


@case("DescribeTopicPartitions", "A cursor with a negative partition: INVALID_REQUEST.", source=LISTING)
def bad_cursor(on: Broker) -> None:
    topic = on.topic()
    expect(partitions(on, topic.name, cursor=(topic.name, -1)), topics=[{"error_code": E.INVALID_REQUEST}])

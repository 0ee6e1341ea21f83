"""What a cluster tells of itself: nodes, producers, resources that are configured, partitions, logs."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cases.produce import T0, batch, producer_id
from kafkastub_conformance.cases.telemetry import CLIENT_METRICS
from kafkastub_conformance.cases.topics import partitions
from kafkastub_conformance.expecting import (
    NOT_EMPTY,
    Answer,
    Matcher,
    containing,
    expect,
    expect_that,
    one_of,
    unordered,
)
from kafkastub_conformance.registry import case
from kafkastub_conformance.writing import write
from kafkawire.errors import ErrorCode as E

LISTING = "KIP-1142, Kafka: KafkaApis.handleListConfigResources"
PAGING = "KIP-966, Kafka: DescribeTopicPartitionsRequestHandler"
LOGS = "KIP-113, Kafka: ReplicaManager.describeLogDirs"
TOPIC, BROKER, BROKER_LOGGER, GROUP = 2, 4, 8, 32


@case(
    "DescribeCluster",
    "The same brokers, controller and cluster id as in Metadata.",
    source="KIP-700",
    also=["Metadata"],
)
def as_in_metadata(on: Broker) -> None:
    told = on.ask("Metadata", topics=[])
    answer = on.ask("DescribeCluster", endpoint_type=1)
    rows = [{"broker_id": one.node_id, "host": one.host, "port": one.port, "rack": one.rack} for one in told.brokers]
    expect(answer, cluster_id=told.cluster_id, brokers=unordered(*rows, by="broker_id"))
    nodes = [one.node_id for one in told.brokers]
    expect_that("whether the controller is one of them", answer.controller_id in nodes, True)


@case(
    "DescribeCluster",
    "Fenced brokers are among them where asked for; those that live are not fenced.",
    source="KIP-1073",
    versions=(2, 2),
)
def fenced_too(on: Broker) -> None:
    without = {one.broker_id for one in on.ask("DescribeCluster", endpoint_type=1).brokers}
    answer = on.ask("DescribeCluster", endpoint_type=1, include_fenced_brokers=True)
    alive = {one.broker_id for one in answer.brokers if not one.is_fenced}
    expect_that("the brokers that are not fenced", alive, without)


def producers_of(on: Broker, *rows: tuple[str, list[int]]) -> Answer:
    return on.ask("DescribeProducers", topics=[{"name": name, "partition_indexes": indexes} for name, indexes in rows])


@case(
    "DescribeProducers",
    "Several producers, each with its last sequence and timestamp.",
    source="KIP-664",
    also=["InitProducerId"],
)
def several_producers(on: Broker) -> None:
    topic, one, other = on.topic(), producer_id(on), producer_id(on)
    for producer, values in ((one, (b"a", b"b", b"c")), (other, (b"a",))):
        write(on, topic, batch(*values, producer_id=producer, producer_epoch=0, base_sequence=0))
    rows = [
        {"producer_id": producer, "producer_epoch": 0, "last_sequence": last, "last_timestamp": T0 + last}
        | {"coordinator_epoch": one_of(-1, 0), "current_txn_start_offset": -1}
        for producer, last in ((one, 2), (other, 0))
    ]
    told = [{"partition_index": 0, "error_code": E.NONE, "active_producers": unordered(*rows, by="producer_id")}]
    expect(producers_of(on, (topic.name, [0])), topics=[{"name": topic.name, "partitions": told}])


@case("DescribeProducers", "A partition that nobody wrote to with an id has none.", source="KIP-664")
def no_producers(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a"))
    row: dict[str, Any] = {"partition_index": 0, "error_code": E.NONE, "error_message": None, "active_producers": []}
    expect(producers_of(on, (topic.name, [0])), topics=[{"name": topic.name, "partitions": [row]}])


@case(
    "DescribeProducers",
    "A missing partition: UNKNOWN_TOPIC_OR_PARTITION; the next partition is answered.",
    source="KIP-664",
)
def producers_missing_partition(on: Broker) -> None:
    topic = on.topic()
    told: list[dict[str, Any]] = [
        {"partition_index": 0, "error_code": E.NONE},
        {"partition_index": 9, "error_code": E.UNKNOWN_TOPIC_OR_PARTITION, "active_producers": []},
    ]
    expect(producers_of(on, (topic.name, [0, 9])), topics=[{"partitions": unordered(*told, by="partition_index")}])


@case(
    "DescribeProducers",
    "A topic name that cannot be: INVALID_TOPIC_EXCEPTION with a text.",
    source="Kafka: KafkaApis.handleDescribeProducersRequest",
)
def producers_bad_name(on: Broker) -> None:
    row = {"error_code": E.INVALID_TOPIC_EXCEPTION, "error_message": NOT_EMPTY, "active_producers": []}
    expect(producers_of(on, ("a/b", [0])), topics=[{"name": "a/b", "partitions": [row]}])


@case("DescribeProducers", "No topics is an empty answer.", source="KIP-664")
def producers_of_nothing(on: Broker) -> None:
    expect(producers_of(on), topics=[])


def resources(on: Broker, *kinds: int) -> dict[int, set[str]]:
    """The names that are listed, by type."""
    answer = on.ask("ListConfigResources", resource_types=list(kinds))
    expect(answer, error_code=E.NONE)
    found: dict[int, set[str]] = {}
    for row in answer.config_resources:
        found.setdefault(row.resource_type, set()).add(row.resource_name)
    return found


@case(
    "ListConfigResources", "Each type lists its own; brokers and their loggers by id.", source=LISTING, versions=(1, 1)
)
def types_of_resources(on: Broker) -> None:
    topic, node = on.some_topic().name, str(on.cluster.node_id)
    for kind, name in ((TOPIC, topic), (BROKER, node), (BROKER_LOGGER, node)):
        found = resources(on, kind)
        expect_that(f"the types told of type {kind}", set(found), {kind})
        expect_that(f"whether {name!r} is listed", name in found[kind], True)


@case(
    "ListConfigResources",
    "No types means all of them, one named twice is listed once.",
    source=LISTING,
    versions=(1, 1),
)
def all_resources(on: Broker) -> None:
    topic, node = on.some_topic().name, str(on.cluster.node_id)
    found = resources(on)
    expect_that("whether topic and broker are listed", (topic in found[TOPIC], node in found[BROKER]), (True, True))
    answer = on.ask("ListConfigResources", resource_types=[BROKER, BROKER])
    row = {"resource_name": node, "resource_type": BROKER}
    expect(answer, config_resources=containing(row, by="resource_name"))


@case(
    "ListConfigResources",
    "A group is listed while it is configured.",
    source="KIP-1142",
    versions=(1, 1),
    also=["IncrementalAlterConfigs"],
)
def configured_group(on: Broker) -> None:
    listed_while_configured(on, GROUP, "consumer.session.timeout.ms", "50000")


@case(
    "ListConfigResources",
    "A subscription to client metrics is listed while it is configured.",
    source="KIP-1000",
    also=["IncrementalAlterConfigs"],
)
def configured_subscription(on: Broker) -> None:
    listed_while_configured(on, CLIENT_METRICS, "interval.ms", "100000")


def listed_while_configured(on: Broker, kind: int, setting: str, value: str) -> None:
    name = on.cluster.name()
    on.cluster.resources.add((kind, name))

    def configure(operation: int, text: str | None) -> None:
        row = {"name": setting, "config_operation": operation, "value": text}
        resource = {"resource_type": kind, "resource_name": name, "configs": [row]}
        expect(on.ask("IncrementalAlterConfigs", resources=[resource]), responses=[{"error_code": E.NONE}])

    def listed() -> bool:
        answer = on.ask("ListConfigResources", resource_types=[kind])
        return name in {row.resource_name for row in answer.config_resources}

    expect_that("whether it is listed before", listed(), False)
    configure(0, value)
    on.in_time(listed)
    expect_that("whether it is listed", listed(), True)
    configure(1, None)
    on.in_time(lambda: not listed())
    expect_that("whether it is listed afterwards", listed(), False)


@case("DescribeTopicPartitions", "Leader, replicas and those in sync of each partition.", source=PAGING)
def partitions_told(on: Broker) -> None:
    topic, node = on.topic(2), on.cluster.node_id
    row = {"error_code": E.NONE, "leader_id": node, "leader_epoch": 0, "replica_nodes": [node], "isr_nodes": [node]}
    rows = [row | {"partition_index": index, "offline_replicas": []} for index in (0, 1)]
    told = {"name": topic.name, "is_internal": False, "partitions": rows}
    answer = partitions(on, topic.name)
    expect(answer, topics=[told], next_cursor=None)
    expect_that("whether the operations are told", answer.topics[0].topic_authorized_operations > 0, True)


@case("DescribeTopicPartitions", "A name that cannot be: INVALID_TOPIC_EXCEPTION.", source=PAGING)
def partitions_bad_name(on: Broker) -> None:
    row = {"name": "a/b", "error_code": E.INVALID_TOPIC_EXCEPTION, "partitions": []}
    expect(partitions(on, "a/b"), topics=[row])


@case("DescribeTopicPartitions", "No names means all topics.", source=PAGING)
def partitions_of_everything(on: Broker) -> None:
    topic = on.some_topic()
    found: set[str] = set()
    at: tuple[str, int] | None = None
    for _ in range(100):
        answer = partitions(on, cursor=at)
        found |= {row.name for row in answer.topics}
        if answer.next_cursor is None:
            break
        at = (answer.next_cursor.topic_name, answer.next_cursor.partition_index)
    expect_that("whether a topic is among them", topic.name in found, True)


@case("DescribeTopicPartitions", "A limit below 1 counts as 1.", source=PAGING)
def least_limit(on: Broker) -> None:
    topic = on.topic(2)
    for limit in (0, -1, 1):
        answer = partitions(on, topic.name, limit=limit)
        expect_that("the partitions", [row.partition_index for row in answer.topics[0].partitions], [0])
        expect(answer, next_cursor={"topic_name": topic.name, "partition_index": 1})


@case("DescribeTopicPartitions", "A cursor leaves out the topics before its own.", source=PAGING)
def cursor_goes_on(on: Broker) -> None:
    one, other = on.topic(2), on.topic(2)
    first, second = sorted((one.name, other.name))
    answer = partitions(on, first, second, limit=3)
    expect(answer, next_cursor={"topic_name": second, "partition_index": 1})
    answer = partitions(on, first, second, cursor=(second, 1))
    told = {"name": second, "partitions": [{"partition_index": 1}]}
    expect(answer, topics=[told], next_cursor=None)


@case(
    "DescribeTopicPartitions", "A cursor on a topic that is not among those asked for: INVALID_REQUEST.", source=PAGING
)
def stray_cursor(on: Broker) -> None:
    topic, missing = on.topic(), on.name()
    expect(partitions(on, topic.name, cursor=(missing, 0)), topics=[{"error_code": E.INVALID_REQUEST}])


def log_dirs(on: Broker, *rows: tuple[str, list[int]] | None) -> Answer:
    named = None if rows == (None,) else [{"topic": row[0], "partitions": row[1]} for row in rows if row is not None]
    return on.ask("DescribeLogDirs", topics=named)


@case("DescribeLogDirs", "Null topics: every log, each with its partitions.", source=LOGS)
def every_log(on: Broker) -> None:
    topic = on.topic(2)
    answer = log_dirs(on, None)
    expect(answer, error_code=E.NONE)
    found = [one for result in answer.results for one in result.topics if one.name == topic.name]
    expect_that("its partitions", sorted(row.partition_index for one in found for row in one.partitions), [0, 1])


@case("DescribeLogDirs", "Directories are absolute paths, without an error.", source=LOGS)
def directories(on: Broker) -> None:
    absolute = Matcher("an absolute path", lambda path: path.startswith("/") or path[1:3] == ":\\")
    for result in log_dirs(on, (on.some_topic().name, [0])).results:
        expect_that("directory and error code", (absolute.holds(result.log_dir), result.error_code), (True, E.NONE))


@case("DescribeLogDirs", "No topics: the directories, without logs.", source=LOGS)
def no_logs(on: Broker) -> None:
    answer = log_dirs(on)
    expect_that("whether there is a directory", bool(answer.results), True)
    expect_that("logs", [one.name for result in answer.results for one in result.topics], [])


@case("DescribeLogDirs", "A log that is named twice is returned once.", source=LOGS)
def log_twice(on: Broker) -> None:
    topic = on.topic()
    answer = log_dirs(on, (topic.name, [0, 0]), (topic.name, [0]))
    found = [(one.name, row.partition_index) for r in answer.results for one in r.topics for row in one.partitions]
    expect_that("the logs", found, [(topic.name, 0)])


@case("DescribeLogDirs", "A size grows with what is written.", source=LOGS)
def sizes(on: Broker) -> None:
    topic, size = on.topic(), 0
    for values in ((b"a",), (b"b" * 100, b"c")):
        data = batch(*values)
        size += len(data)
        write(on, topic, data)
        found: Any = [
            row for r in log_dirs(on, (topic.name, [0])).results for one in r.topics for row in one.partitions
        ]
        expect_that("the size", [row.partition_size for row in found], [size])

"""Configuration, log directories, elections, producers, epochs: the administration of a cluster."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cases.produce import batch, producer_id
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import NOT_EMPTY, Answer, containing, expect, expect_that, unordered
from kafkastub_conformance.registry import case
from kafkastub_conformance.writing import write
from kafkawire.errors import ErrorCode as E

TOPIC, BROKER = 2, 4
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
CONFIGS = "Kafka: ConfigHelper"
ALTERING = "Kafka: ConfigurationControlManager"


def describe(on: Broker, *resources: tuple[int, str], keys: list[str] | None = None, **more: Any) -> Answer:
    rows = [{"resource_type": kind, "resource_name": name, "configuration_keys": keys} for kind, name in resources]
    return on.ask("DescribeConfigs", resources=rows, **more)


def setting(on: Broker, topic: Topic, name: str) -> Any:
    """A setting of a topic as the broker tells it, None where it does not."""
    rows = [{"resource_type": TOPIC, "resource_name": topic.name, "configuration_keys": [name]}]
    found = on.cluster.ask("DescribeConfigs", resources=rows).results[0].configs
    return found[0].value if found else None


def await_setting(on: Broker, topic: Topic, name: str, value: str) -> None:
    """Wait until a setting is in force: Kafka's controller answers before the brokers have heard of it."""
    on.in_time(lambda: bool(setting(on, topic, name) == value))
    expect_that(name, setting(on, topic, name), value)


@case("DescribeConfigs", "A topic's settings, with their sources.", source=CONFIGS)
def topic_settings(on: Broker) -> None:
    topic = on.topic(retention_ms="5000")
    rows = [
        {"name": "retention.ms", "value": "5000", "config_source": 1, "config_type": 5},
        {"name": "cleanup.policy", "value": "delete", "config_source": 5, "config_type": 7},
    ]
    for row in rows:
        row |= {"read_only": False, "is_sensitive": False, "synonyms": []}
    told = {"error_code": E.NONE, "resource_type": TOPIC, "resource_name": topic.name}
    expect(describe(on, (TOPIC, topic.name)), results=[told | {"configs": containing(*rows, by="name")}])


@case("DescribeConfigs", "Keys pick; unknown ones are left out.", source=CONFIGS)
def picked(on: Broker) -> None:
    answer = describe(on, (TOPIC, on.some_topic().name), keys=["retention.ms", "nope"])
    expect(answer, results=[{"configs": [{"name": "retention.ms"}]}])


@case("DescribeConfigs", "Synonyms in the order of precedence.", source="KIP-226")
def synonyms(on: Broker) -> None:
    topic = on.topic(retention_ms="5000")
    answer = describe(on, (TOPIC, topic.name), keys=["retention.ms"], include_synonyms=True)
    found = answer.results[0].configs[0].synonyms[0]
    expect_that("the first synonym", (found.name, found.value, found.source), ("retention.ms", "5000", 1))


@case(
    "DescribeConfigs",
    "A missing topic: UNKNOWN_TOPIC_OR_PARTITION; a bad name: INVALID_TOPIC_EXCEPTION.",
    source=CONFIGS,
)
def describe_missing(on: Broker) -> None:
    rows = [
        {"resource_name": on.name(), "error_code": E.UNKNOWN_TOPIC_OR_PARTITION, "configs": []},
        {"resource_name": "a/b", "error_code": E.INVALID_TOPIC_EXCEPTION, "configs": []},
    ]
    expect(
        describe(on, *((TOPIC, str(row["resource_name"])) for row in rows)),
        results=unordered(*rows, by="resource_name"),
    )


@case("DescribeConfigs", "The broker by its id; another's id: INVALID_REQUEST.", source=CONFIGS)
def broker_settings(on: Broker) -> None:
    answer = describe(on, (BROKER, str(on.cluster.node_id)), keys=["offsets.retention.minutes"])
    expect(answer, results=[{"error_code": E.NONE, "configs": [{"name": "offsets.retention.minutes"}]}])
    expect(describe(on, (BROKER, "999999")), results=[{"error_code": E.INVALID_REQUEST}])


@case("DescribeConfigs", "A resource type that does not exist: INVALID_REQUEST.", source=CONFIGS)
def unknown_type(on: Broker) -> None:
    expect(describe(on, (3, "x")), results=[{"error_code": E.INVALID_REQUEST}])


def incremental(on: Broker, name: str, *rows: tuple[str, int, str | None], kind: int = TOPIC, **more: Any) -> Answer:
    configs = [{"name": key, "config_operation": operation, "value": value} for key, operation, value in rows]
    resources = [{"resource_type": kind, "resource_name": name, "configs": configs}]
    return on.ask("IncrementalAlterConfigs", resources=resources, **more)


@case("IncrementalAlterConfigs", "SET and DELETE.", source="KIP-339")
def set_and_delete(on: Broker) -> None:
    topic = on.topic()
    before = setting(on, topic, "retention.ms")
    answer = incremental(on, topic.name, ("retention.ms", SET, "7000"))
    expect(answer, responses=[{"error_code": E.NONE, "resource_type": TOPIC, "resource_name": topic.name}])
    await_setting(on, topic, "retention.ms", "7000")
    incremental(on, topic.name, ("retention.ms", DELETE, None))
    await_setting(on, topic, "retention.ms", before)


@case("IncrementalAlterConfigs", "APPEND and SUBTRACT edit a list.", source="KIP-339")
def append_and_subtract(on: Broker) -> None:
    topic = on.topic()
    incremental(on, topic.name, ("cleanup.policy", APPEND, "compact"))
    await_setting(on, topic, "cleanup.policy", "delete,compact")
    incremental(on, topic.name, ("cleanup.policy", SUBTRACT, "delete"))
    await_setting(on, topic, "cleanup.policy", "compact")


@case(
    "IncrementalAlterConfigs", "Values that cannot be, and APPEND to what is no list: INVALID_CONFIG.", source=ALTERING
)
def bad_values(on: Broker) -> None:
    topic = on.some_topic()
    for row in (("retention.ms", SET, "x"), ("nope", SET, "1"), ("retention.ms", APPEND, "4")):
        expect(
            incremental(on, topic.name, row), responses=[{"error_code": E.INVALID_CONFIG, "error_message": NOT_EMPTY}]
        )


@case("IncrementalAlterConfigs", "A null value, and a key named twice: INVALID_REQUEST.", source=ALTERING)
def bad_rows(on: Broker) -> None:
    topic = on.some_topic()
    for rows in ([("retention.ms", SET, None)], [("retention.ms", SET, "1"), ("retention.ms", SET, "2")]):
        expect(incremental(on, topic.name, *rows), responses=[{"error_code": E.INVALID_REQUEST}])


@case("IncrementalAlterConfigs", "A missing topic: UNKNOWN_TOPIC_OR_PARTITION.", source=ALTERING)
def alter_missing(on: Broker) -> None:
    answer = incremental(on, on.name(), ("retention.ms", SET, "1"))
    expect(answer, responses=[{"error_code": E.UNKNOWN_TOPIC_OR_PARTITION}])


@case("IncrementalAlterConfigs", "validate_only changes nothing.", source=ALTERING)
def validated(on: Broker) -> None:
    topic = on.topic()
    before = setting(on, topic, "retention.ms")
    expect(
        incremental(on, topic.name, ("retention.ms", SET, "7"), validate_only=True), responses=[{"error_code": E.NONE}]
    )
    expect_that("retention.ms", setting(on, topic, "retention.ms"), before)


@case(
    "IncrementalAlterConfigs",
    "The offsets' retention is not dynamic: INVALID_REQUEST.",
    source="Kafka: DynamicBrokerConfig",
)
def not_dynamic(on: Broker) -> None:
    row = ("offsets.retention.minutes", SET, "77")
    answer = incremental(on, str(on.cluster.node_id), row, kind=BROKER, validate_only=True)
    expect(answer, responses=[{"error_code": E.INVALID_REQUEST}])


def alter(on: Broker, name: str, *rows: tuple[str, str | None], **more: Any) -> Answer:
    configs = [{"name": key, "value": value} for key, value in rows]
    return on.ask(
        "AlterConfigs", resources=[{"resource_type": TOPIC, "resource_name": name, "configs": configs}], **more
    )


@case("AlterConfigs", "The overrides become exactly those given.", source="KIP-133")
def replaced(on: Broker) -> None:
    topic = on.topic(retention_ms="5000")
    expect(
        alter(on, topic.name, ("segment.ms", "100000")), responses=[{"error_code": E.NONE, "resource_name": topic.name}]
    )
    await_setting(on, topic, "segment.ms", "100000")
    expect_that("whether retention.ms is still 5000", setting(on, topic, "retention.ms") == "5000", False)


@case("AlterConfigs", "Values that cannot be: INVALID_CONFIG; null: INVALID_REQUEST.", source=ALTERING)
def alter_badly(on: Broker) -> None:
    name = on.some_topic().name
    expect(alter(on, name, ("retention.ms", "x")), responses=[{"error_code": E.INVALID_CONFIG}])
    expect(alter(on, name, ("retention.ms", None)), responses=[{"error_code": E.INVALID_REQUEST}])
    expect(alter(on, on.name(), ("retention.ms", "1")), responses=[{"error_code": E.UNKNOWN_TOPIC_OR_PARTITION}])


@case("AlterConfigs", "validate_only changes nothing.", source=ALTERING)
def alter_validated(on: Broker) -> None:
    topic = on.topic(retention_ms="5000")
    expect(alter(on, topic.name, ("segment.ms", "7"), validate_only=True), responses=[{"error_code": E.NONE}])
    expect_that("retention.ms", setting(on, topic, "retention.ms"), "5000")


@case("ListConfigResources", "Topics are listed where asked for.", source="KIP-1142", versions=(1, 1))
def config_resources(on: Broker) -> None:
    topic = on.some_topic()
    answer = on.ask("ListConfigResources", resource_types=[TOPIC])
    row = {"resource_name": topic.name, "resource_type": TOPIC}
    expect(answer, error_code=E.NONE, config_resources=containing(row, by="resource_name"))


@case("ListConfigResources", "Only client metrics subscriptions are listed.", source="KIP-714", versions=(0, 0))
def client_metrics(on: Broker) -> None:
    names = {row.resource_name for row in on.ask("ListConfigResources").config_resources}
    expect_that("whether a topic is among them", on.some_topic().name in names, False)


@case("ListConfigResources", "A type that does not exist: UNSUPPORTED_VERSION.", source="KIP-1142", versions=(1, 1))
def unknown_resources(on: Broker) -> None:
    expect(on.ask("ListConfigResources", resource_types=[3]), error_code=E.UNSUPPORTED_VERSION, config_resources=[])


def delete_records(on: Broker, topic: Topic, *rows: tuple[int, int]) -> Answer:
    partitions = [{"partition_index": index, "offset": offset} for index, offset in rows]
    return on.ask("DeleteRecords", topics=[{"name": topic.name, "partitions": partitions}], timeout_ms=10000)


def watermark(index: int, low: int, code: int = 0) -> list[dict[str, Any]]:
    return [{"partitions": [{"partition_index": index, "low_watermark": low, "error_code": code}]}]


@case("DeleteRecords", "The log start moves up, never back; -1 is everything.", source="KIP-107")
def records_deleted(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a", b"b", b"c"))
    for offset, low in ((1, 1), (0, 1), (-1, 3)):
        expect(delete_records(on, topic, (0, offset)), topics=watermark(0, low))


@case("DeleteRecords", "Beyond the high watermark, or below -1: OFFSET_OUT_OF_RANGE.", source="KIP-107")
def records_out_of_range(on: Broker) -> None:
    topic = on.topic()
    for offset in (1, -2):
        expect(delete_records(on, topic, (0, offset)), topics=watermark(0, -1, E.OFFSET_OUT_OF_RANGE))


@case("DeleteRecords", "A missing partition: UNKNOWN_TOPIC_OR_PARTITION.", source="KIP-107")
def records_missing(on: Broker) -> None:
    expect(delete_records(on, on.topic(), (9, 0)), topics=watermark(9, -1, E.UNKNOWN_TOPIC_OR_PARTITION))


@case("DeleteRecords", "A compacted topic: POLICY_VIOLATION.", source="Kafka: Partition.deleteRecordsOnLeader")
def records_compacted(on: Broker) -> None:
    topic = on.topic(cleanup_policy="compact")
    expect(delete_records(on, topic, (0, 0)), topics=watermark(0, -1, E.POLICY_VIOLATION))


@case("InitProducerId", "A producer without a transactional id gets a new id, with epoch 0.", source="KIP-98")
def new_producer(on: Broker) -> None:
    one, other = (on.ask("InitProducerId", transactional_id=None, transaction_timeout_ms=60000) for _ in range(2))
    expect(one, error_code=E.NONE, producer_epoch=0)
    expect_that("whether the ids differ", one.producer_id != other.producer_id, True)


@case("InitProducerId", "An empty transactional id: INVALID_REQUEST.", source="Kafka: TransactionCoordinator")
def empty_transactional_id(on: Broker) -> None:
    answer = on.ask("InitProducerId", transactional_id="", transaction_timeout_ms=60000)
    expect(answer, error_code=E.INVALID_REQUEST, producer_id=-1, producer_epoch=-1)


@case(
    "InitProducerId",
    "An id without its epoch, and the other way round: INVALID_REQUEST.",
    source="KIP-360",
    versions=(3, 6),
)
def half_known(on: Broker) -> None:
    for producer, epoch in ((5, -1), (-1, 5)):
        body: dict[str, Any] = {"transactional_id": None, "transaction_timeout_ms": 60000}
        answer = on.ask("InitProducerId", **body, producer_id=producer, producer_epoch=epoch)
        expect(answer, error_code=E.INVALID_REQUEST)


def epochs(on: Broker, topic: Topic, **row: Any) -> Answer:
    rows = [{"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0, **row}]
    return on.ask("OffsetForLeaderEpoch", replica_id=-2, topics=[{"topic": topic.name, "partitions": rows}])


@case("OffsetForLeaderEpoch", "The present epoch ends at the end of the log.", source="KIP-101, KIP-279")
def epoch_end(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a", b"b"))
    row = {"error_code": E.NONE, "partition": 0, "leader_epoch": 0, "end_offset": 2}
    expect(epochs(on, topic), topics=[{"topic": topic.name, "partitions": [row]}])


@case("OffsetForLeaderEpoch", "An epoch of the future, and -1, have no end.", source="KIP-101, KIP-279")
def epoch_unknown(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a"))
    for epoch in (9, -1):
        row = {"error_code": E.NONE, "leader_epoch": -1, "end_offset": -1}
        expect(epochs(on, topic, leader_epoch=epoch), topics=[{"partitions": [row]}])


@case("OffsetForLeaderEpoch", "A current leader epoch of the future: UNKNOWN_LEADER_EPOCH.", source="KIP-320")
def epoch_of_the_future(on: Broker) -> None:
    row = {"error_code": E.UNKNOWN_LEADER_EPOCH, "leader_epoch": -1, "end_offset": -1}
    expect(epochs(on, on.topic(), current_leader_epoch=99), topics=[{"partitions": [row]}])


@case("OffsetForLeaderEpoch", "A missing partition: UNKNOWN_TOPIC_OR_PARTITION.", source="KIP-101")
def epoch_missing(on: Broker) -> None:
    row = {"error_code": E.UNKNOWN_TOPIC_OR_PARTITION, "partition": 9}
    expect(epochs(on, on.topic(), partition=9), topics=[{"partitions": [row]}])


@case("DescribeLogDirs", "A log with its size; what does not exist is left out.", source="KIP-113")
def log_dirs(on: Broker) -> None:
    topic = on.topic()
    data = batch(b"a" * 50)
    write(on, topic, data)
    named = [{"topic": topic.name, "partitions": [0, 9]}, {"topic": on.name(), "partitions": [0]}]
    answer = on.ask("DescribeLogDirs", topics=named)
    found = [one for result in answer.results for one in result.topics]
    expect_that("the topics", [one.name for one in found], [topic.name])
    expect_that(
        "the partitions", [(p.partition_index, p.partition_size) for p in found[0].partitions], [(0, len(data))]
    )
    expect_that("lag and future", [(p.offset_lag, p.is_future_key) for p in found[0].partitions], [(0, False)])


@case("DescribeProducers", "An idempotent producer of a partition.", source="KIP-664", also=["InitProducerId"])
def producers(on: Broker) -> None:
    topic, producer = on.topic(), producer_id(on)
    write(on, topic, batch(b"a", b"b", producer_id=producer, producer_epoch=0, base_sequence=0))
    answer = on.ask("DescribeProducers", topics=[{"name": topic.name, "partition_indexes": [0]}])
    row = {"producer_id": producer, "producer_epoch": 0, "last_sequence": 1, "current_txn_start_offset": -1}
    rows = [{"partition_index": 0, "error_code": E.NONE, "active_producers": [row]}]
    expect(answer, topics=[{"name": topic.name, "partitions": rows}])


@case("DescribeProducers", "A missing topic: UNKNOWN_TOPIC_OR_PARTITION.", source="KIP-664")
def producers_missing(on: Broker) -> None:
    answer = on.ask("DescribeProducers", topics=[{"name": on.name(), "partition_indexes": [0]}])
    expect(answer, topics=[{"partitions": [{"error_code": E.UNKNOWN_TOPIC_OR_PARTITION}]}])

"""Producer ids and their epochs; the epochs of leaders; records that are deleted: cases beside those of `admin`."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cases.admin import delete_records, epochs, watermark
from kafkastub_conformance.cases.produce import batch
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import Answer, expect, expect_that
from kafkastub_conformance.registry import case
from kafkastub_conformance.writing import write
from kafkawire.errors import ErrorCode as E

TRANSACTIONAL = "KIP-98, Kafka: TransactionCoordinator.handleInitProducerId"
FENCING = "KIP-360, KIP-588"
STILL = (E.COORDINATOR_LOAD_IN_PROGRESS, E.COORDINATOR_NOT_AVAILABLE, E.NOT_COORDINATOR, E.CONCURRENT_TRANSACTIONS)


def init(on: Broker, name: str | None, timeout_ms: int = 60_000, producer: int = -1, epoch: int = -1) -> Answer:
    """InitProducerId, again while the coordinator is still loading."""
    body: dict[str, Any] = {"transactional_id": name, "transaction_timeout_ms": timeout_ms}
    if on.version >= 3:
        body |= {"producer_id": producer, "producer_epoch": epoch}
    answer = on.ask("InitProducerId", **body)
    if answer.error_code in STILL:
        found = [answer]

        def settled() -> bool:
            found[0] = on.ask("InitProducerId", **body)
            return found[0].error_code not in STILL

        on.in_time(settled)
        answer = found[0]
    return answer


def transactional_id(on: Broker) -> str:
    """An id whose coordinator is the broker under test. Raises Skipped where that cannot be told."""
    return on.cluster.transactional_id()


@case("InitProducerId", "Without a transactional id the timeout is not looked at.", source="KIP-98")
def any_timeout(on: Broker) -> None:
    for timeout in (0, -1, 2**31 - 1):
        expect(init(on, None, timeout), error_code=E.NONE, producer_epoch=0)


@case(
    "InitProducerId",
    "A transactional id keeps its producer id; each time its epoch rises by one.",
    source=TRANSACTIONAL,
)
def epoch_rises(on: Broker) -> None:
    name = transactional_id(on)
    first = init(on, name)
    expect(first, error_code=E.NONE, producer_epoch=0)
    for epoch in (1, 2):
        expect(init(on, name), error_code=E.NONE, producer_id=first.producer_id, producer_epoch=epoch)


@case("InitProducerId", "Two transactional ids have two producer ids.", source=TRANSACTIONAL)
def ids_of_their_own(on: Broker) -> None:
    one, other = (init(on, transactional_id(on)) for _ in range(2))
    expect_that("the error codes", (one.error_code, other.error_code), (E.NONE, E.NONE))
    expect_that("whether the ids differ", one.producer_id != other.producer_id, True)


@case(
    "InitProducerId",
    "A transaction timeout of 0 or less, or over the broker's limit: INVALID_TRANSACTION_TIMEOUT.",
    source=TRANSACTIONAL,
)
def bad_timeouts(on: Broker) -> None:
    most = on.cluster.number("transaction.max.timeout.ms", 900_000)
    for timeout in (0, -1, most + 1):
        answer = init(on, transactional_id(on), timeout)
        expect(answer, error_code=E.INVALID_TRANSACTION_TIMEOUT, producer_id=-1, producer_epoch=-1)
    expect(init(on, transactional_id(on), most), error_code=E.NONE)


@case(
    "InitProducerId",
    "The present id and epoch, named, are bumped; again they are answered alike.",
    source=FENCING,
    versions=(3, 6),
)
def bumped(on: Broker) -> None:
    name = transactional_id(on)
    first = init(on, name)
    for _ in range(2):
        answer = init(on, name, producer=first.producer_id, epoch=0)
        expect(answer, error_code=E.NONE, producer_id=first.producer_id, producer_epoch=1)


@case(
    "InitProducerId",
    "An epoch that is not the present one: PRODUCER_FENCED, in version 3 INVALID_PRODUCER_EPOCH.",
    source=FENCING,
    versions=(3, 6),
)
def fenced_producer(on: Broker) -> None:
    name = transactional_id(on)
    first = init(on, name)
    for _ in range(3):
        init(on, name)
    code = E.PRODUCER_FENCED if on.version >= 4 else E.INVALID_PRODUCER_EPOCH
    answer = init(on, name, producer=first.producer_id, epoch=0)
    expect(answer, error_code=code, producer_id=-1, producer_epoch=-1)
    answer = init(on, name, producer=first.producer_id + 1_000_000_000, epoch=3)
    expect(answer, error_code=code)


@case(
    "OffsetForLeaderEpoch",
    "A partition that is requested twice is answered twice.",
    source="Kafka: ReplicaManager.lastOffsetForLeaderEpoch",
)
def epoch_twice(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a"))
    rows = [{"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}] * 2
    answer = on.ask("OffsetForLeaderEpoch", replica_id=-2, topics=[{"topic": topic.name, "partitions": rows}])
    told = {"error_code": E.NONE, "partition": 0, "end_offset": 1}
    expect(answer, topics=[{"topic": topic.name, "partitions": [told, told]}])


@case("OffsetForLeaderEpoch", "The present epoch of an empty log ends at 0.", source="KIP-101")
def epoch_of_an_empty_log(on: Broker) -> None:
    expect(epochs(on, on.topic()), topics=[{"partitions": [{"error_code": E.NONE, "end_offset": 0}]}])


@case(
    "OffsetForLeaderEpoch", "A missing topic: UNKNOWN_TOPIC_OR_PARTITION; the next topic is answered.", source="KIP-101"
)
def epoch_missing_topic(on: Broker) -> None:
    topic, missing = on.topic(), on.name()
    row = {"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}
    asked = [{"topic": name, "partitions": [row]} for name in (missing, topic.name)]
    answer = on.ask("OffsetForLeaderEpoch", replica_id=-2, topics=asked)
    codes = {one.topic: one.partitions[0].error_code for one in answer.topics}
    expect_that("the error codes", codes, {missing: E.UNKNOWN_TOPIC_OR_PARTITION, topic.name: E.NONE})


@case("OffsetForLeaderEpoch", "No topics is an empty answer.", source="KIP-101")
def epoch_of_nothing(on: Broker) -> None:
    expect(on.ask("OffsetForLeaderEpoch", replica_id=-2, topics=[]), topics=[])


@case(
    "DeleteRecords",
    "Of a partition named twice the last offset counts, and it is answered once.",
    source="Kafka: KafkaApis",
)
def records_twice(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a", b"b", b"c"))
    expect(delete_records(on, topic, (0, 1), (0, 2)), topics=watermark(0, 2))


@case("DeleteRecords", "A missing topic: UNKNOWN_TOPIC_OR_PARTITION; no topics is an empty answer.", source="KIP-107")
def records_missing_topic(on: Broker) -> None:
    missing = Topic(on.name(), bytes(16), 0)
    expect(delete_records(on, missing, (0, 0)), topics=watermark(0, -1, E.UNKNOWN_TOPIC_OR_PARTITION))
    expect(on.ask("DeleteRecords", topics=[], timeout_ms=10000), topics=[])


@case(
    "DeleteRecords",
    "An internal topic: INVALID_TOPIC_EXCEPTION.",
    source="Kafka: ReplicaManager.deleteRecordsOnLocalLog",
)
def records_internal(on: Broker) -> None:
    internal = Topic("__consumer_offsets", bytes(16), 0)
    expect(delete_records(on, internal, (0, 0)), topics=watermark(0, -1, E.INVALID_TOPIC_EXCEPTION))


@case("DeleteRecords", "A partition that is refused does not disturb its neighbours.", source="KIP-107")
def records_neighbours(on: Broker) -> None:
    topic = on.topic(2)
    for index in (0, 1):
        write(on, topic, batch(b"a"), partition=index)
    answer = delete_records(on, topic, (0, 9), (1, 1))
    found = {row.partition_index: (row.low_watermark, row.error_code) for row in answer.topics[0].partitions}
    expect_that("watermarks and codes", found, {0: (-1, E.OFFSET_OUT_OF_RANGE), 1: (1, E.NONE)})

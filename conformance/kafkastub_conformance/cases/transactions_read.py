"""Records in transactions: Produce, and what Fetch, ListOffsets and DeleteRecords make of them."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cases.fetch import fetch, list_offsets, only, request, values
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import expect_that
from kafkastub_conformance.registry import case
from kafkastub_conformance.transacting import ADDED_BEFORE, Producer, init, partitions, plain, settled, state
from kafkastub_conformance.writing import write
from kafkawire.errors import ErrorCode as E
from kafkawire.records import parse_header, read_batch, split_batches

APPENDED = "KIP-98; Kafka: ReplicaManager.appendRecords"
VERIFIED = "KIP-890; Kafka: ReplicaManager.maybeSendPartitionsToTransactionCoordinator"
COMMITTED = "KIP-98; Kafka: UnifiedLog.read"
SEEN = ["AddPartitionsToTxn", "DescribeTransactions", "EndTxn", "InitProducerId", "Produce"]
COMMITTED_ONLY = 1


def joins(on: Broker) -> bool:
    """Whether a partition comes into the transaction by being written to."""
    return on.version > ADDED_BEFORE["Produce"]


@case("Produce", "Records of a transaction are written; they are in the log at once.", source=APPENDED, also=SEEN)
def transactional(on: Broker) -> None:
    topic, producer = on.topic(2), Producer(on)
    producer.write(topic, b"a")
    producer.write(topic, b"b", b"c")
    expect_that("what is in it", partitions(on, producer.name), {topic.name: [0]})
    row = only(fetch(on, topic, {"fetch_offset": 0}))
    expect_that("values", values(row.records), [b"a", b"b", b"c"])


@case(
    "Produce",
    "A partition comes into the transaction by being written to.",
    source="KIP-890",
    versions=(12, 13),
    also=SEEN,
)
def joined(on: Broker) -> None:
    topic, producer = on.topic(2), Producer(on)
    expect_that("error_code", producer.produce(topic, b"a", partition=1), E.NONE)
    expect_that("what is in it", partitions(on, producer.name), {topic.name: [1]})
    expect_that("the state", state(on, producer.name), "Ongoing")


@case(
    "Produce",
    "A partition that was not added: INVALID_TXN_STATE, in version 11 TRANSACTION_ABORTABLE.",
    source=VERIFIED,
    versions=(3, 11),
    also=SEEN,
)
def not_added(on: Broker) -> None:
    topic, producer = on.topic(2), Producer(on)
    code = E.TRANSACTION_ABORTABLE if on.version >= 11 else E.INVALID_TXN_STATE
    expect_that("error_code before anything is added", producer.produce(topic, b"a"), code)
    producer.add(topic, 1)
    expect_that("error_code beside what is added", producer.produce(topic, b"a", base_sequence=0), code)
    expect_that("what is in it", partitions(on, producer.name), {topic.name: [1]})


@case(
    "Produce",
    "A zombie, whose epoch is not the producer's any more: INVALID_PRODUCER_EPOCH.",
    source="KIP-98, KIP-588",
    also=SEEN,
)
def zombie(on: Broker) -> None:
    topic, former = on.topic(), Producer(on)
    former.write(topic, b"a")
    init(on, former.name)
    settled(on, former.name)
    expect_that("error_code", former.produce(topic, b"b"), E.INVALID_PRODUCER_EPOCH)
    row = only(fetch(on, topic, {"fetch_offset": 0}, isolation_level=COMMITTED_ONLY))
    expect_that("values", values(row.records)[:1], [b"a"])
    expect_that("where what is aborted begins", [one.first_offset for one in row.aborted_transactions], [0])


@case(
    "Produce",
    "Records of a transaction without a transactional id: TRANSACTIONAL_ID_AUTHORIZATION_FAILED.",
    source="Kafka: KafkaApis.handleProduceRequest",
    also=SEEN,
)
def without_a_name(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.add(topic, at=3)
    code = producer.produce(topic, b"a", name=None)
    expect_that("error_code", code, E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)


@case(
    "Produce",
    "Another producer id than the transactional id's: INVALID_PRODUCER_ID_MAPPING.",
    source=VERIFIED,
    also=SEEN,
)
def of_another(on: Broker) -> None:
    topic, producer, other = on.topic(), Producer(on), Producer(on)
    producer.add(topic, at=3)
    code = producer.produce(topic, b"a", name=other.name)
    expect_that("error_code", code, E.INVALID_PRODUCER_ID_MAPPING)


@case("Produce", "In a transaction a gap in the sequence: OUT_OF_ORDER_SEQUENCE_NUMBER.", source="KIP-98", also=SEEN)
def gap_in_a_transaction(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"a")
    expect_that("error_code", producer.produce(topic, b"b", base_sequence=5), E.OUT_OF_ORDER_SEQUENCE_NUMBER)


@case(
    "Produce",
    "A batch without a transaction, of a producer that has one open: INVALID_TXN_STATE.",
    source="Kafka: ProducerAppendInfo.appendDataBatch",
    also=SEEN,
)
def out_of_the_transaction(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"a")
    expect_that("error_code", producer.produce(topic, b"b", attributes=0), E.INVALID_TXN_STATE)


def committed(on: Broker, topic: Topic, offset: int = 0) -> Any:
    """A partition as who reads committed records sees it."""
    return only(fetch(on, topic, {"fetch_offset": offset}, isolation_level=COMMITTED_ONLY))


def aborted(row: Any) -> list[tuple[int, int]]:
    """(producer id, first offset) of the aborted transactions that an answer names."""
    return [(one.producer_id, one.first_offset) for one in row.aborted_transactions or ()]


@case(
    "Fetch",
    "Committed records end before the first open transaction; others are not held back.",
    source=COMMITTED,
    also=SEEN,
)
def last_stable_offset(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    write(on, topic, plain(b"a"))
    producer.write(topic, b"b")
    write(on, topic, plain(b"c"))
    row = committed(on, topic)
    expect_that("high watermark, last stable offset", (row.high_watermark, row.last_stable_offset), (3, 1))
    expect_that("values", values(row.records), [b"a"])
    expect_that("the aborted", aborted(row), [])
    row = only(fetch(on, topic, {"fetch_offset": 0}))
    expect_that("last stable offset", row.last_stable_offset, 1)
    expect_that("values for who reads everything", values(row.records), [b"a", b"b", b"c"])
    expect_that("what is aborted, for who did not ask", row.aborted_transactions, None)


@case(
    "Fetch",
    "With its end a transaction's records are there, and a control batch behind them.",
    source=COMMITTED,
    also=SEEN,
)
def after_a_commit(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"a")
    producer.ended(True)
    row = committed(on, topic)
    expect_that("high watermark, last stable offset", (row.high_watermark, row.last_stable_offset), (2, 2))
    expect_that("the aborted", aborted(row), [])
    batches = [bytes(one) for _, one in split_batches(bytes(row.records))]
    expect_that("how many batches", len(batches), 2)
    header = parse_header(batches[1])
    expect_that(
        "attributes, producer id, sequence, records of the marker",
        (header.attributes, header.producer_id, header.base_sequence, header.record_count),
        (0x30, producer.id, -1, 1),
    )
    (record,) = read_batch(batches[1])
    expect_that("its key", bytes(record.key or b""), b"\0\0\0\1")
    expect_that("its value", bytes(record.value or b"")[:2], b"\0\0")


@case("Fetch", "Aborted transactions are in the log, and the answer lists them.", source=COMMITTED, also=SEEN)
def after_an_abort(on: Broker) -> None:
    topic, producer, other = on.topic(), Producer(on), Producer(on)
    producer.write(topic, b"a")
    other.write(topic, b"b")
    producer.write(topic, b"c")
    producer.ended(False)
    expect_that("what is there before the other's end", committed(on, topic).last_stable_offset, 1)
    other.ended(False)
    row = committed(on, topic)
    expect_that("last stable offset", row.last_stable_offset, 5)
    expect_that("the aborted", sorted(aborted(row)), sorted([(producer.id, 0), (other.id, 1)]))
    expect_that("values", values(row.records)[:3], [b"a", b"b", b"c"])
    expect_that("the aborted behind the first end", aborted(committed(on, topic, 4)), [(other.id, 1)])


@case(
    "Fetch",
    "A fetch that waits for committed records is answered when the transaction ends.",
    source="Kafka: DelayedFetch",
    also=SEEN,
)
def released_by_a_commit(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"a")
    asked = request(topic, {"fetch_offset": 0}, isolation_level=COMMITTED_ONLY, max_wait_ms=10_000, min_bytes=1)
    waiting = on.send("Fetch", client="waiting", **asked)
    expect_that("whether it waits", waiting.waits(), True)
    producer.ended(True)
    expect_that("values", values(only(waiting.answer()).records)[:1], [b"a"])


@case(
    "ListOffsets",
    "The end of what is committed is before the first open transaction.",
    source="KIP-98; Kafka: UnifiedLog.fetchOffsetByTimestamp",
    versions=(2, 11),
    also=SEEN,
)
def end_of_the_committed(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    write(on, topic, plain(b"a"))
    producer.write(topic, b"b")

    def ends() -> list[int]:
        asked = {"partition_index": 0, "timestamp": -1}
        answers = [list_offsets(on, topic, asked, isolation_level=level) for level in (0, COMMITTED_ONLY)]
        return [answer.topics[0].partitions[0].offset for answer in answers]

    expect_that("the ends while it is open", ends(), [2, 1])
    producer.ended(False)
    expect_that("the ends once it is not", ends(), [3, 3])


@case(
    "ListOffsets",
    "By its time, a record of an open transaction is found by readers of all records only.",
    source="KIP-98; Kafka: UnifiedLog.fetchOffsetByTimestamp",
    versions=(2, 11),
    also=SEEN,
)
def time_of_the_committed(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"a")

    def found_at() -> list[int]:
        asked = {"partition_index": 0, "timestamp": 0}
        answers = [list_offsets(on, topic, asked, isolation_level=level) for level in (0, COMMITTED_ONLY)]
        return [answer.topics[0].partitions[0].offset for answer in answers]

    expect_that("what is found while it is open", found_at(), [0, -1])
    producer.ended(True)
    expect_that("what is found once it is not", found_at(), [0, 0])

"""What keeps transactions whole: in several partitions, when something comes twice or late, and as time goes by."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cases.expiry import DAY_MS, retention_ms, standing
from kafkastub_conformance.cases.fetch import fetch, only, values
from kafkastub_conformance.cases.offset_delete import delete, topic_result
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import expect, expect_that
from kafkastub_conformance.registry import case
from kafkastub_conformance.transacting import Producer, init, partitions, settled, state
from kafkawire.errors import ErrorCode as E

APPENDED = "Kafka: ProducerAppendInfo.appendDataBatch"
SEEN = ["AddPartitionsToTxn", "DescribeTransactions", "EndTxn", "InitProducerId", "Produce"]
OFFSETS = ["AddOffsetsToTxn", "DescribeTransactions", "EndTxn", "InitProducerId", "OffsetFetch", "TxnOffsetCommit"]
COMMITTED_ONLY = 1
LATE_SECONDS = 25
"""Kafka looks every ten seconds for transactions whose time is over."""


def ends(on: Broker, topic: Topic, partition: int = 0) -> tuple[int, int]:
    """Last stable offset and high watermark."""
    row = only(fetch(on, topic, {"partition": partition, "fetch_offset": 0}, isolation_level=COMMITTED_ONLY))
    return row.last_stable_offset, row.high_watermark


@case(
    "EndTxn",
    "Every partition of the transaction has its marker.",
    source="KIP-98; Kafka: TransactionMarkerChannelManager",
    also=[*SEEN, "Fetch"],
)
def ending_everywhere(on: Broker) -> None:
    topic, producer = on.topic(3), Producer(on)
    for commit in (True, False):
        for index in (0, 1, 2):
            producer.write(topic, b"a", partition=index)
        producer.ended(commit)
        count = 2 if commit else 4
        expect_that("ends of the partitions", [ends(on, topic, index) for index in (0, 1, 2)], 3 * [(count, count)])


@case("AddPartitionsToTxn", "Those that were added before stay.", source="KIP-98", also=SEEN)
def adding_one_by_one(on: Broker) -> None:
    topic, producer = on.topic(3), Producer(on)
    for index in (2, 0, 1):
        expect_that("the codes", producer.add(topic, index), [(index, E.NONE)])
    expect_that("what is in it", partitions(on, producer.name), {topic.name: [0, 1, 2]})


@case("Produce", "In a transaction, a batch that comes twice is written once.", source="KIP-98", also=[*SEEN, "Fetch"])
def twice_in_a_transaction(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"a")
    producer.write(topic, b"b")
    expect_that("error_code", producer.produce(topic, b"a", base_sequence=0), E.NONE)
    expect_that("last stable offset and end", ends(on, topic), (0, 2))


@case(
    "Produce",
    "With another epoch sequences start again: the batch is not a duplicate, and its sequence must be 0.",
    source=APPENDED,
    also=[*SEEN, "Fetch"],
)
def sequences_of_an_epoch(on: Broker) -> None:
    topic, former = on.topic(), Producer(on)
    former.write(topic, b"a")
    former.write(topic, b"b")
    former.ended(True)
    producer = Producer(on, former.name)
    producer.sequences[topic.name, 0] = 2
    if on.version < 12:
        producer.add(topic)
    expect_that("error_code of sequence 2", producer.produce(topic, b"c"), E.OUT_OF_ORDER_SEQUENCE_NUMBER)
    producer.sequences.clear()
    for sequence in (0, 1):
        expect_that(f"error_code of sequence {sequence}", producer.produce(topic, b"c"), E.NONE)
    producer.ended(True)
    expect_that("last stable offset and end", ends(on, topic), (6, 6))


@case(
    "Produce",
    "A producer that joins by writing begins with sequence 0: OUT_OF_ORDER_SEQUENCE_NUMBER.",
    source="KIP-890; Kafka: ProducerAppendInfo.checkSequence",
    versions=(12, 13),
    also=SEEN,
)
def beginning_in_the_middle(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    code = producer.produce(topic, b"a", base_sequence=3)
    expect_that("error_code", code, E.OUT_OF_ORDER_SEQUENCE_NUMBER)
    expect_that("error_code of sequence 0", producer.produce(topic, b"a", base_sequence=0), E.NONE)


@case(
    "Produce",
    "A batch behind one that was refused because its partition was not added: OUT_OF_ORDER_SEQUENCE_NUMBER.",
    source="KIP-890; Kafka: VerificationStateEntry",
    versions=(3, 11),
    also=SEEN,
)
def behind_a_refused_one(on: Broker) -> None:
    topic, producer = on.topic(2), Producer(on)
    producer.add(topic, 1)
    expect_that("whether it is refused", producer.produce(topic, b"a") != E.NONE, True)
    producer.add(topic, 0)
    expect_that("error_code of the next", producer.produce(topic, b"b"), E.OUT_OF_ORDER_SEQUENCE_NUMBER)
    expect_that("error_code of the first", producer.produce(topic, b"a", base_sequence=0), E.NONE)
    expect_that("error_code of the next", producer.produce(topic, b"b", base_sequence=1), E.NONE)


@case(
    "DeleteRecords",
    "Records of an open transaction are deleted too; what is committed then begins at the log's start.",
    source="Kafka: UnifiedLog.maybeIncrementLogStartOffset",
    also=[*SEEN, "Fetch"],
)
def under_an_open_transaction(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    for value in (b"a", b"b", b"c"):
        producer.write(topic, value)
    rows = [{"partition_index": 0, "offset": 2}]
    answer = on.ask("DeleteRecords", topics=[{"name": topic.name, "partitions": rows}], timeout_ms=10_000)
    row = answer.topics[0].partitions[0]
    expect_that("error_code and low_watermark", (row.error_code, row.low_watermark), (E.NONE, 2))
    found = only(fetch(on, topic, {"fetch_offset": 2}, isolation_level=COMMITTED_ONLY))
    told_ends = (found.last_stable_offset, found.high_watermark, found.log_start_offset)
    expect_that("last stable offset, end, start", told_ends, (2, 3, 2))
    producer.ended(True)
    found = only(fetch(on, topic, {"fetch_offset": 2}, isolation_level=COMMITTED_ONLY))
    expect_that("values", values(found.records)[:1], [b"c"])
    expect_that("last stable offset", found.last_stable_offset, 4)


@case(
    "OffsetDelete",
    "An offset that is pending only is deleted; the transaction's end does not bring it back.",
    source="Kafka: OffsetMetadataManager.deleteOffsets",
    also=OFFSETS,
)
def delete_only_pending(on: Broker) -> None:
    topic, group, producer = on.some_topic(), on.group(), Producer(on)
    on.commit(group, [(topic, 1, 1)])
    producer.pending(group, (topic, 0, 5))
    expect(delete(on, group, (topic, [0])), error_code=E.NONE, topics=[topic_result(topic, (0, E.NONE))])
    producer.ended(True)
    expect_that("the offsets", [on.committed(group, topic, index) for index in (0, 1)], [-1, 1])


@case(
    "DeleteGroups",
    "A group that has pending offsets only can be deleted; the transaction's end does not bring it back.",
    source="Kafka: GroupCoordinatorShard.deleteGroups",
    also=OFFSETS,
)
def with_only_pending_offsets(on: Broker) -> None:
    topic, group, producer = on.some_topic(), on.group(), Producer(on)
    producer.pending(group, (topic, 0, 5))
    expect(on.ask("DeleteGroups", groups_names=[group]), results=[{"group_id": group, "error_code": E.NONE}])
    producer.ended(True)
    expect_that("the offset", on.committed(group, topic), -1)


@case(
    "TxnOffsetCommit",
    "While an offset is pending, neither it expires nor the one below it, nor their group.",
    source="Kafka: OffsetMetadataManager.cleanupExpiredOffsets",
    also=OFFSETS,
    clock=True,
)
def pending_over_the_retention(on: Broker) -> None:
    topic, group, other, producer = on.some_topic(), on.group(), on.group(), Producer(on)
    with standing(on) as clock:
        on.commit(group, [(topic, 0, 1), (topic, 1, 2)])
        producer.pending(group, (topic, 0, 5))
        on.commit(other, [(topic, 1, 3)])
        producer.pending(other, (topic, 0, 6))
        clock.advance(milliseconds=retention_ms(on) + DAY_MS)
        expect_that("the offsets", [on.committed(group, topic, index) for index in (0, 1)], [1, -1])
        expect_that("the group of what is pending only", on.state(other), "Empty")
        producer.ended(True)
        clock.advance(milliseconds=1)
        expect_that("whether what was pending is there", [on.committed(one, topic) for one in (group, other)], [-1, -1])


@case(
    "DescribeTransactions",
    "A transactional id that nobody has used for transactional.id.expiration.ms is gone; one with a transaction stays.",
    source="KIP-98; Kafka: TransactionStateManager.removeExpiredTransactionalIds",
    also=SEEN,
    clock=True,
)
def unused_ids_expire(on: Broker) -> None:
    idle, busy, topic = Producer(on), Producer(on), on.topic()
    busy.write(topic, b"a")
    with standing(on) as clock:
        age = on.cluster.number("transactional.id.expiration.ms", 7 * DAY_MS)
        clock.advance(milliseconds=age - DAY_MS)
        expect_that("the states before", [state(on, one.name) for one in (idle, busy)], ["Empty", "Ongoing"])
        clock.advance(milliseconds=2 * DAY_MS)

        def codes() -> list[int]:
            names = [idle.name, busy.name]
            rows: Any = on.ask("DescribeTransactions", transactional_ids=names).transaction_states
            return [row.error_code for row in rows]

        expect_that("the codes", codes(), [E.TRANSACTIONAL_ID_NOT_FOUND, E.NONE])


@case(
    "EndTxn",
    "A transaction beyond its timeout is aborted, and its producer is fenced.",
    source="KIP-98; Kafka: TransactionCoordinator.abortTimedOutTransactions",
    also=[*SEEN, "Fetch"],
    versions=(2, 4),
    slow=True,
)
def ending_too_late(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on, timeout_ms=1000)
    producer.write(topic, b"a")
    over = on.in_time(lambda: state(on, producer.name) != "Ongoing", LATE_SECONDS, every=0.1)
    expect_that("whether it is over in time", over, True)
    settled(on, producer.name)
    expect_that("the state", state(on, producer.name), "CompleteAbort")
    expect(producer.end(True), error_code=E.PRODUCER_FENCED)
    row = only(fetch(on, topic, {"fetch_offset": 0}, isolation_level=COMMITTED_ONLY))
    expect_that("where what is aborted begins", [one.first_offset for one in row.aborted_transactions], [0])
    expect_that("last stable offset", row.last_stable_offset, 2)
    expect_that("the producer id", init(on, producer.name).producer_id, producer.id)

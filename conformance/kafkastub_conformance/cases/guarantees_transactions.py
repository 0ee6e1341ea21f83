"""What a reader gets of transactions by its isolation level, and when offsets belong to a transaction."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.anomalies import COMMITTED, COMMITTED_ONLY, UNCOMMITTED, allowed, forbidden, read
from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cases.fetch import fetch, list_offsets, only
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import expect_that
from kafkastub_conformance.transacting import OPENING, Producer, init, plain, settled
from kafkastub_conformance.writing import write
from kafkawire.errors import ErrorCode as E

READING = "KIP-98; Kafka: UnifiedLog.read"
PENDING = "KIP-98; Kafka: OffsetMetadataManager"
OFFSETS = [*OPENING, "InitProducerId", "AddOffsetsToTxn", "TxnOffsetCommit", "OffsetCommit", "OffsetFetch"]


def got(on: Broker, topic: Topic, isolation: int) -> list[bytes]:
    """What a reader with this isolation level takes from the log."""
    row = only(fetch(on, topic, {"fetch_offset": 0}, isolation_level=isolation))
    return read(row, committed=isolation == COMMITTED_ONLY)


def one_aborted(on: Broker) -> Topic:
    """A topic with an aborted transaction between two that are committed."""
    topic, producer = on.topic(), Producer(on)
    for value, commit in ((b"kept 1", True), (b"aborted", False), (b"kept 2", True)):
        producer.write(topic, value)
        producer.ended(commit)
    return topic


@allowed("read_aborted", UNCOMMITTED, "Fetch", "The reader gets aborted records (G1a).", source=READING, also=OPENING)
def aborted_are_read(on: Broker) -> None:
    expect_that("what it gets", got(on, one_aborted(on), 0), [b"kept 1", b"aborted", b"kept 2"])


@forbidden(
    "read_aborted",
    COMMITTED,
    "Fetch",
    "The answer names the aborted transactions, so that the reader drops their records.",
    source=READING,
    also=OPENING,
)
def aborted_are_named(on: Broker) -> None:
    expect_that("what it gets", got(on, one_aborted(on), COMMITTED_ONLY), [b"kept 1", b"kept 2"])


@forbidden(
    "read_aborted",
    f"{COMMITTED}, two transactions at once",
    "Fetch",
    "Of two transactions whose records lie between each other, the reader gets the committed one.",
    source=READING,
    also=OPENING,
)
def one_of_two(on: Broker) -> None:
    topic, one, other = on.topic(), Producer(on), Producer(on)
    for producer, value in ((one, b"aborted"), (other, b"kept"), (one, b"aborted"), (other, b"kept")):
        producer.write(topic, value)
    one.ended(False)
    other.ended(True)
    expect_that("what it gets", got(on, topic, COMMITTED_ONLY), [b"kept", b"kept"])


@allowed(
    "read_uncommitted",
    UNCOMMITTED,
    "Fetch",
    "The reader gets records of a transaction that is still open.",
    source=READING,
    also=OPENING,
)
def open_ones_are_read(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"open")
    expect_that("what it gets", got(on, topic, 0), [b"open"])


@forbidden(
    "read_uncommitted",
    COMMITTED,
    "Fetch",
    "The reader gets no record of a transaction before its end.",
    source=READING,
    also=OPENING,
)
def open_ones_are_held_back(on: Broker) -> None:
    topic, producer = on.topic(2), Producer(on)
    producer.write(topic, b"a")
    producer.write(topic, b"b", partition=1)
    expect_that("what it gets", got(on, topic, COMMITTED_ONLY), [])
    producer.ended(True)
    expect_that("what it gets then", got(on, topic, COMMITTED_ONLY), [b"a"])


@allowed(
    "transaction_left_open",
    COMMITTED,
    "Fetch",
    "A transaction that nobody ends holds back all later records, until its producer begins again or its timeout.",
    source=READING,
    also=OPENING,
)
def left_open(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"open")
    write(on, topic, plain(b"later"))
    expect_that("what it gets", got(on, topic, COMMITTED_ONLY), [])
    init(on, producer.name)
    settled(on, producer.name)
    expect_that("what it gets then", got(on, topic, COMMITTED_ONLY), [b"later"])


@forbidden(
    "transaction_left_open",
    COMMITTED,
    "ListOffsets",
    "The end that a reader gets does not lie behind an open transaction.",
    source="KIP-98; Kafka: UnifiedLog.fetchOffsetByTimestamp",
    versions=(2, 11),
    also=OPENING,
)
def end_before_an_open_one(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"open")
    asked: dict[str, Any] = {"partition_index": 0, "timestamp": -1}
    ends = [list_offsets(on, topic, asked, isolation_level=level) for level in (0, COMMITTED_ONLY)]
    expect_that("the ends", [one.topics[0].partitions[0].offset for one in ends], [1, 0])


@allowed(
    "offsets_outside_transaction",
    "offsets committed by the consumer",
    "OffsetCommit",
    "The offset is committed though the transaction with the output is aborted.",
    source=PENDING,
    also=OFFSETS,
)
def offsets_outside(on: Broker) -> None:
    topic, group, producer = on.topic(), on.group(), Producer(on)
    producer.write(topic, b"output")
    row = on.commit(group, [(topic, 0, 5)]).topics[0].partitions[0]
    expect_that("error_code of the commit", row.error_code, E.NONE)
    producer.ended(False)
    expect_that("the offset", on.committed(group, topic), 5)


@forbidden(
    "offsets_outside_transaction",
    "offsets committed in the transaction",
    "TxnOffsetCommit",
    "The offset is committed with the output, or not at all.",
    source=PENDING,
    also=OFFSETS,
)
def offsets_inside(on: Broker) -> None:
    topic, group, producer = on.topic(), on.group(), Producer(on)
    on.commit(group, [(topic, 0, 1)])
    for commit, before, after in ((False, 1, 1), (True, 1, 5)):
        producer.write(topic, b"output")
        producer.pending(group, (topic, 0, 5))
        expect_that("the offset before the end", on.committed(group, topic), before)
        producer.ended(commit)
        expect_that("the offset", on.committed(group, topic), after)

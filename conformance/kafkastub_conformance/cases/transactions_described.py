"""How transactions are described: DescribeTransactions, ListTransactions, DescribeProducers; and WriteTxnMarkers."""

from __future__ import annotations

import time
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import Answer, at_least, expect, expect_that
from kafkastub_conformance.registry import case
from kafkastub_conformance.transacting import Producer, state
from kafkawire.errors import ErrorCode as E

DESCRIBED = "KIP-664; Kafka: TransactionCoordinator.handleDescribeTransactions"
LISTED = "KIP-664; Kafka: TransactionStateManager.listTransactionStates"
PRODUCERS = "KIP-664; Kafka: ReplicaManager.activeProducerState"
MARKERS = "Kafka: KafkaApis.handleWriteTxnMarkersRequest"
SEEN = ["AddPartitionsToTxn", "DescribeTransactions", "EndTxn", "InitProducerId", "Produce"]
HOUR_MS = 3_600_000


@case("DescribeTransactions", "A transactional id before its first transaction: Empty.", source=DESCRIBED, also=SEEN)
def before_the_first(on: Broker) -> None:
    producer = Producer(on, timeout_ms=12_345)
    row = {
        "error_code": E.NONE,
        "transactional_id": producer.name,
        "transaction_state": "Empty",
        "transaction_timeout_ms": 12_345,
        "transaction_start_time_ms": -1,
        "producer_id": producer.id,
        "producer_epoch": 0,
        "topics": [],
    }
    expect(on.ask("DescribeTransactions", transactional_ids=[producer.name]), transaction_states=[row])


@case("DescribeTransactions", "An open transaction: since when, and what is in it.", source=DESCRIBED, also=SEEN)
def an_open_one(on: Broker) -> None:
    topic, producer = on.topic(2), Producer(on)
    producer.write(topic, b"a", partition=1)
    row = {
        "error_code": E.NONE,
        "transaction_state": "Ongoing",
        "transaction_start_time_ms": at_least(1),
        "producer_id": producer.id,
        "topics": [{"topic": topic.name, "partitions": [1]}],
    }
    expect(on.ask("DescribeTransactions", transactional_ids=[producer.name]), transaction_states=[row])


@case(
    "DescribeTransactions",
    "An unknown id: TRANSACTIONAL_ID_NOT_FOUND; the empty one: INVALID_REQUEST; in the order of the request.",
    source=DESCRIBED,
    also=SEEN,
)
def nobody(on: Broker) -> None:
    producer, unknown = Producer(on), on.cluster.transactional_id()
    answer = on.ask("DescribeTransactions", transactional_ids=[unknown, producer.name, ""])
    nothing = {
        "transaction_state": "",
        "producer_id": 0,
        "producer_epoch": 0,
        "transaction_start_time_ms": 0,
        "topics": [],
    }
    expect(
        answer,
        transaction_states=[
            {**nothing, "error_code": E.TRANSACTIONAL_ID_NOT_FOUND, "transactional_id": unknown},
            {"error_code": E.NONE, "transactional_id": producer.name},
            {**nothing, "error_code": E.INVALID_REQUEST, "transactional_id": ""},
        ],
    )


@case("DescribeTransactions", "No ids is an empty answer.", source=DESCRIBED)
def none_asked(on: Broker) -> None:
    expect(on.ask("DescribeTransactions", transactional_ids=[]), transaction_states=[])


def listed(on: Broker, *producers: Producer, **filters: Any) -> list[tuple[str, str]]:
    """Which of these are listed, in their order, with their states."""
    answer = on.ask("ListTransactions", **filters)
    expect(answer, error_code=E.NONE)
    found = {one.transactional_id: one for one in answer.transaction_states}
    for one in producers:
        if one.name in found:
            expect_that("producer_id", found[one.name].producer_id, one.id)
    return [(one.name, found[one.name].transaction_state) for one in producers if one.name in found]


@case("ListTransactions", "All of them, or by state, or by producer id.", source=LISTED, also=SEEN)
def filtered(on: Broker) -> None:
    topic, idle, busy = on.topic(), Producer(on), Producer(on)
    busy.write(topic, b"a")
    everything = [(idle.name, "Empty"), (busy.name, "Ongoing")]
    expect_that("all", listed(on, idle, busy), everything)
    expect_that("the open ones", listed(on, idle, busy, state_filters=["Ongoing"]), everything[1:])
    expect_that("two states", listed(on, idle, busy, state_filters=["Empty", "Ongoing"]), everything)
    expect_that("one producer", listed(on, idle, busy, producer_id_filters=[idle.id]), everything[:1])
    both = listed(on, idle, busy, producer_id_filters=[idle.id], state_filters=["Ongoing"])
    expect_that("one producer and a state", both, [])


@case(
    "ListTransactions",
    "A state that there is not is named; with no other, nothing is listed.",
    source=LISTED,
    also=SEEN,
)
def unknown_state(on: Broker) -> None:
    producer = Producer(on)
    answer = on.ask("ListTransactions", state_filters=["Nonsense", "Nonsense"])
    expect(answer, error_code=E.NONE, unknown_state_filters=["Nonsense"], transaction_states=[])
    answer = on.ask("ListTransactions", state_filters=["Nonsense", "Empty"])
    expect(answer, error_code=E.NONE, unknown_state_filters=["Nonsense"])
    names = [one.transactional_id for one in answer.transaction_states]
    expect_that("whether it is listed", producer.name in names, True)


@case(
    "ListTransactions",
    "By how long they are open; one that has no transaction is always listed.",
    source="KIP-994",
    versions=(1, 2),
    also=SEEN,
)
def by_duration(on: Broker) -> None:
    topic, idle, busy = on.topic(), Producer(on), Producer(on)
    busy.write(topic, b"a")
    began = time.monotonic()
    on.in_time(lambda: time.monotonic() > began + 0.02)
    every = [(idle.name, "Empty"), (busy.name, "Ongoing")]
    expect_that("any", listed(on, idle, busy, duration_filter=-1), every)
    expect_that("for an hour", listed(on, idle, busy, duration_filter=HOUR_MS), every[:1])
    expect_that("for a moment", listed(on, idle, busy, duration_filter=1), every)


@case(
    "ListTransactions",
    "By a pattern of the whole id.",
    source="KIP-1152",
    versions=(2, 2),
    also=SEEN,
    since="4.1",
    before="there is no such filter",
)
def by_pattern(on: Broker) -> None:
    one, other = Producer(on), Producer(on)
    every = [(one.name, "Empty"), (other.name, "Empty")]
    for pattern in (None, "", ".*"):
        expect_that(f"pattern {pattern!r}", listed(on, one, other, transactional_id_pattern=pattern), every)
    expect_that("the whole id", listed(on, one, other, transactional_id_pattern=one.name), every[:1])
    expect_that("its end", listed(on, one, other, transactional_id_pattern=one.name[3:]), [])


@case(
    "ListTransactions",
    "A pattern that is none: INVALID_REGULAR_EXPRESSION.",
    source="KIP-1152",
    versions=(2, 2),
    since="4.1",
    before="there is no such filter",
)
def bad_pattern(on: Broker) -> None:
    answer = on.ask("ListTransactions", transactional_id_pattern="(")
    expect(answer, error_code=E.INVALID_REGULAR_EXPRESSION, transaction_states=[])


def active(on: Broker, topic: Topic, partition: int = 0) -> list[Any]:
    """What DescribeProducers says of a partition's producers."""
    answer = on.ask("DescribeProducers", topics=[{"name": topic.name, "partition_indexes": [partition]}])
    row = answer.topics[0].partitions[0]
    expect_that("error_code of DescribeProducers", row.error_code, E.NONE)
    return list(row.active_producers)


@case(
    "DescribeProducers", "Where a producer's transaction begins; none once it has ended.", source=PRODUCERS, also=SEEN
)
def transaction_start(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"a", b"b")
    producer.write(topic, b"c")
    found = [
        (one.producer_id, one.producer_epoch, one.last_sequence, one.coordinator_epoch, one.current_txn_start_offset)
        for one in active(on, topic)
    ]
    expect_that("id, epoch, sequence, coordinator, start", found, [(producer.id, 0, 2, -1, 0)])
    producer.ended(True)
    (one,) = active(on, topic)
    expect_that("id and start", (one.producer_id, one.current_txn_start_offset), (producer.id, -1))
    expect_that("whether a coordinator has spoken", one.coordinator_epoch >= 0, True)
    expect_that("last sequence", one.last_sequence, 2)
    producer.write(topic, b"d")
    expect_that("the next start", [one.current_txn_start_offset for one in active(on, topic)], [4])


def marker(
    producer: Producer, topic: Topic | str, *indexes: int, commit: bool = True, **changes: Any
) -> dict[str, Any]:
    name = topic if isinstance(topic, str) else topic.name
    return {
        "producer_id": producer.id,
        "producer_epoch": producer.epoch,
        "transaction_result": commit,
        "topics": [{"name": name, "partition_indexes": list(indexes or (0,))}],
        "coordinator_epoch": 0,
        **changes,
    }


def marked(on: Broker, *markers: dict[str, Any]) -> Answer:
    return on.ask("WriteTxnMarkers", markers=list(markers))


def told(producer: Producer, topic: Topic, *rows: tuple[int, int]) -> dict[str, Any]:
    partitions = [{"partition_index": index, "error_code": code} for index, code in rows]
    return {"producer_id": producer.id, "topics": [{"name": topic.name, "partitions": partitions}]}


@case(
    "WriteTxnMarkers",
    "A marker ends what a producer has open in a partition; its coordinator is not asked.",
    source=MARKERS,
    also=[*SEEN, "DescribeProducers"],
)
def ending_by_hand(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"a")
    expect(marked(on, marker(producer, topic, commit=False)), markers=[told(producer, topic, (0, E.NONE))])
    expect_that("the start", [one.current_txn_start_offset for one in active(on, topic)], [-1])
    expect_that("the state", state(on, producer.name), "Ongoing")


@case(
    "WriteTxnMarkers",
    "A partition that there is not: UNKNOWN_TOPIC_OR_PARTITION; its neighbour is marked.",
    source=MARKERS,
    also=SEEN,
)
def marking_unknown(on: Broker) -> None:
    topic, producer, missing = on.topic(), Producer(on), on.name()
    producer.write(topic, b"a")
    answer = marked(on, marker(producer, topic, 0, 7))
    rows = sorted((row.partition_index, row.error_code) for row in answer.markers[0].topics[0].partitions)
    expect_that("partitions and codes", rows, [(0, E.NONE), (7, E.UNKNOWN_TOPIC_OR_PARTITION)])
    answer = marked(on, marker(producer, missing))
    row = {"partition_index": 0, "error_code": E.UNKNOWN_TOPIC_OR_PARTITION}
    expect(answer, markers=[{"topics": [{"name": missing, "partitions": [row]}]}])


@case(
    "WriteTxnMarkers",
    "An epoch below the producer's: INVALID_PRODUCER_EPOCH.",
    source="Kafka: ProducerAppendInfo.appendEndTxnMarker",
    also=SEEN,
)
def marking_stale(on: Broker) -> None:
    topic, first = on.topic(), Producer(on)
    second = Producer(on, first.name)
    second.write(topic, b"a")
    answer = marked(on, marker(first, topic))
    expect(answer, markers=[told(second, topic, (0, E.INVALID_PRODUCER_EPOCH))])
    expect(marked(on, marker(second, topic)), markers=[told(second, topic, (0, E.NONE))])


@case(
    "WriteTxnMarkers",
    "An epoch of the coordinator below the last one: TRANSACTION_COORDINATOR_FENCED.",
    source="Kafka: ProducerAppendInfo.checkCoordinatorEpoch",
    also=SEEN,
)
def marking_by_an_old_coordinator(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"a")
    answer = marked(on, marker(producer, topic, coordinator_epoch=9))
    expect(answer, markers=[told(producer, topic, (0, E.NONE))])
    producer.produce(topic, b"b")
    answer = marked(on, marker(producer, topic, coordinator_epoch=8))
    expect(answer, markers=[told(producer, topic, (0, E.TRANSACTION_COORDINATOR_FENCED))])


@case(
    "WriteTxnMarkers",
    "Of a second version a marker has an epoch above the producer's, or INVALID_PRODUCER_EPOCH.",
    source="KIP-890, KIP-1228",
    versions=(2, 2),
    also=SEEN,
)
def marking_with_the_same_epoch(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"a")
    answer = marked(on, marker(producer, topic, transaction_version=2))
    expect(answer, markers=[told(producer, topic, (0, E.INVALID_PRODUCER_EPOCH))])
    above = marker(producer, topic, transaction_version=2, producer_epoch=producer.epoch + 1)
    expect(marked(on, above), markers=[told(producer, topic, (0, E.NONE))])


@case("WriteTxnMarkers", "No markers is an empty answer.", source=MARKERS)
def marking_nothing(on: Broker) -> None:
    expect(marked(on), markers=[])

"""The life of a transaction: InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn and EndTxn (KIP-98, 360, 588, 890)."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import expect, expect_that
from kafkastub_conformance.registry import case
from kafkastub_conformance.transacting import (
    Producer,
    added,
    codes,
    described,
    init,
    partitions,
    settled,
    stale,
    state,
)
from kafkawire.errors import ErrorCode as E

INIT = "Kafka: TransactionCoordinator.handleInitProducerId"
ADD = "Kafka: TransactionCoordinator.handleAddPartitionsToTransaction"
OFFSETS = "Kafka: KafkaApis.handleAddOffsetsToTxnRequest"
END = "Kafka: TransactionCoordinator.endTransaction"
SEEN = ["AddPartitionsToTxn", "DescribeTransactions", "EndTxn", "InitProducerId"]
WITH_RECORDS = [*SEEN, "Produce"]
ABORTED_SECONDS = 25.0
"""Kafka looks every ten seconds (transaction.abort.timed.out.transaction.cleanup.interval.ms)."""

UNKNOWN_ID = 1_000_000_000
"""Far from the producer ids that a broker has given out so far."""


@case("InitProducerId", "The empty transactional id: INVALID_REQUEST.", source=INIT)
def empty_id(on: Broker) -> None:
    answer = on.ask("InitProducerId", transactional_id="", transaction_timeout_ms=60_000)
    expect(answer, error_code=E.INVALID_REQUEST, producer_id=-1, producer_epoch=-1)


@case(
    "InitProducerId",
    "An open transaction is aborted first: CONCURRENT_TRANSACTIONS; asked again, the epoch is two higher.",
    source=INIT,
    also=WITH_RECORDS,
)
def over_an_open_transaction(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"a")
    first = on.ask("InitProducerId", transactional_id=producer.name, transaction_timeout_ms=60_000)
    expect(first, error_code=E.CONCURRENT_TRANSACTIONS, producer_id=-1, producer_epoch=-1)
    settled(on, producer.name)
    expect_that("the state", state(on, producer.name), "CompleteAbort")
    again = on.ask("InitProducerId", transactional_id=producer.name, transaction_timeout_ms=60_000)
    expect(again, error_code=E.NONE, producer_id=producer.id, producer_epoch=producer.epoch + 2)
    expect_that("the state", state(on, producer.name), "Empty")


@case(
    "InitProducerId",
    "A producer id without an epoch, or the other way round: INVALID_REQUEST.",
    source="KIP-360; Kafka: KafkaApis.handleInitProducerIdRequest",
    versions=(3, 6),
)
def half_an_identity(on: Broker) -> None:
    producer = Producer(on)
    for producer_id, epoch in ((producer.id, -1), (-1, producer.epoch)):
        answer = init(on, producer.name, producer_id=producer_id, producer_epoch=epoch)
        expect(answer, error_code=E.INVALID_REQUEST, producer_id=-1, producer_epoch=-1)


@case(
    "InitProducerId",
    "A producer that names its id and epoch aborts its own transaction.",
    source="KIP-360",
    versions=(3, 6),
    also=WITH_RECORDS,
    since="4.0",
    before="it fences itself by the abort, and is refused when it tries again",
)
def recovering(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"a")
    answer = init(on, producer.name, producer_id=producer.id, producer_epoch=producer.epoch)
    expect(answer, error_code=E.NONE, producer_id=producer.id)
    expect_that("whether the epoch is higher", answer.producer_epoch > producer.epoch, True)


@case("AddPartitionsToTxn", "A partition is in the transaction, which is Ongoing.", source=ADD, also=SEEN)
def adding(on: Broker) -> None:
    topic, producer = on.topic(3), Producer(on)
    expect_that("the codes", producer.add(topic, 0, 2), [(0, E.NONE), (2, E.NONE)])
    expect_that("the codes", producer.add(topic, 2), [(2, E.NONE)])
    found = described(on, producer.name)
    expect_that(
        "state, id and epoch",
        (found.transaction_state, found.producer_id, found.producer_epoch),
        ("Ongoing", producer.id, producer.epoch),
    )
    expect_that("what is in it", partitions(on, producer.name), {topic.name: [0, 2]})


@case(
    "AddPartitionsToTxn",
    "If one partition is unknown, none is added: UNKNOWN_TOPIC_OR_PARTITION, OPERATION_NOT_ATTEMPTED.",
    source="Kafka: KafkaApis.handleAddPartitionsToTxnRequest",
    also=SEEN,
)
def adding_unknown(on: Broker) -> None:
    topic, producer, missing = on.topic(), Producer(on), on.name()
    answer = on.ask("AddPartitionsToTxn", **added(producer.who, (topic.name, [0, 9]), (missing, [0])))
    expect_that(
        "the codes",
        codes(answer),
        {
            topic.name: [(0, E.OPERATION_NOT_ATTEMPTED), (9, E.UNKNOWN_TOPIC_OR_PARTITION)],
            missing: [(0, E.UNKNOWN_TOPIC_OR_PARTITION)],
        },
    )
    expect_that("the state", state(on, producer.name), "Empty")


@case(
    "AddPartitionsToTxn",
    "A stale epoch: PRODUCER_FENCED, below version 2 INVALID_PRODUCER_EPOCH.",
    source="KIP-588",
    also=SEEN,
)
def adding_stale(on: Broker) -> None:
    topic, zombie = on.topic(), Producer(on)
    init(on, zombie.name)
    expect_that("the codes", zombie.add(topic), [(0, stale(on, 2))])
    ahead = zombie.add(topic, producer_epoch=zombie.epoch + 2)
    expect_that("the codes of an epoch that is not yet", ahead, [(0, stale(on, 2))])


@case(
    "AddPartitionsToTxn",
    "Another producer id, or an unknown transactional id: INVALID_PRODUCER_ID_MAPPING.",
    source=ADD,
    also=SEEN,
)
def adding_of_another(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    wrong: list[dict[str, Any]] = [
        {"producer_id": producer.id + UNKNOWN_ID},
        {"transactional_id": on.cluster.transactional_id()},
    ]
    for changes in wrong:
        expect_that("the codes", producer.add(topic, **changes), [(0, E.INVALID_PRODUCER_ID_MAPPING)])


@case("AddPartitionsToTxn", "The empty transactional id: INVALID_REQUEST.", source=ADD, also=SEEN)
def adding_of_nobody(on: Broker) -> None:
    expect_that("the codes", Producer(on).add(on.topic(), transactional_id=""), [(0, E.INVALID_REQUEST)])


@case(
    "AddPartitionsToTxn",
    "Several transactions in one request, each answered for itself.",
    source="KIP-890",
    versions=(4, 5),
    also=SEEN,
)
def adding_of_several(on: Broker) -> None:
    topic, one, zombie = on.topic(), Producer(on), Producer(on)
    init(on, zombie.name)
    rows = [{"name": topic.name, "partitions": [0]}]
    answer = on.ask("AddPartitionsToTxn", transactions=[{**who, "topics": rows} for who in (one.who, zombie.who)])
    expect_that("the error at the top", answer.error_code, E.NONE)
    found = {
        result.transactional_id: result.topic_results[0].results_by_partition[0].partition_error_code
        for result in answer.results_by_transaction
    }
    expect_that("the codes", found, {one.name: E.NONE, zombie.name: E.PRODUCER_FENCED})


@case(
    "AddPartitionsToTxn",
    "Verified, what is not in the transaction: TRANSACTION_ABORTABLE. It is not added.",
    source="KIP-890; Kafka: TransactionCoordinator.handleVerifyPartitionsInTransaction",
    versions=(4, 5),
    also=SEEN,
)
def verifying(on: Broker) -> None:
    topic, producer = on.topic(2), Producer(on)
    no = E.TRANSACTION_ABORTABLE
    asked = added(producer.who, (topic.name, [0, 1]), verify_only=True)
    found = codes(on.ask("AddPartitionsToTxn", **asked))
    expect_that("the codes of nothing added", found, {topic.name: [(0, no), (1, no)]})
    producer.add(topic, 1, at=3)
    found = codes(on.ask("AddPartitionsToTxn", **asked))
    expect_that("the codes", found, {topic.name: [(0, no), (1, E.NONE)]})
    expect_that("what is in it", partitions(on, producer.name), {topic.name: [1]})


@case(
    "AddOffsetsToTxn", "The group's partition of __consumer_offsets is in the transaction.", source=OFFSETS, also=SEEN
)
def adding_offsets(on: Broker) -> None:
    producer, group = Producer(on), on.group()
    for _ in range(2):
        expect(producer.add_offsets(group), error_code=E.NONE)
    found = partitions(on, producer.name)
    expect_that("what is in it", {name: len(rows) for name, rows in found.items()}, {"__consumer_offsets": 1})
    expect_that("the state", state(on, producer.name), "Ongoing")


@case(
    "AddOffsetsToTxn",
    "A stale epoch: PRODUCER_FENCED, below version 2 INVALID_PRODUCER_EPOCH.",
    source="KIP-588",
    also=SEEN,
)
def adding_offsets_stale(on: Broker) -> None:
    zombie, group = Producer(on), on.group()
    init(on, zombie.name)
    expect(zombie.add_offsets(group), error_code=stale(on, 2))


@case(
    "AddOffsetsToTxn",
    "Another producer id, or an unknown transactional id: INVALID_PRODUCER_ID_MAPPING.",
    source=ADD,
    also=SEEN,
)
def adding_offsets_of_another(on: Broker) -> None:
    producer, group = Producer(on), on.group()
    expect(producer.add_offsets(group, producer_id=producer.id + UNKNOWN_ID), error_code=E.INVALID_PRODUCER_ID_MAPPING)
    unknown = on.cluster.transactional_id()
    expect(producer.add_offsets(group, transactional_id=unknown), error_code=E.INVALID_PRODUCER_ID_MAPPING)


@case("AddOffsetsToTxn", "The empty transactional id: INVALID_REQUEST.", source=ADD, also=SEEN)
def adding_offsets_of_nobody(on: Broker) -> None:
    expect(Producer(on).add_offsets(on.group(), transactional_id=""), error_code=E.INVALID_REQUEST)


@case("EndTxn", "A transaction is committed or aborted; the next one starts fresh.", source=END, also=WITH_RECORDS)
def ending(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    for commit, done in ((True, "CompleteCommit"), (False, "CompleteAbort")):
        producer.write(topic, b"a")
        producer.ended(commit)
        expect_that("the state", state(on, producer.name), done)
        expect_that("what is in it", partitions(on, producer.name), {})


@case("EndTxn", "The epoch rises by one with every transaction.", source="KIP-890", versions=(5, 5), also=WITH_RECORDS)
def ending_raises(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    for number in (1, 2):
        producer.write(topic, b"a")
        answer = producer.end(True)
        expect(answer, error_code=E.NONE, producer_id=producer.id, producer_epoch=number)
        producer.epoch = number
        producer.sequences.clear()


@case("EndTxn", "The same end again is fine: its first answer may have been lost.", source=END, also=WITH_RECORDS)
def ending_again(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    for commit in (True, False):
        producer.write(topic, b"a")
        for _ in range(2):
            answer = producer.end(commit)
            expect(answer, error_code=E.NONE, producer_epoch=producer.epoch + 1, producer_id=producer.id)
        if on.version >= 5:
            producer.epoch += 1
            producer.sequences.clear()


@case("EndTxn", "The other end, after the one: INVALID_TXN_STATE.", source=END, also=WITH_RECORDS)
def ending_otherwise(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"a")
    expect(producer.end(True), error_code=E.NONE)
    expect(producer.end(False), error_code=E.INVALID_TXN_STATE)
    expect_that("the state", state(on, producer.name), "CompleteCommit")


@case("EndTxn", "Nothing to end: INVALID_TXN_STATE.", source=END, versions=(0, 4), also=SEEN)
def ending_nothing(on: Broker) -> None:
    producer = Producer(on)
    for commit in (True, False):
        expect(producer.end(commit), error_code=E.INVALID_TXN_STATE)
    expect_that("the state", state(on, producer.name), "Empty")


@case(
    "EndTxn",
    "With nothing to end a commit is INVALID_TXN_STATE; an abort raises the epoch all the same.",
    source="KIP-890",
    versions=(5, 5),
    also=SEEN,
)
def aborting_nothing(on: Broker) -> None:
    producer = Producer(on)
    expect(producer.end(True), error_code=E.INVALID_TXN_STATE, producer_id=-1, producer_epoch=-1)
    answer = producer.end(False)
    expect(answer, error_code=E.NONE, producer_id=producer.id, producer_epoch=producer.epoch + 1)


@case(
    "EndTxn",
    "A stale epoch: PRODUCER_FENCED, below version 2 INVALID_PRODUCER_EPOCH.",
    source="KIP-588",
    also=WITH_RECORDS,
)
def ending_stale(on: Broker) -> None:
    topic, zombie = on.topic(), Producer(on)
    successor = Producer(on, zombie.name)
    expect(zombie.end(True), error_code=stale(on, 2))
    successor.write(topic, b"a")
    expect(zombie.end(True), error_code=stale(on, 2))
    expect_that("the state", state(on, zombie.name), "Ongoing")


@case(
    "EndTxn", "Another producer id, or an unknown transactional id: INVALID_PRODUCER_ID_MAPPING.", source=END, also=SEEN
)
def ending_of_another(on: Broker) -> None:
    producer = Producer(on)
    expect(
        on.ask("EndTxn", **{**producer.who, "producer_id": producer.id + UNKNOWN_ID, "committed": True}),
        error_code=E.INVALID_PRODUCER_ID_MAPPING,
    )
    expect(
        on.ask("EndTxn", **{**producer.who, "transactional_id": on.cluster.transactional_id(), "committed": True}),
        error_code=E.INVALID_PRODUCER_ID_MAPPING,
    )


@case("EndTxn", "The empty transactional id: INVALID_REQUEST.", source=END, also=SEEN)
def ending_of_nobody(on: Broker) -> None:
    expect(
        on.ask("EndTxn", **{**Producer(on).who, "transactional_id": "", "committed": True}),
        error_code=E.INVALID_REQUEST,
    )


@case(
    "EndTxn",
    "A transaction over its time is aborted, and its producer fenced: INVALID_PRODUCER_EPOCH, from version 2 on "
    "PRODUCER_FENCED; in version 5 a commit is INVALID_TXN_STATE, and an abort brings the epoch.",
    source="KIP-98, KIP-890; Kafka: TransactionCoordinator.abortTimedOutTransactions",
    also=WITH_RECORDS,
    slow=True,
)
def over_its_time(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on, timeout_ms=100)
    producer.write(topic, b"a")
    aborted = on.in_time(lambda: state(on, producer.name) == "CompleteAbort", ABORTED_SECONDS)
    expect_that("whether it is aborted", aborted, True)
    expect_that("the epoch", described(on, producer.name).producer_epoch, producer.epoch + 1)
    if on.version < 5:
        expect(producer.end(True), error_code=stale(on, 2))
        return
    expect(producer.end(True), error_code=E.INVALID_TXN_STATE)
    expect(producer.end(False), error_code=E.NONE, producer_epoch=producer.epoch + 1)

"""What a producer can do to its records: sent twice, out of order, refused and given up, fenced and goes on."""

from __future__ import annotations

from kafkastub_conformance.anomalies import IDEMPOTENCE, NO_IDEMPOTENCE, TRANSACTIONS, allowed, forbidden, read
from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cases.fetch import fetch, only
from kafkastub_conformance.cases.produce import batch, body, end_of, produce, producer_id
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import expect_that
from kafkastub_conformance.transacting import OPENING, Producer, init, settled, stale
from kafkawire.errors import ErrorCode as E

APPENDED = "Kafka: ReplicaManager.appendRecords"
SEQUENCES = "KIP-98; Kafka: ProducerAppendInfo.checkSequence"
DUPLICATES = "KIP-98; Kafka: ProducerStateEntry.findDuplicateBatch"
FENCING = "KIP-98, KIP-588"
EPOCHS = "KIP-360; Kafka: ProducerAppendInfo.checkProducerEpoch"
STARTED = ("InitProducerId",)
LOST = "lost"
"""The client whose connection ends before it has read the answer."""


def sent(on: Broker, topic: Topic, data: bytes, acks: int = -1) -> int:
    """The error code of a batch."""
    return int(produce(on, topic, (0, data), acks=acks).responses[0].partition_responses[0].error_code)


def lose_the_answer(on: Broker, topic: Topic, data: bytes, end: int, acks: int = -1) -> None:
    """Send a batch that is written, and end the connection with its answer unread."""
    on.send("Produce", client=LOST, **body(topic, (0, data), acks=acks))
    expect_that("whether it is written", on.in_time(lambda: end_of(on, topic) == end), True)
    on.hang_up(LOST)


def log(on: Broker, topic: Topic) -> list[bytes]:
    """The values in the log."""
    return read(only(fetch(on, topic, {"fetch_offset": 0})))


def numbered(producer: int, sequence: int, *values: bytes, epoch: int = 0) -> bytes:
    """The batch of an idempotent producer."""
    return batch(*values, producer_id=producer, producer_epoch=epoch, base_sequence=sequence)


@allowed(
    "sent_twice",
    f"acks=0, {NO_IDEMPOTENCE}",
    "Produce",
    "A batch that is sent again is written again.",
    source=APPENDED,
)
def sent_twice_without_acks(on: Broker) -> None:
    topic = on.topic()
    for _ in range(2):
        on.send("Produce", **body(topic, (0, batch(b"a")), acks=0))
        on.link().silent()
    expect_that("whether both are written", on.in_time(lambda: end_of(on, topic) == 2), True)
    expect_that("the log", log(on, topic), [b"a", b"a"])


@allowed(
    "sent_twice",
    f"acks=1 or all, {NO_IDEMPOTENCE}",
    "Produce",
    "A batch whose answer was lost is written again when the client repeats it.",
    source=APPENDED,
)
def sent_twice(on: Broker) -> None:
    for acks in (1, -1):
        topic = on.topic()
        lose_the_answer(on, topic, batch(b"a"), 1, acks)
        expect_that(f"error_code with acks={acks}", sent(on, topic, batch(b"a"), acks), E.NONE)
        expect_that(f"the log with acks={acks}", log(on, topic), [b"a", b"a"])


@forbidden(
    "sent_twice",
    IDEMPOTENCE,
    "Produce",
    "A batch whose answer was lost is written once: its repetition gets the offset of the first.",
    source=DUPLICATES,
    also=STARTED,
)
def sent_twice_idempotently(on: Broker) -> None:
    topic, producer = on.topic(), producer_id(on)
    sent(on, topic, numbered(producer, 0, b"a"))
    again = numbered(producer, 1, b"b", b"c")
    lose_the_answer(on, topic, again, 3)
    row = produce(on, topic, (0, again)).responses[0].partition_responses[0]
    expect_that("error_code and base_offset", (row.error_code, row.base_offset), (E.NONE, 1))
    expect_that("the log", log(on, topic), [b"a", b"b", b"c"])


@allowed(
    "sent_twice",
    f"{IDEMPOTENCE}, the application sends it again after a restart",
    "Produce",
    "A new producer id is another producer: the same records are written again.",
    source=DUPLICATES,
    also=STARTED,
)
def sent_twice_after_a_restart(on: Broker) -> None:
    topic = on.topic()
    for producer in (producer_id(on), producer_id(on)):
        expect_that("error_code", sent(on, topic, numbered(producer, 0, b"a")), E.NONE)
    expect_that("the log", log(on, topic), [b"a", b"a"])


@forbidden(
    "sent_twice",
    TRANSACTIONS,
    "Produce",
    "A batch whose answer was lost is written once within its transaction.",
    source=DUPLICATES,
    also=OPENING,
)
def sent_twice_in_a_transaction(on: Broker) -> None:
    topic, producer = on.topic(), Producer(on)
    producer.write(topic, b"a")
    producer.write(topic, b"b")
    for sequence, value in enumerate((b"a", b"b")):
        code = producer.produce(topic, value, base_sequence=sequence)
        expect_that(f"error_code of {value!r} again", code, E.NONE)
    expect_that("the log", log(on, topic), [b"a", b"b"])


@allowed(
    "out_of_order",
    f"{NO_IDEMPOTENCE}, several requests in flight",
    "Produce",
    "A batch that was refused is written behind a later one when the client repeats it.",
    source=APPENDED,
)
def out_of_order(on: Broker) -> None:
    topic = on.topic()
    spoilt = bytearray(batch(b"first"))
    spoilt[-2] ^= 1
    pending = [on.send("Produce", **body(topic, (0, data))) for data in (bytes(spoilt), batch(b"second"))]
    codes = [one.answer().responses[0].partition_responses[0].error_code for one in pending]
    expect_that("the codes", codes, [E.CORRUPT_MESSAGE, E.NONE])
    expect_that("error_code of the repetition", sent(on, topic, batch(b"first")), E.NONE)
    expect_that("the log", log(on, topic), [b"second", b"first"])


@forbidden(
    "out_of_order",
    f"{IDEMPOTENCE}, several requests in flight",
    "Produce",
    "Behind a batch that was refused, later ones get OUT_OF_ORDER_SEQUENCE_NUMBER until it is written.",
    source=SEQUENCES,
    also=STARTED,
)
def out_of_order_idempotently(on: Broker) -> None:
    topic, producer = on.topic(), producer_id(on)
    sent(on, topic, numbered(producer, 0, b"a"))
    spoilt = bytearray(numbered(producer, 1, b"first"))
    spoilt[-2] ^= 1
    later = numbered(producer, 2, b"second")
    pending = [on.send("Produce", **body(topic, (0, data))) for data in (bytes(spoilt), later)]
    codes = [one.answer().responses[0].partition_responses[0].error_code for one in pending]
    expect_that("the codes", codes, [E.CORRUPT_MESSAGE, E.OUT_OF_ORDER_SEQUENCE_NUMBER])
    for data in (numbered(producer, 1, b"first"), later):
        expect_that("error_code of a repetition", sent(on, topic, data), E.NONE)
    expect_that("the log", log(on, topic), [b"a", b"first", b"second"])


@allowed(
    "out_of_order",
    f"{TRANSACTIONS}, two producers",
    "Produce",
    "Records of two transactions that are open at once lie between each other (G0).",
    source="KIP-98",
    also=OPENING,
)
def two_transactions(on: Broker) -> None:
    topic, one, other = on.topic(), Producer(on), Producer(on)
    for producer, value in ((one, b"one 1"), (other, b"other 1"), (one, b"one 2"), (other, b"other 2")):
        producer.write(topic, value)
    for producer in (other, one):
        producer.ended(True)
    expect_that("the log", log(on, topic), [b"one 1", b"other 1", b"one 2", b"other 2"])


@allowed(
    "refused_and_given_up",
    "acks=0",
    "Produce",
    "A refused batch gets no answer: the connection ends, and the next batch is written.",
    source="Kafka: KafkaApis.handleProduceRequest",
)
def refused_without_acks(on: Broker) -> None:
    topic = on.topic(max_message_bytes="300")
    on.send("Produce", client=LOST, **body(topic, (0, batch(b"x" * 500)), acks=0))
    expect_that("whether the connection was closed", on.link(LOST).closed(), True)
    expect_that("error_code of the next", sent(on, topic, batch(b"next")), E.NONE)
    expect_that("the log", log(on, topic), [b"next"])


@forbidden(
    "refused_and_given_up",
    "acks=1 or all",
    "Produce",
    "A refused batch gets its error. The error is true: the batch is not in the log unless the client repeats it.",
    source=APPENDED,
)
def refused(on: Broker) -> None:
    spoilt = bytearray(batch(b"a"))
    spoilt[-2] ^= 1
    for acks in (1, -1):
        topic = on.topic()
        expect_that(f"error_code with acks={acks}", sent(on, topic, bytes(spoilt), acks), E.CORRUPT_MESSAGE)
        expect_that(f"the log with acks={acks}", log(on, topic), [])
        expect_that("error_code of the repetition", sent(on, topic, batch(b"a"), acks), E.NONE)
        expect_that(f"the log with acks={acks} then", log(on, topic), [b"a"])


@allowed(
    "refused_and_given_up",
    f"acks=1 or all, {NO_IDEMPOTENCE}",
    "Produce",
    "A client that ignores the error goes on: the next batch is written.",
    source=APPENDED,
)
def refused_and_ignored(on: Broker) -> None:
    for acks in (1, -1):
        topic = on.topic(max_message_bytes="300")
        expect_that("error_code", sent(on, topic, batch(b"x" * 500), acks), E.MESSAGE_TOO_LARGE)
        expect_that("error_code of the next", sent(on, topic, batch(b"next"), acks), E.NONE)
        expect_that(f"the log with acks={acks}", log(on, topic), [b"next"])


@forbidden(
    "refused_and_given_up",
    IDEMPOTENCE,
    "Produce",
    "A client that goes on behind a refused batch gets OUT_OF_ORDER_SEQUENCE_NUMBER.",
    source=SEQUENCES,
    also=STARTED,
)
def refused_idempotently(on: Broker) -> None:
    topic, producer = on.topic(max_message_bytes="300"), producer_id(on)
    sent(on, topic, numbered(producer, 0, b"a"))
    expect_that("error_code", sent(on, topic, numbered(producer, 1, b"x" * 500)), E.MESSAGE_TOO_LARGE)
    code = sent(on, topic, numbered(producer, 2, b"next"))
    expect_that("error_code of the next", code, E.OUT_OF_ORDER_SEQUENCE_NUMBER)
    expect_that("the log", log(on, topic), [b"a"])


@allowed(
    "fenced_goes_on",
    f"{IDEMPOTENCE}, no transactional.id",
    "Produce",
    "A second instance of the application fences nobody: both write.",
    source=FENCING,
    also=STARTED,
)
def nobody_is_fenced(on: Broker) -> None:
    topic, former = on.topic(), producer_id(on)
    sent(on, topic, numbered(former, 0, b"former"))
    sent(on, topic, numbered(producer_id(on), 0, b"newer"))
    expect_that("error_code of the former", sent(on, topic, numbered(former, 1, b"former")), E.NONE)
    expect_that("the log", log(on, topic), [b"former", b"newer", b"former"])


@forbidden(
    "fenced_goes_on",
    TRANSACTIONS,
    "Produce",
    "When a second instance has begun, the first one writes nothing more: INVALID_PRODUCER_EPOCH.",
    source=EPOCHS,
    also=OPENING,
)
def fenced_producer_writes(on: Broker) -> None:
    topic, former = on.topic(), Producer(on)
    former.write(topic, b"former")
    init(on, former.name)
    settled(on, former.name)
    expect_that("error_code", former.produce(topic, b"late"), E.INVALID_PRODUCER_EPOCH)
    expect_that("the log", log(on, topic), [b"former"])


@forbidden(
    "fenced_goes_on",
    TRANSACTIONS,
    "EndTxn",
    "When a second instance has begun, the first one commits nothing more: PRODUCER_FENCED.",
    source=FENCING,
    also=OPENING,
)
def fenced_producer_commits(on: Broker) -> None:
    topic, former = on.topic(), Producer(on)
    former.write(topic, b"former")
    init(on, former.name)
    settled(on, former.name)
    expect_that("error_code", former.end(True).error_code, stale(on, 2))
    row = only(fetch(on, topic, {"fetch_offset": 0}, isolation_level=1))
    expect_that("what a reader of committed records gets", read(row, committed=True), [])

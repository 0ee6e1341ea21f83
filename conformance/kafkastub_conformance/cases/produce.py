"""Produce: what is written, and what is not taken."""

from __future__ import annotations

import struct
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import NOT_EMPTY, Answer, expect, expect_that
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E
from kafkawire.records import HEADER_SIZE, Compression, NewRecord, build_batch, compute_crc, parse_header

SOURCE = "Kafka: ReplicaManager.appendRecords"
VALIDATED = "Kafka: LogValidator"
T0 = 1_700_000_000_000


def batch(*values: bytes | None, **options: Any) -> bytes:
    """A batch of records with the key k."""
    return build_batch([NewRecord(b"k", value, T0 + number) for number, value in enumerate(values)], **options)


def resealed(data: bytes, **fields: int) -> bytes:
    """The batch with other header fields and a CRC that fits them."""
    changed = parse_header(data)._replace(**fields).encode() + data[HEADER_SIZE:]
    return parse_header(changed)._replace(crc=compute_crc(changed)).encode() + data[HEADER_SIZE:]


def body(topic: Topic, *rows: tuple[int, bytes | None], acks: int = -1, **more: Any) -> dict[str, Any]:
    """A request of batches for partitions."""
    partitions = [{"index": index, "records": data} for index, data in rows]
    data = [{"name": topic.name, "topic_id": topic.id, "partition_data": partitions}]
    return {"acks": acks, "timeout_ms": 10000, "topic_data": data, **more}


def produce(on: Broker, topic: Topic, *rows: tuple[int, bytes | None], **more: Any) -> Answer:
    return on.ask("Produce", **body(topic, *rows, **more))


def written(index: int, offset: int) -> dict[str, Any]:
    return {
        "index": index,
        "error_code": E.NONE,
        "base_offset": offset,
        "log_append_time_ms": -1,
        "log_start_offset": 0,
        "record_errors": [],
        "error_message": None,
    }


def refused(index: int, code: int, **more: Any) -> dict[str, Any]:
    return {"index": index, "error_code": code, "base_offset": -1, "log_append_time_ms": -1, **more}


def topic_results(topic: Topic, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": topic.name, "topic_id": topic.id, "partition_responses": list(rows)}]


def end_of(on: Broker, topic: Topic, partition: int = 0) -> int:
    """The log end offset."""
    rows = [{"partition_index": partition, "timestamp": -1}]
    answer = on.ask("ListOffsets", replica_id=-1, topics=[{"name": topic.name, "partitions": rows}])
    return int(answer.topics[0].partitions[0].offset)


@case("Produce", "Batches get consecutive offsets.", source=SOURCE)
def offsets(on: Broker) -> None:
    topic = on.topic()
    expect(produce(on, topic, (0, batch(b"a", b"b"))), responses=topic_results(topic, written(0, 0)))
    expect(produce(on, topic, (0, batch(b"c"))), responses=topic_results(topic, written(0, 2)))
    expect_that("the end of the log", end_of(on, topic), 3)


@case("Produce", "acks=1 is answered as acks=-1 is.", source=SOURCE)
def acks_of_the_leader(on: Broker) -> None:
    topic = on.topic()
    expect(produce(on, topic, (0, batch(b"a")), acks=1), responses=topic_results(topic, written(0, 0)))


@case("Produce", "acks=0 is not answered, and written.", source="Kafka: KafkaApis.handleProduceRequest")
def no_acks(on: Broker) -> None:
    topic = on.topic()
    on.send("Produce", **body(topic, (0, batch(b"a")), acks=0))
    on.link().silent()
    expect(produce(on, topic, (0, batch(b"b"))), responses=topic_results(topic, written(0, 1)))


@case("Produce", "acks=0 that fails ends the connection.", source="Kafka: KafkaApis.handleProduceRequest")
def no_acks_failing(on: Broker) -> None:
    on.send("Produce", **body(on.topic(), (99, batch(b"a")), acks=0))
    expect_that("whether the connection was closed", on.link().closed(), True)


@case("Produce", "acks other than -1, 0 and 1: INVALID_REQUIRED_ACKS.", source=SOURCE)
def wrong_acks(on: Broker) -> None:
    topic = on.topic()
    for acks in (2, -2):
        answer = produce(on, topic, (0, batch(b"a")), acks=acks)
        expect(answer, responses=topic_results(topic, refused(0, E.INVALID_REQUIRED_ACKS)))
    expect_that("the end of the log", end_of(on, topic), 0)


@case("Produce", "A topic that does not exist: UNKNOWN_TOPIC_OR_PARTITION.", source=SOURCE, versions=(3, 12))
def unknown_topic(on: Broker) -> None:
    missing = Topic(on.name(), bytes(16), 0)
    answer = produce(on, missing, (0, batch(b"a")))
    expect(answer, responses=topic_results(missing, refused(0, E.UNKNOWN_TOPIC_OR_PARTITION)))


@case("Produce", "A topic id that nobody has: UNKNOWN_TOPIC_ID.", source="KIP-516", versions=(13, 13))
def unknown_topic_id(on: Broker) -> None:
    missing = Topic("", b"\7" * 16, 0)
    expect(produce(on, missing, (0, batch(b"a"))), responses=topic_results(missing, refused(0, E.UNKNOWN_TOPIC_ID)))


@case(
    "Produce", "A partition that does not exist: UNKNOWN_TOPIC_OR_PARTITION; its neighbour is written.", source=SOURCE
)
def unknown_partition(on: Broker) -> None:
    topic = on.topic()
    answer = produce(on, topic, (7, batch(b"a")), (0, batch(b"b")))
    rows = sorted((row.index, row.error_code) for row in answer.responses[0].partition_responses)
    expect_that("partitions and error codes", rows, [(0, E.NONE), (7, E.UNKNOWN_TOPIC_OR_PARTITION)])


@case("Produce", "A wrong CRC: CORRUPT_MESSAGE.", source="Kafka: UnifiedLog.analyzeAndValidateRecords")
def wrong_crc(on: Broker) -> None:
    topic = on.topic()
    data = bytearray(batch(b"a"))
    data[-2] ^= 1
    expect(produce(on, topic, (0, bytes(data))), responses=topic_results(topic, refused(0, E.CORRUPT_MESSAGE)))
    expect_that("the end of the log", end_of(on, topic), 0)


@case("Produce", "Two batches for one partition: INVALID_RECORD.", source="Kafka: ProduceRequest.validateRecords")
def two_batches(on: Broker) -> None:
    topic = on.topic()
    answer = produce(on, topic, (0, batch(b"a") + batch(b"b")))
    expect(answer, responses=topic_results(topic, refused(0, E.INVALID_RECORD)))


@case("Produce", "No batch: INVALID_RECORD.", source="Kafka: ProduceRequest.validateRecords")
def no_batch(on: Broker) -> None:
    topic = on.topic()
    expect(produce(on, topic, (0, b"")), responses=topic_results(topic, refused(0, E.INVALID_RECORD)))


@case("Produce", "A base offset other than 0: INVALID_RECORD.", source=VALIDATED)
def base_offset(on: Broker) -> None:
    topic = on.topic()
    answer = produce(on, topic, (0, resealed(batch(b"a"), base_offset=5)))
    expect(answer, responses=topic_results(topic, refused(0, E.INVALID_RECORD)))


@case("Produce", "A count of records that disagrees with the last offset: INVALID_RECORD.", source=VALIDATED)
def wrong_count(on: Broker) -> None:
    topic = on.topic()
    for fields in ({"record_count": 7}, {"last_offset_delta": 7}, {"record_count": 0}):
        answer = produce(on, topic, (0, resealed(batch(b"a", b"b"), **fields)))
        expect(answer, responses=topic_results(topic, refused(0, E.INVALID_RECORD)))


@case("Produce", "A control batch: INVALID_RECORD.", source=VALIDATED)
def control_batch(on: Broker) -> None:
    topic = on.topic()
    answer = produce(on, topic, (0, resealed(batch(b"a"), attributes=32)))
    expect(answer, responses=topic_results(topic, refused(0, E.INVALID_RECORD)))


@case("Produce", "A batch over max.message.bytes: MESSAGE_TOO_LARGE; just within it: written.", source=SOURCE)
def too_large(on: Broker) -> None:
    data = batch(b"x" * 500)
    small, enough = on.topic(max_message_bytes=str(len(data) - 1)), on.topic(max_message_bytes=str(len(data)))
    expect(produce(on, small, (0, data)), responses=topic_results(small, refused(0, E.MESSAGE_TOO_LARGE)))
    expect(produce(on, enough, (0, data)), responses=topic_results(enough, written(0, 0)))


@case(
    "Produce",
    "A compressed batch with a record over max.decompressed.message.bytes: INVALID_RECORD.",
    source="Kafka: DefaultRecord.readFrom",
    since="4.4",
    before="there is no such configuration",
)
def too_large_unpacked(on: Broker) -> None:
    topic = on.topic(max_decompressed_message_bytes="200")
    packed = batch(b"x", b"y" * 300, compression=Compression.GZIP)
    row = refused(0, E.INVALID_RECORD, record_errors=[], error_message=None)
    expect(produce(on, topic, (0, packed)), responses=topic_results(topic, row))
    expect(produce(on, topic, (0, batch(b"y" * 300))), responses=topic_results(topic, written(0, 0)))


@case("Produce", "A record without a key on a compacted topic: INVALID_RECORD, naming the record.", source="KIP-467")
def keyless(on: Broker) -> None:
    topic = on.topic(cleanup_policy="compact")
    data = build_batch([NewRecord(b"k", b"a", T0), NewRecord(None, b"b", T0)])
    row = refused(0, E.INVALID_RECORD, record_errors=[{"batch_index": 1}], error_message=NOT_EMPTY)
    expect(produce(on, topic, (0, data)), responses=topic_results(topic, row))


@case("Produce", "LogAppendTime: the broker's time is in the answer.", source="KIP-32")
def log_append_time(on: Broker) -> None:
    topic = on.topic(message_timestamp_type="LogAppendTime")
    answer = produce(on, topic, (0, batch(b"a")))
    row = answer.responses[0].partition_responses[0]
    expect_that("error code and whether there is a time", (row.error_code, row.log_append_time_ms > T0), (0, True))


@case("Produce", "Every codec is taken.", source="KIP-110", versions=(7, 13))
def codecs(on: Broker) -> None:
    topic = on.topic()
    for number, codec in enumerate((1, 2, 3, 4)):
        answer = produce(on, topic, (0, batch(b"a" * 100, compression=codec)))
        expect(answer, responses=topic_results(topic, written(0, number)))


def producer_id(on: Broker) -> int:
    """A new idempotent producer."""
    answer = on.ask("InitProducerId", transactional_id=None, transaction_timeout_ms=60000)
    expect_that("error_code of InitProducerId", answer.error_code, E.NONE)
    return int(answer.producer_id)


@case(
    "Produce",
    "A batch repeated is answered with its first offset, not written.",
    source="KIP-98",
    also=["InitProducerId"],
)
def repeated(on: Broker) -> None:
    topic, producer = on.topic(), producer_id(on)
    first = batch(b"a", b"b", producer_id=producer, producer_epoch=0, base_sequence=0)
    for _ in range(2):
        answer = produce(on, topic, (0, first))
        expect(answer, responses=topic_results(topic, {"error_code": E.NONE, "base_offset": 0}))
    second = batch(b"c", producer_id=producer, producer_epoch=0, base_sequence=2)
    expect(produce(on, topic, (0, second)), responses=topic_results(topic, {"error_code": E.NONE, "base_offset": 2}))
    expect_that("the end of the log", end_of(on, topic), 3)


@case("Produce", "A gap in the sequence: OUT_OF_ORDER_SEQUENCE_NUMBER.", source="KIP-98", also=["InitProducerId"])
def sequence_gap(on: Broker) -> None:
    topic, producer = on.topic(), producer_id(on)
    produce(on, topic, (0, batch(b"a", producer_id=producer, producer_epoch=0, base_sequence=0)))
    answer = produce(on, topic, (0, batch(b"a", producer_id=producer, producer_epoch=0, base_sequence=2)))
    expect(answer, responses=topic_results(topic, refused(0, E.OUT_OF_ORDER_SEQUENCE_NUMBER)))


@case("Produce", "An old producer epoch: INVALID_PRODUCER_EPOCH.", source="KIP-360", also=["InitProducerId"])
def old_epoch(on: Broker) -> None:
    topic, producer = on.topic(), producer_id(on)
    produce(on, topic, (0, batch(b"a", producer_id=producer, producer_epoch=3, base_sequence=0)))
    answer = produce(on, topic, (0, batch(b"a", producer_id=producer, producer_epoch=2, base_sequence=1)))
    expect(answer, responses=topic_results(topic, refused(0, E.INVALID_PRODUCER_EPOCH)))


@case("Produce", "A new epoch begins at sequence 0.", source="KIP-360", also=["InitProducerId"])
def new_epoch(on: Broker) -> None:
    topic, producer = on.topic(), producer_id(on)
    produce(on, topic, (0, batch(b"a", producer_id=producer, producer_epoch=0, base_sequence=0)))
    answer = produce(on, topic, (0, batch(b"a", producer_id=producer, producer_epoch=1, base_sequence=1)))
    expect(answer, responses=topic_results(topic, refused(0, E.OUT_OF_ORDER_SEQUENCE_NUMBER)))
    answer = produce(on, topic, (0, batch(b"a", producer_id=producer, producer_epoch=1, base_sequence=0)))
    expect(answer, responses=topic_results(topic, {"error_code": E.NONE, "base_offset": 1}))


@case("Produce", "Pipelined batches are written in their order.", source="Kafka: SocketServer")
def pipelined(on: Broker) -> None:
    topic = on.topic()
    sent = [on.send("Produce", **body(topic, (0, batch(b"%d" % number)))) for number in range(20)]
    offsets = [one.answer().responses[0].partition_responses[0].base_offset for one in sent]
    expect_that("the offsets", offsets, list(range(20)))


@case("Produce", "No topics is an empty answer.", source=SOURCE)
def nothing(on: Broker) -> None:
    expect(on.ask("Produce", acks=-1, timeout_ms=1000, topic_data=[]), responses=[])


@case(
    "Produce",
    "Versions 0 to 2 are advertised, if at all, and close the connection.",
    source="KAFKA-18659",
    versions=(3, 3),
    since="4.0",
    before="they are served (KIP-896)",
)
def too_old(on: Broker) -> None:
    link = on.link()
    link.send_raw(0, 2, struct.pack(">hii", 1, 1000, 0))
    expect_that("whether the connection was closed", link.closed(), True)

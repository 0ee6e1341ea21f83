"""Fetch and ListOffsets: reading what was written."""

from __future__ import annotations

import time
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cases.produce import T0, batch
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import Answer, expect, expect_that
from kafkastub_conformance.registry import case
from kafkastub_conformance.writing import write
from kafkawire.errors import ErrorCode as E
from kafkawire.records import read_batch, split_batches

SOURCE = "Kafka: ReplicaManager.fetchMessages"
OFFSETS = "KIP-79; Kafka: ReplicaManager.fetchOffset"


def request(topic: Topic, *rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A full fetch outside of a session; rows are partitions."""
    partitions = [{"partition_max_bytes": 1 << 20, "partition": 0, **row} for row in rows]
    body = {
        "max_wait_ms": 0,
        "min_bytes": 1,
        "max_bytes": 1 << 24,
        "session_epoch": -1,
        "topics": [{"topic": topic.name, "topic_id": topic.id, "partitions": partitions}],
    }
    return {**body, **more}


def fetch(on: Broker, topic: Topic, *rows: dict[str, Any], **more: Any) -> Answer:
    return on.ask("Fetch", **request(topic, *rows, **more))


def values(records: Any) -> list[bytes | None]:
    """The values of records in batches, the last of which may be cut off."""
    return [
        None if r.value is None else bytes(r.value)
        for _, b in split_batches(bytes(records or b""))
        for r in read_batch(b)
    ]


def only(answer: Answer) -> Any:
    """The only partition of the answer."""
    return answer.responses[0].partitions[0]


@case("Fetch", "Records come back as they were written, with watermarks.", source=SOURCE)
def records(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a", None), batch(b"c"))
    answer = fetch(on, topic, {"fetch_offset": 0})
    row = {
        "partition_index": 0,
        "error_code": E.NONE,
        "high_watermark": 3,
        "last_stable_offset": 3,
        "log_start_offset": 0,
        "preferred_read_replica": -1,
    }
    expect(
        answer,
        error_code=E.NONE,
        session_id=0,
        responses=[{"topic": topic.name, "topic_id": topic.id, "partitions": [row]}],
    )
    expect_that("the values", values(only(answer).records), [b"a", None, b"c"])


@case("Fetch", "From an offset inside a batch on, the whole batch comes.", source="KIP-98")
def inside_a_batch(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a", b"b", b"c"), batch(b"d"))
    expect_that("values", values(only(fetch(on, topic, {"fetch_offset": 1})).records), [b"a", b"b", b"c", b"d"])
    expect_that("values", values(only(fetch(on, topic, {"fetch_offset": 3})).records), [b"d"])


@case("Fetch", "At the end there is nothing, without an error.", source=SOURCE)
def at_the_end(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a"))
    row = only(fetch(on, topic, {"fetch_offset": 1}))
    expect_that(
        "error code, watermark, records", (row.error_code, row.high_watermark, bytes(row.records or b"")), (0, 1, b"")
    )


@case("Fetch", "An offset out of the log: OFFSET_OUT_OF_RANGE, watermarks -1.", source=SOURCE)
def out_of_range(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a"))
    row = {"error_code": E.OFFSET_OUT_OF_RANGE, "high_watermark": -1, "last_stable_offset": -1, "log_start_offset": -1}
    for offset in (2, -1, 99):
        expect(fetch(on, topic, {"fetch_offset": offset}), responses=[{"partitions": [row]}])


@case("Fetch", "A topic that does not exist: UNKNOWN_TOPIC_OR_PARTITION.", source=SOURCE, versions=(4, 12))
def unknown_topic(on: Broker) -> None:
    missing = Topic(on.name(), bytes(16), 0)
    row = {"error_code": E.UNKNOWN_TOPIC_OR_PARTITION, "high_watermark": -1}
    expect(fetch(on, missing, {}), responses=[{"topic": missing.name, "partitions": [row]}])


@case("Fetch", "A topic id that nobody has: UNKNOWN_TOPIC_ID.", source="KIP-516", versions=(13, 18))
def unknown_topic_id(on: Broker) -> None:
    missing = Topic("", b"\7" * 16, 0)
    expect(
        fetch(on, missing, {}), responses=[{"topic_id": missing.id, "partitions": [{"error_code": E.UNKNOWN_TOPIC_ID}]}]
    )


@case("Fetch", "A partition that does not exist: UNKNOWN_TOPIC_OR_PARTITION.", source=SOURCE)
def unknown_partition(on: Broker) -> None:
    topic = on.topic()
    row = {"partition_index": 9, "error_code": E.UNKNOWN_TOPIC_OR_PARTITION}
    expect(fetch(on, topic, {"partition": 9}), responses=[{"partitions": [row]}])


@case("Fetch", "A first batch comes whole, however small the limits.", source="KIP-74")
def first_batch(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"x" * 1000), batch(b"y"))
    answer = fetch(on, topic, {"fetch_offset": 0, "partition_max_bytes": 1}, max_bytes=1)
    expect_that("values", values(only(answer).records), [b"x" * 1000])


@case("Fetch", "The limit of a partition cuts what comes.", source="KIP-74")
def partition_limit(on: Broker) -> None:
    topic = on.topic()
    data = batch(b"x" * 100)
    write(on, topic, *[data] * 10)
    answer = fetch(on, topic, {"fetch_offset": 0, "partition_max_bytes": len(data) * 3 + 5})
    expect_that("the number of bytes", len(bytes(only(answer).records)), len(data) * 3 + 5)


@case("Fetch", "Without enough bytes the answer waits for its time.", source="Kafka: DelayedFetch")
def waits(on: Broker) -> None:
    topic = on.topic()
    start = time.monotonic()
    row = only(fetch(on, topic, {"fetch_offset": 0}, max_wait_ms=60))
    expect_that("whether it waited", time.monotonic() - start >= 0.055, True)
    expect_that("error code and records", (row.error_code, bytes(row.records or b"")), (E.NONE, b""))


@case("Fetch", "An append releases a fetch that waits.", source="Kafka: DelayedFetch")
def released(on: Broker) -> None:
    topic = on.topic()
    body = request(topic, {"fetch_offset": 0}, max_wait_ms=20000)
    waiting = on.send("Fetch", client="waiting", **body)
    expect_that("the fetch waits", waiting.waits(), True)
    write(on, topic, batch(b"a"))
    expect_that("values", values(only(waiting.answer(5)).records), [b"a"])


@case("Fetch", "Requests after a fetch that waits are answered after it.", source="Kafka: SocketServer (mute)")
def held_back(on: Broker) -> None:
    topic = on.topic()
    waiting = on.send("Fetch", **request(topic, {"fetch_offset": 0}, max_wait_ms=60))
    behind = on.send("ApiVersions", at=0)
    expect_that("error code", only(waiting.answer()).error_code, E.NONE)
    expect(behind.answer(), error_code=E.NONE)


@case("Fetch", "An error is answered at once.", source=SOURCE, versions=(4, 12))
def error_at_once(on: Broker) -> None:
    topic = on.topic()
    waiting = on.send("Fetch", **request(topic, {"partition": 9}, max_wait_ms=20000))
    expect_that("error code", only(waiting.answer(5)).error_code, E.UNKNOWN_TOPIC_OR_PARTITION)


@case("Fetch", "A leader epoch of the future: UNKNOWN_LEADER_EPOCH.", source="KIP-320", versions=(9, 18))
def leader_epoch(on: Broker) -> None:
    topic = on.topic()
    answer = fetch(on, topic, {"current_leader_epoch": 1000})
    expect(answer, responses=[{"partitions": [{"error_code": E.UNKNOWN_LEADER_EPOCH}]}])


@case(
    "Fetch",
    "A session: a full fetch founds it, an incremental one tells only news.",
    source="KIP-227",
    versions=(7, 18),
)
def session(on: Broker) -> None:
    topic = on.topic(2)
    first = fetch(on, topic, {"partition": 0}, {"partition": 1}, session_id=0, session_epoch=0)
    expect_that("whether there is a session", first.session_id > 0, True)
    expect_that("the partitions", sorted(row.partition_index for row in first.responses[0].partitions), [0, 1])
    write(on, topic, batch(b"a"), partition=1)
    news = on.ask(
        "Fetch", max_wait_ms=0, min_bytes=1, max_bytes=1 << 20, session_id=first.session_id, session_epoch=1, topics=[]
    )
    expect(news, error_code=E.NONE, session_id=first.session_id, responses=[{"partitions": [{"partition_index": 1}]}])


@case("Fetch", "A session that there is not: FETCH_SESSION_ID_NOT_FOUND.", source="KIP-227", versions=(7, 18))
def unknown_session(on: Broker) -> None:
    answer = on.ask("Fetch", max_wait_ms=0, min_bytes=1, max_bytes=1000, session_id=12345, session_epoch=1, topics=[])
    expect(answer, error_code=E.FETCH_SESSION_ID_NOT_FOUND, session_id=0, responses=[])


@case("Fetch", "Another epoch than the session's: INVALID_FETCH_SESSION_EPOCH.", source="KIP-227", versions=(7, 18))
def session_epoch(on: Broker) -> None:
    topic = on.topic()
    number = fetch(on, topic, {}, session_id=0, session_epoch=0).session_id
    answer = on.ask("Fetch", max_wait_ms=0, min_bytes=1, max_bytes=1000, session_id=number, session_epoch=5, topics=[])
    expect(answer, error_code=E.INVALID_FETCH_SESSION_EPOCH, session_id=0, responses=[])


@case("Fetch", "No topics is an empty answer, at once.", source=SOURCE)
def nothing(on: Broker) -> None:
    answer = on.ask("Fetch", max_wait_ms=20000, min_bytes=1, max_bytes=1000, session_epoch=-1, topics=[])
    expect(answer, error_code=E.NONE, responses=[])


def list_offsets(on: Broker, topic: Topic, *rows: dict[str, Any], **more: Any) -> Answer:
    partitions = [{"partition_index": 0, **row} for row in rows]
    body = {"replica_id": -1, "topics": [{"name": topic.name, "partitions": partitions}], "timeout_ms": 10000}
    return on.ask("ListOffsets", **{**body, **more})


def found(topic: Topic, **row: Any) -> list[dict[str, Any]]:
    return [{"name": topic.name, "partitions": [{"partition_index": 0, **row}]}]


@case("ListOffsets", "Earliest and latest, without timestamps.", source=OFFSETS)
def ends(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a", b"b"))
    for timestamp, offset in ((-2, 0), (-1, 2)):
        answer = list_offsets(on, topic, {"timestamp": timestamp})
        expect(answer, topics=found(topic, error_code=E.NONE, timestamp=-1, offset=offset))


@case("ListOffsets", "The first record that is no older than a time; -1 where there is none.", source=OFFSETS)
def by_time(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a", b"b", b"c"))
    for timestamp, offset, at in ((0, 0, T0), (T0, 0, T0), (T0 + 1, 1, T0 + 1), (T0 + 2, 2, T0 + 2), (T0 + 3, -1, -1)):
        answer = list_offsets(on, topic, {"timestamp": timestamp})
        expect(answer, topics=found(topic, error_code=E.NONE, timestamp=at, offset=offset))


@case("ListOffsets", "A record inside a compressed batch is found by its time.", source=OFFSETS)
def by_time_compressed(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a", b"b", b"c", compression=1))
    answer = list_offsets(on, topic, {"timestamp": T0 + 1})
    expect(answer, topics=found(topic, error_code=E.NONE, timestamp=T0 + 1, offset=1))


@case("ListOffsets", "The record with the largest timestamp.", source="KIP-734", versions=(7, 11))
def largest_timestamp(on: Broker) -> None:
    topic = on.topic()
    expect(list_offsets(on, topic, {"timestamp": -3}), topics=found(topic, error_code=E.NONE, timestamp=-1, offset=-1))
    write(on, topic, batch(b"a", b"b"))
    expect(list_offsets(on, topic, {"timestamp": -3}), topics=found(topic, timestamp=T0 + 1, offset=1))


@case("ListOffsets", "The earliest local offset.", source="KIP-405", versions=(8, 11))
def earliest_local(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a", b"b"))
    expect(list_offsets(on, topic, {"timestamp": -4}), topics=found(topic, error_code=E.NONE, offset=0))


@case("ListOffsets", "A negative time that means nothing: UNSUPPORTED_VERSION.", source=OFFSETS)
def unknown_time(on: Broker) -> None:
    topic = on.topic()
    answer = list_offsets(on, topic, {"timestamp": -99})
    expect(answer, topics=found(topic, error_code=E.UNSUPPORTED_VERSION, offset=-1, timestamp=-1))


@case("ListOffsets", "A missing topic or partition: UNKNOWN_TOPIC_OR_PARTITION.", source=OFFSETS)
def list_unknown(on: Broker) -> None:
    missing, topic = Topic(on.name(), bytes(16), 0), on.topic()
    row = {"error_code": E.UNKNOWN_TOPIC_OR_PARTITION, "offset": -1, "timestamp": -1}
    expect(list_offsets(on, missing, {"timestamp": -1}), topics=found(missing, **row))
    expect(list_offsets(on, topic, {"timestamp": -1, "partition_index": 9}), topics=[{"partitions": [row]}])


@case("ListOffsets", "The leader epoch of what was found.", source="KIP-320", versions=(4, 11))
def epoch_of_what_was_found(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a"))
    expect(list_offsets(on, topic, {"timestamp": -1}), topics=found(topic, offset=1, leader_epoch=0))


@case("ListOffsets", "A leader epoch of the future: UNKNOWN_LEADER_EPOCH.", source="KIP-320", versions=(4, 11))
def list_leader_epoch(on: Broker) -> None:
    topic = on.topic()
    answer = list_offsets(on, topic, {"timestamp": -1, "current_leader_epoch": 1000})
    expect(answer, topics=found(topic, error_code=E.UNKNOWN_LEADER_EPOCH))


@case("ListOffsets", "Read committed is the same without transactions.", source="KIP-98", versions=(2, 11))
def read_committed(on: Broker) -> None:
    topic = on.topic()
    write(on, topic, batch(b"a"))
    expect(list_offsets(on, topic, {"timestamp": -1}, isolation_level=1), topics=found(topic, error_code=0, offset=1))


@case("ListOffsets", "No topics is an empty answer.", source=OFFSETS)
def list_nothing(on: Broker) -> None:
    expect(on.ask("ListOffsets", replica_id=-1, topics=[]), topics=[])

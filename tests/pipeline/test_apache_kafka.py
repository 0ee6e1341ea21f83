"""The same job on the real Apache Kafka, held against Kafka's own tools.

A Kafka of its own: its `__consumer_offsets` has one partition, so that Spark and the formatter have one to read.
"""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from kafkawire.api import ApiKey
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from tests.expiry.wire import Wire
from tests.offsets_topic.history import subscription
from tests.oracle.apache_kafka import CONSOLE_CONSUMER, CONSUMER_GROUPS, ApacheKafka
from tests.pipeline.test_round_trip import rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.clients.jvm import Jvm

pytestmark = pytest.mark.oracle
TOPIC: Final = "__consumer_offsets"
COMMITS: Final = {
    ("simple", "orders", 0): 4,
    ("simple", "audit", 1): 0,
    ("simple", "orders", 1): 0,
    ("", "orders", 0): 2,
    ("workers", "orders", 0): 9,
    ("workers", "audit", 0): 0,
    ("connect", "audit", 0): 0,
    ("pending", "orders", 1): 0,
    ("pending", "audit", 1): 0,
}
"""What is left of what is committed."""
REFUSED: Final = {("workers", "orders", 0): "actively subscribed", ("connect", "audit", 0): "not empty"}
"""Offsets that are in use, and what OffsetDelete says of them."""
PATIENT: Final = ("--timeout", "60000")
"""Kafka's tool waits five seconds for each answer, which is short on a busy machine."""
OPEN_MS: Final = 3_600_000
"""A transaction stays open for as long as these tests take."""
DEADLINE: Final = 120
"""Seconds."""


@pytest.fixture(scope="module")
def kafka(jvm: Jvm) -> Iterator[str]:
    """HOST:PORT of a Kafka with the history."""
    config: dict[str, object] = {
        "offsets.topic.num.partitions": 1,
        "transaction.state.log.num.partitions": 1,
        "log.retention.ms": -1,
        "transaction.max.timeout.ms": OPEN_MS,
    }
    with ApacheKafka(config=config) as broker, Wire(broker.bootstrap_servers) as wire:
        servers = broker.bootstrap_servers
        _history(servers, wire)
        with _open_transaction(servers):
            yield servers


def _history(servers: str, wire: Wire) -> None:
    from confluent_kafka import Producer

    wire.create_topics("orders", "audit")
    producer = Producer({"bootstrap.servers": servers})
    for _ in range(10):
        producer.produce("orders", b"x", partition=0)
    assert producer.flush(DEADLINE) == 0
    wire.commit("simple", {("orders", 0): 3, ("audit", 0): 0})
    wire.commit("simple", {("orders", 0): 4, ("audit", 1): 0})
    wire.commit("simple", {("orders", 1): 0}, own=10**11, version=4)
    gone = [OffsetDeleteRequestTopic("audit", [OffsetDeleteRequestPartition(0)])]
    assert wire.ask(ApiKey.OFFSET_DELETE, 0, OffsetDeleteRequest("simple", gone)).error_code == 0
    wire.commit("", {("orders", 0): 2})
    worker = wire.member("workers", subscription("orders"))
    wire.commit("workers", {("orders", 0): 9, ("audit", 0): 0}, member=worker)
    task = wire.member("connect", b"whatever", "connect")
    wire.commit("connect", {("audit", 0): 0}, member=task)
    wire.commit("pending", {("orders", 1): 0, ("audit", 1): 0})


@contextmanager
def _open_transaction(servers: str) -> Iterator[None]:
    """One that has committed an offset of `pending`, and does not end: everything behind it is not to be read."""
    from confluent_kafka import Consumer, Producer, TopicPartition

    settings = {"transactional.id": "open", "transaction.timeout.ms": OPEN_MS, "log_level": 0}
    producer = Producer({"bootstrap.servers": servers, **settings})
    producer.init_transactions(DEADLINE)
    producer.begin_transaction()
    with closing(Consumer({"bootstrap.servers": servers, "group.id": "pending"})) as consumer:
        metadata = consumer.consumer_group_metadata()
        producer.send_offsets_to_transaction([TopicPartition("orders", 1, 0)], metadata, DEADLINE)
    yield
    producer.abort_transaction(DEADLINE)


@pytest.fixture(scope="module")
def out(spark: SparkSession, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from kafkastub_pipeline.run import Settings, run

    folder = tmp_path_factory.mktemp("tables")
    settings = Settings(str(folder), kafka, retention_minutes=(10080,), profile="kafka", stale_after_minutes=0)
    run(spark, settings)
    return folder


Described = dict[str, list[tuple[str, int, int, int, int]]]
"""Of each group: topic, partition, committed offset, log end offset, lag."""


@pytest.fixture(scope="module")
def described(kafka: str, jvm: Jvm) -> Described:
    """What Kafka's tool says of the groups, asked while they have all their offsets.

    Tests run in any order, and one of them deletes offsets: it needs this fixture, too.
    """
    return {group: _described(jvm, kafka, group) for group in ("simple", "workers")}  # consumer groups are all it knows


def test_offsets_are_what_kafkas_formatter_says(spark: SparkSession, kafka: str, out: Path, jvm: Jvm) -> None:
    events = rows(spark, out, "offset_events")
    assert rows(spark, out, "decode_errors") == []
    told = _formatted(jvm, kafka, len(events) + len(rows(spark, out, "group_events")))
    assert len(told) == 12
    for record, row in zip(told, sorted(events, key=lambda r: r.log_offset), strict=True):
        key, value = record["key"]["data"], record["value"]
        assert (key["group"], key["topic"], key["partition"]) == (row.group_id, row.topic, row.partition)
        assert row.event == ("tombstone" if value is None else "commit")
        if value is None:
            continue
        data = value["data"]
        assert value["version"] == row.schema_version
        assert (data["offset"], data["metadata"]) == (row.committed_offset, row.metadata)
        assert (data["commitTimestamp"], data.get("leaderEpoch", -1)) == (row.commit_timestamp, row.leader_epoch)
        assert data.get("expireTimestamp", -1) == (-1 if row.expire_timestamp is None else row.expire_timestamp)
    assert {row.event for row in events} == {"commit", "tombstone"}
    assert 1 in {row.schema_version for row in events}


def test_lag_is_what_kafkas_tool_says(spark: SparkSession, out: Path, described: Described) -> None:
    lag = {(r.group_id, r.topic, r.partition): r for r in rows(spark, out, "lag")}
    assert {place: row.committed_offset for place, row in lag.items()} == COMMITS
    for group, told in described.items():
        assert {(group, topic, partition) for topic, partition, _, _, _ in told} == {
            p for p in COMMITS if p[0] == group
        }
        for topic, partition, offset, end, behind in told:
            row = lag[group, topic, partition]
            assert (row.committed_offset, row.high_watermark, row.lag_records) == (offset, end, behind)


def test_an_open_transaction_keeps_its_offset(spark: SparkSession, out: Path) -> None:
    forecast = {(r.group_id, r.topic, r.partition): r for r in rows(spark, out, "expiry_forecast")}
    assert set(forecast) == set(COMMITS)
    blocked = {place: r.blocked_by for place, r in forecast.items() if r.blocked_by is not None}
    assert blocked == {
        ("workers", "orders", 0): "subscribed",
        ("connect", "audit", 0): "members of another protocol type",
        ("pending", "orders", 1): "pending transaction",
    }


Forecast = tuple[list[str], dict[tuple[str, str, int], int]]
"""Rows of `expiry_forecast`, and of `lag` how many records each offset is behind."""


@pytest.fixture(scope="module")
def forecasts(spark: SparkSession, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> list[Forecast]:
    """That of Apache Kafka, and that of a stub that starts from a snapshot of it.

    Made while the groups have all their offsets, as `described` is: what is deleted behind an open transaction is gone
    from the snapshot, and not from the log as it can be read.
    """
    from kafkastub import KafkaStub, Snapshot
    from kafkastub_pipeline.run import Settings, run

    saved = Snapshot.from_cluster(kafka)
    assert saved.missing == []
    found = []
    with KafkaStub(snapshot=saved, profile="kafka") as stub:
        for servers in (kafka, stub.bootstrap_servers):
            out = tmp_path_factory.mktemp("forecast")
            tables = ("expiry_forecast", "lag")
            run(spark, Settings(str(out), servers, profile="kafka", now=saved.now, tables=tables))
            # the snapshot leaves out records that later ones supersede, so that its log seems to begin later
            forecast = sorted(str(r.asDict() | {"complete_since": None}) for r in rows(spark, out, "expiry_forecast"))
            behind = {(r.group_id, r.topic, r.partition): r.lag_records for r in rows(spark, out, "lag")}
            found.append((forecast, behind))
    return found


def test_the_forecast_on_a_stub_that_starts_from_a_snapshot_is_the_same(forecasts: list[Forecast]) -> None:
    of_kafka, of_stub = forecasts
    assert len(of_kafka[0]) == len(COMMITS)
    assert of_stub == of_kafka


def test_a_topic_is_known_by_its_id(spark: SparkSession, kafka: str, out: Path) -> None:
    from kafkastub_pipeline.cluster import snapshot

    lag = rows(spark, out, "lag")
    assert {r.topic_recreated for r in lag} == {False}
    ids = snapshot(kafka).topic_ids
    assert {"orders", "audit", TOPIC} <= set(ids)
    known = {r.topic: r.topic_id for r in rows(spark, out, "offset_current") if r.topic_id is not None}
    assert known == {"orders": ids["orders"], "audit": ids["audit"]}  # Kafka writes them since 4.1


@pytest.mark.usefixtures("described", "forecasts")
def test_the_commands_do_as_predicted(spark: SparkSession, kafka: str, out: Path, jvm: Jvm) -> None:
    stale = {(r.group_id, r.topic, r.partition): r for r in rows(spark, out, "stale_offsets")}
    assert set(stale) == set(COMMITS) - set(REFUSED)
    assert {r.why for r in stale.values()} == {"simple group", "unsubscribed"}
    assert {place[0] for place, r in stale.items() if not r.deletable} == {""}
    for place, row in stale.items():
        said = _command(jvm, row.command)
        assert ("Request succeed" in said) is row.deletable, (place, said)
    one = stale["workers", "audit", 0].command
    for (group, topic, partition), why in REFUSED.items():  # what the table leaves out is rightly left out
        said = _command(jvm, one.replace("'workers'", f"'{group}'").replace("'audit:0'", f"'{topic}:{partition}'"))
        assert "Request succeed" not in said
        assert why in said
    with Wire(kafka) as wire:
        left = {(group, *place) for group in {p[0] for p in COMMITS} for place in wire.committed(group)}
    assert left == {place for place in COMMITS if place not in stale or not stale[place].deletable}


def _formatted(jvm: Jvm, servers: str, records: int) -> list[Any]:
    """What OffsetsMessageFormatter makes of so many records: one JSON object behind the other."""
    done = jvm.tool(
        CONSOLE_CONSUMER,
        *("--bootstrap-server", servers, "--topic", TOPIC, "--partition", "0", "--offset", "earliest"),
        *("--max-messages", str(records), "--timeout-ms", "60000"),
        *("--formatter", "org.apache.kafka.tools.consumer.OffsetsMessageFormatter"),
    )
    found, text, decoder = [], done.out.strip(), json.JSONDecoder()
    while text:
        one, end = decoder.raw_decode(text)
        found.append(one)
        text = text[end:].lstrip()
    return found


def _described(jvm: Jvm, servers: str, group: str) -> list[tuple[str, int, int, int, int]]:
    """Topic, partition, committed offset, log end offset, lag: of all that the group has committed, once it is told.

    On a busy machine the tool gives up on its own requests; it then says so, or leaves rows out.
    """
    wanted = sum(place[0] == group for place in COMMITS)
    line = rf"^{re.escape(group)}\s+(\S+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(-?\d+)"
    deadline = time.monotonic() + DEADLINE
    while True:
        done = jvm.tool(CONSUMER_GROUPS, "--bootstrap-server", servers, "--describe", "--group", group, *PATIENT)
        found = re.findall(line, done.out, re.MULTILINE)
        if len(found) == wanted:
            return [(topic, int(p), int(offset), int(end), int(lag)) for topic, p, offset, end, lag in found]
        assert time.monotonic() < deadline, done.out + done.err


def _command(jvm: Jvm, command: str) -> str:
    name, *arguments = shlex.split(command)
    assert name == "kafka-consumer-groups.sh"
    done = jvm.tool(CONSUMER_GROUPS, *arguments, *PATIENT)
    return done.out + done.err

"""The numbers of `retention_whatif`, against a topic with a record a minute, on a broker whose retention is another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kafkastub import KafkaStub
from kafkawire.api import ApiKey
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest
from tests.expiry.wire import Wire
from tests.pipeline.test_round_trip import rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = 1_700_000_000_000
MINUTE = 60_000
BROKERS, SHORT, LONG = 60, 30, 10080
"""Retentions, in minutes."""
DAY = 24 * 60
RECORDS = 100


def fill(servers: str) -> None:
    """Record n of each partition is of minute n. Of partition 0 the first 3 are deleted, of partition 1 50."""
    from confluent_kafka import Producer, TopicPartition
    from confluent_kafka.admin import AdminClient

    producer = Producer({"bootstrap.servers": servers})
    for number in range(RECORDS):
        for partition in (0, 1):
            producer.produce("orders", b"", partition=partition, timestamp=START + number * MINUTE)
    assert producer.flush(60) == 0
    starts = [TopicPartition("orders", 0, 3), TopicPartition("orders", 1, 50)]
    admin = AdminClient({"bootstrap.servers": servers})
    for deleted in admin.delete_records(starts).values():
        deleted.result(60)


@pytest.fixture(scope="module")
def out(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from kafkastub_pipeline.run import Settings, run

    folder = tmp_path_factory.mktemp("whatif")
    config: dict[str, object] = {"offsets.topic.num.partitions": 1, "offsets.retention.minutes": BROKERS}
    with KafkaStub(topics={"orders": 2, "remade": 1}, config=config) as stub, Wire(stub.bootstrap_servers) as wire:
        stub.clock.freeze()
        stub.clock.set(START)
        fill(stub.bootstrap_servers)
        wire.commit("leaves", {("orders", 0): 4, ("orders", 1): 5})
        wire.commit("comes back", {("orders", 0): 10})
        wire.commit("of old", {("remade", 0): 0})
        stub.clock.advance(minutes=45)
        wire.commit("comes back", {("orders", 0): 50})
        deleted = wire.ask(ApiKey.DELETE_TOPICS, 5, DeleteTopicsRequest(topic_names=["remade"], timeout_ms=1000))
        assert deleted.responses[0].error_code == 0
        stub.create_topic("remade", 1)
        stub.clock.advance(minutes=3 * 60 - SHORT)
        wire.commit("this moment", {("orders", 0): 60})
        stub.clock.advance(minutes=SHORT)
        wire.commit("later", {("orders", 0): 1})
        servers = stub.bootstrap_servers
        run(spark, Settings(out=str(folder), bootstrap_servers=servers, retention_minutes=(LONG, SHORT)))
    return folder


@pytest.fixture(scope="module")
def told(spark: SparkSession, out: Path) -> dict[tuple[int, str, int, int], Any]:
    """By retention, group, partition and committed offset."""
    found = rows(spark, out, "retention_whatif")
    return {(r.retention_minutes, r.group_id, r.partition, r.committed_offset): r for r in found}


def minutes(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else (milliseconds - START) / MINUTE


def test_what_each_retention_deletes_whatever_the_broker_did(told: dict[tuple[int, str, int, int], Any]) -> None:
    assert {key: (minutes(r.deleted_at), r.already, minutes(r.came_back_at)) for key, r in told.items()} == {
        (SHORT, "leaves", 0, 4): (30, True, None),
        (SHORT, "leaves", 1, 5): (30, True, None),
        (SHORT, "comes back", 0, 10): (30, True, 45),
        (SHORT, "comes back", 0, 50): (75, True, None),
        (SHORT, "of old", 0, 0): (30, True, None),
        (SHORT, "this moment", 0, 60): (225, True, None),
        (SHORT, "later", 0, 1): (225 + 30, False, None),
        (LONG, "leaves", 0, 4): (7 * DAY, False, None),
        (LONG, "leaves", 1, 5): (7 * DAY, False, None),
        (LONG, "comes back", 0, 50): (45 + 7 * DAY, False, None),
        (LONG, "this moment", 0, 60): (195 + 7 * DAY, False, None),
        (LONG, "later", 0, 1): (225 + 7 * DAY, False, None),
    }
    assert all(r.came_back is (r.came_back_at is not None) for r in told.values())


def test_what_it_would_have_cost(told: dict[tuple[int, str, int, int], Any]) -> None:
    costs = {key: (r.lag_then, r.replayed_on_earliest, r.skipped_on_latest) for key, r in told.items()}
    assert costs == {
        (SHORT, "leaves", 0, 4): (30 - 4, 4 - 3, RECORDS - 4),
        (SHORT, "leaves", 1, 5): (None, 0, RECORDS - 5),  # where it ended then is deleted
        (SHORT, "comes back", 0, 10): (30 - 10, 10 - 3, 45 - 10),
        (SHORT, "comes back", 0, 50): (75 - 50, 50 - 3, RECORDS - 50),
        (SHORT, "of old", 0, 0): (None, None, None),  # of the topic that was
        (SHORT, "this moment", 0, 60): (RECORDS - 60, 60 - 3, RECORDS - 60),
        (SHORT, "later", 0, 1): (RECORDS - 1, 0, RECORDS - 1),
        (LONG, "leaves", 0, 4): (RECORDS - 4, 4 - 3, RECORDS - 4),
        (LONG, "leaves", 1, 5): (RECORDS - 5, 0, RECORDS - 5),
        (LONG, "comes back", 0, 50): (RECORDS - 50, 50 - 3, RECORDS - 50),
        (LONG, "this moment", 0, 60): (RECORDS - 60, 60 - 3, RECORDS - 60),
        (LONG, "later", 0, 1): (RECORDS - 1, 0, RECORDS - 1),
    }


def test_the_audit_goes_by_the_brokers_retention(spark: SparkSession, out: Path) -> None:
    every = rows(spark, out, "deletion_audit")
    assert {r.reason for r in every if r.group_id == "of old"} == {"DeleteGroups or topic deletion"}
    found = [r for r in every if r.group_id != "of old"]
    assert {(r.group_id, r.what, r.reason, r.predicted) for r in found} == {
        (group, what, "expiry", True) for group in ("leaves", "comes back") for what in ("offset", "group")
    }
    assert {(minutes(r.expires_at), r.late_ms) for r in found if r.what == "offset"} == {(60, 0), (105, 0)}

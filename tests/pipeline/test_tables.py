"""One small history, by hand: what each table says of it; and the page that is made of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kafkastub import KafkaStub
from kafkawire.api import ApiKey
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest
from tests.expiry.wire import Wire
from tests.offsets_topic.history import subscription
from tests.pipeline.test_round_trip import rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOUR = 3_600_000
START = 1_700_000_000_000


@pytest.fixture(scope="module")
def out(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from confluent_kafka import Producer

    from kafkastub_pipeline.run import Settings, run

    folder, journal = tmp_path_factory.mktemp("tables"), str(tmp_path_factory.mktemp("journal"))
    config: dict[str, object] = {"offsets.topic.num.partitions": 2, "group.initial.rebalance.delay.ms": 0}
    with KafkaStub(topics={"orders": 2, "audit": 1, "gone": 1}, config=config, journal=journal) as stub:
        stub.clock.freeze()
        stub.clock.set(START)
        producer = Producer({"bootstrap.servers": stub.bootstrap_servers})
        for number in range(10):
            producer.produce("orders", str(number), partition=0, timestamp=START + number * 1000)
        assert producer.flush(60) == 0
        with Wire(stub.bootstrap_servers) as wire:
            wire.commit("it's simple", {("orders", 0): 4, ("gone", 0): 1})
            worker = wire.member("workers", subscription("orders"))
            wire.commit("workers", {("orders", 0): 10, ("audit", 0): 0}, member=worker)
            wire.commit("others", {("gone", 0): 1})
            stub.clock.advance(hours=1)
            wire.leave(worker)
            stub.clock.advance(hours=1)
            worker = wire.member("workers", subscription("orders"))
            deleted = wire.ask(ApiKey.DELETE_TOPICS, 5, DeleteTopicsRequest(topic_names=["gone"], timeout_ms=1000))
            assert deleted.responses[0].error_code == 0
            wire.commit("late", {("orders", 0): 2})
            run(
                spark,
                Settings(
                    out=str(folder),
                    bootstrap_servers=stub.bootstrap_servers,
                    retention_minutes=(600, 60),
                    journal=journal,
                    stale_after_minutes=120,
                    session_timeouts_ms=(10_000,),
                    transaction_timeouts_ms=(10_000,),
                    lock_durations_ms=(10_000,),
                ),
            )
    return folder


def test_every_documented_table_and_column_is_there(spark: SparkSession, out: Path) -> None:
    from kafkastub_pipeline.tables.columns import TABLES

    for table, columns in TABLES.items():
        found = spark.read.parquet(str(out / table)).columns
        assert sorted(found) == sorted(name for name, _, _ in columns), table
    assert not [path.name for path in out.iterdir() if path.name not in TABLES]


def test_lag(spark: SparkSession, out: Path) -> None:
    found = {(r.group_id, r.topic): r for r in rows(spark, out, "lag")}
    behind = found["it's simple", "orders"]
    assert (behind.lag_records, behind.lag_method) == (6, "next record")
    assert behind.lag_seconds == pytest.approx(2 * 3600 - 4, abs=1)
    level = found["workers", "orders"]
    assert (level.lag_records, level.lag_seconds, level.lag_method) == (0, 0.0, "none left")


def test_stale_offsets(spark: SparkSession, out: Path) -> None:
    found = {(r.group_id, r.topic): r for r in rows(spark, out, "stale_offsets")}
    assert set(found) == {("workers", "audit"), ("it's simple", "orders")}  # not "late", who came just now
    assert found["workers", "audit"].why == "unsubscribed"
    assert found["workers", "audit"].deletable
    assert """--group 'it'"'"'s simple' --topic 'orders:0'""" in found["it's simple", "orders"].command


def test_timeline(spark: SparkSession, out: Path) -> None:
    found = [r for r in rows(spark, out, "group_timeline") if r.group_id == "workers"]
    found.sort(key=lambda r: r.log_offset)
    assert [(r.state, r.cause, r.at - START) for r in found] == [
        ("Empty", "created", 0),
        ("Stable", "members joined", 0),
        ("Empty", "emptied", HOUR),
        ("Stable", "members joined", 2 * HOUR),
    ]


def test_a_deleted_topic_explains_its_tombstones(spark: SparkSession, out: Path) -> None:
    found = {(r.group_id, r.topic): r for r in rows(spark, out, "deletion_audit") if r.what == "offset"}
    assert {key: (r.reason, r.evidence) for key, r in found.items()} == {
        ("it's simple", "gone"): ("topic deletion", "journal"),
        ("others", "gone"): ("topic deletion", "journal"),
    }


def test_an_hour_would_have_lost_a_position(spark: SparkSession, out: Path) -> None:
    found = [r for r in rows(spark, out, "retention_whatif") if r.retention_minutes == 60 and r.already]
    assert ("workers", "orders", 0, START + 2 * HOUR) in {
        (r.group_id, r.topic, r.partition, r.deleted_at) for r in found
    }
    assert ("it's simple", "orders", 0, START + HOUR) in {
        (r.group_id, r.topic, r.partition, r.deleted_at) for r in found
    }


def test_coverage(spark: SparkSession, out: Path) -> None:
    found = rows(spark, out, "protocol_coverage")
    commits = [r for r in found if (r.api, r.api_version, r.error_code) == ("OffsetCommit", 8, 0)]
    assert len(commits) == 1
    assert (commits[0].requests, commits[0].advertised) == (4, True)
    never = [r for r in found if (r.api, r.api_version) == ("OffsetDelete", 0)]
    assert [(r.exercised, r.requests) for r in never] == [(False, 0)]


def test_the_page(spark: SparkSession, out: Path, tmp_path: Path) -> None:
    from kafkastub_pipeline.report import write_report

    page = Path(write_report(spark, str(out), str(tmp_path / "page.html"))).read_text()
    assert "--delete-offsets" in page
    assert page.count("<svg") + page.count("data:image/") >= 4
    assert "<script src" not in page

"""Lag: by which method it is known, and where it is not: another topic by now, one that is gone, one not to be seen."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from kafkastub import KafkaStub
from kafkawire.api import ApiKey
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from tests.expiry.wire import Wire

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafkastub_pipeline.cluster import Snapshot

pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed: make test-pipeline installs it")
from confluent_kafka import Consumer, TopicPartition

THEN, NOW = "6f1f9c1e-0000-4000-8000-000000000001", "6f1f9c1e-0000-4000-8000-000000000002"


def test_the_snapshot_has_the_topics_ids() -> None:
    import uuid

    from kafkastub_pipeline.cluster import snapshot

    with KafkaStub(topics={"orders": 1, "audit": 2}) as stub, Wire(stub.bootstrap_servers) as wire:
        wire.commit("group", {("orders", 0): 0})
        wanted = MetadataRequest([MetadataRequestTopic(name=name) for name in ("orders", "audit")])
        told = wire.ask(ApiKey.METADATA, 12, wanted).topics
        before = stub.journal.total
        found = snapshot(stub.bootstrap_servers)
        asked = {entry.client_id for entry in list(stub.journal)[before:]}
    assert asked == {"kafkastub-pipeline"}  # so that coverage can leave it out
    assert found.unstable() == []
    assert {t.name: str(uuid.UUID(bytes=bytes(t.topic_id))) for t in told}.items() <= found.topic_ids.items()


ORDERS = "orders", 0
NOW_MS = 100_000
CURRENT = "group_id string, topic string, `partition` int, committed_offset bigint, commit_ms bigint, topic_id string"
NOTHING = {"lag_records": None, "lag_method": None, "lag_seconds": None, "data_lost": None}


def told(
    spark: SparkSession,
    offsets: list[tuple[str, str, int, int, int, str | None]],
    cluster: Snapshot | None,
    following: dict[tuple[str, int, int], int | None] | None = None,
    servers: str | None = None,
) -> dict[str, dict[str, Any]]:
    """The table `lag` by its groups: group, topic, partition, committed offset, commit's time, topic id."""
    from kafkastub_pipeline.session import local_table
    from kafkastub_pipeline.tables.lag import lag, missing, watermarks

    more = "cast(null as string) group_state", "cast(null as array<string>) subscribed"
    current = local_table(spark, list(offsets), CURRENT).selectExpr("*", *more)
    next_ddl = "topic string, `partition` int, committed_offset bigint, next_ms bigint, nothing_left boolean"
    next_records = local_table(spark, [(*place, ms, ms is None) for place, ms in (following or {}).items()], next_ddl)
    gone = missing(spark, current, cluster, servers)
    found = lag(current, watermarks(spark, cluster), next_records, gone, NOW_MS).collect()
    return {row.group_id: row.asDict() for row in found}


def of_orders(start: int = 10, end: int = 110, stable: int = 60, newest_ms: int | None = 90_000) -> Snapshot:
    from kafkastub_pipeline.cluster import Snapshot, Watermarks

    newest = None if newest_ms is None else end - 1
    marks = {ORDERS: Watermarks(start, end, stable, newest, newest_ms)}
    return Snapshot(NOW_MS, marks, {"orders"}, {}, listed={ORDERS})


def test_each_method_of_knowing_seconds(spark: SparkSession) -> None:
    found = told(
        spark,
        [
            ("next", *ORDERS, 20, 5_000, None),
            ("between", *ORDERS, 60, 50_000, None),
            ("late", *ORDERS, 100, 95_000, None),
            ("level", *ORDERS, 110, 1_000, None),
            ("lost", *ORDERS, 9, 90_000, None),
            ("first", *ORDERS, 10, 90_000, None),
            ("marks", *ORDERS, 109, 1_000, None),
        ],
        of_orders(),
        {("orders", 0, 20): 40_000, ("orders", 0, 109): None},
    )
    said = {
        group: (row["lag_records"], row["lag_method"], row["lag_seconds"], row["data_lost"])
        for group, row in found.items()
    }
    assert said == {
        "next": (90, "next record", pytest.approx(60.0), False),  # of all records, those of open transactions too
        # one of fifty records on the way from the commit (50 s) to the newest (90 s)
        "between": (50, "interpolation", pytest.approx(100 - 50.8), False),
        "late": (10, "commit age", pytest.approx(5.0), False),
        "level": (0, "none left", 0.0, False),
        "lost": (101, "commit age", pytest.approx(10.0), True),
        "first": (100, "commit age", pytest.approx(10.0), False),
        "marks": (1, "none left", 0.0, False),  # of a transaction: nobody reads them
    }
    assert {(row["log_start_offset"], row["high_watermark"], row["last_stable_offset"]) for row in found.values()} == {
        (10, 110, 60)
    }
    assert {row["topic_missing"] for row in found.values()} == {False}


def test_what_clients_take_for_no_commit_has_no_lag(spark: SparkSession) -> None:
    found = told(spark, [(f"{n}", *ORDERS, n, 1_000, None) for n in (-1, -(2**63))], of_orders())
    assert [row | NOTHING for row in found.values()] == list(found.values())


def test_without_a_snapshot_nothing_is_known(spark: SparkSession) -> None:
    found = told(spark, [("group", *ORDERS, 5, 1_000, THEN)], None)["group"]
    assert found == found | NOTHING | {"topic_missing": None, "topic_recreated": None, "high_watermark": None}


@pytest.mark.parametrize(
    ("committed", "topic_id", "now", "recreated"),
    [
        (5, THEN, NOW, True),
        (5, NOW, NOW, False),
        (5, None, NOW, False),
        (5, THEN, None, False),
        (11, None, NOW, True),
        (11, THEN, None, True),
        (11, THEN, NOW, True),
    ],
)
def test_a_topic_of_another_id_is_another_topic(
    spark: SparkSession, committed: int, topic_id: str | None, now: str | None, recreated: bool
) -> None:
    cluster = of_orders(0, 10, 10, None)
    cluster.topic_ids = {} if now is None else {"orders": now}
    row = told(spark, [("group", *ORDERS, committed, 1000, topic_id)], cluster)["group"]
    assert row["topic_recreated"] is recreated
    assert row["topic_missing"] is False
    if recreated:  # of what it was committed to, nothing is left to count
        assert row == row | NOTHING
    else:
        assert (row["lag_records"], row["lag_method"]) == (10 - committed, "commit age")


def test_a_topic_of_the_commits_id_is_the_same_topic_wherever_it_ends(spark: SparkSession) -> None:
    """Behind a change of leaders, or where somebody has set an offset, a commit is ahead of the high watermark."""
    cluster = of_orders(0, 10, 10, None)
    cluster.topic_ids = {"orders": NOW}
    found = told(spark, [(f"{n}", *ORDERS, n, 1000, NOW) for n in (9, 10, 11, 2**63 - 1)], cluster)
    assert {group: (row["topic_recreated"], row["lag_records"]) for group, row in found.items()} == {
        "9": (False, 1),
        "10": (False, 0),
        "11": (False, 0),
        f"{2**63 - 1}": (False, 0),
    }
    ahead = found["11"]
    assert (ahead["lag_method"], ahead["lag_seconds"], ahead["data_lost"]) == ("none left", 0.0, False)


def test_only_what_the_cluster_says_is_gone_is_missing(spark: SparkSession) -> None:
    """A partition without a leader, and a topic that may not be described, are not gone."""
    from confluent_kafka.admin import AclOperation

    from kafkastub_pipeline.cluster import snapshot
    from tests.pipeline.acls import WITHOUT_ENTRY_OPEN, allow, topic

    config: dict[str, object] = {**WITHOUT_ENTRY_OPEN, "offsets.topic.num.partitions": 1}
    with KafkaStub(topics={"orders": 4, "secret": 1}, config=config, nodes=2) as stub:
        allow(stub.bootstrap_servers, "other", topic("secret"), AclOperation.READ)
        consumer = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "log_level": 0})
        consumer.commit(offsets=[TopicPartition("orders", 0, 0)], asynchronous=False)
        consumer.close()
        living = stub.leader_of("__consumer_offsets", 0)
        led = [stub.leader_of("orders", n) == living for n in range(4)]
        assert {*led} == {True, False}
        servers = stub.nodes[living].bootstrap_servers
        stub.nodes[3 - living].stop()
        places = [*(("orders", n) for n in range(4)), ("orders", 9), ("secret", 0), ("gone", 0), ("", 0), ("no\0", 0)]
        offsets = [(f"{topic}-{n}", topic, n, 0, 1_000, None) for topic, n in places]
        found = told(spark, offsets, snapshot(servers), servers=servers)
    missing = {group: row["topic_missing"] for group, row in found.items()}
    assert missing == {
        **{f"orders-{n}": False if led[n] else None for n in range(4)},
        "orders-9": True,
        "secret-0": None,
        "gone-0": True,
        "-0": True,
        "no\0-0": True,
    }
    assert {group for group, row in found.items() if row["lag_records"] is not None} == {
        f"orders-{n}" for n in range(4) if led[n]
    }


def test_what_cannot_be_probed_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A topic that may be described and not read; the end of a partition: neither is waited for, once per group."""
    from confluent_kafka import Producer

    from kafkastub_pipeline import cluster
    from tests.pipeline.acls import WITHOUT_ENTRY_OPEN, allow
    from tests.pipeline.acls import topic as named

    patience = 600.0
    monkeypatch.setattr(cluster, "TIMEOUT", patience)
    with KafkaStub(topics={"orders": 1, "secret": 2}, config=WITHOUT_ENTRY_OPEN) as stub:
        servers = stub.bootstrap_servers
        producer = Producer({"bootstrap.servers": servers})
        for topic in ("orders", "secret"):
            producer.produce(topic, b"", partition=0, timestamp=NOW_MS)
        assert producer.flush(60) == 0
        allow(servers, "ANONYMOUS", named("secret"))
        begun = time.monotonic()
        wanted = [("secret", 0, 0), ("secret", 0, 1), ("secret", 1, 0), ("orders", 0, 1), ("orders", 0, 0)]
        assert cluster.next_record_times(servers, wanted) == {("orders", 0, 0): NOW_MS, ("orders", 0, 1): None}
        assert time.monotonic() - begun < patience / 2

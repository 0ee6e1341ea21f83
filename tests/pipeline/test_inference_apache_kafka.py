"""What the log of the real Apache Kafka tells of deletions and of an upgrade to KIP-848, without any journal."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from kafkawire.api import ApiKey
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from tests.clients.client import until
from tests.expiry.wire import Wire
from tests.offsets_topic.history import subscription
from tests.oracle.apache_kafka import ApacheKafka

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.oracle
DEADLINE: Final = 120
"""Seconds."""
RETENTION: Final = 777


def _history(servers: str, wire: Wire) -> Any:
    """The consumer of the group that goes on as a KIP-848 group, still in it."""
    from confluent_kafka import Consumer

    wire.create_topics("orders", "audit", "lost")
    wire.commit("whole", {("orders", 0): 0, ("audit", 0): 0})
    wire.commit("part", {("orders", 0): 0, ("audit", 0): 0})
    wire.commit("alone", {("lost", 0): 0})
    worker = wire.member("live", subscription("lost"))
    wire.commit("live", {("lost", 1): 0, ("audit", 0): 0}, member=worker)
    pioneer = wire.member("upgraded", subscription("orders"))
    wire.commit("upgraded", {("orders", 0): 0, ("audit", 0): 0}, member=pioneer)
    wire.leave(pioneer)
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "upgraded", "group.protocol": "consumer"})
    consumer.subscribe(["orders"])

    def assigned() -> bool:
        consumer.poll(0.2)
        return bool(consumer.assignment())

    until(assigned, "an assignment", DEADLINE)
    assert wire.ask(ApiKey.DELETE_GROUPS, 2, DeleteGroupsRequest(["whole"])).results[0].error_code == 0
    places = [OffsetDeleteRequestTopic("audit", [OffsetDeleteRequestPartition(0)])]
    assert wire.ask(ApiKey.OFFSET_DELETE, 0, OffsetDeleteRequest("part", places)).error_code == 0
    deleted = wire.ask(ApiKey.DELETE_TOPICS, 5, DeleteTopicsRequest(topic_names=["lost"], timeout_ms=30_000))
    assert deleted.responses[0].error_code == 0
    until(lambda: not wire.committed("alone") and len(wire.committed("live")) == 1, "the topic's tombstones", DEADLINE)
    return consumer


def test_the_log_of_apache_kafka(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.cluster import gone_topics, snapshot
    from kafkastub_pipeline.decode import decoded
    from kafkastub_pipeline.sources import read_kafka
    from kafkastub_pipeline.tables.audit import deletion_audit, suspects
    from kafkastub_pipeline.tables.history import findings
    from kafkastub_pipeline.tables.timeline import group_timeline

    config: dict[str, object] = {"offsets.topic.num.partitions": 2, "offsets.retention.minutes": RETENTION}
    with ApacheKafka(config=config) as broker, Wire(broker.bootstrap_servers) as wire:
        servers = broker.bootstrap_servers
        with closing(_history(servers, wire)):
            cluster = snapshot(servers)
            decoded(read_kafka(spark, servers, 2)).write.parquet(str(tmp_path / "records"))
            records = spark.read.parquet(str(tmp_path / "records"))
            found = findings(records, None, (10080,), "kafka", cluster.retention_minutes).cache()
            gone = gone_topics(servers, suspects(found) - cluster.topics)
    assert (cluster.retention_minutes, gone) == (RETENTION, {"lost"})
    audit = deletion_audit(found, cluster, gone).collect()
    assert {(r.group_id, r.what, r.topic): (r.reason, r.evidence) for r in audit} == {
        ("whole", "offset", "orders"): ("DeleteGroups", "log"),
        ("whole", "offset", "audit"): ("DeleteGroups", "log"),
        ("whole", "group", None): ("DeleteGroups", "log"),
        ("part", "offset", "audit"): ("OffsetDelete", "log"),
        ("alone", "offset", "lost"): ("topic deletion", "log"),
        ("live", "offset", "lost"): ("topic deletion", "log"),
        ("upgraded", "group", None): ("converted", "log"),
    }
    rules = {(r.group_id, r.topic): r.rule for r in found.where("finding = 'deletion'").collect()}
    assert rules == {
        ("part", "orders"): "simple",
        ("live", "audit"): "unsubscribed",
        ("upgraded", "audit"): "unsubscribed",
    }
    lived = sorted(
        (r for r in group_timeline(records).collect() if r.group_id == "upgraded"), key=lambda r: r.log_offset
    )
    causes = [r.cause for r in lived]
    assert causes[: causes.index("converted")] == ["created", "members joined", "emptied"]
    assert (lived[-1].state, lived[-1].members) == ("Stable", 1)

"""Lag where the topic is not the one that the group committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkastub import KafkaStub
from kafkawire.api import ApiKey
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from tests.expiry.wire import Wire

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed: make test-pipeline installs it")
THEN, NOW = "6f1f9c1e-0000-4000-8000-000000000001", "6f1f9c1e-0000-4000-8000-000000000002"


def test_the_snapshot_has_the_topics_ids() -> None:
    import uuid

    from kafkastub_pipeline.cluster import snapshot

    with KafkaStub(topics={"orders": 1, "audit": 2}) as stub, Wire(stub.bootstrap_servers) as wire:
        wire.commit("group", {("orders", 0): 0})
        wanted = MetadataRequest([MetadataRequestTopic(name=name) for name in ("orders", "audit")])
        told = wire.ask(ApiKey.METADATA, 12, wanted).topics
        found = snapshot(stub.bootstrap_servers)
    assert found.unstable() == []
    assert {t.name: str(uuid.UUID(bytes=bytes(t.topic_id))) for t in told}.items() <= found.topic_ids.items()


@pytest.mark.parametrize(
    ("committed", "topic_id", "now", "recreated"),
    [
        (5, THEN, NOW, True),
        (5, NOW, NOW, False),
        (5, None, NOW, False),
        (5, THEN, None, False),
        (11, None, NOW, True),
        (11, NOW, NOW, True),
    ],
)
def test_a_topic_of_another_id_is_another_topic(
    spark: SparkSession, committed: int, topic_id: str | None, now: str | None, recreated: bool
) -> None:
    from kafkastub_pipeline.cluster import Snapshot, Watermarks
    from kafkastub_pipeline.session import local_table
    from kafkastub_pipeline.tables.lag import lag, next_records, watermarks

    ddl = "group_id string, topic string, `partition` int, committed_offset bigint, commit_ms bigint, topic_id string"
    current = local_table(spark, [("group", "orders", 0, committed, 1000, topic_id)], ddl)
    cluster = Snapshot(2000, {("orders", 0): Watermarks(0, 10, 10)}, {"orders"}, {} if now is None else {"orders": now})
    marks = watermarks(spark, cluster)
    (row,) = lag(current, marks, next_records(spark, current, marks, None, 0), cluster, 2000).collect()
    assert row.topic_recreated is recreated
    assert row.lag_records == 10 - committed
    assert not row.topic_missing

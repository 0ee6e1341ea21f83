"""What a journal says of deletions: requests that delete nothing are not blamed, and nobody is where nobody asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kafkastub import KafkaStub
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from tests.expiry.wire import Wire
from tests.offsets_topic.history import subscription

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-pipeline installs it")
SOON_MS = 500
MINUTE = 60_000


def delete_offset(wire: Wire, group: str, partition: int) -> int:
    topics = [OffsetDeleteRequestTopic("orders", [OffsetDeleteRequestPartition(partition)])]
    answer = wire.ask(ApiKey.OFFSET_DELETE, 0, OffsetDeleteRequest(group, topics))
    assert answer.error_code == 0
    return int(answer.topics[0].partitions[0].error_code)


def test_what_expires_after_a_request_without_effect_has_expired(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.decode import decoded
    from kafkastub_pipeline.sources import read_journal, read_kafka
    from kafkastub_pipeline.tables.audit import deletion_audit
    from kafkastub_pipeline.tables.history import findings

    config: dict[str, object] = {"offsets.topic.num.partitions": 1, "group.initial.rebalance.delay.ms": 0}
    with KafkaStub(topics={"orders": 3}, config=config) as stub, Wire(stub.bootstrap_servers) as wire:
        stub.clock.freeze()
        wire.commit("simple", {("orders", 1): 1, ("orders", 2): 1})
        assert delete_offset(wire, "simple", 0) == 0  # there is none
        stub.clock.advance(milliseconds=1)
        wire.commit("simple", {("orders", 0): 1}, own=SOON_MS, version=4)
        assert delete_offset(wire, "simple", 2) == 0
        member = wire.member("workers", subscription("orders"))
        wire.commit("workers", {("orders", 0): 1, ("orders", 1): 1}, member=member, own=SOON_MS, version=4)
        assert delete_offset(wire, "workers", 1) == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        refused = wire.ask(ApiKey.DELETE_GROUPS, 2, DeleteGroupsRequest(["workers"]))
        assert refused.results[0].error_code == ErrorCode.NON_EMPTY_GROUP
        stub.clock.advance(milliseconds=SOON_MS)
        stub.journal.to_parquet(tmp_path / "journal.parquet")
        decoded(read_kafka(spark, stub.bootstrap_servers, 1)).write.parquet(str(tmp_path / "records"))
    records = spark.read.parquet(str(tmp_path / "records"))
    journal = read_journal(spark, str(tmp_path / "journal.parquet"))
    audit = deletion_audit(findings(records, journal, (600,), "kips"), None).collect()
    assert {(r.group_id, r.partition): (r.reason, r.evidence, r.predicted) for r in audit} == {
        ("simple", 0): ("expiry", "log", True),
        ("simple", 2): ("OffsetDelete", "journal", False),
        ("workers", 0): ("expiry", "log", True),
        ("workers", 1): ("expiry", "log", True),
    }
    assert [r.late_ms for r in audit if r.reason == "expiry"] == [0, 0, 0]


def test_what_nobody_asked_for_and_no_rule_explains_is_told_so(spark: SparkSession, tmp_path: Path) -> None:
    """The broker's retention is shorter than the one that is taken for it: its expiries are not DeleteGroups."""
    from kafkastub_pipeline.decode import decoded
    from kafkastub_pipeline.sources import read_journal, read_kafka
    from kafkastub_pipeline.tables.audit import deletion_audit
    from kafkastub_pipeline.tables.history import findings

    config: dict[str, object] = {"offsets.topic.num.partitions": 1, "offsets.retention.minutes": 60}
    with KafkaStub(topics={"orders": 3}, config=config) as stub, Wire(stub.bootstrap_servers) as wire:
        stub.clock.freeze()
        wire.commit("simple", {("orders", 1): 1})
        wire.commit("deleted", {("orders", 2): 1})
        stub.clock.advance(minutes=1)
        assert wire.ask(ApiKey.DELETE_GROUPS, 2, DeleteGroupsRequest(["deleted"])).results[0].error_code == 0
        stub.clock.advance(hours=3)
        stub.journal.to_parquet(tmp_path / "journal.parquet")
        stub.journal.to_parquet(tmp_path / "filtered.parquet", api="OffsetCommit")
        decoded(read_kafka(spark, stub.bootstrap_servers, 1)).write.parquet(str(tmp_path / "records"))
    records = spark.read.parquet(str(tmp_path / "records"))

    def found(journal: str) -> DataFrame:
        return findings(records, read_journal(spark, str(tmp_path / journal)), (10080, 1440), "kips").cache()

    whole = found("journal.parquet")
    audit = deletion_audit(whole, None).collect()
    assert {(r.group_id, r.what): (r.reason, r.evidence, r.late_ms) for r in audit} == {
        ("simple", "offset"): ("unexplained", "journal", (60 - 10080) * MINUTE),
        ("simple", "group"): ("unexplained", "journal", None),
        ("deleted", "offset"): ("DeleteGroups", "journal", (1 - 10080) * MINUTE),
        ("deleted", "group"): ("DeleteGroups", "journal", None),
    }
    assert not [r for r in audit if r.predicted]
    deletions = whole.where("finding = 'deletion'").collect()
    assert {(r.retention_minutes, r.group_id) for r in deletions} == {(10080, "simple"), (1440, "simple")}
    # a journal with gaps says nothing of who did not ask
    assert {r.reason for r in found("filtered.parquet").where("finding = 'tombstone'").collect()} == {"deletion"}

"""What Apache Kafka wrote of consumer groups (KIP-848), in the tables: the recorded log of `tests.offsets_topic`."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from tests.offsets_topic.test_consumer_groups import KAFKAS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-pipeline installs it")
NAMES = {str(uuid.UUID(topic_id)): name for topic_id, name in KAFKAS["topic_ids"].items()}


@pytest.fixture(scope="module")
def records(spark: SparkSession) -> DataFrame:
    import pyarrow as pa

    from kafkastub_pipeline.decode import decode_batches
    from kafkastub_pipeline.decode.columns import RECORD

    rows: list[dict[str, Any]] = []
    for partition, batches in enumerate(KAFKAS["partitions"]):
        for log_offset, (key, value, at) in enumerate(record for batch in batches for record in batch):
            place = {"log_partition": partition, "log_offset": log_offset, "log_ms": at}
            rows.append({"key": bytes.fromhex(key), "value": None if value is None else bytes.fromhex(value), **place})
    fields = [("key", pa.binary()), ("value", pa.binary())]
    fields += [("log_partition", pa.int32()), ("log_offset", pa.int64()), ("log_ms", pa.int64())]
    raw = pa.RecordBatch.from_pylist(rows, schema=pa.schema(fields))
    return spark.createDataFrame(pa.Table.from_batches(decode_batches([raw]), schema=RECORD))


def test_every_record_of_a_consumer_group_is_told(records: DataFrame) -> None:
    from kafkastub_pipeline.tables.events import decode_errors, group_events

    assert decode_errors(records).count() == 0
    told: dict[str, list[Any]] = {}
    for row in group_events(records).orderBy("log_offset").collect():
        if row.group_id == "cg" and not row.tombstone:
            told.setdefault(row.event.removeprefix("CONSUMER_GROUP_"), []).append(row)
    assert [row.epoch for row in told["METADATA"]] == [2, 3, 4, 5, 6]
    assert [row.epoch for row in told["TARGET_ASSIGNMENT_METADATA"]] == [2, 3, 4, 5, 6]
    two = next(row for row in told["MEMBER_METADATA"] if row.member_id == "two")
    assert two.subscribed_topics == ["orders"]
    assert two.client.asDict() == {
        "group_instance_id": None,
        "client_id": "two",
        "client_host": "/127.0.0.1",
        "rack_id": "r1",
        "rebalance_timeout_ms": 60_000,
        "session_timeout_ms": None,
        "assignor": "range",
        "regular_expression": None,
        "protocols": None,
        "process_id": None,
    }
    targets = [(row.member_id, named(row.assigned)) for row in told["TARGET_ASSIGNMENT_MEMBER"][:3]]
    assert targets == [
        ("one", {"orders": [0, 1, 2]}),
        ("one", {"orders": [0, 1]}),
        ("two", {"orders": [2]}),
    ]
    revoking = told["CURRENT_MEMBER_ASSIGNMENT"][2]
    assert (revoking.member_id, revoking.epoch, revoking.member_state) == ("one", 2, "UNREVOKED_PARTITIONS")
    assert (named(revoking.assigned), named(revoking.pending_revocation)) == ({"orders": [0, 1]}, {"orders": [2]})
    assert [one.epochs for one in revoking.assigned] == [[2, 2]]


def named(assigned: Any) -> dict[str, list[int]]:
    return {NAMES[one.topic_id]: one.partitions for one in assigned}


def test_the_groups_are_what_kafka_says_they_are(records: DataFrame) -> None:
    from kafkastub_pipeline.tables.current import live_groups

    found = live_groups(records).collect()
    assert {row.group_id: (row.group_type, row.group_state, sorted(row.subscribed)) for row in found} == {
        "cg": ("consumer", "Stable", ["audit", "orders"]),
        "static": ("consumer", "Stable", ["orders"]),
        "regex": ("consumer", "Stable", ["other"]),
        "empty": ("consumer", "Empty", []),
    }


def test_what_is_not_subscribed_to_expires(records: DataFrame) -> None:
    """OffsetMetadataManager.cleanupExpiredOffsets: in any state, but never of a topic that the group subscribes to."""
    from kafkastub_pipeline.rules import with_expiry
    from kafkastub_pipeline.tables.current import offset_current

    current = with_expiry(offset_current(records), 10080, "kafka").collect()
    assert {(row.group_id, row.topic): (row.rule, row.blocked_by) for row in current} == {
        ("cg", "orders"): ("none", "subscribed"),
        ("empty", "audit"): ("unsubscribed", None),
    }
    (empty,) = [row for row in current if row.group_id == "empty"]
    assert empty.expires_ms == empty.commit_ms + 10080 * 60_000


def test_the_timeline_is_the_history(records: DataFrame) -> None:
    from kafkastub_pipeline.tables.timeline import group_timeline

    told: dict[str, list[tuple[str, str, int]]] = {}
    for row in sorted(group_timeline(records).collect(), key=lambda row: (row.group_id, row.log_offset)):
        told.setdefault(row.group_id, []).append((row.state, row.cause, row.members))
    joined, changed = ("Stable", "members joined"), ("Stable", "subscription changed", 1)
    assert told == {
        "cg": [
            (*joined, 1),
            (*joined, 2),
            ("Stable", "subscription changed", 2),
            (*joined, 3),
            ("Stable", "members left", 2),
        ],
        "empty": [(*joined, 1), ("Empty", "emptied", 0)],
        "gone": [(*joined, 1), ("Empty", "emptied", 0), ("Dead", "removed", 0)],
        "regex": [(*joined, 1), changed, changed, changed],
        "static": [(*joined, 1), (*joined, 2), ("Stable", "members replaced", 2)],
    }


def test_a_deleted_group_is_not_taken_for_an_expired_one(records: DataFrame) -> None:
    from kafkastub_pipeline.tables.audit import deletion_audit
    from kafkastub_pipeline.tables.history import findings

    rows = deletion_audit(findings(records, None, (10080,), "kafka"), None).collect()
    assert sorted((row.group_id, row.what, row.reason) for row in rows) == [
        ("gone", "group", "DeleteGroups"),
        ("gone", "offset", "DeleteGroups"),
    ]

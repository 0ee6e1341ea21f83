"""The forecast's columns, one offset of each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-pipeline installs it")
MINUTE = 60_000
NOW = 1_800_000_000_000
CHECK = 600_000
DDL = (
    "group_id string, topic string, `partition` int, group_type string, group_state string, protocol_type string,"
    " state_ms bigint, subscribed array<string>, commit_ms bigint, expire_ms bigint"
)
OLD, YOUNG = NOW - 90 * MINUTE, NOW - 10 * MINUTE
SIMPLE = ("simple", None, None, None, None)
LIVE = ("classic", "Stable", "consumer", OLD, ["orders"])
MODERN = ("consumer", "Stable", "consumer", None, ["orders"])
OFFSETS = [
    ("simple", "orders", 0, *SIMPLE, YOUNG, -1),
    ("overdue", "orders", 0, *SIMPLE, OLD, -1),
    ("own time", "orders", 0, *SIMPLE, YOUNG, NOW + 1),
    ("empty", "orders", 0, "classic", "Empty", "consumer", YOUNG, [], OLD, -1),
    ("live", "orders", 0, *LIVE, OLD, -1),
    ("live", "audit", 0, *LIVE, YOUNG, -1),
    ("unclear", "audit", 0, "classic", "Stable", "consumer", OLD, None, OLD, -1),
    ("connect", "audit", 0, "classic", "Stable", "connect", OLD, None, OLD, -1),
    ("kip-848", "orders", 0, *MODERN, OLD, -1),
    ("kip-848", "audit", 0, *MODERN, YOUNG, -1),
    ("kip-848 empty", "audit", 0, "consumer", "Empty", "consumer", None, [], YOUNG, -1),
    ("share", "audit", 0, "share", "Stable", "share", None, [], OLD, -1),
    ("waits", "orders", 0, *SIMPLE, YOUNG, -1),
]


def told(spark: SparkSession, retention_minutes: int) -> dict[tuple[str, str], Any]:
    from kafkastub_pipeline.session import local_table
    from kafkastub_pipeline.tables.columns import shaped
    from kafkastub_pipeline.tables.forecast import expiry_forecast

    current = local_table(spark, OFFSETS, DDL).selectExpr(
        "*", "0L committed_offset", "timestamp_millis(commit_ms) commit_timestamp"
    )
    unfinished = local_table(spark, [("waits", "orders", 0)], "group_id string, topic string, `partition` int")
    found = expiry_forecast(current, unfinished, retention_minutes, "kips", NOW, CHECK)
    found = shaped(found.selectExpr("*", "now() as_of", "now() complete_since"), "expiry_forecast")
    times = {name: f"unix_millis({name}) - {NOW}L as {name}" for name in ("base_timestamp", "expires_at", "sweep_by")}
    rows = found.selectExpr(*(times.get(name, name) for name in found.columns)).collect()
    return {(row.group_id, row.topic): row for row in rows}


def test_an_hour(spark: SparkSession) -> None:
    found = told(spark, 60)
    assert {place: (row.rule, row.base_timestamp, row.expires_at, row.blocked_by) for place, row in found.items()} == {
        ("simple", "orders"): ("simple", YOUNG - NOW, 50 * MINUTE, None),
        ("overdue", "orders"): ("simple", OLD - NOW, -30 * MINUTE, None),
        ("own time", "orders"): ("explicit", None, 1, None),
        ("empty", "orders"): ("empty", YOUNG - NOW, 50 * MINUTE, None),
        ("live", "orders"): ("none", None, None, "subscribed"),
        ("live", "audit"): ("unsubscribed", YOUNG - NOW, 50 * MINUTE, None),
        ("unclear", "audit"): ("none", None, None, "subscription unknown"),
        ("connect", "audit"): ("none", None, None, "members of another protocol type"),
        ("kip-848", "orders"): ("none", None, None, "subscribed"),
        ("kip-848", "audit"): ("unsubscribed", YOUNG - NOW, 50 * MINUTE, None),
        ("kip-848 empty", "audit"): ("unsubscribed", YOUNG - NOW, 50 * MINUTE, None),
        ("share", "audit"): ("none", None, None, "group type"),
        ("waits", "orders"): ("simple", YOUNG - NOW, 50 * MINUTE, "pending transaction"),
    }


def test_how_long_is_left_and_when_it_is_swept(spark: SparkSession) -> None:
    found = told(spark, 60)
    assert {row.retention_minutes for row in found.values()} == {60}
    left = {place[0]: (row.seconds_left, row.sweep_by) for place, row in found.items() if place[1] == "orders"}
    assert left["simple"] == (3000.0, 50 * MINUTE + CHECK)
    assert left["overdue"] == (-1800.0, CHECK)  # the next sweep takes it, whenever it was due
    assert left["own time"] == (0.001, 1 + CHECK)
    assert left["live"] == left["kip-848"] == (None, None)


def test_for_ever(spark: SparkSession) -> None:
    """With offsets.retention.minutes=-1 nothing expires, not even at a time of its own (KAFKA-20461)."""
    found = told(spark, -1)
    assert len(found) == len(OFFSETS)
    assert {(row.rule, row.blocked_by, row.expires_at, row.sweep_by, row.seconds_left) for row in found.values()} == {
        ("none", "infinite retention", None, None, None)
    }
    assert {row.retention_minutes for row in found.values()} == {-1}

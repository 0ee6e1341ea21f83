"""KIP-848 groups in the tables that look back: what their members subscribe to is kept, and an upgrade ends nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.pipeline.log import HOUR, MINUTE, START, Log, after_start

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-pipeline installs it")
RETENTION = 60


def history() -> Log:
    log = Log()
    log.member("modern", "m", 0, "orders")
    log.epoch("modern", 0)
    log.pattern("modern", "pay.*", 0, "payments")
    for topic in ("orders", "payments", "left"):
        log.commit("modern", topic, MINUTE)

    log.member("leaves", "m", 0, "orders")
    log.epoch("leaves", 0)
    log.commit("leaves", "orders", MINUTE)
    log.member("leaves", "n", 10 * MINUTE, "audit")
    log.epoch("leaves", 10 * MINUTE)
    log.member("leaves", "m", 30 * MINUTE, tombstone=True)
    log.epoch("leaves", 30 * MINUTE)
    log.epoch("leaves", 40 * MINUTE)
    log.member("leaves", "n", 50 * MINUTE, "orders")
    log.epoch("leaves", 50 * MINUTE)
    log.member("leaves", "n", 70 * MINUTE, tombstone=True)
    log.epoch("leaves", 70 * MINUTE)  # overdue from here on

    log.generation("upgraded", 0, "orders")
    log.commit("upgraded", "orders", 0)
    log.group_gone("upgraded", 30 * MINUTE)
    log.member("upgraded", "m", 30 * MINUTE, "orders")
    log.epoch("upgraded", 30 * MINUTE)
    log.member("upgraded", "m", 3 * HOUR, tombstone=True)
    log.epoch("upgraded", 3 * HOUR)
    log.gone("upgraded", "orders", 3 * HOUR + MINUTE)
    log.epoch("upgraded", 3 * HOUR + MINUTE, tombstone=True)

    log.member("downgraded", "m", 0, "orders")
    log.epoch("downgraded", 0)
    log.commit("downgraded", "orders", 0)
    log.member("downgraded", "m", HOUR, tombstone=True)
    log.epoch("downgraded", HOUR, tombstone=True)
    log.generation("downgraded", HOUR, "orders")

    log.member("compacted", "m", 0, "orders")  # the group's own record is written anew with each epoch
    log.commit("compacted", "orders", MINUTE)
    log.epoch("compacted", 5 * HOUR)

    log.member("shared", "m", 0, "orders", kind="SHARE")
    log.epoch("shared", 0, kind="SHARE")
    log.member("shared", "m", HOUR, kind="SHARE", tombstone=True)
    log.epoch("shared", HOUR, kind="SHARE")
    log.commit("shared", "orders", 0)
    return log


@pytest.fixture(scope="module")
def records(spark: SparkSession) -> DataFrame:
    return history().records(spark)


@pytest.fixture(scope="module")
def found(records: DataFrame) -> DataFrame:
    from kafkastub_pipeline.tables.history import findings

    return findings(records, None, (RETENTION, 10080), "kips").persist()


def deletions(found: DataFrame, retention: int) -> dict[tuple[str, str], Any]:
    rows = found.where(f"finding = 'deletion' and retention_minutes = {retention}").collect()
    assert len({(row.group_id, row.topic) for row in rows}) == len(rows)
    return {(row.group_id, row.topic): (row.rule, after_start(row.deleted_ms)) for row in rows}


def test_what_members_subscribe_to_is_kept(found: DataFrame) -> None:
    assert deletions(found, RETENTION) == {
        ("modern", "left"): ("unsubscribed", 61 * MINUTE),
        ("leaves", "orders"): ("unsubscribed", 70 * MINUTE),
        ("upgraded", "orders"): ("unsubscribed", 3 * HOUR),
    }


def test_another_retention_keeps_what_the_upgraded_group_has(found: DataFrame) -> None:
    assert set(deletions(found, 10080)) == {("modern", "left"), ("leaves", "orders"), ("upgraded", "orders")}


def test_what_is_to_come_is_what_the_forecast_says(spark: SparkSession, records: DataFrame, found: DataFrame) -> None:
    """The rules are written twice, as expressions for the present and as Python for the past."""
    from kafkastub_pipeline.rules import with_expiry
    from kafkastub_pipeline.tables.current import offset_current

    current = with_expiry(offset_current(records), 10080, "kips").where("expires_ms is not null").collect()
    foreseen = {(row.group_id, row.topic): (row.rule, after_start(row.expires_ms)) for row in current}
    left = {place: told for place, told in deletions(found, 10080).items() if place != ("upgraded", "orders")}
    assert foreseen == left


def test_an_upgrade_is_no_removal(found: DataFrame) -> None:
    from kafkastub_pipeline.tables.audit import deletion_audit

    rows = deletion_audit(found, None).collect()
    assert {(row.group_id, row.what, after_start(row.deleted_ms)): (row.reason, row.predicted) for row in rows} == {
        ("upgraded", "group", 30 * MINUTE): ("converted", False),
        ("upgraded", "offset", 3 * HOUR + MINUTE): ("expiry", True),
        ("upgraded", "group", 3 * HOUR + MINUTE): ("expiry", True),
        ("downgraded", "group", HOUR): ("converted", False),
    }
    (expired,) = [row for row in rows if row.what == "offset"]
    assert (expired.committed_offset, expired.rule, expired.late_ms) == (5, "unsubscribed", 2 * HOUR + MINUTE)


def test_the_timeline_goes_on_across_an_upgrade(records: DataFrame) -> None:
    from kafkastub_pipeline.tables.timeline import group_timeline

    rows = sorted(group_timeline(records).collect(), key=lambda row: (row.group_id, row.log_offset))
    told: dict[str, list[tuple[Any, ...]]] = {}
    for row in rows:
        at = int(row.at.timestamp() * 1000) - START
        told.setdefault(row.group_id, []).append((at // MINUTE, row.state, row.cause, row.joined, row.left))
    assert told == {
        "modern": [(0, "Stable", "members joined", ["m"], [])],
        "compacted": [(0, "Stable", "members joined", ["m"], []), (300, "Stable", "new epoch", [], [])],
        "leaves": [
            (0, "Stable", "members joined", ["m"], []),
            (10, "Stable", "members joined", ["n"], []),
            (30, "Stable", "members left", [], ["m"]),
            (40, "Stable", "new epoch", [], []),
            (50, "Stable", "subscription changed", [], []),
            (70, "Empty", "emptied", [], ["n"]),
        ],
        "upgraded": [
            (0, "Stable", "members joined", ["m"], []),
            (30, "Stable", "converted", [], []),
            (180, "Empty", "emptied", [], ["m"]),
            (181, "Dead", "removed", [], []),
        ],
        "downgraded": [(0, "Stable", "members joined", ["m"], []), (60, "Stable", "converted", [], [])],
        "shared": [(0, "Stable", "members joined", ["m"], []), (60, "Empty", "emptied", [], ["m"])],
    }
    classic = [row.generation for row in rows if row.group_id == "upgraded"]
    assert classic == [1, None, None, None]
    types = {(row.group_id == "shared", row.protocol_type) for row in rows if row.state != "Dead"}
    assert types == {(False, "consumer"), (True, "share")}

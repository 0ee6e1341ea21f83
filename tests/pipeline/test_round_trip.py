"""What the tables say of a random history, and what the stub then does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.pipeline.script import RETENTION, Played, Tombstone, played, steps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SEED = 3
GROUPS = 240
LENGTH = 1800
OTHER_RETENTIONS = (45, 1500)
JOURNAL_KEEPS = 10_000
"""Entries, by default."""


def tables(
    spark: SparkSession,
    on: Played,
    out: Path,
    retentions: tuple[int, ...],
    profile: str = "kips",
    journal: bool = False,
) -> None:
    from kafkastub_pipeline.run import Settings, run

    saved = out / "journal.parquet"
    if journal:
        on.stub.journal.to_parquet(saved)
    run(
        spark,
        Settings(
            out=str(out),
            bootstrap_servers=on.stub.bootstrap_servers,
            retention_minutes=retentions,
            now=on.stub.clock.now(),
            profile=profile,
            journal=str(saved) if journal else None,
            probes=0,
        ),
    )


def rows(spark: SparkSession, out: Path, table: str) -> list[Any]:
    frame: DataFrame = spark.read.parquet(str(out / table))
    for name, kind in frame.dtypes:
        if kind == "timestamp":
            frame = frame.withColumn(name, _milliseconds(name))
    return frame.collect()


def _milliseconds(name: str) -> Any:
    from pyspark.sql import functions as f

    return f.expr(f"unix_millis({name})")


def offsets_only(found: list[Tombstone]) -> list[Tombstone]:
    return sorted((t for t in found if t[1] is not None), key=str)


@pytest.fixture(scope="module")
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Played, Path]]:
    """A stub behind a history, and the tables of it, with the journal. One test moves the stub's clock."""
    out = tmp_path_factory.mktemp("told")
    with played(steps(SEED, GROUPS, LENGTH)) as on:
        tables(spark, on, out, (RETENTION, *OTHER_RETENTIONS), journal=True)
        yield on, out


def test_the_forecast_is_what_the_stub_then_deletes(spark: SparkSession, told: tuple[Played, Path]) -> None:
    on, out = told
    now = on.stub.clock.now_ms()
    _then_deletes(spark, on, out, now)
    _audit_is_what_the_journal_says(spark, out, on, now)


def test_the_forecast_in_kafkas_profile(spark: SparkSession, tmp_path: Path) -> None:
    with played(steps(2, GROUPS, LENGTH), profile="kafka") as on:
        now = on.stub.clock.now_ms()
        tables(spark, on, tmp_path, (RETENTION,), "kafka")
        _then_deletes(spark, on, tmp_path, now)


def _then_deletes(spark: SparkSession, on: Played, out: Path, now: int) -> None:
    """Moves the clock on, to the end of everything that expires."""
    forecast = rows(spark, out, "expiry_forecast")
    on.stub.clock.advance(days=400)
    happened = offsets_only([t for t in on.tombstones(now) if (t[0], t[3]) not in on.administered])
    after = [t for t in happened if t[3] > now]
    due = [t for t in happened if t[3] == now]

    foreseen = [r for r in forecast if r.expires_at is not None]
    said = sorted(((r.group_id, r.topic, r.partition, r.expires_at) for r in foreseen if r.expires_at > now), key=str)
    assert after == said
    assert len(after) > 60
    overdue = {(r.group_id, r.topic, r.partition) for r in foreseen if r.expires_at <= now}
    assert overdue <= {t[:3] for t in due}
    kept = {(r.group_id, r.topic, r.partition) for r in forecast if r.expires_at is None}
    left = {(group, *place) for group in {k[0] for k in kept} for place in on.wire.committed(group)}
    assert left == kept
    assert all(r.blocked_by for r in forecast if r.expires_at is None)
    assert {r.rule for r in forecast} == {"explicit", "simple", "empty", "unsubscribed", "none"}
    _audit_explains(spark, out, on, now)


def _audit_explains(spark: SparkSession, out: Path, on: Played, now: int) -> None:
    audit = rows(spark, out, "deletion_audit")
    stones = [t for t in on.tombstones() if t[3] <= now]
    seen = sorted(((r.group_id, r.topic, r.partition, r.deleted_at) for r in audit), key=str)
    assert len(seen) > 100
    overdue = Counter(seen)  # what the clock's first move swept is not in the table yet
    assert overdue <= Counter(stones)
    assert all(t[3] == now for t in (Counter(stones) - overdue))
    for row in audit:
        on_purpose = (row.group_id, row.deleted_at) in on.administered
        if row.what == "offset":
            assert (row.reason == "expiry") is not on_purpose, row
            assert row.predicted is not on_purpose
            assert on_purpose or row.late_ms >= 0
    assert {"expiry", "OffsetDelete", "DeleteGroups"} <= {r.reason for r in audit}


def _audit_is_what_the_journal_says(spark: SparkSession, out: Path, on: Played, now: int) -> None:
    """Every tombstone is explained as the requests of the journal do, read without Spark."""
    import pyarrow.parquet as pq

    assert on.stub.journal.total < JOURNAL_KEEPS, "the journal has lost its first requests"
    asked: set[tuple[Any, ...]] = set()
    for entry in pq.read_table(out / "journal.parquet").to_pylist():
        at = int(entry["broker_time"].timestamp() * 1000 + 0.5)
        done = sum(error["count"] for error in entry["errors"] or () if error["code"] == 0)
        if entry["api"] == "DeleteGroups" and done:
            asked |= {("DeleteGroups", group, at) for group in entry["groups"]}
        if entry["api"] == "OffsetDelete" and done == 2:  # one for the whole, one for its only partition
            (group,), (place,) = entry["groups"], entry["partitions"]
            asked.add(("OffsetDelete", group, at, place["topic"], place["partition"]))
    audit = rows(spark, out, "deletion_audit")
    expired = {(r.group_id, r.deleted_at) for r in audit if r.what == "offset" and r.reason == "expiry"}
    events = sorted(rows(spark, out, "offset_events"), key=lambda r: r.log_offset)
    for r in audit:
        if ("DeleteGroups", r.group_id, r.deleted_at) in asked:
            wanted = "DeleteGroups", "journal"
        elif ("OffsetDelete", r.group_id, r.deleted_at, r.topic, r.partition) in asked:
            wanted = "OffsetDelete", "journal"
        elif r.what == "offset" or (r.group_id, r.deleted_at) in expired:
            wanted = "expiry", "log"
        else:
            wanted = "no offsets left", "log"
            before = {(e.topic, e.partition): e.event for e in events if _precedes(e, r)}
            assert set(before.values()) <= {"tombstone"}, r
        assert (r.reason, r.evidence) == wanted, r
        assert (r.what == "group") is (r.topic is None)
        assert r.predicted is (r.reason in ("expiry", "no offsets left"))
        if r.what == "offset":
            assert r.commit_timestamp is not None
            assert r.reason != "expiry" or r.late_ms >= 0
    assert {r.reason for r in audit} >= {"expiry", "OffsetDelete", "DeleteGroups"}


def _precedes(event: Any, stone: Any) -> bool:
    """Whether an offset's record is of the same group, and before a tombstone of the group's."""
    return bool(event.group_id == stone.group_id and event.log_offset < stone.log_offset)


@pytest.mark.parametrize("retention", OTHER_RETENTIONS)
def test_another_retention_does_what_the_table_says(
    spark: SparkSession, told: tuple[Played, Path], retention: int
) -> None:
    _, out = told
    whatif = [r for r in rows(spark, out, "retention_whatif") if r.retention_minutes == retention]
    with played(steps(SEED, GROUPS, LENGTH), retention) as fresh:
        past = offsets_only([t for t in fresh.tombstones() if (t[0], t[3]) not in fresh.administered])
        fresh.stub.clock.advance(days=400)
        every = offsets_only([t for t in fresh.tombstones() if (t[0], t[3]) not in fresh.administered])
    said = sorted(((r.group_id, r.topic, r.partition, r.deleted_at) for r in whatif), key=str)
    assert said == every
    assert len(past) > 10
    assert any(r.came_back for r in whatif)

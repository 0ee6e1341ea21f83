"""A moment before the end of the log: the tables are those that were made then."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.offsets_topic.history import subscription
from tests.pipeline.raw import commit, generation, saved, tombstone
from tests.pipeline.test_round_trip import rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-pipeline installs it")
HOUR = 3_600_000
THEN = 1_800_000_000_000
BEFORE = [
    commit("simple", "orders", 0, THEN - 30 * HOUR, offset=3),
    commit("deleted later", "orders", 0, THEN - HOUR, offset=5),
    commit("deleted before", "orders", 0, THEN - 9 * HOUR, offset=5),
    tombstone("deleted before", "orders", 0, THEN - 2 * HOUR),
    generation("workers", THEN - HOUR, [subscription("orders")]),
    commit("workers", "audit", 0, THEN, offset=1),
]
AFTER = [
    commit("simple", "orders", 0, THEN + 1, offset=9),
    tombstone("deleted later", "orders", 0, THEN + HOUR),
    generation("workers", THEN + 2 * HOUR, []),
    commit("new", "orders", 0, THEN + 3 * HOUR, offset=1),
    (b"\0\1 damaged", b"", THEN + 3 * HOUR),
]
TABLES = (
    *("offset_events", "group_events", "decode_errors", "offset_current", "expiry_forecast", "retention_whatif"),
    *("lag", "stale_offsets", "group_timeline", "deletion_audit"),
)


def made(spark: SparkSession, out: Path, raw: str, now: datetime | str) -> dict[str, list[Any]]:
    from kafkastub_pipeline.run import Settings, run

    run(spark, Settings(str(out), raw=raw, retention_minutes=(1440, 60), now=now))
    return {table: sorted(rows(spark, out, table), key=str) for table in TABLES}


def test_what_came_later_is_not_looked_at(spark: SparkSession, tmp_path: Path) -> None:
    then = made(spark, tmp_path / "then", saved(tmp_path / "raw then", BEFORE), "log")
    seen = made(
        spark, tmp_path / "now", saved(tmp_path / "raw", BEFORE + AFTER), datetime.fromtimestamp(THEN / 1000, UTC)
    )
    assert [row.group_id for row in seen["stale_offsets"]] == ["workers"]
    assert [(row.command, row.deletable) for row in seen["stale_offsets"]] == [(None, None)]
    for table in TABLES:
        if table != "stale_offsets":  # what can be deleted today nobody knows then
            assert seen[table] == then[table], table
    assert {row.group_id: row.committed_offset for row in seen["offset_current"]} == {
        "simple": 3,
        "deleted later": 5,
        "workers": 1,
    }


def test_the_cluster_of_today_tells_nothing_of_the_past(spark: SparkSession) -> None:
    from kafkastub_pipeline.cluster import Snapshot
    from kafkastub_pipeline.moment import SAME_MOMENT_MS, view
    from kafkastub_pipeline.session import local_table

    records = local_table(spark, [(THEN - 1,), (THEN,), (None,)], "log_ms bigint")
    journal = local_table(spark, [(THEN - 1,), (THEN,)], "ms bigint").selectExpr("timestamp_millis(ms) broker_time")
    cluster = Snapshot(THEN)

    def seen(now: int | None) -> tuple[int, int, int, bool, bool, bool]:
        moment = "log" if now is None else datetime.fromtimestamp(now / 1000, UTC)
        found = view(records, records, journal, cluster, moment)
        assert found.journal is not None
        counted = found.records.count(), found.journal.count()
        return found.now_ms, *counted, found.latest is not None, found.cluster is not None, found.past

    assert seen(None) == (THEN, 3, 2, True, True, False)
    assert seen(THEN + HOUR) == (THEN + HOUR, 3, 2, True, True, False)
    assert seen(THEN) == (THEN, 3, 2, True, True, False)
    # a run takes its time: groups commit while it starts
    assert seen(THEN - 1) == (THEN - 1, 2, 1, False, True, False)
    assert seen(THEN - SAME_MOMENT_MS - 1) == (THEN - SAME_MOMENT_MS - 1, 1, 0, False, False, True)


def test_no_moment_loses_its_last_millisecond() -> None:
    from kafkastub_pipeline.moment import milliseconds

    for moment in (1_093_364_380_541, 2_158_819_012_154, 2_166_681_056_095, *range(THEN, THEN + 1000)):
        assert milliseconds(datetime.fromtimestamp(moment / 1000, UTC)) == moment
    assert milliseconds(datetime(1969, 12, 31, tzinfo=UTC)) == -24 * HOUR
    assert milliseconds(datetime.max.replace(tzinfo=UTC)) == 253_402_300_799_999

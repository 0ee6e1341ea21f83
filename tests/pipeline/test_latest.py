"""Two ways to what is left of each offset: folded while records are decoded, and picked from decoded records."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kafkawire.messages.offset_commit_value import OffsetCommitValue
from kafkawire.offsets_topic import encode_value, group_key, offset_key

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-pipeline installs it")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG_PARTITIONS = 3
Raw = tuple[bytes | None, bytes | None, int, int]
"""Key, value, partition, offset."""


def raw_log(seed: int, length: int) -> list[Raw]:
    """Commits of every version and tombstones of few keys, records of groups and damage, in no order."""
    rnd = random.Random(seed)
    found: list[Raw] = []
    for offset in range(length):
        number = rnd.randrange(30)
        group, topic, partition = f"group {number}", rnd.choice(("a", "b")), rnd.randrange(4)
        key, kind = offset_key(group, topic, partition), rnd.random()
        version = rnd.randint(*OffsetCommitValue.VERSIONS)
        value: bytes | None = encode_value(OffsetCommitValue(offset, metadata="m" * rnd.choice((0, 127, 200))), version)
        if kind < 0.15:
            value = None
        elif kind < 0.2:
            value = b"\0"
        elif kind < 0.25:
            key, value = group_key(group), None
        elif kind < 0.28:
            key = key[:5]
        found.append((key, value, number % LOG_PARTITIONS, offset))
    rnd.shuffle(found)
    return found


def left(raw: list[Raw]) -> dict[tuple[str, str, int], tuple[int, int] | None]:
    """What a dictionary makes of it: the offset on the log and the committed one, None where a tombstone came last."""
    from kafkastub_pipeline.decode.rows import decoded_row

    found: dict[tuple[str, str, int], tuple[int, int] | None] = {}
    for key, value, _, offset in sorted(raw, key=lambda one: one[3]):
        row = decoded_row(key, value)
        if "error" not in row and row.get("topic") is not None:
            place = row["group_id"], row["topic"], row["partition"]
            found[place] = None if row["tombstone"] else (offset, row["committed_offset"])
    return found


@pytest.mark.parametrize("fold_at", [1, 100, 10**6])
@pytest.mark.parametrize("hand_on_at", [1, 50, 10**6])
def test_the_fold_keeps_each_keys_last_record(monkeypatch: pytest.MonkeyPatch, fold_at: int, hand_on_at: int) -> None:
    from kafkastub_pipeline.decode import latest

    monkeypatch.setattr(latest, "_FOLD_AT", fold_at)
    monkeypatch.setattr(latest, "_HAND_ON_AT", hand_on_at)
    raw = raw_log(fold_at + hand_on_at, 1500)
    batches = []
    for at in range(0, len(raw), 70):
        part = raw[at : at + 70]
        columns = {
            "key": pa.array([r[0] for r in part], pa.binary()),
            "value": pa.array([r[1] for r in part], pa.binary()),
            "log_partition": pa.array([r[2] for r in part], pa.int32()),
            "log_offset": pa.array([r[3] for r in part], pa.int64()),
            "log_ms": pa.array([r[3] for r in part], pa.int64()),
        }
        batches.append(pa.record_batch(columns))
    handed = [row for one in latest.fold_batches(batches) for row in one.to_pylist()]
    last: dict[Any, dict[str, Any]] = {}
    for row in sorted(handed, key=lambda r: r["log_offset"]):
        last[row["group_id"], row["topic"], row["partition"]] = row
    told = {k: None if r["tombstone"] else (r["log_offset"], r["committed_offset"]) for k, r in last.items()}
    assert told == left(raw)
    if min(fold_at, hand_on_at) > 1500:
        assert len(handed) == len(last)


def test_both_ways_agree(spark: SparkSession, tmp_path: Path) -> None:
    """`kafkastub-pipeline run` picks from decoded records; `current_of_raw` needs raw ones alone."""
    from kafkastub_pipeline.decode import decoded
    from kafkastub_pipeline.decode.latest import current_of_raw
    from kafkastub_pipeline.session import local_table
    from kafkastub_pipeline.tables.current import live_offsets

    raw = raw_log(7, 3000)
    ddl = "key binary, value binary, `partition` int, `offset` bigint, ms bigint"
    rows = [(*one, 1_800_000_000_000 + one[3]) for one in raw]
    frame = local_table(spark, rows, ddl).selectExpr("*", "timestamp_millis(ms) as timestamp").repartition(3)
    decoded(frame).write.parquet(str(tmp_path / "records"))
    picked = live_offsets(spark.read.parquet(str(tmp_path / "records"))).drop("group", "topics", "key", "value")
    folded = current_of_raw(frame).select(*picked.columns)
    told = {tuple(r): r for r in picked.collect()}
    assert told == {tuple(r): r for r in folded.collect()}
    expected = {place: at for place, at in left(raw).items() if at is not None}
    assert {(r.group_id, r.topic, r.partition): (r.log_offset, r.committed_offset) for r in told.values()} == expected
    assert len(expected) > 100

"""What is left of each offset: found while records are decoded, or picked from decoded records."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkawire.messages.offset_commit_value import OffsetCommitValue
from kafkawire.offsets_topic import encode_value, group_key, offset_key
from tests.pipeline.test_decode import damaged

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
        if rnd.random() < 0.05:  # the same offset by another key: before Kafka 0.9, or of the future
            key = rnd.choice((b"\0\0" + key[2:], key + b"more"))
        version = rnd.randint(*OffsetCommitValue.VERSIONS)
        version = 0 if key[1] == 0 else version
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
    from kafkastub_pipeline.decode import Looked, latest

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
    fold = latest.Fold()
    found = [*(one for batch in batches for one in fold.add(Looked(batch))), *fold.rest()]
    handed = [row for one in found for row in one.to_pylist()]
    ordered = sorted(handed, key=lambda row: (row["place"], row["log_offset"]))
    parts = [ordered[at : at + 40] for at in range(0, len(ordered), 40)]
    sorted_batches = [pa.RecordBatch.from_pylist(part, schema=latest.CANDIDATE) for part in parts]
    rows = [row for one in latest._decoded_last(sorted_batches) for row in one.to_pylist()]
    told = {(r["group_id"], r["topic"], r["partition"]): (r["log_offset"], r["committed_offset"]) for r in rows}
    assert len(told) == len(rows)
    assert told == {place: at for place, at in left(raw).items() if at is not None}
    if min(fold_at, hand_on_at) > 1500:
        assert len(handed) == len(left(raw))


@given(st.lists(damaged, min_size=1, max_size=20))
def test_what_is_kept_is_what_can_be_decoded(pairs: list[tuple[bytes | None, bytes | None]]) -> None:
    """Whatever the bytes: the quick look and the decoder agree, and so do places and decoded keys."""
    from kafkastub_pipeline.decode import Looked, latest
    from kafkastub_pipeline.decode.rows import decoded_row

    columns = [pa.array([0] * len(pairs), pa.int32()), *[pa.array(range(len(pairs)), pa.int64())] * 2]
    columns += [pa.array([pair[at] for pair in pairs], pa.binary()) for at in (0, 1)]
    names = ["log_partition", "log_offset", "log_ms", "key", "value"]
    looked, counts = latest.looked_through(Looked(pa.RecordBatch.from_arrays(columns, names)))
    wanted = {}
    for at, pair in enumerate(pairs):
        row = decoded_row(*pair)
        if "error" not in row and row.get("topic") is not None:
            wanted[at] = offset_key(row["group_id"], row["topic"], row["partition"])
    assert {at: row["place"] for at, row in enumerate(looked.to_pylist()) if counts[at]} == wanted
    for at, row in enumerate(looked.to_pylist()):
        assert not counts[at] or (row["key"] or row["place"], row["value"]) == pairs[at]


def test_both_ways_agree(spark: SparkSession, tmp_path: Path) -> None:
    """From candidates, as `run` finds them beside every decoded record, and from decoded records alone."""
    from kafkastub_pipeline.decode.apart import decoded_with_candidates
    from kafkastub_pipeline.decode.latest import parted
    from kafkastub_pipeline.session import local_table
    from kafkastub_pipeline.tables.current import live_offsets

    raw = raw_log(7, 3000)
    ddl = "key binary, value binary, `partition` int, `offset` bigint, ms bigint"
    rows = [(*one, 1_800_000_000_000 + one[3]) for one in raw]
    frame = local_table(spark, rows, ddl).selectExpr("*", "timestamp_millis(ms) as timestamp").repartition(3)
    decoded_with_candidates(frame).write.parquet(str(tmp_path / "records"))
    stored = spark.read.parquet(str(tmp_path / "records"))
    records, found = parted(stored)
    assert found is not None
    picked = live_offsets(records).select(*found.columns)
    told = {tuple(r): r for r in picked.collect()}
    assert told == {tuple(r): r for r in found.select(*picked.columns).collect()}
    expected = {place: at for place, at in left(raw).items() if at is not None}
    assert {(r.group_id, r.topic, r.partition): (r.log_offset, r.committed_offset) for r in told.values()} == expected
    assert len(expected) > 100


def test_what_is_decoded_by_itself_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tag of the future is in every record, once a newer broker writes it."""
    from kafkastub_pipeline import decode
    from kafkastub_pipeline.decode.apart import Kind, apart
    from kafkawire.offsets_topic import offset_key, offset_value

    rows: list[tuple[bytes | None, bytes | None]] = []
    one_by_one = decode.decoded_row
    monkeypatch.setattr(decode, "decoded_row", lambda *row: rows.append(row) or one_by_one(*row))  # type: ignore[func-returns-value]
    records = [
        (offset_key("g", "t", number), offset_value(4, number, 1, "", 1, -1, bytes(16))[:-1] + b"\x01\x05\x01a")
        for number in range(30)
    ]
    names = ["key", "value", "log_partition", "log_offset", "log_ms"]
    batches = []
    for first in range(0, 30, 7):
        some = records[first : first + 7]
        numbers = pa.array(range(first, first + len(some)), pa.int64())
        columns = [pa.array(column, pa.binary()) for column in zip(*some, strict=True)]
        columns += [pa.array([0] * len(some), pa.int32()), numbers, numbers]
        batches.append(pa.RecordBatch.from_arrays(columns, names))
    found = [row for kind, batch in apart(batches) if kind is Kind.OTHERS for row in batch.to_pylist()]
    assert [(row["partition"], row["committed_offset"]) for row in found] == [(number, number) for number in range(30)]
    assert sorted(rows) == sorted(records)

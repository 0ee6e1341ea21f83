"""Saved records that workers read for themselves: as Spark reads them, or left to it."""

from __future__ import annotations

import base64
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TIMES = (None, -62_135_596_800_000, -1500, -1, 0, 1, 1_800_000_000_123, 4_102_444_800_000)
"""Milliseconds, and one more tick of a finer unit where there is one."""


def _table(unit: str = "us", rows: int = len(TIMES), **types: pa.DataType) -> pa.Table:
    finer = {"ms": 1, "us": 1000}[unit]
    times = [TIMES[at % len(TIMES)] for at in range(rows)]
    ticks = [None if one is None else max(one, -(10**12)) * finer + (finer > 1) for one in times]
    columns = {
        "headers": pa.array(["x"] * rows),
        "timestamp": pa.array(ticks, types.get("timestamp", pa.timestamp(unit, "UTC"))),
        "offset": pa.array(range(rows), types.get("offset", pa.int64())),
        "partition": pa.array([at % 3 for at in range(rows)], types.get("partition", pa.int32())),
        "value": pa.array([None if at % 4 == 1 else "v" * at for at in range(rows)], types.get("value", pa.binary())),
        "key": pa.array([None if at % 5 == 2 else f"k{at}" for at in range(rows)], types.get("key", pa.binary())),
    }
    return pa.table(columns)


def _raw(spark: SparkSession, path: Path) -> DataFrame:
    from kafkastub_pipeline.sources import read_raw

    return read_raw(spark, str(path))


def _told(batches: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for batch in batches for row in batch.to_pylist()), key=repr)


def _same(spark: SparkSession, path: Path) -> int:
    """Both ways tell the same; how many rows."""
    from kafkastub_pipeline.decode import plain
    from kafkastub_pipeline.pieces import PLAIN, pieces_of, records_of

    raw = _raw(spark, path)
    shared = pieces_of(raw, 2)
    assert shared is not None
    batches = [batch for pieces in shared for batch in records_of(pieces)]
    assert all(batch.schema == PLAIN for batch in batches)
    told = _told(batches)
    assert told == _told(plain(raw).toArrow().to_batches())
    return len(told)


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_what_pyarrow_has_written(spark: SparkSession, tmp_path: Path, unit: str) -> None:
    pq.write_table(_table(unit), tmp_path / "a.parquet")
    assert _same(spark, tmp_path) == len(TIMES)


@pytest.mark.parametrize("kind", ["INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS"])
def test_what_spark_has_written(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    pq.write_table(_table(), tmp_path / "a.parquet")
    saved = spark.read.parquet(str(tmp_path / "a.parquet")).where("timestamp is null or timestamp > '1950-01-01'")
    setting = "spark.sql.parquet.outputTimestampType"
    before = spark.conf.get(setting)
    spark.conf.set(setting, kind)
    try:
        saved.repartition(3).write.parquet(str(tmp_path / "b"))
    finally:
        spark.conf.set(setting, str(before))
    assert _same(spark, tmp_path / "b") == len(TIMES) - 1


def test_names_that_an_address_writes_in_another_way(spark: SparkSession, tmp_path: Path) -> None:
    odd = tmp_path / "a b%20c é#?&"
    (odd / "of 2026").mkdir(parents=True)
    pq.write_table(_table(), odd / "of 2026" / "x y%.parquet")
    pq.write_table(_table(), odd / "of 2026" / "_not this one.parquet")
    assert _same(spark, odd / "of 2026") == len(TIMES)


def test_texts_and_large_records(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kafkastub_pipeline import pieces

    monkeypatch.setattr(pieces, "_BATCH_BYTES", 500)
    table = _table(rows=100, key=pa.string(), value=pa.string())
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=30, compression="zstd")
    assert _same(spark, tmp_path) == 100
    batches = list(pieces.records_of([pieces.Piece(str(tmp_path / "a.parquet"), 0, 4)]))
    assert max(batch.num_rows for batch in batches) < 20


def _with_values(values: pa.Array) -> pa.Table:
    table = _table(rows=len(values))
    return table.set_column(table.schema.get_field_index("value"), "value", values)


@pytest.mark.parametrize("apart", [True, False], ids=["by itself", "behind small ones"])
def test_a_large_value_that_repeats_does_not_make_a_large_batch(tmp_path: Path, apart: bool) -> None:
    """In the file it is once, in a dictionary: its row group looks small, and so are those before it."""
    from kafkastub_pipeline import pieces

    small = _with_values(pa.array([b"x"] * 5000))
    large = _with_values(pa.array([b"x" * 2**15]).take(pa.array([0] * 20_000)))
    path = tmp_path / "a.parquet"
    with pq.ParquetWriter(path, small.schema) as writer:
        for table in (small, large) if apart else (pa.concat_tables([small, large]),):
            writer.write_table(table, row_group_size=table.num_rows)
    assert path.stat().st_size < 400_000
    batches = [batch.nbytes for batch in pieces.records_of([pieces.Piece(str(path), 0, 2 if apart else 1)])]
    assert max(batches) < 9 * pieces._BATCH_BYTES


def test_a_large_record_does_not_make_small_batches_of_all_others(tmp_path: Path) -> None:
    from kafkastub_pipeline import pieces

    large, small = _with_values(pa.array([b"x" * 10_000_000])), _with_values(pa.array([b"x"] * 60_000))
    path = tmp_path / "a.parquet"
    with pq.ParquetWriter(path, small.schema) as writer:
        writer.write_table(large)
        writer.write_table(small)
    counts = [batch.num_rows for batch in pieces.records_of([pieces.Piece(str(path), 0, 2)])]
    assert counts == [1, 48_000, 12_000]


@pytest.mark.parametrize(
    "types",
    [
        {"partition": pa.int64()},
        {"offset": pa.int32()},
        {"timestamp": pa.timestamp("us")},
        {"timestamp": pa.int64()},
        {"key": pa.large_binary()},
    ],
    ids=str,
)
def test_other_types_are_left_to_spark(spark: SparkSession, tmp_path: Path, types: dict[str, pa.DataType]) -> None:
    from kafkastub_pipeline.pieces import pieces_of

    pq.write_table(_table(), tmp_path / "a.parquet")
    pq.write_table(_table(**types), tmp_path / "b.parquet")
    raw = spark.read.parquet(str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet"))
    assert pieces_of(raw, 2) is None


def test_columns_that_are_directories_are_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.pieces import pieces_of

    (tmp_path / "partition=3").mkdir()
    pq.write_table(_table().drop_columns(["partition"]), tmp_path / "partition=3" / "a.parquet")
    assert pieces_of(_raw(spark, tmp_path), 2) is None


def test_what_directories_say_of_columns_is_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    """Spark takes a directory's word for it, and not the file's."""
    from kafkastub_pipeline.pieces import pieces_of

    (tmp_path / "partition=7").mkdir()
    pq.write_table(_table(), tmp_path / "partition=7" / "a.parquet")
    assert pieces_of(_raw(spark, tmp_path), 2) is None


def test_nanoseconds_are_left_to_spark(tmp_path: Path) -> None:
    """Which refuses them, where a file with microseconds has told it the columns."""
    from kafkastub_pipeline.pieces import _row_groups

    table = _table()
    at = table.schema.get_field_index("timestamp")
    pq.write_table(
        table.set_column(at, "timestamp", pa.nulls(len(table), pa.timestamp("ns", "UTC"))), tmp_path / "a.parquet"
    )
    assert _row_groups(str(tmp_path / "a.parquet")) is None


@pytest.mark.parametrize("keys", [{"column_keys": {"of values": ["value"]}}, {"uniform_encryption": True}], ids=str)
def test_encrypted_columns_behind_a_plain_footer_are_left_to_spark(tmp_path: Path, keys: dict[str, Any]) -> None:
    """In a process of its own: asked for such a column, pyarrow may end it."""
    parquet = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(parquet.KmsClient):  # type: ignore[misc, name-defined]
        def wrap_key(self, key: bytes, name: str) -> bytes:
            return base64.b64encode(key)

    factory = parquet.CryptoFactory(lambda _: Keys())
    how = parquet.EncryptionConfiguration(footer_key="of all", plaintext_footer=True, **keys)
    properties = factory.file_encryption_properties(parquet.KmsConnectionConfig(), how)
    path = tmp_path / "a.parquet"
    with pq.ParquetWriter(path, _table().schema, encryption_properties=properties) as writer:
        writer.write_table(_table())
    asked = f"from kafkastub_pipeline.pieces import _row_groups; print(_row_groups({str(path)!r}))"
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, timeout=60)
    assert (told.stdout.strip(), told.returncode) == ("None", 0), told.stderr


@pytest.mark.parametrize("value", ["true", "True"])
@pytest.mark.parametrize("name", ["files.ignoreCorruptFiles", "parquet.int96TimestampConversion"])
def test_a_session_that_reads_files_in_its_own_way_reads_for_itself(
    spark: SparkSession, tmp_path: Path, name: str, value: str
) -> None:
    """It passes over some, or takes times that Impala has written for local ones."""
    from kafkastub_pipeline.pieces import pieces_of

    pq.write_table(_table(), tmp_path / "a.parquet")
    raw = _raw(spark, tmp_path)
    spark.conf.set(f"spark.sql.{name}", value)
    try:
        assert pieces_of(raw, 2) is None
    finally:
        spark.conf.unset(f"spark.sql.{name}")
    assert pieces_of(raw, 2) is not None


def test_a_codec_that_pyarrow_does_not_know_is_left_to_spark(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LZO, which pyarrow cannot write either: it has no name for it."""
    from kafkastub_pipeline import pieces

    pq.write_table(_table(), tmp_path / "a.parquet")
    raw = _raw(spark, tmp_path)
    assert pieces.pieces_of(raw, 2)
    monkeypatch.setattr(pieces, "_codec", lambda _: "lzo")
    assert pieces.pieces_of(raw, 2) is None


def test_what_is_no_parquet_is_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.pieces import pieces_of

    pq.write_table(_table(), tmp_path / "a.parquet")
    raw = _raw(spark, tmp_path)
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    assert pieces_of(raw, 2) is None


def test_row_groups_of_nearly_one_size_are_shared_evenly() -> None:
    """As a log that grows a little has them: the first half of the bytes ends within the eleventh of twenty."""
    from kafkastub_pipeline import pieces

    shared = pieces._shared([pieces._Group("/a", number, 10_000 + number) for number in range(20)], 2)
    assert shared == [[pieces.Piece("/a", 0, 10)], [pieces.Piece("/a", 10, 20)]]


@given(st.lists(st.lists(st.integers(1, 400), max_size=4), max_size=6), st.integers(1, 5), st.integers(1, 500))
def test_each_row_group_is_read_once_and_in_order(files: list[list[int]], tasks: int, at_once: int) -> None:
    from kafkastub_pipeline import pieces

    groups = [pieces._Group(f"/{f}", n, size) for f, sizes in enumerate(files) for n, size in enumerate(sizes)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "_TASK_BYTES", at_once)
        shared = pieces._shared(groups, tasks)
    read = [(one.path, number) for share in shared for one in share for number in range(one.first, one.end)]
    assert read == [(one.path, one.number) for one in groups]
    assert all(shared)
    sizes = {(one.path, one.number): one.size for one in groups}
    largest = max(
        (sum(sizes[one.path, n] for one in share for n in range(one.first, one.end)) for share in shared), default=0
    )
    assert largest <= at_once + max(sizes.values(), default=0), "a share is no larger than a task's, by a row group"

"""Decoded records that workers write down themselves: the same as Spark would, whatever is in the log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.pipeline.test_latest import raw_log

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOMENT_US = 1_800_000_000_000_000


def _saved(directory: Path, seed: int = 3, length: int = 3000, files: int = 3) -> Path:
    raw = raw_log(seed, length)
    directory.mkdir()
    for number in range(files):
        part = raw[number::files]
        columns = {
            "key": pa.array([one[0] for one in part], pa.binary()),
            "value": pa.array([one[1] for one in part], pa.binary()),
            "partition": pa.array([one[2] for one in part], pa.int32()),
            "offset": pa.array([one[3] for one in part], pa.int64()),
            "timestamp": pa.array([MOMENT_US + 1000 * one[3] for one in part], pa.timestamp("us", "UTC")),
        }
        pq.write_table(pa.table(columns), directory / f"{number}.parquet", row_group_size=400)
    return directory


def _rows(frame: DataFrame, columns: list[str]) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in frame.select(*columns).collect()), key=repr)


@pytest.mark.parametrize("by_spark", [False, True], ids=["by workers", "by Spark"])
def test_the_same_as_spark_writes(spark: SparkSession, tmp_path: Path, by_spark: bool) -> None:
    """Raw records as workers read them, and as Spark's reader gives them."""
    from kafkastub_pipeline.decode.apart import decoded_with_candidates
    from kafkastub_pipeline.decode.columns import OFFSET, RECORD
    from kafkastub_pipeline.decode.latest import parted
    from kafkastub_pipeline.sources import read_raw
    from kafkastub_pipeline.staging import staged

    raw = read_raw(spark, str(_saved(tmp_path / "raw")))
    decoded_with_candidates(raw).write.parquet(str(tmp_path / "records"))
    records, latest = parted(spark.read.parquet(str(tmp_path / "records")))
    assert latest is not None
    found, current = staged(raw, tmp_path / "staged", files=not by_spark)
    assert found.columns == RECORD.names
    assert current.columns == OFFSET.names
    assert _rows(found, RECORD.names) == _rows(records, RECORD.names)
    assert _rows(current, OFFSET.names) == _rows(latest, OFFSET.names)
    kinds = found.selectExpr("count_if(error is not null)", "count_if(record_type = 2)", "count(*)").collect()[0]
    assert kinds[0] > 100, "damaged ones"
    assert kinds[1] > 100, "those of groups"
    assert kinds[2] == 3000


def test_nothing_is_there(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.decode.columns import OFFSET, RECORD
    from kafkastub_pipeline.sources import read_raw
    from kafkastub_pipeline.staging import staged

    raw = read_raw(spark, str(_saved(tmp_path / "raw", length=0, files=1)))
    for files in (True, False):
        found, current = staged(raw, tmp_path / f"staged-{files}", files)
        assert (found.columns, current.columns) == (RECORD.names, OFFSET.names)
        assert (found.count(), current.count()) == (0, 0)


@pytest.mark.parametrize(("rows", "bucket_bytes", "buckets"), [(7, 2**27, 1), (100, 5000, 3), (10**6, 700, 2)])
def test_current_offsets_with_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, bucket_bytes: int, buckets: int
) -> None:
    """Many row groups, and buckets of which only a part can be held."""
    from kafkastub_pipeline import staging
    from kafkastub_pipeline.pieces import Piece
    from tests.pipeline.test_latest import left

    monkeypatch.setattr(staging, "_ROWS", rows)
    monkeypatch.setattr(staging, "_BUCKET_BYTES", bucket_bytes)
    raw = raw_log(11, 2000)
    files = sorted(_saved(tmp_path / "raw", 11, 2000).iterdir())
    tasks = [[Piece(str(path), 0, pq.read_metadata(path).num_row_groups)] for path in files]
    staged = tmp_path / "staged"
    staged.mkdir()
    written = list(staging._Records(str(staged), buckets).read(tasks))
    told = {}
    for task in staging._tasks(written):
        for name in staging._Current(str(staged)).write([task]):
            for row in pq.read_table(staged / name).to_pylist():
                place = row["group_id"], row["topic"], row["partition"]
                assert place not in told, "in one bucket"
                told[place] = row["log_offset"], row["committed_offset"]
    assert told == {place: at for place, at in left(raw).items() if at is not None}


@pytest.mark.parametrize(
    ("group", "topic", "partitions"),
    [
        ("group {:05}", "topic", 1),
        ("{:05}-consumer-group", "orders", 12),
        ("g", "topic-{:05}", 1),
        ("tenant-{:05}-orders-read-model-updater", "events", 1),
        ("acme.payments.tenant-{:05}.ledger", "events", 1),
        ("connect-warehouse-{:03}", "db.public.orders.changes", 50),
        ("", "{:03}", 40),
    ],
)
@pytest.mark.parametrize(("buckets", "parts"), [(16, 2), (64, 2), (64, 8), (12, 6), (5, 3)])
def test_buckets_and_their_parts_are_of_about_one_size(
    buckets: int, parts: int, group: str, topic: str, partitions: int
) -> None:
    """With names as people choose them, also where all places are of one length."""
    from kafkastub_pipeline import staging
    from kafkawire.offsets_topic import offset_key

    count = 200 * buckets * parts // partitions
    numbered = [(group.format(number), topic.format(number)) for number in range(count)]
    places = [bytes(offset_key(*names, partition)) for names in numbered for partition in range(partitions)]
    all_ = pa.record_batch({"place": pa.array(places, pa.binary())})
    numbers = staging._spread(all_, buckets)
    assert np.bincount(numbers.astype(int), minlength=buckets).max() < 1.5 * len(places) / buckets
    bucket = all_.filter(pa.array(numbers == 1))
    assert np.bincount(staging._parts(bucket, parts), minlength=parts).max() < 1.5 * bucket.num_rows / parts


def test_a_worker_that_fails_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kafkastub_pipeline import staging
    from kafkastub_pipeline.pieces import records_of

    (path,) = _saved(tmp_path / "raw", files=1).iterdir()
    batches = list(records_of([staging.Piece(str(path), 0, 1)]))

    def torn() -> Iterator[pa.RecordBatch]:
        yield from batches
        raise OSError("gone")

    staged = tmp_path / "staged"
    staged.mkdir()
    monkeypatch.setattr(staging, "_ROWS", 10)
    with pytest.raises(OSError, match="gone"):
        staging._Records(str(staged), 2)._written(torn())
    assert list(staged.iterdir()) == []


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    from kafkastub_pipeline import staging
    from kafkastub_pipeline.pieces import Piece, records_of

    (path,) = _saved(tmp_path / "raw", files=1).iterdir()
    gone = tmp_path / "gone"
    with pytest.raises(OSError, match=rf"^{gone} cannot be written: .*; make room, or name another --out$"):
        staging._Records(str(gone), 2)._written(records_of([Piece(str(path), 0, 1)]))


def test_names_that_an_address_writes_in_another_way(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.run import Settings, run

    raw, out = _saved(tmp_path / "raw", length=200), tmp_path / "of 2026, a%20b é#"
    run(spark, Settings(out=str(out), raw=str(raw), tables="offset_current"))
    assert spark.read.parquet(str(out / "offset_current")).count() > 0


def test_what_another_user_has_left_is_named(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession, tmp_path: Path
) -> None:
    """Hadoop does not say that it could not be removed."""
    from kafkastub_pipeline.errors import PipelineError
    from kafkastub_pipeline.files import Files
    from kafkastub_pipeline.run import Settings, run

    raw, left = _saved(tmp_path / "raw", length=200), tmp_path / "out" / "_decoded_records.incomplete"
    left.mkdir(parents=True)
    remove = Files.remove
    monkeypatch.setattr(Files, "remove", lambda files, path: None if path.endswith(left.name) else remove(files, path))
    with pytest.raises(PipelineError, match=rf"^{left}, left by another run, cannot be removed: remove it, or name"):
        run(spark, Settings(out=str(tmp_path / "out"), raw=str(raw), tables="offset_current"))


def test_a_run_needs_the_directory_for_a_while(spark: SparkSession, tmp_path: Path) -> None:
    """What a run has left that was killed goes with the next one; what the next one needs goes at its end."""
    from kafkastub_pipeline.run import Settings, run

    raw, out = _saved(tmp_path / "raw", length=200), tmp_path / "out"
    left = out / "_decoded_records.incomplete"
    left.mkdir(parents=True)
    (left / "offsets-of-before.parquet").write_bytes(b"torn")
    names = run(spark, Settings(out=str(out), raw=str(raw)))
    assert sorted(path.name for path in out.iterdir()) == sorted(names)

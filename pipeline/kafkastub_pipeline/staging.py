"""Decoded records while a run needs them: workers write them down themselves, in Parquet.

A record that goes back to Spark, to be written by it, costs more than its decoding. So a worker writes what it has
decoded into files of its own, one a kind (`decode.apart`), and tells Spark no more than their names. A file of a worker
that was killed, or of an attempt that Spark has given up, is named by nobody and goes with the directory.

Candidates for current offsets are written in buckets, each in row groups of its own. A bucket has all candidates of its
places: in a second round a worker reads one from the files of all, and decodes of each place the last.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from kafkastub_pipeline.decode import plain
from kafkastub_pipeline.decode.apart import Kind, apart
from kafkastub_pipeline.decode.buffers import Rows
from kafkastub_pipeline.decode.columns import OFFSET_DDL, RECORD_DDL
from kafkastub_pipeline.decode.latest import last_of
from kafkastub_pipeline.pieces import Piece, pieces_of, records_of
from kafkastub_pipeline.session import local_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ROWS: Final = 100_000
_BYTES: Final = 2**25
"""Of a row group, at most by one batch more."""
_TOLD: Final = {"record_type", "error"}
"""Columns of which a row group tells what it has: who asks for groups passes over offsets."""
_RISING: Final = {"log_partition", "log_offset", "log_ms", "partition", "committed_offset", "commit_ms"}
"""Columns in which a number is mostly near the one before: differences are half the work, and a tenth of the size."""
_AT_ONCE: Final = 2**15
"""Rows that a column's encoder is given; with Arrow's thousand the calls are a twentieth of the work."""
_BATCH: Final = 50_000
_SOME: Final = 16
_MOST: Final = 64
"""Buckets, where workers are fewer: each is a row group, or several, in the file of each task."""
_BUCKET_BYTES: Final = 2**27
"""Of a bucket at once, as they are in memory."""
_WORD: Final = 8
_HALF: Final = np.uint64(32)
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
"""2^64 by the golden ratio (Knuth): the upper half of a product hangs on all bits of the lower half, which it is then
mixed into."""


class Written(NamedTuple):
    """What a worker has written.

    Attributes:
        records: names of files with decoded records.
        candidates: one with candidates; None where there are none.
        buckets: of its row groups.
    """

    records: list[str]
    candidates: str | None
    buckets: list[int]


def staged(raw: DataFrame, directory: Path, files: bool) -> tuple[DataFrame, DataFrame]:
    """Raw records decoded, as `RECORD_DDL`, and the current offsets, as `OFFSET_DDL`.

    Args:
        directory: on disks that all workers see; it is made.
        files: whether `raw` is nothing but what files in Parquet have, as `sources.read_raw` gives it.
    """
    directory.mkdir(parents=True)
    spark = raw.sparkSession
    workers = spark.sparkContext.defaultParallelism
    pieces = pieces_of(raw, workers) if files else None
    records = _Records(str(directory), _buckets(workers, None if pieces is None else len(pieces)))
    if pieces is None:
        rows = plain(raw).mapInArrow(records.told, "records array<string>, candidates string, buckets array<int>")
        found = [Written(*row) for row in rows.collect()]
    else:
        found = _each(spark, pieces, records.read)
    current = _each(spark, _tasks(found), _Current(str(directory)).write)
    names = [name for one in found for name in one.records]
    return _read(spark, directory, names, RECORD_DDL), _read(spark, directory, current, OFFSET_DDL)


def _buckets(workers: int, tasks: int | None) -> int:
    """As many as there are workers, more where the log is long: what is too much for memory is read several times.

    Args:
        tasks: that read the log; None where Spark has not said.
    """
    return max(workers, min(_SOME if tasks is None else tasks, _MOST))


def _tasks(written: Iterable[Written]) -> list[list[tuple[str, list[int]]]]:
    """Of each bucket the files that have some of it, and their row groups."""
    buckets: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for one in written:
        for group, bucket in enumerate(one.buckets):
            buckets[bucket][one.candidates or ""].append(group)
    return [list(files.items()) for files in buckets.values()]


def _each(spark: SparkSession, tasks: Sequence[Any], function: Callable[[Iterable[Any]], Iterator[Any]]) -> list[Any]:
    return spark.sparkContext.parallelize(tasks, len(tasks)).mapPartitions(function).collect() if tasks else []


def _read(spark: SparkSession, directory: Path, names: Sequence[str], ddl: str) -> DataFrame:
    if not names:
        return local_table(spark, [], ddl)
    # not as an address: of one Spark takes `%20` for what it says
    return spark.read.schema(ddl).parquet(*[f"file://{directory / name}" for name in names])


class _Records:
    """The first round; runs in workers."""

    def __init__(self, directory: str, buckets: int) -> None:
        self._directory = Path(directory)
        self._buckets = buckets

    def read(self, tasks: Iterable[Sequence[Piece]]) -> Iterator[Written]:
        """What is saved."""
        for pieces in tasks:
            yield self._written(records_of(pieces))

    def told(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same for records that Spark has read."""
        yield pa.RecordBatch.from_pylist([self._written(batches)._asdict()], _WRITTEN)

    def _written(self, batches: Iterable[pa.RecordBatch]) -> Written:
        own = uuid.uuid4()
        offsets, others = (_File(self._directory / f"{kind}-{own}.parquet") for kind in ("offsets", "others"))
        candidates = _Buckets(self._directory / f"candidates-{own}.parquet", self._buckets)
        files = {Kind.OFFSETS: offsets, Kind.OTHERS: others, Kind.CANDIDATES: candidates}
        try:
            for kind, batch in apart(batches):
                files[kind].add(batch)
            names = [file.path.name for file in (offsets, others) if file.close()]
            return Written(names, candidates.path.name if candidates.close() else None, candidates.numbers)
        except BaseException:
            for file in files.values():
                file.abandon()
            raise


_WRITTEN: Final = pa.schema(
    [("records", pa.list_(pa.string())), ("candidates", pa.string()), ("buckets", pa.list_(pa.int32()))]
)


class _Current:
    """The second round; runs in workers."""

    def __init__(self, directory: str) -> None:
        self._directory = Path(directory)

    def write(self, tasks: Iterable[Sequence[tuple[str, list[int]]]]) -> Iterator[str]:
        """Of each task's candidates (files, and the row groups of one bucket in them) the last of each place.

        A bucket that is too much for memory is read several times, a part of its places each time.
        """
        for bucket in tasks:
            file = _File(self._directory / f"current-{uuid.uuid4()}.parquet")
            try:
                times = max(1, -(-self._size(bucket) // _BUCKET_BYTES))
                for part in range(times):
                    for batch in last_of(self._candidates(bucket, part, times)):
                        file.add(batch)
                written = file.close()
            except BaseException:
                file.abandon()
                raise
            if written:
                yield file.path.name

    def _size(self, bucket: Sequence[tuple[str, list[int]]]) -> int:
        sizes = 0
        for name, groups in bucket:
            metadata = pq.read_metadata(self._directory / name)
            sizes += sum(metadata.row_group(group).total_byte_size for group in groups)
        return sizes

    def _candidates(self, bucket: Sequence[tuple[str, list[int]]], part: int, times: int) -> Iterator[pa.RecordBatch]:
        for name, groups in bucket:
            with pq.ParquetFile(self._directory / name) as file:
                for batch in file.iter_batches(_BATCH, groups, use_threads=False):
                    if times > 1:
                        batch = batch.filter(pa.array(_parts(batch, times) == part))
                    yield batch


def _parts(candidates: pa.RecordBatch, count: int) -> np.ndarray:
    """A number below `count` for each, the same wherever its place is seen, whatever bucket that is in."""
    places = candidates.column("place").to_pylist()
    return np.fromiter((crc32(place) % count for place in places), np.int64, len(places))


def _spread(candidates: pa.RecordBatch, count: int) -> npt.NDArray[np.uint64]:
    """A bucket for each, the same wherever its place is seen.

    It hangs on five words of eight bytes from the group's name (of up to 32 letters these are all), on one from where
    the topic begins, and on one from its end with the partition: a quarter of the work of a checksum of all bytes.
    Should too many places be alike in these, they are in one bucket. One task reads that, as often as it is larger than
    memory may be; `_parts` divides it by a checksum.
    """
    places = candidates.column("place")
    rows = Rows(places)
    last = rows.end - rows.begin - _WORD
    rows.at = rows.begin + 2
    group = rows.int16().astype(np.int64)
    mixed = np.zeros(len(places), np.uint64)
    for start in (4, group // 4, group // 2, group * 3 // 4, group + 4 - _WORD, group + 6, last):
        rows.at = rows.begin + np.clip(start, 0, last)
        mixed = (mixed ^ rows.int64().astype(np.uint64)) * _ODD
        mixed ^= mixed >> _HALF
    return (mixed * _ODD >> _HALF) % np.uint64(count)


class _File:
    """Rows in Parquet. Memory is bounded by that of a row group."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer: pq.ParquetWriter | None = None
        self._held: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def add(self, batch: pa.RecordBatch) -> None:
        if not batch.num_rows:
            return
        self._held.append(batch)
        self._rows, self._bytes = self._rows + batch.num_rows, self._bytes + batch.nbytes
        if self._rows >= _ROWS or self._bytes >= _BYTES:
            self._flush()

    def close(self) -> bool:
        """Whether there is a file."""
        self._flush()
        if self._writer is None:
            return False
        with self._named():
            self._writer.close()
        return True

    def abandon(self) -> None:
        with suppress(OSError):  # as of a disk that is full
            if self._writer is not None:
                self._writer.close()
        self.path.unlink(missing_ok=True)

    def _flush(self) -> None:
        if self._held:
            self._write(pa.Table.from_batches(self._held))
        self._held, self._rows, self._bytes = [], 0, 0

    def _write(self, rows: pa.Table) -> None:
        """As one row group."""
        with self._named():
            if self._writer is None:
                names = rows.schema.names
                self._writer = pq.ParquetWriter(
                    self.path,
                    rows.schema,
                    compression="snappy",
                    use_dictionary=False,
                    write_statistics=[name for name in names if name in _TOLD],
                    write_batch_size=_AT_ONCE,
                    column_encoding={name: "DELTA_BINARY_PACKED" for name in names if name in _RISING},
                )
            self._writer.write_table(rows, row_group_size=rows.num_rows)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """What is wrong with the directory tells which one that is."""
        try:
            yield
        except OSError as error:
            raise OSError(f"{self.path.parent} cannot be written: {error}; make room, or name another --out") from error


class _Buckets(_File):
    """Candidates, each in a row group of its bucket.

    Attributes:
        numbers: buckets of the row groups that are written.
    """

    def __init__(self, path: Path, count: int) -> None:
        super().__init__(path)
        self._count = count
        self.numbers: list[int] = []

    def _write(self, rows: pa.Table) -> None:
        numbers = np.concatenate([_spread(batch, self._count) for batch in rows.to_batches()])
        for bucket in np.unique(numbers).tolist():
            super()._write(rows.take(pa.array(np.flatnonzero(numbers == bucket))))
            self.numbers.append(bucket)

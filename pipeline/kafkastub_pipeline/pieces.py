"""Saved records that workers read for themselves: pieces of files in Parquet, without Spark in between.

To take a record out of its columns, and to hand it to Python, costs Spark more than decoding it costs Python. Where
saved records lie on disks that workers see, each worker is told which parts of which files are its own, and reads them.
Which files there are, Spark has found. Where anything is not as expected (another file system, columns of other types,
a codec that pyarrow lacks), `pieces_of` says None, and Spark reads as it always does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kafkastub_pipeline.sources import RAW_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PLAIN: Final = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("log_partition", pa.int32()),
        ("log_offset", pa.int64()),
        ("log_ms", pa.int64()),
    ]
)
"""As `decode.plain` gives them."""
_COLUMNS_IN_NAMES: Final = re.compile(f"/({'|'.join(RAW_COLUMNS)})=[^/]*/")
"""Of directories: what these say Spark takes, whatever the column of the file says."""
_SPARKS_OWN: Final = (
    "spark.sql.files.ignoreCorruptFiles",
    "spark.sql.files.ignoreMissingFiles",
    "spark.sql.parquet.int96TimestampConversion",
)
"""With these Spark reads what pyarrow would not read, or would read in another way."""
_TASK_BYTES: Final = 2**27
"""Of a task, as they lie on the disk; Spark's own measure (`spark.sql.files.maxPartitionBytes`)."""
_BATCH_ROWS: Final = 50_000
_BATCH_BYTES: Final = 2**24
_ROWS_AT_ONCE: Final = 4_000
"""Of a file: a value that repeats is in it once, and nothing says beforehand how much memory its rows take. A group's
name, which a client gives, is of up to 32 KB: 128 MB."""
_BUFFER_BYTES: Final = 2**20


class Piece(NamedTuple):
    """Row groups of a file, from `first` on and without `end`."""

    path: str
    first: int
    end: int


class _Group(NamedTuple):
    path: str
    number: int
    size: int


def pieces_of(raw: DataFrame, tasks: int) -> list[list[Piece]] | None:
    """What each task reads; None where Spark has to.

    Args:
        raw: saved records as `sources.read_raw` gives them, and nothing done to them: only its files are asked for.
        tasks: how many can be at work at once.
    """
    if any(str(raw.sparkSession.conf.get(name, "false")).lower() == "true" for name in _SPARKS_OWN):
        return None
    places = [urlsplit(one) for one in raw.inputFiles()]
    if any(place.scheme != "file" or place.netloc for place in places):
        return None
    groups: list[_Group] = []
    for path in sorted(unquote(place.path) for place in places):
        found = _row_groups(path)
        if found is None:
            return None
        groups += found
    return _shared(groups, tasks)


def _row_groups(path: str) -> list[_Group] | None:
    """Of a file that can be read without Spark; None where it cannot."""
    if _COLUMNS_IN_NAMES.search(path):
        return None
    try:
        with pq.ParquetFile(path, buffer_size=_BUFFER_BYTES) as file:
            if not _is_plain(file):
                return None
            metadata = file.metadata
            if metadata.num_row_groups:  # of columns that are encrypted pyarrow ends the process when it is asked
                next(file.iter_batches(1, [0], list(RAW_COLUMNS), use_threads=False), None)
        found = []
        for number in range(metadata.num_row_groups):
            columns = [metadata.row_group(number).column(at) for at in range(metadata.num_columns)]
            if not all(pa.Codec.is_available(_codec(column.compression)) for column in columns):
                return None
            found.append(_Group(path, number, sum(column.total_compressed_size for column in columns)))
    except (OSError, ValueError, pa.ArrowException):  # Spark says what is wrong with it
        return None
    return found


def _codec(compression: str) -> str:
    return {"UNCOMPRESSED": "snappy", "LZ4": "lz4", "LZ4_RAW": "lz4"}.get(compression, compression.lower())


def _is_plain(file: pq.ParquetFile) -> bool:
    """Whether pyarrow gives its columns the sense that Spark gives them."""
    schema = file.schema_arrow
    if any(schema.get_field_index(name) < 0 for name in RAW_COLUMNS):  # or twice, or in the name of its directory
        return False
    key, value, partition, offset, timestamp = (schema.field(name).type for name in RAW_COLUMNS)
    physical = {
        column.path: column.physical_type for column in (file.schema.column(i) for i in range(len(file.schema)))
    }
    in_utc = pa.types.is_timestamp(timestamp) and (
        physical["timestamp"] == "INT96" or (timestamp.tz is not None and timestamp.unit in ("ms", "us"))
    )
    texts = all(pa.types.is_binary(one) or pa.types.is_string(one) for one in (key, value))
    return bool(texts and partition == pa.int32() and offset == pa.int64() and in_utc)


def _shared(groups: Sequence[_Group], tasks: int) -> list[list[Piece]]:
    """Row groups shared out in their order: to as many tasks as can be at work at once, or a multiple of that.

    Each goes where its middle is: by where it begins, the last of a share would often be one too many.
    """
    total = sum(group.size for group in groups)
    wanted = tasks * max(1, -(-total // (tasks * _TASK_BYTES)))
    shares: list[list[Piece]] = []
    done = 0
    for group in groups:
        share = min((2 * done + group.size) * wanted // max(2 * total, 1), wanted - 1)
        while len(shares) <= share:
            shares.append([])
        pieces = shares[share]
        if pieces and pieces[-1].path == group.path and pieces[-1].end == group.number:
            pieces[-1] = pieces[-1]._replace(end=group.number + 1)
        else:
            pieces.append(Piece(group.path, group.number, group.number + 1))
        done += group.size
    return [share for share in shares if share]


def records_of(pieces: Sequence[Piece]) -> Iterator[pa.RecordBatch]:
    """Runs in a worker: raw records as `PLAIN`. Raises OSError, which names the file, where it cannot be read."""
    for piece in pieces:
        try:
            yield from _read(piece)
        except (OSError, pa.ArrowException) as error:
            raise OSError(f"file://{piece.path}: {error}") from error


def _read(piece: Piece) -> Iterator[pa.RecordBatch]:
    # times of Java's oldest kind count days and nanoseconds: in nanoseconds alone they end in 2262
    with pq.ParquetFile(piece.path, buffer_size=_BUFFER_BYTES, coerce_int96_timestamp_unit="us") as file:
        for number in range(piece.first, piece.end):
            rows = _rows(file.metadata.row_group(number))
            for batch in _together(file.iter_batches(rows, [number], list(RAW_COLUMNS), use_threads=False)):
                yield _plain(batch)


def _rows(group: pq.RowGroupMetaData) -> int:
    """To read at once, so that it stays small where records are large."""
    size = sum(group.column(at).total_uncompressed_size for at in range(group.num_columns)) / max(group.num_rows, 1)
    return max(1, min(_ROWS_AT_ONCE, int(_BATCH_BYTES / max(size, 1))))


def _together(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Few rows are cheap to read; to decode, many at once are."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if held and (rows + batch.num_rows > _BATCH_ROWS or size + batch.nbytes > _BATCH_BYTES):
            yield pa.concat_batches(held)
            held, rows, size = [], 0, 0
        held.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
    if held:
        yield pa.concat_batches(held)


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    key, value, partition, offset, timestamp = (batch.column(name) for name in RAW_COLUMNS)
    arrays = [key.cast(pa.binary()), value.cast(pa.binary()), partition, offset, _milliseconds(timestamp)]
    return pa.RecordBatch.from_arrays(arrays, schema=PLAIN)


def _milliseconds(times: pa.TimestampArray) -> pa.Int64Array:
    """As Spark's `unix_millis` has them: rounded down, before 1970 too."""
    numbers = times.cast(pa.int64())
    if times.type.unit == "ms":
        return numbers
    found = np.floor_divide(numbers.fill_null(0).to_numpy(), 1000)
    return pa.array(found, mask=times.is_null().to_numpy(zero_copy_only=False))

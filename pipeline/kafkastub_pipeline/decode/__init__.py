"""`__consumer_offsets` as Spark columns.

`decoded` turns raw records (key, value, partition, offset, timestamp) into one row each, whatever they are: nothing is
dropped and nothing is fatal. Offsets and classic groups are decoded column by column over Arrow (`decode.offsets`,
`decode.groups`); what is rare or damaged, row by row (`decode.rows`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kafkastub_pipeline.decode.buffers import mask, scattered
from kafkastub_pipeline.decode.columns import ABOUT_GROUP, NARROW, OF_GROUPS, RECORD, RECORD_DDL
from kafkastub_pipeline.decode.groups import group_columns
from kafkastub_pipeline.decode.offsets import Offsets
from kafkastub_pipeline.decode.rows import decoded_row, value_error
from kafkawire.offsets_topic import RecordType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PLACE = ("log_partition", "log_offset", "log_ms")
_CHUNK_BYTES = 2**30
"""Columns larger than this are decoded in halves: an Arrow offset has 32 bits."""


def decoded(raw: DataFrame) -> DataFrame:
    """Raw records decoded, one row each, as `columns.RECORD_DDL` says.

    Args:
        raw: at least `key`, `value`, `partition`, `offset`, `timestamp`, as Spark's Kafka source has them.
    """
    return plain(raw).mapInArrow(decode_batches, RECORD_DDL)


def plain(raw: DataFrame) -> DataFrame:
    """Of raw records what a worker needs: key, value, log_partition, log_offset, log_ms."""
    from pyspark.sql import functions as f

    return raw.select(
        f.col("key").cast("binary"),
        f.col("value").cast("binary"),
        f.col("partition").cast("int").alias("log_partition"),
        f.col("offset").cast("bigint").alias("log_offset"),
        f.expr("unix_millis(timestamp)").alias("log_ms"),
    )


def decode_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What `decoded` does in a Python worker."""
    for batch in batches:
        yield from decode_batch(batch)


def decode_batch(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """One Arrow batch decoded: one batch, more where it is very large."""
    for part in halves(batch):
        yield decode(Looked(part))


class Looked:
    """Raw records looked at once: for who decodes them, and for who keeps the last of each offset.

    Args:
        rows: of some records, by their numbers, what has come of decoding them by themselves.

    Attributes:
        types: the number in front of each key, -1 where there is none.
    """

    def __init__(self, batch: pa.RecordBatch, rows: Mapping[int, dict[str, Any]] | None = None) -> None:
        self.batch = batch
        self.keys, self.values = batch.column("key").cast(pa.binary()), batch.column("value").cast(pa.binary())
        self.offsets = Offsets(self.keys, self.values)
        self.types = self.offsets.types
        self._rows: dict[int, dict[str, Any]] = dict(rows or {})

    def rows(self, at: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
        """Records that are decoded one by one, each of which costs as much as a hundred by columns."""
        new = np.array([row for row in at.tolist() if row not in self._rows], np.int64)
        keys, values = (column.take(pa.array(new)).to_pylist() for column in (self.keys, self.values))
        self._rows.update(zip(new.tolist(), map(decoded_row, keys, values), strict=True))
        return [self._rows[row] for row in at.tolist()]

    def known(self, at: npt.NDArray[np.int64]) -> dict[int, dict[str, Any]]:
        """Those of some that were decoded by themselves before, by their numbers among these."""
        return {new: self._rows[row] for new, row in enumerate(at.tolist()) if row in self._rows} if self._rows else {}


def halves(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch in parts that are small enough; none of an empty one."""
    if batch.num_rows == 0:
        return
    if batch.nbytes > _CHUNK_BYTES and batch.num_rows > 1:
        half = batch.num_rows // 2
        yield from halves(batch.slice(0, half))
        yield from halves(batch.slice(half))
        return
    yield batch


def decode(looked: Looked) -> pa.RecordBatch:
    """One row each, in their order, as `RECORD`."""
    batch, keys, values, types = looked.batch, looked.keys, looked.values, looked.types
    found, odd = looked.offsets.columns()
    refused = np.flatnonzero(looked.offsets.refused())
    odd[refused] = False
    columns = {name: batch.column(name) for name in PLACE} | found
    generations = np.flatnonzero(types == RecordType.GROUP_METADATA)
    if len(generations):
        told, odd_groups = group_columns(keys, values, generations)
        odd |= odd_groups
        columns |= {name: _either(columns.get(name), column) for name, column in told.items()}
    columns["record_type"] = pa.array(types, pa.int16(), mask=types < 0)
    columns["tombstone"] = values.is_null()
    if len(refused):
        columns |= {
            name: scattered(column, refused, batch.num_rows) for name, column in _refused(looked, refused).items()
        }
    others = np.flatnonzero((types < 0) | (types > RecordType.GROUP_METADATA) | odd)
    return _replaced(filled(columns, RECORD, batch.num_rows), others, looked)


def _refused(looked: Looked, at: npt.NDArray[np.int64]) -> dict[str, pa.Array]:
    """What is told of offsets whose keys are known already, and whose values cannot be decoded."""
    keys, values = (column.take(pa.array(at)) for column in (looked.keys, looked.values))
    errors = list(map(value_error, looked.types[at].tolist(), values.to_pylist()))
    return {"error": pa.array(errors, pa.string()), "key": keys, "value": values}


def filled(columns: Mapping[str, pa.Array], schema: pa.Schema, count: int) -> pa.RecordBatch:
    """Columns in the order and of the types of a schema; those that are not there are null."""
    arrays = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def narrow(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Of `RECORD`, or of some of its columns, as `NARROW`; what is missing is null."""
    names = set(batch.schema.names)
    columns = {name: batch.column(name) for name in names - set(OF_GROUPS)}
    if names.issuperset(OF_GROUPS):
        columns["about_group"] = _about_group([batch.column(name) for name in OF_GROUPS])
    return filled(columns, NARROW, batch.num_rows)


def _about_group(columns: list[pa.Array]) -> pa.ListArray:
    """One list of them, where any of them is there; else null."""
    count = len(columns[0])
    there = np.zeros(count, np.bool_)
    for column in columns:
        if column.null_count < count:
            there |= mask(column)
    chosen = pa.array(there)
    items = pa.StructArray.from_arrays(
        [column.filter(chosen) for column in columns], fields=list(ABOUT_GROUP.value_type)
    )
    edges = pa.array(np.concatenate([[0], np.cumsum(there)]), pa.int32())
    return pa.ListArray.from_arrays(edges, items, ABOUT_GROUP, mask=pa.array(~there))


def _either(offsets: pa.Array | None, groups: pa.Array) -> pa.Array:
    """A column that records of offsets and of groups have, each where the other's are null."""
    return groups if offsets is None else pc.coalesce(offsets, groups)


def _replaced(batch: pa.RecordBatch, at: np.ndarray, looked: Looked) -> pa.RecordBatch:
    """The batch with some rows decoded one by one, in their places."""
    if not len(at):
        return batch
    chosen = pa.array(at)
    rows = looked.rows(at)
    index = np.arange(batch.num_rows)
    index[at] = batch.num_rows + np.arange(len(at))
    order = pa.array(index)
    told = set().union(*rows)
    arrays = []
    for field, column in zip(RECORD, batch.columns, strict=True):
        if field.name in PLACE:
            arrays.append(column)
            continue
        single = pa.nulls(len(at), field.type)
        if field.name in told:
            single = pa.array([row.get(field.name) for row in rows], field.type)
        if column.take(chosen).equals(single):  # as where columns could read a key, and not its value
            arrays.append(column)
        elif column.null_count == batch.num_rows:
            arrays.append(scattered(single, at, batch.num_rows))
        else:
            arrays.append(pa.concat_arrays([column, single]).take(order))
    return pa.RecordBatch.from_arrays(arrays, schema=RECORD)

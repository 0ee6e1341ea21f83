"""Each key's last record, folded where records are decoded: only what is left travels back to Spark.

A worker keeps the last offsets of its share in an Arrow table, and hands them on when there are too many: memory stays
flat, and Spark does the rest.

This is for who wants the current offsets alone. `kafkastub-pipeline run` stores every decoded record, which its other
tables need, and picks the newest from those (`tables.current.live_offsets`); a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkastub_pipeline.decode import decode_batch
from kafkastub_pipeline.decode.columns import RECORD, RECORD_DDL

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KEY: Final = ("group_id", "topic", "partition")
_FOLD_AT: Final = 200_000
_ROWS: Final = 10_000
_HAND_ON_AT: Final = 500_000
_HELD: Final = RECORD.append(pa.field("raw_key", pa.binary()))


def current_of_raw(raw: DataFrame) -> DataFrame:
    """The decoded records that `offset_current` is made of, straight from raw records; tombstones are gone."""
    from pyspark.sql import functions as f

    plain = raw.select(
        f.col("key").cast("binary"),
        f.col("value").cast("binary"),
        f.col("partition").cast("int").alias("log_partition"),
        f.col("offset").cast("bigint").alias("log_offset"),
        f.expr("unix_millis(timestamp)").alias("log_ms"),
    )
    folded = plain.mapInArrow(fold_batches, RECORD_DDL)
    rest = ", ".join(
        name if name not in ("group", "partition") else f"`{name}`" for name in RECORD.names if name not in KEY
    )
    last = folded.groupBy(*KEY).agg(f.expr(f"max_by(struct({rest}), log_offset)").alias("last"))
    return last.select(*KEY, "last.*").where("not tombstone")


def fold_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Decoded offsets, of each key the last that this worker sees."""
    last = _HELD.empty_table()
    fresh: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        found = list(decode_batch(batch))
        keys = batch.column("key").cast(pa.binary())
        at = 0
        for one in found:
            both = one.append_column("raw_key", keys.slice(at, one.num_rows))
            at += one.num_rows
            fresh.append(both.filter(pc.and_(pc.is_null(one.column("error")), pc.is_valid(one.column("topic")))))
            rows += fresh[-1].num_rows
        if rows >= _FOLD_AT:
            last, fresh, rows = _last([*last.to_batches(), *fresh]), [], 0
            if last.num_rows >= _HAND_ON_AT:
                yield from _handed_on(last)
                last = _HELD.empty_table()
    yield from _handed_on(_last([*last.to_batches(), *fresh]))


def _handed_on(last: pa.Table) -> Iterator[pa.RecordBatch]:
    yield from last.drop_columns(["raw_key"]).to_batches(max_chunksize=_ROWS)


def _last(held: list[pa.RecordBatch]) -> pa.Table:
    """Of each key the row with the highest offset: keys get numbers, and a number's slot keeps what is written last."""
    table = pa.Table.from_batches(held, schema=_HELD).combine_chunks()
    if not table.num_rows:
        return table
    keys = table.column("raw_key").chunk(0).dictionary_encode()
    codes = keys.indices.to_numpy()
    offsets = table.column("log_offset").to_numpy()
    order = np.argsort(offsets, kind="stable")
    slot = np.zeros(len(keys.dictionary), np.int64)
    slot[codes[order]] = order
    return table.take(pa.array(np.sort(slot)))

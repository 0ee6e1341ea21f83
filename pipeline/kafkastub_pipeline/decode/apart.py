"""Records decoded, each kind apart: offsets, all others, and the candidates for current offsets.

What a run keeps of a long log it reads many times, and mostly one kind of it. Offsets are nineteen records in twenty
and have a third of the columns; apart they are neither spread over columns that are null in all of them, nor read by
who asks for groups.

    apart(batches)               what a worker makes of raw records, whoever writes it
    decoded_with_candidates(raw) the same in one frame, where Spark writes it
    decoded_here(raw)            and in one table, where the log is small

Who reads the one frame or table parts it again (`decode.latest.parted`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from kafkastub_pipeline.decode import PLACE, Looked, decode, filled, halves, narrow, plain
from kafkastub_pipeline.decode.buffers import Mask
from kafkastub_pipeline.decode.columns import NARROW, NARROW_DDL, OFFSET, RECORD
from kafkastub_pipeline.decode.latest import CANDIDATE, Fold
from kafkastub_pipeline.decode.offsets import key_types
from kafkawire.offsets_topic import RecordType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Kind(Enum):
    """What a batch has; its schema."""

    OFFSETS = OFFSET
    OTHERS = RECORD
    CANDIDATES = CANDIDATE


def apart(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Kind, pa.RecordBatch]]:
    """Runs in a worker: every record once, of the first two kinds, and the candidates.

    Args:
        batches: raw records as `decode.plain` gives them.
    """
    fold = Fold()
    for batch in batches:
        for part in halves(batch):
            types = key_types(part.column("key").cast(pa.binary()))
            of_offsets = (types == RecordType.OFFSET_COMMIT) | (types == RecordType.LEGACY_OFFSET_COMMIT)
            if of_offsets.any():
                looked = Looked(_chosen(part, of_offsets), types[of_offsets])
                found, odd = _decoded(looked)
                yield Kind.OFFSETS, found
                for candidates in fold.add(looked):
                    yield Kind.CANDIDATES, candidates
                if len(odd):
                    yield Kind.OTHERS, decode(looked.only(odd))
            if not of_offsets.all():
                yield Kind.OTHERS, decode(Looked(_chosen(part, ~of_offsets), types[~of_offsets]))
    for candidates in fold.rest():
        yield Kind.CANDIDATES, candidates


def decoded_with_candidates(raw: DataFrame) -> DataFrame:
    """Raw records decoded, one row each, and the candidates, for Spark to write: `NARROW_DDL`."""
    return plain(raw).mapInArrow(_together, NARROW_DDL)


def decoded_here(raw: pa.Table) -> pa.Table:
    """The same without Spark, of a table as `decode.plain` gives it."""
    return pa.Table.from_batches(_together(raw.to_batches()), NARROW)


def _together(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _, batch in apart(batches):
        yield narrow(batch)


def _chosen(batch: pa.RecordBatch, rows: Mask) -> pa.RecordBatch:
    return batch if rows.all() else batch.filter(pa.array(rows))


def _decoded(looked: Looked) -> tuple[pa.RecordBatch, np.ndarray]:
    """Offsets as `OFFSET`, without those that have to be decoded one by one; and where these are."""
    found, odd = looked.offsets.columns()
    columns = {name: looked.batch.column(name) for name in PLACE} | found
    columns["record_type"] = pa.array(looked.types, pa.int16())
    columns["tombstone"] = looked.values.is_null()
    rows = filled(columns, OFFSET, looked.batch.num_rows)
    return _chosen(rows, ~odd), np.flatnonzero(odd)

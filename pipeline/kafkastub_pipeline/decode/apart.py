"""Records decoded, each kind apart: offsets, all others, and the candidates for current offsets.

What a run keeps of a long log it reads many times, and mostly one kind of it. Offsets are nineteen records in twenty
and have a third of the columns; apart they are neither spread over columns that are null in all of them, nor read by
who asks for groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final

import numpy as np
import pyarrow as pa

from kafkastub_pipeline.decode import Looked, decode, halves
from kafkastub_pipeline.decode.columns import OFFSET, RECORD
from kafkastub_pipeline.decode.latest import CANDIDATE, Fold
from kafkastub_pipeline.decode.offsets import key_types
from kafkawire.offsets_topic import RecordType

_PLACE: Final = ("log_partition", "log_offset", "log_ms")


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
            offsets, others = _divided(part)
            if offsets is not None:
                looked = Looked(offsets)
                found, odd = _decoded(looked)
                yield Kind.OFFSETS, found
                for candidates in fold.add(looked):
                    yield Kind.CANDIDATES, candidates
                if len(odd):
                    yield Kind.OTHERS, decode(looked.only(odd))
            if others is not None:
                yield Kind.OTHERS, decode(Looked(others))
    for candidates in fold.rest():
        yield Kind.CANDIDATES, candidates


def _divided(batch: pa.RecordBatch) -> tuple[pa.RecordBatch | None, pa.RecordBatch | None]:
    """Raw records that are offsets by their keys, and the others."""
    types = key_types(batch.column("key").cast(pa.binary()))
    offsets = (types == RecordType.OFFSET_COMMIT) | (types == RecordType.LEGACY_OFFSET_COMMIT)
    if offsets.all():
        return batch, None
    if not offsets.any():
        return None, batch
    return batch.filter(pa.array(offsets)), batch.filter(pa.array(~offsets))


def _decoded(looked: Looked) -> tuple[pa.RecordBatch, np.ndarray]:
    """Offsets as `OFFSET`, without those that have to be decoded one by one; and where these are."""
    found, odd = looked.offsets.columns()
    batch = looked.batch
    columns = {name: batch.column(name) for name in _PLACE} | found
    columns["record_type"] = pa.array(looked.types, pa.int16())
    columns["tombstone"] = looked.values.is_null()
    arrays = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(batch.num_rows, field.type)
        for field in OFFSET
    ]
    rows = pa.RecordBatch.from_arrays(arrays, schema=OFFSET)
    return (rows.filter(pa.array(~odd)) if odd.any() else rows), np.flatnonzero(odd)

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
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from kafkastub_pipeline.decode import PLACE, Looked, decode, filled, halves, narrow, plain
from kafkastub_pipeline.decode.buffers import Mask, Positions
from kafkastub_pipeline.decode.columns import NARROW, NARROW_DDL, OFFSET, RECORD
from kafkastub_pipeline.decode.latest import CANDIDATE, Fold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROWS: Final = 10_000
_BYTES: Final = 2**24
"""Of records that are no sound offsets, until they are decoded."""


class Kind(Enum):
    """What a batch has; its schema."""

    OFFSETS = OFFSET
    OTHERS = RECORD
    CANDIDATES = CANDIDATE


def apart(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Kind, pa.RecordBatch]]:
    """Runs in a worker: every record once, of the first two kinds, and the candidates.

    Args:
        batches: raw records as `decode.plain` gives them.

    Raises ValueError where a record has no place on the log.
    """
    fold, others = Fold(), _Others()
    for batch in batches:
        _check_places(batch)
        for part in halves(batch):
            looked = Looked(part)
            offsets, sound = _offsets(looked)
            if offsets.num_rows:
                yield Kind.OFFSETS, offsets
            for candidates in fold.add(looked):
                yield Kind.CANDIDATES, candidates
            if not sound.all():
                yield from others.add(looked, np.flatnonzero(~sound))
    yield from others.rest()
    for candidates in fold.rest():
        yield Kind.CANDIDATES, candidates


def _check_places(batch: pa.RecordBatch) -> None:
    for name in PLACE:
        if missing := batch.column(name).null_count:
            what = {"log_ms": "timestamp"}.get(name, name.removeprefix("log_"))
            raise ValueError(f"{missing} of {batch.num_rows} records that were read together have no {what}")


class _Others:
    """Records that are no offsets, or no sound ones, are few: those of several batches are decoded at once, for a batch
    costs more than they do."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._held: list[pa.RecordBatch] = []
        self._known: dict[int, dict[str, Any]] = {}
        self._rows = self._bytes = 0

    def add(self, looked: Looked, at: Positions) -> Iterator[tuple[Kind, pa.RecordBatch]]:
        batch = looked.batch.take(pa.array(at))
        self._held.append(batch)
        self._known |= {self._rows + new: row for new, row in looked.known(at).items()}
        self._rows, self._bytes = self._rows + batch.num_rows, self._bytes + batch.nbytes
        if self._rows >= _ROWS or self._bytes >= _BYTES:
            yield from self.rest()

    def rest(self) -> Iterator[tuple[Kind, pa.RecordBatch]]:
        held, known = self._held, self._known
        self._clear()
        if held:
            yield Kind.OTHERS, decode(Looked(pa.concat_batches(held), known))


def decoded_with_candidates(raw: DataFrame) -> DataFrame:
    """Raw records decoded, one row each, and the candidates, for Spark to write: `NARROW_DDL`."""
    return plain(raw).mapInArrow(_together, NARROW_DDL)


def decoded_here(raw: pa.Table) -> pa.Table:
    """The same without Spark, of a table as `decode.plain` gives it."""
    return pa.Table.from_batches(_together(raw.to_batches()), NARROW)


def _together(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _, batch in apart(batches):
        yield narrow(batch)


def _offsets(looked: Looked) -> tuple[pa.RecordBatch, Mask]:
    """Offsets as `OFFSET`, without those that have to be decoded one by one; and which records these are."""
    found, sound = looked.offsets.sound()
    chosen = pa.array(sound)
    columns = {name: looked.batch.column(name).filter(chosen) for name in PLACE} | found
    columns["record_type"] = pa.array(looked.types[sound], pa.int16())
    columns["tombstone"] = looked.values.is_null().filter(chosen)
    return filled(columns, OFFSET, len(columns["tombstone"])), sound

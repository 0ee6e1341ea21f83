"""What is left of each offset: its last record, found where records are decoded.

A worker looks through its share of the log and keeps of each offset the last record that can be decoded, as the bytes
that it is: a *candidate*. Of the candidates of all workers the last of each place is decoded. So the whole history is
never sorted, nor looked through a second time.

    Fold                what a worker keeps (`decode.apart` has the pass over the log)
    parted(stored)      the decoded records, and the current offsets, where Spark has stored candidates: it sorts them
    last_of(candidates) the current offsets, where a worker has the candidates of all others for some places

A place is the key that brokers since Kafka 0.9 write: nearly every record's own. Where it is, a candidate's `key` is
null.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkastub_pipeline.decode import Looked, decode_batch
from kafkastub_pipeline.decode.buffers import Mask, scattered
from kafkastub_pipeline.decode.columns import OF_GROUPS, OFFSET, OFFSET_DDL, RECORD
from kafkastub_pipeline.here import mapped
from kafkawire.offsets_topic import offset_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CANDIDATE: Final = pa.schema(
    [
        ("log_partition", pa.int32()),
        ("log_offset", pa.int64()),
        ("log_ms", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("place", pa.binary()),
    ]
)

_ROWS: Final = 10_000
_FOLD_AT: Final = 1_000_000
_HAND_ON_AT: Final = 500_000
_FOLD_AT_BYTES: Final = 2**27
_HAND_ON_AT_BYTES: Final = 2**27
"""Records that a worker looks through before it lets the superseded go, and those that it keeps at most."""


def parted(stored: DataFrame) -> tuple[DataFrame, DataFrame | None]:
    """Decoded records as `RECORD_DDL`, and the current offsets as `OFFSET_DDL`, tombstones gone; None where there are
    no candidates, which `stream` does not write."""
    from pyspark.sql import functions as f

    if "place" not in stored.columns:
        return stored, None
    wide = {name: f.get("about_group", f.lit(0))[name] for name in OF_GROUPS} if "about_group" in stored.columns else {}
    records = stored.where("place is null").withColumns(wide).select(*RECORD.names)
    return records, current_of(stored.where("place is not null"))


def current_of(found: DataFrame) -> DataFrame:
    """Of the candidates of all workers the last of each place, decoded; tombstones are gone.

    Args:
        found: at least the columns of `CANDIDATE`.
    """
    ordered = found.select(*CANDIDATE.names).repartition("place").sortWithinPartitions("place", "log_offset")
    return mapped(ordered, _decoded_last, OFFSET_DDL)


def last_of(candidates: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same in a worker that has all candidates of some places, as `OFFSET`."""
    fold = Fold(hands_on=False)
    for batch in candidates:
        for _ in fold.take(batch, np.ones(batch.num_rows, np.bool_)):
            pass
    for last in fold.rest():
        yield from _commits(last)


class Fold:
    """The candidates of one worker. Memory is bounded: what is too much is handed on, and others do the rest."""

    def __init__(self, hands_on: bool = True) -> None:
        self._hands_on = hands_on
        self._last: list[pa.RecordBatch] = []
        """Candidates of which each place has one."""
        self._held = 0, 0
        """Their number, and their bytes."""
        self._fresh: list[tuple[pa.RecordBatch, Mask]] = []
        """Records since, and which of them count."""
        self._rows = self._bytes = 0

    def add(self, looked: Looked) -> Iterator[pa.RecordBatch]:
        """Look through raw records; what comes back is handed on."""
        yield from self.take(*looked_through(looked))

    def take(self, batch: pa.RecordBatch, counts: Mask) -> Iterator[pa.RecordBatch]:
        """Candidates, of which some count; what comes back is handed on."""
        if not counts.any():
            return
        self._fresh.append((batch, counts))
        self._rows, self._bytes = self._rows + batch.num_rows, self._bytes + batch.nbytes
        if self._rows >= max(_FOLD_AT, self._held[0]) or self._bytes >= max(_FOLD_AT_BYTES, self._held[1]):
            self._let_go()
            if self._hands_on and (self._held[0] >= _HAND_ON_AT or self._held[1] >= _HAND_ON_AT_BYTES):
                yield from self._last
                self._last, self._held = [], (0, 0)

    def rest(self) -> Iterator[pa.RecordBatch]:
        """What is left at the end."""
        self._let_go()
        yield from self._last

    def _let_go(self) -> None:
        """Keep of each place the last record, and let the superseded go."""
        if not self._fresh:
            return
        held = [*((one, np.ones(one.num_rows, np.bool_)) for one in self._last), *self._fresh]
        keep = _last_of_each(held)
        edges = np.cumsum([0, *(one.num_rows for one, _ in held)])
        kept = [
            one.filter(pa.array(keep[start:end]))
            for (one, _), start, end in zip(held, edges[:-1], edges[1:], strict=True)
            if keep[start:end].any()
        ]
        self._last, self._fresh, self._rows, self._bytes = [], [], 0, 0
        held.clear()  # what is superseded goes before what is left is put together
        last = pa.Table.from_batches(kept, schema=CANDIDATE).combine_chunks()
        self._last, self._held = last.to_batches(max_chunksize=_ROWS), (last.num_rows, last.nbytes)


def _last_of_each(held: list[tuple[pa.RecordBatch, Mask]]) -> Mask:
    """Of each place the record with the highest offset: places get numbers, and a number's slot keeps the last."""
    places = pa.chunked_array([one.column("place") for one, _ in held]).dictionary_encode()
    counts = np.concatenate([mask for _, mask in held])
    codes = np.concatenate([one.indices.fill_null(0).to_numpy() for one in places.chunks])
    offsets = np.concatenate([one.column("log_offset").to_numpy() for one, _ in held])
    if not counts.all():
        codes, offsets = codes[counts], offsets[counts]
    slot = np.full(len(places.chunk(0).dictionary), -1, np.int64)
    slot[codes] = np.arange(len(codes))
    if (offsets > offsets[slot][codes]).any():  # they did not come in the order of the log
        order = np.argsort(offsets, kind="stable")
        slot[codes[order]] = order
    keep = np.zeros(len(counts), np.bool_)
    keep[np.flatnonzero(counts)[slot[slot >= 0]]] = True
    return keep


def looked_through(looked: Looked) -> tuple[pa.RecordBatch, Mask]:
    """A batch of raw records as `CANDIDATE`, and which of them are offsets that can be decoded, tombstones included."""
    batch, keys, values = looked.batch, looked.keys, looked.values
    sound, unclear, own = looked.offsets.verdict()
    single = np.flatnonzero(unclear | (sound & ~own))
    placed = zip(single.tolist(), map(_place, looked.rows(single)), strict=True)
    written = {row: place for row, place in placed if place is not None}
    counts = sound & own
    counts[list(written)] = True
    columns = [batch.column("log_partition"), batch.column("log_offset"), batch.column("log_ms")]
    columns += [_others(keys, written), values, _places(keys, written)]
    return pa.RecordBatch.from_arrays(columns, schema=CANDIDATE), counts


def _place(found: dict[str, Any]) -> bytes | None:
    """The place of a record that was decoded by itself; None where that could not be done."""
    return None if "error" in found else bytes(offset_key(found["group_id"], found["topic"], found["partition"]))


def _places(keys: pa.BinaryArray, written: dict[int, bytes]) -> pa.BinaryArray:
    """The keys; where `written` knows better, that."""
    if not written:
        return keys
    index = np.arange(len(keys))
    index[list(written)] = len(keys) + np.arange(len(written))
    return pa.concat_arrays([keys, pa.array(written.values(), pa.binary())]).take(pa.array(index))


def _others(keys: pa.BinaryArray, written: dict[int, bytes]) -> pa.BinaryArray:
    """The keys of which `written` knows better; the others, which are their places, are null."""
    if not written:
        return pa.nulls(len(keys), pa.binary())
    at = np.array(list(written), np.int64)
    return scattered(keys.take(pa.array(at)), at, len(keys))


def _decoded_last(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs in a worker over candidates sorted by place and log offset: the last of each place, decoded."""
    held: pa.RecordBatch | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        rows = batch if held is None else pa.concat_batches([held, batch])
        places = rows.column("place")
        ends = pc.not_equal(places.slice(0, rows.num_rows - 1), places.slice(1))
        yield from _commits(rows.slice(0, rows.num_rows - 1).filter(ends))
        held = rows.slice(rows.num_rows - 1)
    if held is not None:
        yield from _commits(held)


def _commits(last: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    left = last.filter(pc.is_valid(last.column("value")))
    keys = pc.coalesce(left.column("key"), left.column("place"))
    for found in decode_batch(left.set_column(left.schema.get_field_index("key"), "key", keys)):
        yield found.select(OFFSET.names)

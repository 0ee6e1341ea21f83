"""Decoded rows as Arrow columns: times, names of records, columns in the order that Spark asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkastub_pipeline.rules import LAST_MS

_PLACE = ("log_partition", "log_offset")


def times(milliseconds: pa.Array) -> pa.Array:
    """Return timestamps; null for what Kafka writes as -1. What is after the year 9999 is its last moment."""
    known = pc.if_else(pc.greater_equal(milliseconds, 0), pc.min_element_wise(milliseconds, LAST_MS), None)
    return known.cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "UTC"))


def shaped(columns: Mapping[str, pa.Array], wanted: pa.Schema, count: int) -> pa.RecordBatch:
    """Return columns in the order and of the types that are wanted; those that are not there are null."""
    arrays = []
    for field in wanted:
        found = columns.get(field.name)
        arrays.append(pa.nulls(count, field.type) if found is None else _as(found, field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)


def place_columns(raw: pa.RecordBatch) -> dict[str, pa.Array]:
    """Return where raw records are on the log, and when."""
    return {name: raw.column(name) for name in _PLACE} | {"log_timestamp": times(raw.column("log_ms"))}


def of_dicts(rows: Sequence[Mapping[str, Any]], wanted: pa.Schema, renamed: Mapping[str, str]) -> dict[str, pa.Array]:
    """Return rows that were decoded one by one as columns.

    Args:
        renamed: columns with times, each with the entry of a row that has its milliseconds.
    """
    found = {}
    for field in wanted:
        source = renamed.get(field.name)
        if source is not None:
            found[field.name] = times(pa.array([row.get(source) for row in rows], pa.int64()))
        else:
            found[field.name] = pa.array([row.get(field.name) for row in rows], field.type)
    return found


def _as(column: pa.Array, type_: pa.DataType) -> pa.Array:
    return column if column.type == type_ else column.cast(type_)

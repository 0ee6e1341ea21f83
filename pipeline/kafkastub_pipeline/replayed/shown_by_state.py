"""What `__share_group_state` alone says of locks: for how long a delivery took at most.

A record's acquisition is not written, its outcome is. A delivery began behind the outcome of the one before, and the
first one behind the state's own beginning. So a record that was accepted soon enough was not held for longer; a record
that is available again or archived may have been given back or have lost its lock, and nothing says which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from kafkastub_pipeline.decode.share_rows import share_row
from kafkastub_pipeline.decode.shares import Batch, SharePartition, size_of

_ACKNOWLEDGED: Final = 2


class Outcome(NamedTuple):
    """Deliveries that ended with one record of the log.

    Attributes:
        most_ms: for so long they took at most; None where the log does not say.
        accepted: whether they were accepted.
        records: how many.
    """

    most_ms: int | None
    accepted: bool
    records: int


def outcomes(records: Iterable[Mapping[str, Any]]) -> Iterator[Outcome]:
    """Of the records of one share partition, in the order of the log, with `key`, `value` and `log_ms`."""
    known = SharePartition()
    since: list[tuple[Batch, int]] = []
    begun_ms: int | None = None
    first = True
    for record in records:
        if first:
            row = share_row(record["key"], record["value"])
            is_beginning = row.get("event") == "snapshot" and row.get("snapshot_epoch") == 0
            begun_ms, first = (record["log_ms"] if is_beginning else None), False
            known.take(record["key"], record["value"])
            since = [(batch, record["log_ms"]) for batch in known.batches]
            continue
        before = dict(since)
        known.take(record["key"], record["value"])
        after: list[tuple[Batch, int]] = []
        for batch in known.batches:
            same = before.get(batch)
            if same is not None:
                after.append((batch, same))
                continue
            for part, was in _parts(batch, since):
                if was is not None and was[0].delivery_count == part.delivery_count and was[0][2] == part[2]:
                    after.append((part, was[1]))
                    continue
                after.append((part, record["log_ms"]))
                if part.delivery_count > 0:
                    began = begun_ms if was is None else was[1]
                    most = None if began is None else max(record["log_ms"] - began, 0)
                    yield Outcome(most, part.delivery_state == _ACKNOWLEDGED, size_of(part))
        since = after


def _parts(batch: Batch, since: list[tuple[Batch, int]]) -> Iterator[tuple[Batch, tuple[Batch, int] | None]]:
    """A batch, cut where those before it begin and end, each with the one that had it."""
    at = batch.first_offset
    for one in since:
        was = one[0]
        if was.last_offset < at or was.first_offset > batch.last_offset:
            continue
        if was.first_offset > at:
            yield batch._replace(first_offset=at, last_offset=was.first_offset - 1), None
            at = was.first_offset
        end = min(was.last_offset, batch.last_offset)
        yield batch._replace(first_offset=at, last_offset=end), one
        at = end + 1
    if at <= batch.last_offset:
        yield batch._replace(first_offset=at), None

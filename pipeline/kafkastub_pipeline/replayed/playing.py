"""A journal's requests, group by group in their order, given to what plays them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from kafkastub_pipeline.here import mapped
from kafkastub_pipeline.replayed.timers import Timers, timers_of
from kafkastub_pipeline.sources import with_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Group(Protocol):
    """What has been seen of one group."""

    def take(self, row: dict[str, Any], /) -> Iterator[Any]:
        """Apply a request; gives what ends with it."""

    def ends(self, broker_ms: int, /) -> Iterator[Any]:
        """The journal ends: gives what there is then."""


Rows = Callable[[str, Iterable[Any], Sequence[int]], Iterable[dict[str, Any]]]
"""The rows of a group's name, what its requests gave, and what is tried."""


@dataclass(frozen=True)
class _Player:
    """Runs in workers, over requests that are sorted by group and sequence."""

    timers: Timers
    end_ms: int
    group: Callable[[Timers], Group]
    rows: Rows
    tried: Sequence[int]
    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        requests = (row for batch in batches for row in batch.to_pylist())
        for group_id, of_group in groupby(requests, key=lambda row: row["group_id"]):
            found = list(self.rows(group_id, self._played(of_group), self.tried))
            if found:
                yield pa.RecordBatch.from_pylist(found, schema=self.schema)

    def _played(self, requests: Iterable[dict[str, Any]]) -> Iterator[Any]:
        group = self.group(self.timers)
        for row in requests:
            yield from group.take(row)
        yield from group.ends(self.end_ms)


def played(
    journal: DataFrame,
    apis: Collection[int],
    columns: Sequence[str],
    where: str,
    group: Callable[[Timers], Group],
    rows: Rows,
    tried: Sequence[int],
    found: tuple[pa.Schema, str],
) -> DataFrame:
    """The rows that the requests of a journal give.

    Args:
        apis: which requests are played, those that name one group.
        columns: what is read of each beside its sequence, API, version, group and times; a name and a type of Spark's
            where not every export has the column.
        where: what else they have to be.
        group: makes what plays the requests of one group.
        tried: timeouts, in milliseconds.
        found: the columns of the rows, for Arrow and for Spark.
    """
    from pyspark.sql import functions as f

    lent = "wall_time timestamp", "duration_us bigint", "request binary"
    journal = with_columns(journal, *lent, *(one for one in columns if " " in one))
    timers = timers_of(journal)
    end_ms = journal.select(f.max(f.unix_millis("broker_time"))).collect()[0][0]
    asked = journal.where(f"kind = 'request' and api_key in {tuple(map(int, apis))} and size(groups) = 1 and {where}")
    read = asked.select(
        f.expr("groups[0]").alias("group_id"),
        *("sequence", "api_key", "api_version", "duration_us", "request"),
        *(one.partition(" ")[0] for one in columns),
        f.unix_millis("broker_time").alias("broker_ms"),
        f.unix_micros("wall_time").alias("wall_us"),
    )
    ordered = read.repartition("group_id").sortWithinPartitions("group_id", "sequence")
    schema, ddl = found
    return mapped(ordered, _Player(timers, end_ms or 0, group, rows, tried, schema), ddl)

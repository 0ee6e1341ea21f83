"""Groups with far more records than others, thinned in pieces before their histories are played.

A group's history is played by one task, for what happens to one of its offsets depends on the others. Where a group has
more than a task's share of all records, its offsets are cut into ranges of the log, and each is thinned by itself: a
piece has every record about the group itself beside its own range, so that within it nothing is missing that `Thinner`
looks at, and at its edges everything stays. What is left goes the way of all other records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkastub_pipeline.decode.buffers import Mask
from kafkastub_pipeline.here import is_here
from kafkastub_pipeline.session import local_table
from kafkastub_pipeline.tables.events import OFFSETS, sound
from kafkastub_pipeline.tables.thinning import ABOUT_OFFSETS, Thinner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LEAST: Final = 20_000
"""Records of a group that are not worth being cut."""
_PIECES: Final = 2
"""Of a task's share of all records."""
_LARGE_DDL: Final = "group_id string, first bigint, width bigint, pieces bigint, places array<int>"
_TRIED: Final = 20
"""Numbers that are tried for each task, until one is found that Spark sends to it."""


def evened(events: DataFrame, records: DataFrame, order: Sequence[str], retentions: Sequence[int]) -> DataFrame:
    """The events, without those that need not be seen of groups that have too many; the same where none has.

    Args:
        events: as `_Explorer` takes them, in any order.
        records: decoded records, from which groups are counted.
        order: columns that events of a group are sorted by.
        retentions: those to try, in minutes.
    """
    from pyspark.sql import functions as f

    large = () if is_here(events.sparkSession) else _large(records, "log_ms" if order[0] == "at_ms" else order[0])
    if not large:
        return events
    places, tasks = _places(events.sparkSession, [one.pieces for one in large])
    rows = [(*one, places_) for one, places_ in zip(large, places, strict=True)]
    known = f.broadcast(local_table(events.sparkSession, rows, _LARGE_DDL))
    about_offsets = f"coalesce(record_type in {OFFSETS}, false)"
    of_large = f.col("group_id").isin([one.group_id for one in large])
    its = f"array(int(least(greatest({order[0]} - first, 0L) div width, pieces - 1L)))"
    cut = (
        events.where(of_large)
        .join(known, "group_id")
        .withColumn("piece", f.explode(f.expr(f"if({about_offsets}, {its}, sequence(0, int(pieces) - 1))")))
        .select(*events.columns, "piece", f.expr("places[piece]").alias("place"))
        .repartition(tasks, "place")
        .drop("place")
        .sortWithinPartitions("group_id", "piece", *order)
    )
    left = cut.mapInArrow(Pieces(retentions), events.schema)
    return events.where(~(of_large & f.expr(about_offsets))).unionByName(left)


class _Large(NamedTuple):
    """A group that is cut.

    Attributes:
        first: where its records begin.
        width: how far a piece goes.
        pieces: how many there are.
    """

    group_id: str
    first: int
    width: int
    pieces: int


def _places(spark: SparkSession, pieces: Sequence[int]) -> tuple[list[list[int]], int]:
    """Of each group a number for each piece, and the tasks to which Spark deals these evenly.

    By what pieces are, some tasks would have most of them, and others none: Spark goes by a hash. So numbers are sought
    of which the first hashes to the first task, and so on.
    """
    tasks = min(-(-sum(pieces) // _PIECES), _tasks(spark))
    tried = spark.range(tasks * _TRIED).selectExpr("int(id) place", f"pmod(hash(int(id)), {tasks}) task")
    by_task = {row.task: row.place for row in tried.collect()}
    every = cycle(by_task.get(task, task) for task in range(tasks))
    return [[next(every) for _ in range(count)] for count in pieces], tasks


def _tasks(spark: SparkSession) -> int:
    return int(spark.conf.get("spark.sql.shuffle.partitions", "200") or 200)


def _large(records: DataFrame, by: str) -> list[_Large]:
    """Groups that are cut.

    Of offsets in the log a piece has no more records than it goes far, so that none becomes too large.
    """
    from pyspark.sql import functions as f

    about_offsets = f.expr(f"record_type in {OFFSETS}")
    place = f.when(about_offsets, f.col(by))
    counted = (
        sound(records)
        .groupBy("group_id")
        .agg(
            f.count_if(about_offsets).alias("n"),
            f.count("*").alias("all"),
            f.min(place).alias("first"),
            f.max(place).alias("last"),
        )
    )
    many = f.when(f.col("n") > LEAST, f.struct("group_id", "n", "all", "first", "last"))
    (found,) = counted.agg(f.sum("n").alias("total"), f.collect_list(many).alias("many")).collect()
    # with the others of its task it has no more than twice as much
    share = max(LEAST, (found.total or 0) // _tasks(records.sparkSession) // _PIECES)
    cut = []
    for group_id, n, all_, first, last in found.many:
        # each piece has every record about the group itself: together no more of these than of offsets
        pieces = min(-(-n // share), n // max(all_ - n, 1))
        if pieces > 1:
            cut.append(_Large(group_id, first, (last - first) // pieces + 1, pieces))
    return cut


class Pieces(Thinner):
    """Runs in a worker over pieces, each sorted as its group's history: what is left of the records about offsets.

    Of each topic and id the last commit stays: from these it is told when a topic had which id.
    """

    def __init__(self, retentions: Sequence[int]) -> None:
        super().__init__(retentions, ("group_id", "piece"))

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in super().__call__(batches):
            yield batch.drop_columns(["piece"])

    def stay(self, batch: pa.RecordBatch) -> Mask:
        stay = super().stay(batch)
        stay[_last_of_ids(batch)] = True
        about_offsets: Mask = pc.is_in(batch.column("record_type"), ABOUT_OFFSETS).to_numpy(zero_copy_only=False)
        return stay & about_offsets


def _last_of_ids(batch: pa.RecordBatch) -> Mask:
    rows = np.flatnonzero(batch.column("topic_id").is_valid().to_numpy(zero_copy_only=False))
    last = np.zeros(batch.num_rows, np.bool_)
    if len(rows):
        topics, ids = (batch.column(name).take(pa.array(rows)).dictionary_encode() for name in ("topic", "topic_id"))
        code = topics.indices.fill_null(0).to_numpy().astype(np.int64) * len(ids.dictionary) + ids.indices.to_numpy()
        order = np.lexsort((batch.column("log_ms").take(pa.array(rows)).to_numpy(), code))
        ends = np.append(code[order][1:] != code[order][:-1], True)
        last[rows[order[ends]]] = True
    return last

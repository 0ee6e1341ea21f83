"""`lock_whatif`: what another `group.share.record.lock.duration.ms` would have made of deliveries to share groups.

A journal with frames has when records were acquired and what became of them. `__share_group_state` has the outcomes
alone, which decides for records that were accepted soon.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from kafkastub_pipeline.cluster import Snapshot
from kafkastub_pipeline.decode.shares import keyed
from kafkastub_pipeline.here import mapped
from kafkastub_pipeline.replayed.locks import ACKNOWLEDGED, APIS, EXPIRED, UNDECIDED, Delivery, Group, outcome
from kafkastub_pipeline.replayed.playing import played
from kafkastub_pipeline.replayed.shown_by_state import outcomes
from kafkastub_pipeline.session import local_table
from kafkastub_pipeline.tables.columns import time_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FOUND_DDL: Final = (
    "lock_duration_ms bigint, group_id string, topic_id string, `partition` int, first_offset bigint,"
    " last_offset bigint, records bigint, member_id string, delivery_count int, from_ms bigint, until_ms bigint,"
    " seconds double, recorded_lock_ms bigint, recorded string, outcome string, changes boolean, why string,"
    " evidence string"
)
_FOUND: Final = pa.schema(
    [
        ("lock_duration_ms", pa.int64()),
        ("group_id", pa.string()),
        ("topic_id", pa.string()),
        ("partition", pa.int32()),
        ("first_offset", pa.int64()),
        ("last_offset", pa.int64()),
        ("records", pa.int64()),
        ("member_id", pa.string()),
        ("delivery_count", pa.int32()),
        ("from_ms", pa.int64()),
        ("until_ms", pa.int64()),
        ("seconds", pa.float64()),
        ("recorded_lock_ms", pa.int64()),
        ("recorded", pa.string()),
        ("outcome", pa.string()),
        ("changes", pa.bool_()),
        ("why", pa.string()),
        ("evidence", pa.string()),
    ]
)
_LOG, _JOURNAL = "log", "journal"
_NOT_ACCEPTED: Final = "given back, rejected or cut short by its lock: the log does not distinguish them"
_MAY_BE_LONG: Final = "the log has when it was accepted, and not when it was acquired, which may be that long before"


def lock_whatif(
    spark: SparkSession,
    shares: DataFrame | None,
    journal: DataFrame | None,
    cluster: Snapshot | None,
    tried: Sequence[int],
    until_ms: int | None = None,
) -> DataFrame:
    """A row for each duration and delivery that it would change, or whose lock ended, or that is undecided; and one for
    all other deliveries of a partition.

    Args:
        shares: raw records of `__share_group_state`; None where they are not to be had.
        journal: entries, as `--journal` or the data source `kafkastub_journal` has them; those without frames are left
            out.
        tried: lock durations, in milliseconds.
        until_ms: records of `shares` that are later are not looked at; None: all of them are.
    """
    from pyspark.sql import functions as f

    tried = tuple(dict.fromkeys(tried))
    empty = spark.createDataFrame([], _FOUND_DDL)
    of_journal = empty if journal is None else _deliveries(journal, tried)
    of_log = empty
    if shares is not None:
        records = shares if until_ms is None else shares.where(f"log_ms is null or log_ms <= {until_ms}L")
        of_log = mapped(keyed(records), _Reader(tried), _FOUND_DDL)
    known = of_journal.select("group_id", "topic_id", "partition").distinct()
    found = of_journal.unionByName(of_log.join(known, ["group_id", "topic_id", "partition"], "left_anti"))
    names = [] if cluster is None else [(id_, name) for name, id_ in cluster.topic_ids.items()]
    return (
        found.join(f.broadcast(local_table(spark, names, "topic_id string, topic string")), "topic_id", "left")
        .withColumn("acquired_at", time_of(f.col("from_ms")))
        .withColumn("ended_at", time_of(f.col("until_ms")))
        .withColumn("expires_at", time_of(f.expr(f"if(outcome = '{EXPIRED}', from_ms + lock_duration_ms, null)")))
    )


def _deliveries(journal: DataFrame, tried: tuple[int, ...]) -> DataFrame:
    columns = "connection_id bigint", "response binary"
    return played(journal, APIS, columns, "request is not null", Group, _told, tried, (_FOUND, _FOUND_DDL))


def _told(group_id: str, deliveries: Iterable[Delivery], tried: Sequence[int]) -> Iterator[dict[str, Any]]:
    """The rows of a journal's deliveries."""
    others: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in deliveries:
        records = one.last_offset - one.first_offset + 1
        for lock_ms in tried:
            then, why = outcome(one, lock_ms)
            row: dict[str, Any] = {
                "lock_duration_ms": lock_ms,
                "group_id": group_id,
                "topic_id": str(uuid.UUID(one.topic_id)),
                "partition": one.partition,
                "recorded_lock_ms": one.hold.lock_ms,
                "recorded": one.recorded,
                "outcome": then,
                "changes": None if then == UNDECIDED or one.recorded is None else then != one.recorded,
                "why": why,
                "evidence": _JOURNAL,
            }
            if then == one.recorded != EXPIRED:
                key = tuple(row.values())
                so_far = others.setdefault(key, row | {"records": 0, "seconds": 0.0})
                so_far["records"] += records
                so_far["seconds"] = max(so_far["seconds"], one.most_ms / 1000)
                continue
            yield row | {
                "first_offset": one.first_offset,
                "last_offset": one.last_offset,
                "records": records,
                "member_id": one.hold.member_id,
                "delivery_count": one.hold.count,
                "from_ms": one.hold.broker_ms,
                "until_ms": one.until_ms,
                "seconds": one.most_ms / 1000,
            }
    yield from others.values()


class _Reader:
    """Runs in workers, over records that are sorted by share partition and place on the log."""

    def __init__(self, tried: tuple[int, ...]) -> None:
        self._tried = tried

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (row for batch in batches for row in batch.to_pylist())
        for place, records in groupby(rows, key=lambda row: (row["group_id"], row["topic_id"], row["partition"])):
            found = list(self._rows(place, records))
            if found:
                yield pa.RecordBatch.from_pylist(found, schema=_FOUND)

    def _rows(self, place: tuple[str, str, int], records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        sums: dict[tuple[int, bool, bool], list[float]] = {}
        for one in outcomes(records):
            for lock_ms in self._tried:
                decided = one.accepted and one.most_ms is not None and one.most_ms < lock_ms
                so_far = sums.setdefault((lock_ms, one.accepted, decided), [0, 0.0])
                so_far[0] += one.records
                so_far[1] = max(so_far[1], (one.most_ms or 0) / 1000)
        about = dict(zip(("group_id", "topic_id", "partition"), place, strict=True))
        for (lock_ms, accepted, decided), (count, seconds) in sums.items():
            yield about | {
                "lock_duration_ms": lock_ms,
                "records": int(count),
                "seconds": seconds if decided else None,
                "recorded": ACKNOWLEDGED if accepted else None,
                "outcome": ACKNOWLEDGED if decided else UNDECIDED,
                "changes": False if decided else None,
                "why": None if decided else _MAY_BE_LONG if accepted else _NOT_ACCEPTED,
                "evidence": _LOG,
            }

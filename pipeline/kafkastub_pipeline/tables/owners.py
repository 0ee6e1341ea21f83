"""`partition_owners`: who held which partition or task of a group with epochs, and when nobody did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from kafkastub_pipeline.cluster import Snapshot
from kafkastub_pipeline.here import mapped
from kafkastub_pipeline.owners import HOLDINGS, spans_of
from kafkastub_pipeline.roster import MEMBERS
from kafkastub_pipeline.session import local_table
from kafkastub_pipeline.tables.columns import time_of
from kafkastub_pipeline.tables.events import groups

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_READ: Final = "group_id", "log_ms", "log_offset", "record_type", "member_id", "tombstone", "topics", "modern"
_SPAN_DDL: Final = (
    "group_id string, group_type string, topic_id string, role string, subtopology string, `partition` int,"
    " member_id string, from_ms bigint, until_ms bigint, epoch int, cause string"
)
_SPAN: Final = pa.schema(
    [
        ("group_id", pa.string()),
        ("group_type", pa.string()),
        ("topic_id", pa.string()),
        ("role", pa.string()),
        ("subtopology", pa.string()),
        ("partition", pa.int32()),
        ("member_id", pa.string()),
        ("from_ms", pa.int64()),
        ("until_ms", pa.int64()),
        ("epoch", pa.int32()),
        ("cause", pa.string()),
    ]
)


def partition_owners(spark: SparkSession, records: DataFrame, cluster: Snapshot | None, now_ms: int) -> DataFrame:
    """A row a partition or task and owner, or time without one; with names of topics where the cluster tells them."""
    from pyspark.sql import functions as f

    ordered = (
        groups(records)
        .where(f"record_type in {(*HOLDINGS, *MEMBERS)}")
        .select(*_READ)
        .repartition("group_id")
        .sortWithinPartitions("group_id", "log_offset")
    )
    names = [] if cluster is None else [(id_, name) for name, id_ in cluster.topic_ids.items()]
    topics = f.broadcast(local_table(spark, names, "topic_id string, topic string"))
    return (
        mapped(ordered, _spans, _SPAN_DDL)
        .join(topics, "topic_id", "left")
        .withColumn("from_at", time_of(f.col("from_ms")))
        .withColumn("until", time_of(f.col("until_ms")))
        .withColumn("seconds", f.expr(f"greatest(coalesce(until_ms, {now_ms}L) - from_ms, 0L) / 1000D"))
    )


def _spans(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs in a worker over records of groups with epochs, sorted by group and log offset."""
    rows = (row for batch in batches for row in batch.to_pylist())
    for group_id, of_group in groupby(rows, key=lambda row: row["group_id"]):
        found = [{"group_id": group_id, **span._asdict(), **span.place._asdict()} for span in spans_of(of_group)]
        if found:
            yield pa.RecordBatch.from_pylist(found, schema=_SPAN)

"""`retention_whatif` and `deletion_audit`: each group's records, in the order of the log, through `GroupHistory`.

Records are sorted by group on the way to Python, so that a worker holds one group at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkastub_pipeline.history import Commit, Deletion, Event, Explained, GroupHistory
from kafkastub_pipeline.tables.columns import time_of
from kafkastub_pipeline.tables.events import OFFSETS, sound, subscription
from kafkawire.offsets_topic import RecordType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafkastub_pipeline.cluster import Snapshot

FINDING_DDL: Final = (
    "finding string, retention_minutes bigint, group_id string, what string, topic string, `partition` int,"
    " committed_offset bigint, commit_ms bigint, rule string, base_ms bigint, expires_ms bigint, deleted_ms bigint,"
    " came_back_ms bigint, reason string, evidence string, log_partition int, log_offset bigint"
)
FINDING: Final = pa.schema(
    [
        ("finding", pa.string()),
        ("retention_minutes", pa.int64()),
        ("group_id", pa.string()),
        ("what", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("committed_offset", pa.int64()),
        ("commit_ms", pa.int64()),
        ("rule", pa.string()),
        ("base_ms", pa.int64()),
        ("expires_ms", pa.int64()),
        ("deleted_ms", pa.int64()),
        ("came_back_ms", pa.int64()),
        ("reason", pa.string()),
        ("evidence", pa.string()),
        ("log_partition", pa.int32()),
        ("log_offset", pa.int64()),
    ]
)
_EVENT: Final = (
    *("group_id", "log_partition", "record_type", "tombstone", "log_ms", "log_offset", "topic", "partition", "by"),
    *("committed_offset", "commit_ms", "expire_ms"),
)
"""What a worker reads of every record."""
_STATE: Final = ("protocol_type", "empty", "state_ms", "subscribed")
"""And of a generation of a group."""
_ROWS: Final = 10_000
_CLOSE_MS: Final = 1000
"""A tombstone so soon after a request that deletes is its doing."""


def findings(records: DataFrame, journal: DataFrame | None, retentions: Sequence[int], profile: str) -> DataFrame:
    """What `GroupHistory` finds, one row each: `finding` is "deletion" or "tombstone"."""
    from pyspark.sql import functions as f

    metadata = int(RecordType.GROUP_METADATA)
    events = (
        sound(records)
        .where(f"record_type in {(*OFFSETS, metadata)}")
        .select(
            "group_id",
            "log_partition",
            "log_offset",
            "log_ms",
            "record_type",
            "tombstone",
            "topic",
            "partition",
            "committed_offset",
            "commit_ms",
            "expire_ms",
            f.expr("nullif(`group`.protocol_type, '')").alias("protocol_type"),
            f.expr("size(`group`.members) = 0").alias("empty"),
            f.expr("nullif(`group`.state_ms, -1L)").alias("state_ms"),
            subscription().alias("subscribed"),
        )
    )
    events = _blamed(events, journal).withColumn("at_ms", f.col("log_ms"))
    order = ["group_id", "log_offset"]
    if journal is not None:
        # a request comes before the records that it makes; those of one group never go back in time
        events = events.unionByName(_asked(journal, events), allowMissingColumns=True)
        order = ["group_id", "at_ms", "log_offset"]
    ordered = events.repartition("group_id").sortWithinPartitions(*order)
    return ordered.mapInArrow(_Explorer(tuple(retentions), profile == "kips"), FINDING_DDL)


def _blamed(events: DataFrame, journal: DataFrame | None) -> DataFrame:
    """Adds `by`: the API that the journal holds responsible for a tombstone.

    That is a request that succeeded, named what the tombstone is about, and came not long before it; of each key it
    deletes once, and nothing that was written after it.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    if journal is None:
        return events.withColumn("by", f.lit(None).cast("string"))
    # OffsetDelete answers NONE once for the whole, and once for each partition that is deleted
    successes = f.expr("aggregate(filter(errors, e -> e.code = 0), 0L, (n, e) -> n + e.count)")
    asked = journal.where("kind = 'request' and api in ('OffsetDelete', 'DeleteGroups', 'DeleteTopics')").where(
        successes > f.expr("if(api = 'OffsetDelete', 1L, 0L)")
    )
    asked = asked.select(
        "api",
        "sequence",
        f.expr("unix_millis(broker_time)").alias("asked_ms"),
        f.explode_outer("groups").alias("asked_group"),
        f.col("topics").alias("asked_topics"),
        f.col("partitions").alias("asked_partitions"),
    )
    key = "group_id", "topic", "partition"
    before = f.lag("log_ms", 1, -1).over(Window.partitionBy("log_partition", *key).orderBy("log_offset"))
    stones = (
        events.select(*key, "log_partition", "log_offset", "log_ms", "tombstone", before.alias("before_ms"))
        .where("tombstone")
        .withColumnRenamed("partition", "stone_partition")
    )
    close = f.expr(f"log_ms between asked_ms and asked_ms + {_CLOSE_MS} and before_ms <= asked_ms")
    fits = f.expr(
        "(api = 'DeleteGroups' and asked_group = group_id)"
        " or (api = 'DeleteTopics' and array_contains(asked_topics, topic))"
        " or (api = 'OffsetDelete' and asked_group = group_id"
        "     and exists(asked_partitions, p -> p.topic = topic and p.`partition` = stone_partition))"
    )
    blamed = (
        stones.join(f.broadcast(asked), close & fits)
        .groupBy("sequence", "api", "group_id", "topic", "stone_partition", "log_partition")
        .agg(f.min("log_offset").alias("log_offset"))
        .groupBy("log_partition", "log_offset")
        .agg(f.max_by("api", "sequence").alias("by"))
    )
    return events.join(blamed, ["log_partition", "log_offset"], "left")


def _asked(journal: DataFrame, events: DataFrame) -> DataFrame:
    """The journal's requests that delete, as events of the groups that they are about."""
    from pyspark.sql import functions as f

    asked = journal.where("kind = 'request' and outcome = 'reply'").withColumn(
        "at_ms", f.expr("unix_millis(broker_time)")
    )
    placed = {"log_offset": f.lit(-1).cast("bigint"), "log_ms": f.col("at_ms"), "by": f.col("api")}
    whole = asked.where("api = 'DeleteGroups'").select("api", "at_ms", f.explode("groups").alias("group_id"))
    single = (
        asked.where("api = 'OffsetDelete'")
        .select("api", "at_ms", f.explode("groups").alias("group_id"), "partitions")
        .select("api", "at_ms", "group_id", f.inline("partitions"))
    )
    topics = (
        asked.where("api = 'DeleteTopics'")
        .select("api", "at_ms", f.explode("topics").alias("topic"))
        .join(events.where("topic is not null").select("group_id", "topic").distinct(), "topic")
    )
    every = whole.unionByName(single, allowMissingColumns=True).unionByName(topics, allowMissingColumns=True)
    return every.withColumns(placed).drop("api")


class _Explorer:
    """Runs in a worker over records sorted by group and log offset."""

    def __init__(self, retentions: tuple[int, ...], kips: bool) -> None:
        self._retentions = retentions
        self._kips = kips

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found: list[dict[str, Any]] = []
        for row in self._rows(batches):
            found.append(row)
            if len(found) >= _ROWS:
                yield pa.RecordBatch.from_pylist(found, schema=FINDING)
                found = []
        if found:
            yield pa.RecordBatch.from_pylist(found, schema=FINDING)

    def _rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
        group_id: str | None = None
        log_partition = -1
        history: GroupHistory | None = None
        for batch in batches:
            for of_group, event_partition, event in _events(batch):
                if history is None or of_group != group_id:
                    if history is not None:
                        yield from (_shown(one, group_id, log_partition) for one in history.end())
                    group_id, history = of_group, GroupHistory(self._retentions, self._kips)
                log_partition = event_partition
                for one in history.see(event):
                    yield _shown(one, group_id, log_partition)
        if history is not None:
            yield from (_shown(one, group_id, log_partition) for one in history.end())


def _events(batch: pa.RecordBatch) -> Iterator[tuple[str, int, Event]]:
    """Group, partition of the log (-1 for a request) and event of each row."""
    types, tombstones = batch.column("record_type"), batch.column("tombstone")
    generations = pc.and_(pc.equal(types, int(RecordType.GROUP_METADATA)), pc.invert(tombstones))
    states = _rows_of(batch.filter(pc.fill_null(generations, False)), _STATE)
    for group, log_partition, type_, tombstone, at, log_offset, topic, partition, by, *commit in _rows_of(
        batch, _EVENT
    ):
        if type_ is None:
            yield group, -1, Event("asked", at, -1, topic, partition, by=by)
        elif tombstone:
            kind = "offset tombstone" if type_ in OFFSETS else "group tombstone"
            yield group, log_partition, Event(kind, at, log_offset, topic, partition, by=by)
        elif type_ in OFFSETS:
            yield group, log_partition, Event("commit", at, log_offset, topic, partition, Commit(*commit))
        else:
            protocol_type, empty, since, topics = next(states)
            subscribed = None if topics is None else frozenset(topics)
            state = Event(
                "group", at, log_offset, None, None, None, None, protocol_type, bool(empty), since, subscribed
            )
            yield group, log_partition, state


def _rows_of(batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(batch.column(name).to_pylist() for name in names), strict=True)


def _shown(one: Deletion | Explained, group_id: str | None, log_partition: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "group_id": group_id,
        "topic": one.topic,
        "partition": one.partition,
        "rule": one.expiry.rule,
        "base_ms": one.expiry.base,
        "expires_ms": one.expiry.at,
    }
    if one.commit is not None:
        row.update(committed_offset=one.commit.offset, commit_ms=one.commit.at)
    if isinstance(one, Deletion):
        row.update(
            finding="deletion",
            retention_minutes=one.retention_minutes,
            deleted_ms=one.deleted_at,
            came_back_ms=one.came_back_at,
        )
    else:
        row.update(
            finding="tombstone",
            what=one.what,
            deleted_ms=one.at,
            reason=one.reason,
            evidence=one.evidence,
            log_partition=log_partition,
            log_offset=one.log_offset,
        )
    return row


def retention_whatif(found: DataFrame, watermarks: DataFrame, now_ms: int) -> DataFrame:
    from pyspark.sql import functions as f

    return (
        found.where("finding = 'deletion'")
        .join(watermarks, ["topic", "partition"], "left")
        .withColumn("commit_timestamp", time_of(f.col("commit_ms")))
        .withColumn("base_timestamp", time_of(f.col("base_ms")))
        .withColumn("deleted_at", time_of(f.col("deleted_ms")))
        .withColumn("already", f.expr(f"deleted_ms <= {now_ms}L"))
        .withColumn("lag_then", f.expr("greatest(high_watermark - committed_offset, 0L)"))
        .withColumn("came_back", f.expr("came_back_ms is not null"))
        .withColumn("came_back_at", time_of(f.col("came_back_ms")))
        .withColumn("lag_then", f.expr("if(high_watermark is null, null, lag_then)"))
        .withColumn(
            "replayed_on_earliest",
            f.expr("if(log_start_offset is null, null, greatest(committed_offset - log_start_offset, 0L))"),
        )
        .withColumn("skipped_on_latest", f.col("lag_then"))
    )


def deletion_audit(found: DataFrame, cluster: Snapshot | None) -> DataFrame:
    """Where no journal says who deleted, the log tells it by what else went at the same time."""
    from pyspark.sql import functions as f

    stones = found.where("finding = 'tombstone'")
    groups = stones.where("what = 'group'").select("group_id", "deleted_ms", f.lit(True).alias("with_group")).distinct()
    topics = (
        stones.where("reason = 'deletion'")
        .groupBy("topic", "deleted_ms")
        .agg((f.countDistinct("group_id") > 1).alias("of_many_groups"))
    )
    missing = f.lit(False) if cluster is None else ~f.col("topic").isin(sorted(cluster.topics))
    named = (
        stones.join(groups, ["group_id", "deleted_ms"], "left")
        .join(topics, ["topic", "deleted_ms"], "left")
        .withColumn(
            "reason",
            f.when(f.col("reason") != "deletion", f.col("reason"))
            .when(f.col("with_group"), "DeleteGroups")
            .when(f.col("of_many_groups") | missing, "topic deletion")
            .otherwise("OffsetDelete"),
        )
    )
    deleted = (
        named.where("what = 'offset' and reason = 'DeleteGroups'")
        .select("group_id", "deleted_ms", f.lit(True).alias("deleted_whole"))
        .distinct()
    )
    return (
        named.join(deleted, ["group_id", "deleted_ms"], "left")
        .withColumn(
            "reason",
            f.when(f.expr("what = 'group' and reason = 'no offsets left' and deleted_whole"), "DeleteGroups").otherwise(
                f.col("reason")
            ),
        )
        .withColumn("commit_timestamp", time_of(f.col("commit_ms")))
        .withColumn("base_timestamp", time_of(f.col("base_ms")))
        .withColumn("expires_at", time_of(f.col("expires_ms")))
        .withColumn("deleted_at", time_of(f.col("deleted_ms")))
        .withColumn("predicted", f.expr("reason in ('expiry', 'no offsets left')"))
        .withColumn("late_ms", f.expr("deleted_ms - expires_ms"))
    )

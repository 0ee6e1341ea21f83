"""What `retention_whatif` and `deletion_audit` are made of: each group's records through `GroupHistory`.

Records are sorted by group and the order of the log on the way to Python, so that a worker holds one group at a time.
Commits on which nothing hangs (`thinning`) are left out before they are played; groups that are too large for one task
are thinned in pieces before (`large_groups`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkastub_pipeline.here import mapped
from kafkastub_pipeline.history import NOBODY, Commit, Deletion, Event, Explained, GroupHistory
from kafkastub_pipeline.roster import HEADS, SUBSCRIBERS, Part
from kafkastub_pipeline.tables.events import OFFSETS, sound, subscription
from kafkastub_pipeline.tables.large_groups import evened
from kafkastub_pipeline.tables.thinning import Thinner
from kafkawire.offsets_topic import RecordType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FINDING_DDL: Final = (
    "finding string, retention_minutes bigint, group_id string, what string, topic string, `partition` int,"
    " committed_offset bigint, commit_ms bigint, rule string, base_ms bigint, expires_ms bigint, deleted_ms bigint,"
    " came_back_ms bigint, reason string, evidence string, log_partition int, log_offset bigint, topic_id string,"
    " due_ms bigint, since_ms bigint, protected boolean"
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
        ("topic_id", pa.string()),
        ("due_ms", pa.int64()),
        ("since_ms", pa.int64()),
        ("protected", pa.bool_()),
    ]
)
_EVENT: Final = (
    *("group_id", "log_partition", "record_type", "tombstone", "log_ms", "log_offset", "topic", "partition", "by"),
    *("committed_offset", "commit_ms", "expire_ms"),
)
"""What a worker reads of every record, beside the topic's id."""
_STATE: Final = ("protocol_type", "empty", "state_ms", "subscribed", "member_id")
"""And of every record about a group."""
_GROUPS: Final = (int(RecordType.GROUP_METADATA), *HEADS, *SUBSCRIBERS)
_GROUP_TYPES: Final = pa.array(_GROUPS, pa.int16())
_ROWS: Final = 10_000
CLOSE_MS: Final = 1000
"""A tombstone so soon after a request that deletes is its doing."""
_DELETES: Final = "api in ('OffsetDelete', 'DeleteGroups', 'DeleteTopics')"


def findings(
    records: DataFrame,
    journal: DataFrame | None,
    retentions: Sequence[int],
    profile: str,
    broker_minutes: int | None = None,
) -> DataFrame:
    """What `GroupHistory` finds, one row each: `finding` is "deletion" or "tombstone".

    Beside them, for each topic, rows "alive": `since_ms` is when the oldest of the offsets came that the log leaves;
    and for each topic and id, rows "id": `deleted_ms` is when an offset was last committed to it.

    Args:
        retentions: those to try, in minutes.
        broker_minutes: the broker's own; the first of the others where it is not known.
    """
    from pyspark.sql import functions as f

    events = (
        sound(records)
        .where(f"record_type in {(*OFFSETS, *_GROUPS)}")
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
            "topic_id",
            "member_id",
            f.expr("nullif(`group`.protocol_type, '')").alias("protocol_type"),
            f.expr("size(`group`.members) = 0").alias("empty"),
            f.expr("nullif(`group`.state_ms, -1L)").alias("state_ms"),
            subscription().alias("subscribed"),
        )
    )
    events = _blamed(events, journal)
    order = ["group_id", "log_offset"]
    if journal is not None:
        # a request comes before the records that it makes; those of one group never go back in time
        placed = events.withColumn("at_ms", f.col("log_ms"))
        events = placed.unionByName(_asked(journal, events), allowMissingColumns=True)
        order = ["group_id", "at_ms", "log_offset"]
    events = evened(events, records, order[1:], retentions)
    ordered = events.repartition("group_id").sortWithinPartitions(*order)
    return mapped(ordered, _Explorer(tuple(retentions), profile == "kips", broker_minutes), FINDING_DDL)


def _blamed(events: DataFrame, journal: DataFrame | None) -> DataFrame:
    """Adds `by`: the API that the journal holds responsible for a tombstone.

    That is a request that succeeded, named what the tombstone is about, and came not long before it; of each key it
    deletes once, and nothing that was written after it. `NOBODY` where the journal would have the request.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    if journal is None:
        return events.withColumn("by", f.lit(None).cast("string"))
    # OffsetDelete answers NONE once for the whole, and once for each partition that is deleted
    successes = f.expr("aggregate(filter(errors, e -> e.code = 0), 0L, (n, e) -> n + e.count)")
    asked = journal.where(f"kind = 'request' and {_DELETES}").where(
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
    key = "group_id", "topic", "partition", "kind", "member_id"
    events = events.withColumn("kind", f.expr(f"if(record_type in {OFFSETS}, -1, int(record_type))"))
    before = f.lag("log_ms", 1, -1).over(Window.partitionBy("log_partition", *key).orderBy("log_offset"))
    stones = (
        events.select(*key, "log_partition", "log_offset", "log_ms", "tombstone", before.alias("before_ms"))
        .where("tombstone")
        .withColumnRenamed("partition", "stone_partition")
    )
    close = f.expr(f"log_ms between asked_ms and asked_ms + {CLOSE_MS} and before_ms <= asked_ms")
    fits = f.expr(
        "(api = 'DeleteGroups' and asked_group = group_id)"
        " or (api = 'DeleteTopics' and array_contains(asked_topics, topic))"
        " or (api = 'OffsetDelete' and asked_group = group_id"
        "     and exists(asked_partitions, p -> p.topic = topic and p.`partition` = stone_partition))"
    )
    blamed = (
        stones.join(f.broadcast(asked), close & fits)
        .groupBy("sequence", "api", "group_id", "topic", "stone_partition", "kind", "member_id", "log_partition")
        .agg(f.min("log_offset").alias("log_offset"))
        .groupBy("log_partition", "log_offset")
        .agg(f.max_by("api", "sequence").alias("by"))
    )
    nobody = f.expr(
        f"by is null and tombstone and whole and log_ms between first_ms and last_ms"
        f" and not exists(doubtful, ms -> log_ms between ms and ms + {CLOSE_MS})"
    )
    return (
        events.join(blamed, ["log_partition", "log_offset"], "left")
        .crossJoin(f.broadcast(_reach(journal)))
        .withColumn("by", f.when(nobody, NOBODY).otherwise(f.col("by")))
        .drop("kind", "whole", "first_ms", "last_ms", "doubtful")
    )


def _reach(journal: DataFrame) -> DataFrame:
    """One row: which time the journal covers, whether without a gap, and when requests came that may have deleted.

    Of those the answer is not known: the connection ended, or a fault took it away.
    """
    from pyspark.sql import functions as f

    at = f.expr("unix_millis(broker_time)")
    doubtful = f.expr(f"kind = 'request' and {_DELETES} and outcome <> 'reply'")
    return journal.agg(
        f.expr("count(*) = max(sequence) - min(sequence) + 1 and count(*) = count(distinct sequence)").alias("whole"),
        f.min(at).alias("first_ms"),
        f.max(at).alias("last_ms"),
        f.collect_list(f.when(doubtful, at)).alias("doubtful"),
    )


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

    def __init__(self, retentions: tuple[int, ...], kips: bool, broker_minutes: int | None) -> None:
        self._retentions = retentions
        self._kips = kips
        self._broker_minutes = broker_minutes
        self._thinner = Thinner(retentions)
        self._since: dict[str, int] = {}
        """Topic to the oldest of its offsets that the log leaves."""
        self._committed: dict[tuple[str, str], int] = {}
        """Topic and id to the last commit."""

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
        for batch in self._thinner(self._seen(batches)):
            for of_group, event_partition, event in _events(batch):
                if history is None or of_group != group_id:
                    if history is not None:
                        yield from self._ended(history, group_id, log_partition)
                    history = GroupHistory(self._retentions, self._kips, self._broker_minutes)
                    group_id, log_partition = of_group, -1
                log_partition = max(log_partition, event_partition)  # a request is on none
                for one in history.see(event):
                    yield _shown(one, group_id, log_partition)
        if history is not None:
            yield from self._ended(history, group_id, log_partition)
        for topic, since in self._since.items():
            yield {"finding": "alive", "topic": topic, "since_ms": since}
        for (topic, id_), at in self._committed.items():
            yield {"finding": "id", "topic": topic, "topic_id": id_, "deleted_ms": at}

    def _ended(self, history: GroupHistory, group_id: str | None, log_partition: int) -> Iterator[dict[str, Any]]:
        for one in history.end():
            yield _shown(one, group_id, log_partition)
        for topic, since in history.alive():
            self._since[topic] = min(since, self._since.get(topic, since))

    def _seen(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            self._see_ids(batch)
            yield batch

    def _see_ids(self, batch: pa.RecordBatch) -> None:
        named = pa.table({name: batch.column(name) for name in ("topic", "topic_id", "log_ms")})
        named = named.filter(pc.is_valid(named["topic_id"]))
        last = named.group_by(["topic", "topic_id"]).aggregate([("log_ms", "max")])
        for topic, id_, at in _rows_of(last, ("topic", "topic_id", "log_ms_max")):
            self._committed[topic, id_] = max(at, self._committed.get((topic, id_), at))


def _events(batch: pa.RecordBatch) -> Iterator[tuple[str, int, Event]]:
    """Group, partition of the log (-1 for a request) and event of each row."""
    states = _rows_of(batch.filter(pc.fill_null(pc.is_in(batch.column("record_type"), _GROUP_TYPES), False)), _STATE)
    ids = _shared(batch.column("topic_id"))
    for row, topic_id in zip(_rows_of(batch, _EVENT), ids, strict=True):
        group, log_partition, type_, tombstone, at, log_offset, topic, partition, by, offset, committed, expires = row
        if type_ is None:
            yield group, -1, Event("asked", at, -1, topic, partition, by=by)
        elif type_ in OFFSETS:
            if tombstone:
                yield group, log_partition, Event("offset tombstone", at, log_offset, topic, partition, by=by)
            else:
                commit = Commit(offset, committed, expires, topic_id)
                yield group, log_partition, Event("commit", at, log_offset, topic, partition, commit)
        else:
            yield group, log_partition, _of_group(type_, tombstone, at, log_offset, by, *next(states))


def _of_group(
    type_: int,
    tombstone: bool,
    at: int,
    log_offset: int,
    by: str | None,
    protocol_type: str | None,
    empty: bool | None,
    since: int | None,
    topics: list[str] | None,
    member_id: str | None,
) -> Event:
    if type_ != int(RecordType.GROUP_METADATA):
        part = Part(type_, member_id, tombstone, tuple(topics or ()))
        return Event("part", at, log_offset, by=by, part=part)
    if tombstone:
        return Event("group tombstone", at, log_offset, by=by)
    subscribed = None if topics is None else frozenset(topics)
    return Event("group", at, log_offset, None, None, None, None, protocol_type, bool(empty), since, subscribed)


def _shared(texts: pa.Array) -> Iterator[str | None]:
    """A column of few different texts, each of which is made once."""
    encoded = texts.dictionary_encode()
    different = encoded.dictionary.to_pylist()
    for index in encoded.indices.to_pylist():
        yield None if index is None else different[index]


def _rows_of(batch: pa.RecordBatch | pa.Table, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
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
        row.update(committed_offset=one.commit.offset, commit_ms=one.commit.at, topic_id=one.commit.topic_id)
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
            due_ms=one.due,
            since_ms=one.since,
            protected=one.protected,
        )
    return row

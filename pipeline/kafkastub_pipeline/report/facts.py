"""What the page says, asked of the tables: sums and short lists, however large the tables are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from kafkastub_pipeline.errors import PipelineError, sentence
from kafkastub_pipeline.report.more_facts import of_findings, of_guarantees, of_held, of_timeouts, of_transactions
from kafkastub_pipeline.tables.columns import TABLES
from kafkastub_pipeline.write import Store, newest_day

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DAYS_AHEAD: Final = 30
GROUPS: Final = 20
"""So many groups are shown where only the first can be."""
TIMELINE_GROUPS: Final = 24
TIMELINE_EVENTS: Final = 5000
COMMANDS: Final = 200
EXAMPLES: Final = 15
CELLS: Final = 5000
TIMEOUTS: Final = {
    "session_whatif": ("timeout_ms", "session"),
    "transaction_whatif": ("timeout_ms", "transaction"),
    "lock_whatif": ("lock_duration_ms", "record lock"),
}
"""Tables of other timeouts: the column of what was tried, and whose timeout it is."""
DAY_MS: Final = 86_400_000

Row = dict[str, Any]


@dataclass
class Facts:
    """What was found; a section is None where its table is missing, and empty lists where it is empty.

    Attributes:
        tables: name, rows, `as_of` and `complete_since` of each table; rows None where it is missing. `newest` is then
            its newest day, where it has any; `unclear` whether it may as well have been made, and be empty.
        day: of tables by days; None where they are of one run.
        as_of: the newest moment that a table is about.
        moments: how many there are: tables of several runs are not about the same.
        coverage_cells: how many there are of which `coverage` has the first.
    """

    source: str
    made: datetime
    tables: list[Row] = field(default_factory=list)
    as_of: datetime | None = None
    moments: int = 0
    day: date | None = None
    current: Row | None = None
    expiry: Row | None = None
    whatif: list[Row] | None = None
    lag: Row | None = None
    stale: Row | None = None
    timeline: Row | None = None
    coverage: list[Row] | None = None
    coverage_cells: int = 0
    audit: list[Row] | None = None
    errors: Row | None = None
    shares: Row | None = None
    transactions: Row | None = None
    held: Row | None = None
    guarantees: Row | None = None
    findings: Row | None = None
    timeouts: list[Row] | None = None


def gathered(spark: SparkSession, source: str, day: date | None = None) -> Facts:
    """Ask the tables in a directory. Raises PipelineError: none there, or one that cannot be read.

    Args:
        day: of tables by days; None for the newest.
    """
    tables = _Tables(spark, source, day)
    facts = Facts(source, datetime.now(UTC), day=tables.day)
    facts.tables = [tables.summary(name) for name in TABLES]
    if all(one["rows"] is None for one in facts.tables):
        raise PipelineError(f"there are no tables in {source}; make them with `kafkastub-pipeline run --out {source}`")
    moments = [one["as_of"] for one in facts.tables if one["as_of"] is not None]
    facts.as_of, facts.moments = max(moments, default=None), len(set(moments))
    facts.current = tables.ask("offset_current", _current)
    lags = tables.frame("lag")
    facts.expiry = tables.ask("expiry_forecast", lambda frame: _expiry(frame, lags))
    facts.whatif = tables.ask("retention_whatif", _whatif)
    facts.lag = tables.ask("lag", _lag)
    facts.stale = tables.ask("stale_offsets", _stale)
    facts.timeline = tables.ask("group_timeline", _timeline)
    facts.coverage, facts.coverage_cells = tables.ask("protocol_coverage", _coverage) or (None, 0)
    facts.audit = tables.ask("deletion_audit", _audit)
    facts.errors = tables.ask("decode_errors", _errors)
    facts.shares = tables.ask("share_partitions", _shares)
    facts.transactions = tables.ask("transactions", of_transactions)
    facts.held = tables.ask("held_partitions", of_held)
    facts.guarantees = tables.ask("guarantees", of_guarantees)
    facts.findings = tables.ask("findings", of_findings)
    for table, (tried, what) in TIMEOUTS.items():
        rows = tables.ask(table, partial(of_timeouts, tried=tried, what=what))
        if rows is not None:
            facts.timeouts = [*(facts.timeouts or []), *rows]
    return facts


class _Tables:
    def __init__(self, spark: SparkSession, source: str, day: date | None) -> None:
        self._source = source
        self._store = Store(spark, source)
        self.day = self._store.day = newest_day(self._store, TABLES, day)
        self._unclear: set[str] = set()

    def frame(self, name: str) -> DataFrame | None:
        """A table, whatever its format is; None where it, or its day, is not there, or may not be."""
        return self._store.read(name) if name not in self._unclear and self._store.has(name) else None

    def ask(self, name: str, question: Callable[[DataFrame], Any]) -> Any:
        frame = self.frame(name)
        if frame is None:
            return None
        try:
            return question(frame)
        except Exception as error:
            raise PipelineError(
                f"the table {name} in {self._source} cannot be read: {sentence(error)}; make it again with"
                " `kafkastub-pipeline run`"
            ) from error

    def summary(self, name: str) -> Row:
        asked = (
            "count(*) as rows",
            "unix_millis(max(as_of)) as as_of",
            "unix_millis(max(complete_since)) as complete_since",
        )
        found = self.ask(name, lambda frame: _rows(frame.selectExpr(*asked))[0])
        if found is not None and not found["rows"] and not self._store.keeps_empty(name):
            self._unclear.add(name)
            found = None
        if found is not None:
            return {"name": name} | _times(found, "as_of", "complete_since")
        newest = None if self.day is None else newest_day(self._store, [name])
        gone = dict.fromkeys(("rows", "as_of", "complete_since"))
        return {"name": name, "newest": newest, "unclear": name in self._unclear} | gone


def moment(milliseconds: int | None) -> datetime | None:
    """Broker milliseconds as an aware datetime, as far as Python has them (to the year 9999)."""
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(min(milliseconds, 253_402_300_799_000) / 1000, UTC)


def _rows(frame: DataFrame) -> list[Row]:
    return [row.asDict(recursive=True) for row in frame.collect()]


def _first(frame: DataFrame, most: int) -> tuple[list[Row], int]:
    """So many rows, and how many there are: they are counted only where there are more."""
    rows = _rows(frame.limit(most + 1))
    return (rows, len(rows)) if len(rows) <= most else (rows[:most], frame.count())


def _times(row: Row, *names: str) -> Row:
    return row | {name: moment(row[name]) for name in names}


def _current(frame: DataFrame) -> Row:
    asked = "count(*) as offsets", "count(distinct group_id) as groups", "count(distinct topic) as topics"
    return _rows(frame.selectExpr(*asked))[0]


def _expiry(frame: DataFrame, lags: DataFrame | None) -> Row:
    """Offsets by UTC day (0: the rest of today) and rule, those that stay by what keeps them, and the groups that are
    first."""
    from pyspark.sql import functions as f

    dated = frame.withColumn("ms", f.expr("unix_millis(expires_at)")).withColumn("now", f.expr("unix_millis(as_of)"))
    day = f"int(least(floor(ms / {DAY_MS}) - floor(now / {DAY_MS}), {DAYS_AHEAD}))"
    by_day = dated.where("ms > now").groupBy(f.expr(day).alias("day"), "rule").agg(f.count("*").alias("offsets"))
    kept = dated.where("ms is null").groupBy("blocked_by").agg(f.count("*").alias("offsets")).orderBy(f.desc("offsets"))
    coming = dated.where("ms is not null")
    first = (
        coming.groupBy("group_id")
        .agg(
            f.count("*").alias("offsets"),
            f.min("ms").alias("first"),
            f.max("ms").alias("last"),
            f.min("rule").alias("rule"),
        )
        .orderBy("first", "group_id")
        .limit(EXAMPLES)
    )
    if lags is not None:
        places = coming.select("group_id", "topic", "partition")
        going = lags.join(places, ["group_id", "topic", "partition"])
        behind = going.groupBy("group_id").agg(f.sum(f.expr("greatest(lag_records, 0L)")).alias("lag_records"))
        first = first.join(behind, "group_id", "left").orderBy("first", "group_id")
    counted = _rows(
        dated.selectExpr(
            "count_if(ms <= now) as overdue",
            f"count_if(ms > now and ms <= now + {DAY_MS}) as in_a_day",
            f"count_if(ms > now and ms <= now + {7 * DAY_MS}) as in_a_week",
            "count(*) as offsets",
            "count(distinct if(ms is null, null, group_id)) as groups",
            "max(retention_minutes) as retention_minutes",
            "max(now) as as_of",
        )
    )[0]
    return _times(counted, "as_of") | {
        "by_day": _rows(by_day),
        "kept": _rows(kept),
        "first": [_times(row, "first", "last") for row in _rows(first)],
    }


def _whatif(frame: DataFrame) -> list[Row]:
    from pyspark.sql import functions as f

    gone = "already and not came_back"
    asked = frame.groupBy("retention_minutes").agg(
        f.expr("count_if(already)").alias("deleted"),
        f.expr("count(distinct if(already, group_id, null))").alias("groups"),
        f.expr("count_if(already and came_back)").alias("came_back"),
        f.expr("sum(if(already and came_back, replayed_on_earliest, 0))").alias("replayed"),
        f.expr("sum(if(already and came_back, skipped_on_latest, 0))").alias("skipped"),
        f.expr(f"count_if({gone})").alias("never_back"),
        f.expr("count_if(not already)").alias("to_come"),
    )
    return _rows(asked.orderBy(f.expr("if(retention_minutes < 0, null, retention_minutes)").asc_nulls_last()))


def _lag(frame: DataFrame) -> Row:
    from pyspark.sql import functions as f

    groups = (
        frame.groupBy("group_id")
        .agg(
            f.sum(f.expr("greatest(lag_records, 0L)")).alias("records"),
            f.max("lag_seconds").alias("seconds"),
            f.max_by("lag_method", "lag_seconds").alias("method"),
            f.count("*").alias("offsets"),
            f.expr("count_if(data_lost)").alias("data_lost"),
            f.expr("count_if(topic_recreated)").alias("recreated"),
        )
        .where("records > 0")
        .orderBy(f.desc("records"), "group_id")
        .limit(GROUPS)
    )
    counted = frame.selectExpr(
        "count(lag_records) as known",
        "count_if(lag_records > 0) as behind",
        "count(distinct if(lag_records > 0, group_id, null)) as groups_behind",
        "sum(greatest(lag_records, 0L)) as records",
        "count_if(data_lost) as data_lost",
        "count_if(topic_recreated) as recreated",
        "count_if(topic_missing) as missing",
    )
    methods = frame.where("lag_method is not null").groupBy("lag_method").agg(f.count("*").alias("offsets"))
    return _rows(counted)[0] | {"groups": _rows(groups), "methods": _rows(methods.orderBy(f.desc("offsets")))}


def _stale(frame: DataFrame) -> Row:
    from pyspark.sql import functions as f

    counted = frame.selectExpr(
        "count(*) as offsets",
        "count(distinct group_id) as groups",
        "count_if(deletable) as deletable",
        "count(deletable) as told",
        "sum(if(why = 'unsubscribed', greatest(lag_records, 0L), 0L)) as lag_records",
        "min(if(why in ('empty group', 'simple group'), unix_millis(as_of) - unix_millis(unused_since), null)) / 1000"
        " as unused",
    )
    largest = frame.groupBy("group_id").agg(f.count("*").alias("all")).orderBy(f.desc("all"), "group_id").limit(GROUPS)
    groups = frame.join(largest, "group_id").groupBy("group_id", "all", "why").agg(f.count("*").alias("offsets"))
    deletable = frame.where("deletable and command is not null").groupBy("group_id", "topic")
    commands = (
        deletable.agg(
            f.array_sort(f.collect_set("partition")).alias("partitions"),
            f.min("command").alias("command"),
            f.expr("bool_and(why = 'unsubscribed')").alias("live"),
        )
        .orderBy(f.desc("live"), "group_id", "topic")
        .limit(COMMANDS)
    )
    refused = (
        frame.where("not deletable")
        .groupBy("error", "why")
        .agg(f.count("*").alias("offsets"), f.countDistinct("group_id").alias("groups"))
    )
    return _rows(counted)[0] | {
        "by_group": _rows(groups.orderBy(f.desc("all"), "group_id", "why")),
        "commands": _rows(commands),
        "command_places": deletable.agg(f.lit(1)).count(),
        "refused": _rows(refused.orderBy(f.desc("offsets"))),
    }


def _timeline(frame: DataFrame) -> Row:
    from pyspark.sql import functions as f

    alive = frame.where("state <> 'Dead'")  # simple groups have nothing but ends
    busiest = alive.groupBy("group_id").agg(f.count("*").alias("events")).orderBy(f.desc("events"), "group_id")
    events = (
        frame.join(busiest.limit(TIMELINE_GROUPS), "group_id")
        .select(
            "group_id",
            "events",
            f.expr("unix_millis(at)").alias("at"),
            f.expr("unix_millis(until)").alias("until"),
            f.expr("unix_millis(as_of)").alias("now"),
            "state",
            "generation",
            "members",
            "cause",
        )
        .orderBy(f.desc("at"))
    )
    shown, all_of_them = _first(events, TIMELINE_EVENTS)
    causes = frame.groupBy("cause").agg(f.count("*").alias("events"), f.countDistinct("group_id").alias("groups"))
    return {
        "groups": alive.select("group_id").distinct().count(),
        "events": shown,
        "all_events": all_of_them,
        "causes": _rows(causes.orderBy(f.desc("events"))),
    }


def _coverage(frame: DataFrame) -> tuple[list[Row], int]:
    from pyspark.sql import functions as f

    cells = frame.groupBy("api", "api_key", "api_version", "error_code", "error").agg(
        f.sum("requests").alias("requests"),
        f.max("advertised").alias("advertised"),
        f.max("exercised").alias("exercised"),
        f.array_sort(f.array_distinct(f.flatten(f.collect_list("clients")))).alias("clients"),
    )
    return _first(cells.orderBy("api_key", "api_version", "error_code"), CELLS)


def _audit(frame: DataFrame) -> list[Row]:
    from pyspark.sql import functions as f

    asked = frame.groupBy("what", "reason", "evidence").agg(
        f.count("*").alias("tombstones"),
        f.expr("count_if(predicted)").alias("predicted"),
        f.expr("percentile_approx(if(reason = 'expiry', late_ms, null), 0.5)").alias("median_late_ms"),
        f.expr("max(if(reason = 'expiry', late_ms, null))").alias("max_late_ms"),
    )
    return _rows(asked.orderBy("what", f.desc("tombstones")))


def _shares(frame: DataFrame) -> Row:
    """Share groups: what is behind, what is in flight, and what was given up; those that are most behind."""
    from pyspark.sql import functions as f

    sums = "partitions", "lag_records", "in_flight", "given_up", "redelivered", "archiving"
    asked = (
        frame.withColumn("in_flight", f.expr("available + archiving"))
        .groupBy("group_id")
        .agg(
            f.count("*").alias("partitions"),
            f.sum("lag_records").alias("lag_records"),
            f.sum("in_flight").alias("in_flight"),
            f.sum("given_up").alias("given_up"),
            f.sum("redelivered").alias("redelivered"),
            f.sum("archiving").alias("archiving"),
            f.max("max_delivery_count").alias("max_delivery_count"),
            f.sum("undecoded").alias("undecoded"),
        )
    )
    counted = asked.agg(f.count("*").alias("groups"), *(f.sum(name).alias(name) for name in (*sums, "undecoded")))
    first = asked.orderBy(f.desc_nulls_last("lag_records"), "group_id").limit(GROUPS)
    return _rows(counted)[0] | {"by_group": _rows(first)}


def _errors(frame: DataFrame) -> Row:
    from pyspark.sql import functions as f

    reasons = frame.groupBy("reason").agg(
        f.count("*").alias("records"),
        f.expr("min_by(struct(log_partition, log_offset), log_offset)").alias("example"),
        f.expr("min_by(hex(substring(key, 1, 24)), log_offset)").alias("key"),
    )
    shown, all_of_them = _first(reasons.orderBy(f.desc("records"), "reason"), EXAMPLES)
    return {"records": frame.count(), "reasons": shown, "all_reasons": all_of_them}

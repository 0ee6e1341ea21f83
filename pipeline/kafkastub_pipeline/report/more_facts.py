"""What the page says of transactions, guarantees, findings and other timeouts, asked of their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Row = dict[str, Any]
SHOWN: Final = 20
"""So many are shown where only the first can be."""


def of_transactions(frame: DataFrame) -> Row:
    """How many there are by what became of them, and those that are open, the longest first."""
    unfinished = frame.where("completed_at is null")
    counted = frame.selectExpr(
        "count(*) as transactions",
        "count_if(status = 'open') as open",
        "count_if(hanging) as hanging",
        "count_if(status = 'aborted') as aborted",
        "max(if(completed_at is null, null, seconds)) as longest",
    )
    first = unfinished.select("transactional_id", "status", "seconds", "timeout_ms", "hanging", "producer_id")
    return _rows(counted)[0] | {"first": _rows(first.orderBy("seconds", ascending=False).limit(SHOWN))}


def of_held(frame: DataFrame) -> Row:
    """Partitions that are held back, those that hang and those with most records first."""
    from pyspark.sql import functions as f

    names = "topic", "partition", "last_stable_offset", "records_held", "transactional_id", "seconds", "hanging"
    first = frame.select(*names).orderBy(f.desc_nulls_last("hanging"), f.desc("records_held"), "topic", "partition")
    counted = frame.selectExpr(
        "count(*) as partitions", "coalesce(sum(records_held), 0L) as records", "count_if(hanging) as hanging"
    )
    return _rows(counted)[0] | {"first": _rows(first.limit(SHOWN))}


def of_guarantees(frame: DataFrame) -> Row:
    """How many findings and notices there are, by guarantee, and the first findings."""
    by_name = frame.groupBy("guarantee", "verdict").count().orderBy("verdict", "guarantee")
    findings = frame.where("verdict = 'finding'")
    names = "guarantee", "group_id", "topic", "partition", "cause", "entries"
    return {
        "findings": findings.count(),
        "by_name": _rows(by_name),
        "first": _rows(findings.select(*names).orderBy("happened_at").limit(SHOWN)),
    }


def _rows(frame: DataFrame) -> list[Row]:
    return [row.asDict(recursive=True) for row in frame.collect()]


def of_findings(frame: DataFrame) -> Row:
    """Storms and rates: how many, and the worst of each kind, a row a group."""
    from pyspark.sql import functions as f

    worst = (
        frame.groupBy("finding", "group_id")
        .agg(
            f.count("*").alias("times"),
            f.sum("count").alias("count"),
            f.max("peak").alias("peak"),
            f.max("threshold").alias("threshold"),
            f.unix_millis(f.max("until")).alias("until"),
            f.max_by("evidence", "peak").alias("evidence"),
        )
        .withColumn("excess", f.expr("peak / threshold"))
    )
    first = worst.orderBy(f.desc("finding"), f.desc("excess"), "group_id").limit(SHOWN)
    counted = frame.agg(
        f.expr("count_if(finding = 'rebalance_storm')").alias("storms"),
        f.expr("count_if(finding = 'commit_rate')").alias("rates"),
    )
    return _rows(counted)[0] | {"groups": worst.count(), "first": _rows(first)}


def of_timeouts(frame: DataFrame, tried: str, what: str) -> list[Row]:
    """What another timeout would change, a row for each that was tried.

    Args:
        tried: the column that has it.
        what: whose timeout it is, as the page says.
    """
    from pyspark.sql import functions as f

    weight = f.col("records") if "records" in frame.columns else f.lit(1)
    asked = (
        frame.withColumn("weight", weight.cast("bigint"))
        .groupBy(f.col(tried).alias("tried_ms"))
        .agg(
            f.expr("sum(if(changes = false, weight, 0L))").alias("same"),
            f.expr("sum(if(changes, weight, 0L))").alias("changes"),
            f.expr("sum(if(changes is null, weight, 0L))").alias("undecided"),
        )
    )
    return [row | {"what": what} for row in _rows(asked.orderBy("tried_ms"))]

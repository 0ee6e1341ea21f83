"""`protocol_coverage`: which APIs, versions and errors a journal saw, and which of the broker's nobody asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.advertised import Advertised
from kafkastub_pipeline.session import local_table
from kafkastub_pipeline.tables.columns import time_of
from kafkastub_pipeline.topics import GROUP

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DDL: Final = "api_key smallint, name string, api_version smallint"


_OURS: Final = f"coalesce(client_id, '') rlike '^(consumer-)?{GROUP}'"
"""What the pipeline itself asks of the broker whose journal it reads: librdkafka's client, and Java's in its group."""


def protocol_coverage(spark: SparkSession, journal: DataFrame, advertised: Advertised | None) -> DataFrame:
    from pyspark.sql import functions as f

    asked = journal.where(f"kind = 'request' and api_key >= 0 and not {_OURS}").withColumn(
        "client", f.expr("concat_ws(' ', software_name, software_version, client_id)")
    )
    start = asked.agg(f.min(f.expr("unix_millis(broker_time)")).alias("start_ms"))
    seen = (
        asked.select("api", "api_key", "api_version", "client", f.explode_outer("errors").alias("answered"))
        .groupBy("api", "api_key", "api_version", f.col("answered.code").alias("error_code"))
        .agg(
            f.max("answered.name").alias("error"),
            f.count("*").alias("requests"),
            f.coalesce(f.sum("answered.count"), f.lit(0)).alias("count"),
            f.array_sort(f.collect_set("client")).alias("clients"),
        )
        .withColumn("exercised", f.lit(True))
    )
    if advertised is None:
        return (
            seen.withColumn("advertised", f.lit(None).cast("boolean"))
            .crossJoin(start)
            .withColumn("complete_since", time_of(f.col("start_ms")))
        )
    rows = [
        (key, name, version)
        for key, (name, lowest, highest) in advertised.items()
        for version in range(lowest, highest + 1)
    ]
    offered = local_table(spark, rows, _DDL)
    return (
        seen.join(offered, ["api_key", "api_version"], "full")
        .withColumn("advertised", f.expr("name is not null"))
        .withColumn("api", f.coalesce("api", "name"))
        .withColumn("exercised", f.coalesce("exercised", f.lit(False)))
        .withColumn("requests", f.coalesce("requests", f.lit(0)))
        .withColumn("count", f.coalesce("count", f.lit(0)))
        .withColumn("clients", f.coalesce("clients", f.array().cast("array<string>")))
        .crossJoin(start)
        .withColumn("complete_since", time_of(f.col("start_ms")))
    )

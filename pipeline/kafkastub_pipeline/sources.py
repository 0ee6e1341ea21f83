"""Where records come from: a broker through Spark's Kafka source, saved records, the journal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.errors import PipelineError, sentence

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TOPIC: Final = "__consumer_offsets"
RAW_COLUMNS: Final = ("key", "value", "partition", "offset", "timestamp")
JOURNAL_SCHEMA_VERSION: Final = 1
JOURNAL_COLUMNS: Final = (
    "sequence",
    "kind",
    "broker_time",
    "client_id",
    "software_name",
    "software_version",
    "api_key",
    "api",
    "api_version",
    "groups",
    "topics",
    "partitions",
    "errors",
    "outcome",
)
"""What is read of the journal; it may have more."""


def kafka_options(
    bootstrap_servers: str, partitions: int, options: Sequence[tuple[str, str]] = (), topic: str = TOPIC
) -> dict[str, str]:
    """Options of Spark's Kafka source. `options` are a client's, such as `security.protocol`.

    Partitions are assigned: a subscription would make a consumer group of Spark's own, on the very log that is read.
    """
    return {
        "kafka.bootstrap.servers": bootstrap_servers,
        "assign": json.dumps({topic: list(range(partitions))}),
        "startingOffsets": "earliest",
        "kafka.isolation.level": "read_committed",
        "failOnDataLoss": "false",  # the topic is compacted: records go while they are read
        **{f"kafka.{name}": value for name, value in options},
    }


def read_kafka(
    spark: SparkSession,
    bootstrap_servers: str,
    partitions: int,
    options: Sequence[tuple[str, str]] = (),
    topic: str = TOPIC,
) -> DataFrame:
    """All records of `__consumer_offsets`, or of a copy of it, that are there now."""
    _internal_topics(spark)
    reader = spark.read.format("kafka").options(**kafka_options(bootstrap_servers, partitions, options, topic))
    try:
        return reader.load().select(*RAW_COLUMNS)
    except Exception as error:
        raise _no_kafka_source(error) from error


def stream_kafka(
    spark: SparkSession, bootstrap_servers: str, partitions: int, options: Sequence[tuple[str, str]] = ()
) -> DataFrame:
    """The same as a stream that goes on."""
    _internal_topics(spark)
    reader = spark.readStream.format("kafka").options(**kafka_options(bootstrap_servers, partitions, options))
    try:
        return reader.load().select(*RAW_COLUMNS)
    except Exception as error:
        raise _no_kafka_source(error) from error


def read_raw(spark: SparkSession, path: str) -> DataFrame:
    """Records saved as Parquet with the columns of `RAW_COLUMNS`."""
    return _parquet(spark, path, RAW_COLUMNS, "saved records")


def read_journal(spark: SparkSession, path: str) -> DataFrame:
    """The journal's Parquet: a file or a directory of them."""
    journal = _parquet(spark, path, JOURNAL_COLUMNS, "a journal")
    if "schema_version" in journal.columns:
        newer = journal.where(f"schema_version > {JOURNAL_SCHEMA_VERSION}").limit(1).collect()
        if newer:
            raise PipelineError(
                f"the journal in {path} has schema version {newer[0].schema_version}, and this pipeline knows up to"
                f" {JOURNAL_SCHEMA_VERSION}: install a newer kafkastub[pipeline]"
            )
    return journal


def _parquet(spark: SparkSession, path: str, columns: Sequence[str], what: str) -> DataFrame:
    try:
        found = spark.read.parquet(path)
    except Exception as error:
        raise PipelineError(f"{path} cannot be read as {what} in Parquet: {sentence(error)}") from error
    missing = [name for name in columns if name not in found.columns]
    if missing:
        raise PipelineError(f"{path} is not {what}: it has no column {', '.join(missing)}")
    return found


def _internal_topics(spark: SparkSession) -> None:
    """Without this Spark drops `__consumer_offsets` silently."""
    spark.conf.set("spark.sql.streaming.kafka.useDeprecatedOffsetFetching", "true")


def _no_kafka_source(error: Exception) -> PipelineError:
    from kafkastub_pipeline.session import PACKAGES

    return PipelineError(
        f"this Spark session has no Kafka source: {sentence(error)}; start it with --packages {PACKAGES}"
    )

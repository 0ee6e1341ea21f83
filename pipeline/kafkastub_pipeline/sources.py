"""Where records come from: a broker through Spark's Kafka source, saved records, the journal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.clients import for_java
from kafkastub_pipeline.errors import PipelineError, sentence
from kafkastub_pipeline.files import advised
from kafkastub_pipeline.java import hadoop_configuration, jvm
from kafkastub_pipeline.maven import kafka
from kafkastub_pipeline.topics import GROUP, TOPIC

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

SMALL_LOG: Final = 100_000
"""Records that are read and decoded in a few seconds, in as many tasks as there are processors."""
RAW_COLUMNS: Final = ("key", "value", "partition", "offset", "timestamp")
RAW_DDL: Final = "key binary, value binary, `partition` int, offset bigint, timestamp timestamp"
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
    bootstrap_servers: str, partitions: Sequence[int], options: Sequence[tuple[str, str]] = (), topic: str = TOPIC
) -> dict[str, str]:
    """Options of Spark's Kafka source. `options` are a client's, such as `security.protocol`. Raises PipelineError.

    Partitions are assigned: a subscription would make a consumer group of Spark's own, on the very log that is read.
    Its clients ask for a group's offsets all the same, and need the permission Describe on the group that they name.
    """
    return {
        "kafka.bootstrap.servers": bootstrap_servers,
        "assign": json.dumps({topic: list(partitions)}),
        "startingOffsets": "earliest",
        "kafka.isolation.level": "read_committed",
        "failOnDataLoss": "false",  # the topic is compacted: records go while they are read
        "groupIdPrefix": GROUP,
        **{f"kafka.{name}": value for name, value in for_java(options).items()},
    }


def read_kafka(
    spark: SparkSession,
    bootstrap_servers: str,
    partitions: int,
    options: Sequence[tuple[str, str]] = (),
    topic: str = TOPIC,
    sizes: Mapping[int, int] | None = None,
) -> DataFrame:
    """All records of `__consumer_offsets`, of a copy of it, or of another topic, that are there now.

    Args:
        sizes: how many records partitions hold at most, where that is known. Each partition that is read is a task with
            a client of its own, a third of a second: empty ones are left out, and a small log is read in few tasks.
    """
    if not has_kafka_source(spark):
        return _by_ourselves(spark, spark.read, bootstrap_servers, range(partitions), options, topic)
    _internal_topics(spark)
    known = {} if sizes is None else sizes
    read = [partition for partition in range(partitions) if known.get(partition) != 0] or [0]
    reader = spark.read.format("kafka").options(**kafka_options(bootstrap_servers, read, options, topic))
    known_all = known.keys() >= set(read)
    if known_all and (tasks := tasks_for([known[partition] for partition in read])) > len(read):
        reader = reader.option("minPartitions", tasks)
    try:
        found = reader.load().select(*RAW_COLUMNS)
    except Exception as error:
        raise _no_kafka_source(error) from error
    few = known_all and sum(known.values()) <= SMALL_LOG
    return found.coalesce(spark.sparkContext.defaultParallelism) if few else found


def tasks_for(sizes: Sequence[int]) -> int:
    """In how many tasks partitions of these sizes are read, so that none takes much longer than the others.

    A group lives in one partition: where one group makes a third of all commits, so does its partition. Spark cuts such
    a partition into pieces, so that there are as many tasks as are asked for; each has a client of its own.
    """
    piece = max(median(sizes), SMALL_LOG)
    if max(sizes) <= 2 * piece:
        return len(sizes)
    return max(len(sizes), round(sum(max(size, piece) for size in sizes) / piece))


def stream_kafka(
    spark: SparkSession, bootstrap_servers: str, partitions: int, options: Sequence[tuple[str, str]] = ()
) -> DataFrame:
    """The same as a stream that goes on."""
    if not has_kafka_source(spark):
        return _by_ourselves(spark, spark.readStream, bootstrap_servers, range(partitions), options, TOPIC)
    _internal_topics(spark)
    reader = spark.readStream.format("kafka").options(**kafka_options(bootstrap_servers, range(partitions), options))
    try:
        return reader.load().select(*RAW_COLUMNS)
    except Exception as error:
        raise _no_kafka_source(error) from error


def has_kafka_source(spark: SparkSession) -> bool:
    """Return whether the session has Spark's Kafka source. It needs a package, which not every release has."""
    from pyspark.errors import AnalysisException

    try:
        spark.read.format("kafka").options(**{"kafka.bootstrap.servers": "x:1", "assign": '{"x":[0]}'}).load()
    except AnalysisException:
        return False
    except Exception:
        return True
    return True


def _by_ourselves(
    spark: SparkSession,
    reader: DataFrameReader | DataStreamReader,
    bootstrap_servers: str,
    partitions: Sequence[int],
    options: Sequence[tuple[str, str]],
    topic: str,
) -> DataFrame:
    """What Spark's Kafka source would read, by the client of the pipeline's own data sources."""
    from kafkastub_pipeline.formats.raw import NAME, RawLog

    spark.dataSource.register(RawLog)
    given = {f"kafka.{name}": value for name, value in options} | {"kafka.bootstrap.servers": bootstrap_servers}
    chosen = ",".join(map(str, partitions))
    return reader.format(NAME).options(**given, topic=topic, partitions=chosen).load().select(*RAW_COLUMNS)


def read_raw(spark: SparkSession, path: str) -> DataFrame:
    """Records saved as Parquet with the columns of `RAW_COLUMNS`."""
    return _parquet(spark, path, RAW_COLUMNS, "saved records")


def read_journal(spark: SparkSession, path: str, checked: bool = False) -> DataFrame:
    """The journal: Parquet, a file or a directory of them, or the directory of `kafkastub serve --journal`.

    Its files are those that are there now: a stub that runs begins new ones.

    Args:
        checked: whether it was read before, so that its version is known to be one of ours.
    """
    lines = _json_lines(spark, path)
    journal = _parquet(spark, path, JOURNAL_COLUMNS, "a journal") if lines is None else lines
    if "schema_version" in journal.columns and not checked:
        newer = journal.where(f"schema_version > {JOURNAL_SCHEMA_VERSION}").limit(1).collect()
        if newer:
            raise PipelineError(
                f"the journal in {path} has schema version {newer[0].schema_version}, and this pipeline knows up to"
                f" {JOURNAL_SCHEMA_VERSION}: install a newer kafkastub[pipeline]"
            )
    return journal


_JOURNAL_DDL: Final = (
    "schema_version int, sequence bigint, kind string, broker_time timestamp, wall_time timestamp, duration_us bigint,"
    " connection_id bigint, client_id string, software_name string, software_version string, api_key smallint, api"
    " string, api_version smallint, groups array<string>, members array<struct<member_id: string, instance_id: string,"
    " epoch: int>>, topics array<string>, partitions array<struct<topic: string, partition: int>>, errors"
    " array<struct<code: smallint, name: string, count: int>>, outcome string, fault string, request binary, response"
    " binary"
)


def _json_lines(spark: SparkSession, path: str) -> DataFrame | None:
    """The journal as the stub writes it while it runs; None where there are no such files.

    An entry that was pending is there twice, and the line with its end counts. The last line may be torn.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    pattern = jvm(spark).org.apache.hadoop.fs.Path(path if path.endswith(".jsonl") else f"{path.rstrip('/')}/*.jsonl")
    try:
        found = pattern.getFileSystem(hadoop_configuration(spark)).globStatus(pattern)
    except Exception as error:
        why = advised(spark, path, sentence(error))
        raise PipelineError(f"{path} cannot be read as a journal: {why}") from error
    if not found:
        return None
    lines = spark.read.schema(_JOURNAL_DDL).json([one.getPath().toString() for one in found])
    ended_first = Window.partitionBy("sequence").orderBy(f.col("outcome") == "pending")
    return (
        lines.where("sequence is not null")
        .withColumn("_line", f.row_number().over(ended_first))
        .where("_line = 1")
        .drop("_line")
    )


def with_columns(journal: DataFrame, *columns: str) -> DataFrame:
    """A journal with columns that not every export has: they are null where it has them not.

    Args:
        columns: each a name and a type of Spark's.
    """
    from pyspark.sql import functions as f

    for name, type_ in (one.split(" ", 1) for one in columns):
        if name not in journal.columns:
            journal = journal.withColumn(name, f.lit(None).cast(type_))
    return journal


def _parquet(spark: SparkSession, path: str, columns: Sequence[str], what: str) -> DataFrame:
    try:
        found = spark.read.parquet(path)
    except Exception as error:
        why = advised(spark, path, sentence(error))
        raise PipelineError(f"{path} cannot be read as {what} in Parquet: {why}") from error
    missing = [name for name in columns if name not in found.columns]
    if missing:
        raise PipelineError(f"{path} is not {what}: it has no column {', '.join(missing)}")
    return found


def _internal_topics(spark: SparkSession) -> None:
    """Without this Spark drops `__consumer_offsets` silently."""
    spark.conf.set("spark.sql.streaming.kafka.useDeprecatedOffsetFetching", "true")


def _no_kafka_source(error: Exception) -> PipelineError:
    return PipelineError(
        f"this Spark session has no Kafka source: {sentence(error)}; start it with --packages {kafka()}"
    )

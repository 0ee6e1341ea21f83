"""Records decoded as they come, into files that a restart neither repeats nor leaves out."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.cluster import reached
from kafkastub_pipeline.decode import decoded
from kafkastub_pipeline.errors import PipelineError, Unreachable, sentence
from kafkastub_pipeline.files import Files, check_no_pattern, check_writable
from kafkastub_pipeline.live.follow import Follower
from kafkastub_pipeline.sources import stream_kafka
from kafkastub_pipeline.topics import TOPIC

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from kafkastub_pipeline.settings import Settings

log = logging.getLogger("kafkastub_pipeline")

TRIGGER: Final = "5 seconds"
MEMORY: Final = "kafkastub-pipeline.json"
"""In a checkpoint: what it is of."""


def stream(
    spark: SparkSession,
    bootstrap_servers: str,
    *,
    out: str,
    checkpoint: str,
    available_now: bool = False,
    options: Sequence[tuple[str, str]] = (),
    tables: Settings | None = None,
    alerts: str | None = None,
) -> None:
    """Decode into Parquet in `out`; `run --records` makes tables of it. Raises PipelineError.

    Killed and started again with the same checkpoint it goes on where it was: Spark's file sink lists what counts.

    Args:
        tables: tables of the present are kept up to date, as these settings say (`live.tables`).
        alerts: what is to be looked at in these tables is written there: a directory, or `topic:NAME`.
    """
    files = Files(spark)
    check_no_pattern("--out", out)
    check_writable(files, "--out", out)
    check_writable(files, "--checkpoint", checkpoint)
    _, metadata = reached(bootstrap_servers, options)
    partitions = len(metadata.topics[TOPIC].partitions)
    raw = stream_kafka(spark, bootstrap_servers, partitions, options)
    _remember(files, checkpoint, out, str(metadata.cluster_id))

    def triggered(writer: DataStreamWriter) -> DataStreamWriter:
        return writer.trigger(availableNow=True) if available_now else writer.trigger(processingTime=TRIGGER)

    if tables is not None:
        check_writable(files, "--tables", tables.out)
    follower = None if tables is None else Follower(spark, tables, checkpoint, alerts)
    queries: list[StreamingQuery] = []
    try:
        decoding = decoded(raw).writeStream.format("parquet").option("path", out)
        queries.append(triggered(decoding.option("checkpointLocation", checkpoint)).start())
        if follower is None:
            queries[0].awaitTermination()
        else:
            queries.append(triggered(follower.taking_in(raw)).start())
            _follow(follower, queries)
    except KeyboardInterrupt:  # the way to stop it
        pass
    except PipelineError:
        raise
    except Exception as error:
        raise PipelineError(
            f"the stream into {out} ended: {sentence(error)}; started again it goes on from {checkpoint}, if that is"
            " not what is damaged"
        ) from error
    finally:
        for query in queries:
            _stop(query)


def _follow(follower: Follower, queries: list[StreamingQuery]) -> None:
    """Make tables until a query ends: by itself when all that is there is done, else by an error, which is raised."""
    while not queries[1].awaitTermination(1):
        try:
            follower.look()
        except Unreachable as error:  # the next look is in a second; how long Spark waits is its own matter
            log.warning("the tables stay as they are for now: %s", error)
        if not queries[0].isActive and (failure := queries[0].exception()) is not None:
            raise failure
    follower.look()
    queries[0].awaitTermination()


def _stop(query: StreamingQuery) -> None:
    """In order where that can be; else it ends with Spark, and goes on later as after a kill."""
    try:
        query.stop()
    except Exception as error:
        log.info("the stream ends out of order: %s", sentence(error))


def _remember(files: Files, checkpoint: str, out: str, cluster_id: str) -> None:
    """A checkpoint is of one topic of one cluster, and of one output: Spark goes on with any, and leaves records out.

    What a checkpoint is of stands in it. Raises PipelineError where that is something else, or nothing.
    """
    mine = {"cluster": cluster_id, "topic": TOPIC, "out": files.whole(out)}
    memory = f"{checkpoint.rstrip('/')}/{MEMORY}"
    try:
        text = files.read(memory)
        before = None if text is None else dict(json.loads(text))
    except Exception as error:  # no JSON; or other bytes than Hadoop's checksum beside it is of
        raise PipelineError(f"{memory} is damaged: name another --checkpoint and another --out") from error
    if before is None:
        if files.has_entries(checkpoint):
            raise PipelineError(
                f"{checkpoint} is neither a checkpoint of this command nor empty: name another directory"
            )
        if files.has_entries(f"{out.rstrip('/')}/_spark_metadata"):
            raise PipelineError(
                f"{out} has records of a stream with another checkpoint than {checkpoint}: go on with that one, or name"
                " another --out"
            )
        files.write(memory, json.dumps(mine))
        return
    for name, value in mine.items():
        if before.get(name) != value:
            what = {"cluster": "cluster", "topic": "topic", "out": "output"}[name]
            raise PipelineError(
                f"{checkpoint} is the checkpoint of another {what}: of {before.get(name)}, and this is {value}; name"
                " another --checkpoint"
            )

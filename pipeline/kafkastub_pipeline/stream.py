"""Records decoded as they come, into files that a restart neither repeats nor leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkastub_pipeline.cluster import reached
from kafkastub_pipeline.decode import decoded
from kafkastub_pipeline.errors import PipelineError, sentence
from kafkastub_pipeline.sources import TOPIC, stream_kafka

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRIGGER = "5 seconds"


def stream(
    spark: SparkSession,
    bootstrap_servers: str,
    *,
    out: str,
    checkpoint: str,
    available_now: bool = False,
    options: Sequence[tuple[str, str]] = (),
) -> None:
    """Decode into Parquet in `out`; `run --records` makes tables of it. Raises PipelineError.

    Killed and started again with the same checkpoint it goes on where it was: Spark's file sink lists what counts.
    """
    _, metadata = reached(bootstrap_servers, options)
    partitions = len(metadata.topics[TOPIC].partitions)
    frame = decoded(stream_kafka(spark, bootstrap_servers, partitions, options))
    writer = frame.writeStream.format("parquet").option("path", out).option("checkpointLocation", checkpoint)
    writer = writer.trigger(availableNow=True) if available_now else writer.trigger(processingTime=TRIGGER)
    try:
        writer.start().awaitTermination()
    except KeyboardInterrupt:
        return
    except Exception as error:
        raise PipelineError(
            f"the stream into {out} ended: {sentence(error)}; a checkpoint serves one query and one output:"
            f" is {checkpoint} of another one?"
        ) from error

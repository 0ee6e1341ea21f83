"""The data source `kafka_offsets`: Spark finds it by the name of this package (docs/spark.md)."""

from kafkastub_pipeline.formats.offsets import KafkaOffsets as DefaultSource

__all__ = ["DefaultSource"]

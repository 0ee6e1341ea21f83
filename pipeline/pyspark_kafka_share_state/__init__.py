"""The data source `kafka_share_state`: Spark finds it by the name of this package (docs/spark.md)."""

from kafkastub_pipeline.formats.share_state import KafkaShareState as DefaultSource

__all__ = ["DefaultSource"]

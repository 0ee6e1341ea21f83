"""The data source `kafka_transactions`: Spark finds it by the name of this package (docs/spark.md)."""

from kafkastub_pipeline.formats.transactions import KafkaTransactions as DefaultSource

__all__ = ["DefaultSource"]

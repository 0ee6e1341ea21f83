"""The data source `kafkastub_journal`: Spark finds it by the name of this package (docs/spark.md)."""

from kafkastub_pipeline.formats.journal import KafkastubJournal as DefaultSource

__all__ = ["DefaultSource"]

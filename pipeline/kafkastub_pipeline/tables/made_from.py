"""What the tables of one run are made from, and where they go."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from kafkastub_pipeline.cluster import Snapshot
from kafkastub_pipeline.progress import Progress
from kafkastub_pipeline.settings import Settings
from kafkastub_pipeline.tables.columns import shaped, time_of
from kafkastub_pipeline.write import Store

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


@dataclass
class Run:
    """What the tables of one run are made from.

    Attributes:
        records: decoded records, stored.
        latest: the current offsets as `decode.latest` has found them; None where only decoded records are there.
        now_ms: the moment that the tables are about.
        complete: `log_partition` and `complete_ms`, for partitions whose log does not begin at its beginning.
        cluster: None without a broker, and in a view of the past.
        past: whether the log goes on behind `now_ms`.
        shares: raw records of `__share_group_state`; None where they are not to be had.
        transactions: raw records of `__transaction_state`; None where they are not to be had, or not asked for.
        unfinished: of these, each transaction as `tables.transactions` has it.
        broker_retention_minutes: `offsets.retention.minutes` of the cluster; None where it does not tell.
    """

    spark: SparkSession
    settings: Settings
    store: Store
    records: DataFrame
    latest: DataFrame | None
    now_ms: int
    complete_ms: int | None
    cluster: Snapshot | None
    journal: DataFrame | None
    past: bool = False
    broker_retention_minutes: int | None = None
    shares: DataFrame | None = None
    transactions: DataFrame | None = None
    unfinished: DataFrame | None = None
    progress: Progress | None = None
    written: list[str] = field(default_factory=list)

    @cached_property
    def journal_begins(self) -> Column:
        """The broker's time of the journal's first entry; null without a journal."""
        from pyspark.sql import functions as f

        asked = None if self.journal is None else self.journal.agg(f.min(f.unix_millis("broker_time")))
        return time_of(f.lit(None if asked is None else asked.collect()[0][0]).cast("bigint"))

    def table(self, name: str, frame: DataFrame, partition_by: tuple[str, ...] = ()) -> DataFrame:
        """Give a table its columns, and write it."""
        from pyspark.sql import functions as f

        if "as_of" not in frame.columns:
            frame = frame.withColumn("as_of", time_of(f.lit(self.now_ms)))
        if "complete_since" not in frame.columns:
            frame = frame.withColumn("complete_since", time_of(f.lit(self.complete_ms).cast("bigint")))
        self.written.append(name)
        with nullcontext() if self.progress is None else self.progress.step(f"writing {name}"):
            return self.store.write(name, shaped(frame, name), partition_by)

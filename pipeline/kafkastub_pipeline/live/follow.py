"""The loop: records come in batches, and between them tables are made and alerts are written."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.live.log import AlertLog, target_of
from kafkastub_pipeline.live.newest import Newest
from kafkastub_pipeline.live.tables import refresh

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from kafkastub_pipeline.settings import Settings

LIVE: Final = "live"
"""The directory in a checkpoint that has what tables and alerts need to go on."""
QUIET_SECONDS: Final = 60.0
"""So often tables are made where no record comes: time goes on, and ends of topics do."""


class Follower:
    """Tables of the present, and alerts."""

    def __init__(self, spark: SparkSession, settings: Settings, checkpoint: str, alerts: str | None) -> None:
        """Raise PipelineError where what was kept before cannot be read.

        Args:
            settings: `out` is where tables go.
            checkpoint: of the stream.
            alerts: a directory, or `topic:NAME`; None for no alerts.
        """
        root = f"{checkpoint.rstrip('/')}/{LIVE}"
        self._spark, self._settings, self._root = spark, settings, root
        self._newest = Newest(spark, f"{root}/newest")
        servers = settings.bootstrap_servers or ""
        self._alerts = None
        if alerts is not None:
            self._alerts = AlertLog(spark, f"{root}/alerts", target_of(spark, alerts, servers, settings.options))
        self._working = threading.Lock()
        """Records are not taken in while tables are made of them."""
        self._done, self._at = -2, 0.0

    def taking_in(self, raw: DataFrame) -> DataStreamWriter:
        """Return a writer that takes in records as they come.

        Args:
            raw: the log as a stream.
        """
        return raw.writeStream.foreachBatch(self._absorb).option("checkpointLocation", f"{self._root}/query")

    def look(self) -> None:
        """Make the tables and write alerts, where records have come since, or some time has passed."""
        with self._working:
            batch = self._newest.batch
            if batch == self._done and time.monotonic() - self._at < QUIET_SECONDS:
                return
            open_ = {} if self._alerts is None else self._alerts.open
            found, now_ms = refresh(self._spark, self._settings, self._newest, open_)
            if self._alerts is not None:
                self._alerts.note(found, now_ms)
            self._done, self._at = batch, time.monotonic()

    def _absorb(self, raw: DataFrame, batch: int) -> None:
        with self._working:
            self._newest.absorb(raw, batch)

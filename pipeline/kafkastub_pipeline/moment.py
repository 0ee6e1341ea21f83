"""The moment that the tables are about, and what of the log, the journal and the cluster belongs to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.errors import PipelineError
from kafkastub_pipeline.rules import LAST_MS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafkastub_pipeline.cluster import Snapshot

SAME_MOMENT_MS: Final = 600_000
"""A log that goes on for no longer than that behind `--now` goes on because a run takes its time: the snapshot of the
cluster still belongs to it. `offsets.retention.check.interval.ms` by default: nothing is swept twice in that time."""


@dataclass(frozen=True)
class View:
    """What the tables are made of.

    Attributes:
        latest: the current offsets; None where the log goes on behind the moment: they are what its end leaves.
        cluster: None in a view of the past, of which today's watermarks tell nothing.
        past: whether the log goes on for more than `SAME_MOMENT_MS` behind the moment.
    """

    now_ms: int
    records: DataFrame
    latest: DataFrame | None
    journal: DataFrame | None
    cluster: Snapshot | None
    past: bool


def milliseconds(moment: datetime) -> int:
    """Since 1970, exactly: a float of seconds loses one in some moments, and with it the moment's last records."""
    return min((moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1), LAST_MS)


def view(
    records: DataFrame,
    latest: DataFrame | None,
    journal: DataFrame | None,
    cluster: Snapshot | None,
    now: datetime | str,
) -> View:
    """Everything up to `now`: all that is there for "log", else what is not later. Raises PipelineError."""
    newest = records.selectExpr("max(log_ms)").collect()[0][0]
    if not isinstance(now, datetime):
        if newest is None:
            raise PipelineError(
                "the log is empty, so that there is no `--now log`: give --now a time such as 2026-01-31T12:00Z"
            )
        return View(int(newest), records, latest, journal, cluster, past=False)
    now_ms = milliseconds(now)
    if journal is not None:
        journal = journal.where(f"unix_millis(broker_time) <= {now_ms}L")
    if newest is None or newest <= now_ms:
        return View(now_ms, records, latest, journal, cluster, past=False)
    until = records.where(f"log_ms is null or log_ms <= {now_ms}L")
    past = newest > now_ms + SAME_MOMENT_MS
    return View(now_ms, until, None, journal, None if past else cluster, past)

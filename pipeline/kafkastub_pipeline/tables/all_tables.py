"""Every table, in the order in which they need each other."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from kafkastub_pipeline.advertised import advertised
from kafkastub_pipeline.cluster import gone_topics
from kafkastub_pipeline.here import is_here, kept
from kafkastub_pipeline.rules import MINUTE_MS
from kafkastub_pipeline.tables.audit import deletion_audit, suspects
from kafkastub_pipeline.tables.coverage import protocol_coverage
from kafkastub_pipeline.tables.current import offset_current
from kafkastub_pipeline.tables.events import decode_errors, group_events, offset_events
from kafkastub_pipeline.tables.forecast import expiry_forecast, pending
from kafkastub_pipeline.tables.history import findings
from kafkastub_pipeline.tables.lag import lag, missing, next_records, watermarks
from kafkastub_pipeline.tables.shares import share_partitions
from kafkastub_pipeline.tables.stale import stale_offsets
from kafkastub_pipeline.tables.timeline import group_timeline
from kafkastub_pipeline.tables.whatif import ends, retention_whatif

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafkastub_pipeline.tables.made_from import Run


def write_all(run: Run) -> None:
    """Make and write them: one after the other, or together, where Spark is left to think rather than to work."""
    marks = kept(watermarks(run.spark, run.cluster))
    parts: list[Callable[[Run, DataFrame], None]] = [_of_the_log, _of_the_present, _of_the_past, _of_others]
    if is_here(run.spark):
        with ThreadPoolExecutor(len(parts)) as threads:
            for done in [threads.submit(part, run, marks) for part in parts]:
                done.result()
    else:
        for part in parts:
            part(run, marks)
    marks.unpersist()


def _of_the_log(run: Run, marks: DataFrame) -> None:
    run.table("offset_events", offset_events(run.records), ("event_month",))
    run.table("group_events", group_events(run.records), ("event_month",))
    run.table("decode_errors", decode_errors(run.records))
    run.table("group_timeline", group_timeline(run.records))


def _of_others(run: Run, marks: DataFrame) -> None:
    if run.shares is not None:
        until_ms = None if run.settings.now == "log" else run.now_ms
        run.table("share_partitions", share_partitions(run.spark, run.shares, marks, run.cluster, until_ms))
    if run.journal is not None:
        servers = run.settings.bootstrap_servers
        offered = None if servers is None else advertised(servers)
        run.table("protocol_coverage", protocol_coverage(run.spark, run.journal, offered))


def _of_the_present(run: Run, marks: DataFrame) -> None:
    settings = run.settings
    current = kept(offset_current(run.records, run.latest))
    try:
        run.table("offset_current", current)
        servers = settings.bootstrap_servers
        unfinished = pending(run.spark, current, run.cluster, servers, settings.probes, settings.options)
        retention = settings.retention_minutes[0]
        forecast = expiry_forecast(
            current, unfinished, retention, settings.profile, run.now_ms, settings.check_interval_ms
        )
        run.table("expiry_forecast", forecast)
        following = next_records(run.spark, current, marks, servers, settings.probes, settings.options)
        gone = missing(run.spark, current, run.cluster, servers, settings.options)
        with_lag = lag(current, marks, following, gone, run.now_ms)
        run.table("lag", with_lag)
        stale_after_ms = settings.stale_after_minutes * MINUTE_MS
        run.table("stale_offsets", stale_offsets(with_lag, servers, run.now_ms, stale_after_ms, run.past))
    finally:
        current.unpersist()


def _of_the_past(run: Run, marks: DataFrame) -> None:
    settings = run.settings
    retentions, told = settings.retention_minutes, run.broker_retention_minutes
    found = kept(findings(run.records, run.journal, retentions, settings.profile, told))
    try:
        servers = None if run.cluster is None else settings.bootstrap_servers
        known = ends(run.spark, found, marks, run.now_ms, servers, settings.probes, settings.options)
        run.table("retention_whatif", retention_whatif(found, marks, known, run.now_ms))
        gone: set[str] = set()
        if run.cluster is not None and servers is not None:
            gone = gone_topics(servers, suspects(found) - run.cluster.topics, settings.options)
        run.table("deletion_audit", deletion_audit(found, run.cluster, gone, settings.check_interval_ms))
    finally:
        found.unpersist()

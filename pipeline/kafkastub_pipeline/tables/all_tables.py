"""The tables that are asked for, in the order in which they need each other, and nothing that none of them needs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.advertised import advertised
from kafkastub_pipeline.cluster import gone_topics
from kafkastub_pipeline.here import is_here, kept
from kafkastub_pipeline.rules import MINUTE_MS
from kafkastub_pipeline.settings import PRESENT
from kafkastub_pipeline.tables.audit import deletion_audit, suspects
from kafkastub_pipeline.tables.coverage import protocol_coverage
from kafkastub_pipeline.tables.current import offset_current
from kafkastub_pipeline.tables.events import decode_errors, group_events, offset_events
from kafkastub_pipeline.tables.findings import findings_of
from kafkastub_pipeline.tables.forecast import expiry_forecast, pending
from kafkastub_pipeline.tables.guarantees import guarantees, is_checkable
from kafkastub_pipeline.tables.history import findings
from kafkastub_pipeline.tables.lag import lag, missing, next_records, watermarks, with_holders
from kafkastub_pipeline.tables.lock_whatif import lock_whatif
from kafkastub_pipeline.tables.owners import partition_owners
from kafkastub_pipeline.tables.session_whatif import session_whatif
from kafkastub_pipeline.tables.shares import share_partitions
from kafkastub_pipeline.tables.stale import stale_offsets
from kafkastub_pipeline.tables.timeline import group_timeline
from kafkastub_pipeline.tables.transaction_whatif import transaction_whatif
from kafkastub_pipeline.tables.transactions import held_partitions, transactions
from kafkastub_pipeline.tables.whatif import ends, retention_whatif

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafkastub_pipeline.tables.made_from import Run


def write_all(run: Run) -> None:
    """Make and write them: one after the other, or together, where Spark is left to think rather than to work."""
    marks = kept(watermarks(run.spark, run.cluster))
    if run.transactions is not None:
        until_ms = None if run.settings.now == "log" else run.now_ms
        run.unfinished = kept(transactions(run.transactions, run.now_ms, until_ms))
    parts = [part for part, tables in _PARTS if run.settings.makes(*tables)]
    if is_here(run.spark):
        with ThreadPoolExecutor(len(parts)) as threads:
            for done in [threads.submit(part, run, marks) for part in parts]:
                done.result()
    else:
        for part in parts:
            part(run, marks)
    marks.unpersist()
    if run.unfinished is not None:
        run.unfinished.unpersist()


def _of_the_log(run: Run, marks: DataFrame) -> None:
    month = ("event_month",)
    for name, made, by in (
        ("offset_events", offset_events, month),
        ("group_events", group_events, month),
        ("decode_errors", decode_errors, ()),
        ("group_timeline", group_timeline, ()),
    ):
        if run.settings.makes(name):
            run.table(name, made(run.records), by)


def _of_findings(run: Run, marks: DataFrame) -> None:
    limits = run.settings.storm_generations, run.settings.commit_rate
    run.table("findings", findings_of(run.records, group_timeline(run.records), *limits))


def _of_owners(run: Run, marks: DataFrame) -> None:
    run.table("partition_owners", partition_owners(run.spark, run.records, run.cluster, run.now_ms))


def _of_others(run: Run, marks: DataFrame) -> None:
    settings = run.settings
    until_ms = None if settings.now == "log" else run.now_ms
    if run.shares is not None and settings.makes("share_partitions"):
        run.table("share_partitions", share_partitions(run.spark, run.shares, marks, run.cluster, until_ms))
    tried = settings.lock_durations_ms
    if tried and settings.makes("lock_whatif") and (run.shares is not None or run.journal is not None):
        made = lock_whatif(run.spark, run.shares, run.journal, run.cluster, tried, until_ms)
        run.table("lock_whatif", made.withColumn("complete_since", run.journal_begins))
    if run.journal is not None and settings.makes("protocol_coverage"):
        servers = settings.bootstrap_servers
        offered = None if servers is None else advertised(servers)
        run.table("protocol_coverage", protocol_coverage(run.spark, run.journal, offered))
    if settings.journal is not None and settings.makes("guarantees"):
        named = settings.named is not None
        if named or is_checkable(settings.journal):
            run.table("guarantees", guarantees(run.spark, settings.journal))


def _of_sessions(run: Run, marks: DataFrame) -> None:
    if run.settings.session_timeouts_ms:
        found = session_whatif(run.records, run.journal, run.settings.session_timeouts_ms)
        run.table("session_whatif", found.withColumn("complete_since", run.journal_begins))


def _of_transactions(run: Run, marks: DataFrame) -> None:
    makes = run.settings.makes
    if run.unfinished is None:
        return
    if makes("transactions"):
        run.table("transactions", run.unfinished)
    if makes("held_partitions") and run.cluster is not None:
        run.table("held_partitions", held_partitions(run.spark, run.unfinished, run.cluster, run.now_ms))
    tried = run.settings.transaction_timeouts_ms
    if makes("transaction_whatif") and tried:
        run.table("transaction_whatif", transaction_whatif(run.unfinished, tried, run.now_ms))


def _of_the_present(run: Run, marks: DataFrame) -> None:
    makes = run.settings.makes
    current = kept(offset_current(run.records, run.latest))
    try:
        if makes("offset_current"):
            run.table("offset_current", current)
        if makes("expiry_forecast"):
            _forecast(run, current)
        if makes("lag", "stale_offsets"):
            _lag_and_stale(run, current, marks)
    finally:
        current.unpersist()


def _forecast(run: Run, current: DataFrame) -> None:
    settings = run.settings
    servers, retention = settings.bootstrap_servers, settings.retention_minutes[0]
    unfinished = pending(run.spark, current, run.cluster, servers, settings.probes, settings.options)
    forecast = expiry_forecast(current, unfinished, retention, settings.profile, run.now_ms, settings.check_interval_ms)
    run.table("expiry_forecast", forecast)


def _lag_and_stale(run: Run, current: DataFrame, marks: DataFrame) -> None:
    """What is stale has the records that it is behind, but not the seconds, for which the broker is asked."""
    settings = run.settings
    servers, probes = settings.bootstrap_servers, settings.probes if settings.makes("lag") else 0
    following = next_records(run.spark, current, marks, servers, probes, settings.options)
    gone = missing(run.spark, current, run.cluster, servers, settings.options)
    with_lag = lag(current, marks, following, gone, run.now_ms)
    if run.unfinished is not None and run.cluster is not None and settings.makes("lag"):
        with_lag = with_holders(with_lag, held_partitions(run.spark, run.unfinished, run.cluster, run.now_ms))
    if settings.makes("lag"):
        run.table("lag", with_lag)
    if settings.makes("stale_offsets"):
        stale_after_ms = settings.stale_after_minutes * MINUTE_MS
        run.table("stale_offsets", stale_offsets(with_lag, servers, run.now_ms, stale_after_ms, run.past))


def _of_the_past(run: Run, marks: DataFrame) -> None:
    settings, told = run.settings, run.broker_retention_minutes
    # deletions are explained by the broker's retention, or the first; the others are tried for `retention_whatif`
    retentions = settings.retention_minutes if settings.makes("retention_whatif") else settings.retention_minutes[:1]
    found = kept(findings(run.records, run.journal, retentions, settings.profile, told))
    try:
        if settings.makes("retention_whatif"):
            servers = None if run.cluster is None else settings.bootstrap_servers
            known = ends(run.spark, found, marks, run.now_ms, servers, settings.probes, settings.options)
            run.table("retention_whatif", retention_whatif(found, marks, known, run.now_ms))
        if settings.makes("deletion_audit"):
            _audit(run, found)
    finally:
        found.unpersist()


def _audit(run: Run, found: DataFrame) -> None:
    settings = run.settings
    gone: set[str] = set()
    if run.cluster is not None and settings.bootstrap_servers is not None:
        gone = gone_topics(settings.bootstrap_servers, suspects(found) - run.cluster.topics, settings.options)
    run.table("deletion_audit", deletion_audit(found, run.cluster, gone, settings.check_interval_ms))


_PARTS: Final[tuple[tuple[Callable[[Run, DataFrame], None], tuple[str, ...]], ...]] = (
    (_of_the_log, ("offset_events", "group_events", "decode_errors", "group_timeline")),
    (_of_findings, ("findings",)),
    (_of_owners, ("partition_owners",)),
    (_of_the_present, PRESENT),
    (_of_the_past, ("retention_whatif", "deletion_audit")),
    (_of_sessions, ("session_whatif",)),
    (_of_transactions, ("transactions", "held_partitions", "transaction_whatif")),
    (_of_others, ("share_partitions", "lock_whatif", "protocol_coverage", "guarantees")),
)
"""What makes them, and which."""

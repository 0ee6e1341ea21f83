"""Tables of the present, made of the newest records; and what there is to be looked at in them."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from kafkastub_pipeline.live.alerts import (
    EXPIRING,
    HANGING,
    MOST,
    SOON_MS,
    UNOWNED,
    Found,
    expiring,
    flapping,
    hanging,
    unowned,
)
from kafkastub_pipeline.run import run
from kafkastub_pipeline.settings import PRESENT, Settings
from kafkastub_pipeline.small_log import held
from kafkastub_pipeline.topics import TRANSACTIONS
from kafkastub_pipeline.write import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafkastub_pipeline.live.newest import Newest

OWNERS: Final = "partition_owners"
HELD: Final = "held_partitions"
TABLES: Final = (*PRESENT, OWNERS, HELD)
"""What is kept up to date. `partition_owners` has those who hold a partition now: the history is in the log."""


def refresh(spark: SparkSession, settings: Settings, newest: Newest) -> tuple[list[Found], set[str], int]:
    """Make the tables, and look at them.

    Args:
        settings: with `bootstrap_servers`, `out`, the retention and what else `run` takes.

    Returns:
        What is to be looked at, alerts of which there are more than were taken, and the moment in milliseconds.
        Raises PipelineError.
    """
    assert settings.bootstrap_servers is not None
    servers = settings.bootstrap_servers
    before = held(servers, settings.options, False, False, True)
    wanted = [name for name in TABLES if name != HELD or TRANSACTIONS not in before.begun.unreadable()]
    # by the machine's clock, or the newest record's: a stub's clock may be ahead of the machine's
    now_ms = max(time.time_ns() // 1_000_000, newest.newest_ms)
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=now_ms)
    written = run(spark, replace(settings, tables=wanted, raw="", now=at), before, newest.raw())
    store = Store(spark, settings.out, settings.format)
    found, cut = alerts(store, written, shlex.quote(servers))
    rebalances = [one for groups in newest.rebalances.values() for one in groups]
    return found + flapping(rebalances, now_ms, shlex.quote(servers)), cut, now_ms


def alerts(store: Store, tables: list[str], server: str) -> tuple[list[Found], set[str]]:
    """What these tables show, and alerts of which there are more than MOST."""
    by_kind: dict[str, list[Found]] = {EXPIRING: _expiring(store, server), UNOWNED: _unowned(store, server)}
    if HELD in tables:
        by_kind[HANGING] = _hanging(store, server)
    return [one for found in by_kind.values() for one in found], {
        k for k, found in by_kind.items() if len(found) >= MOST
    }


def _expiring(store: Store, server: str) -> list[Found]:
    lag = store.read("lag").select("group_id", "topic", "partition", "lag_records").where("lag_records > 0")
    soon = store.read("expiry_forecast").where(f"blocked_by is null and seconds_left < {SOON_MS / 1000}D")
    rows = (
        soon.join(lag, ["group_id", "topic", "partition"])
        .orderBy("seconds_left", "group_id", "topic", "partition")
        .limit(MOST)
        .collect()
    )
    return [expiring(*_place(row), row.seconds_left, row.lag_records, server) for row in rows]


def _unowned(store: Store, server: str) -> list[Found]:
    """Of groups with the consumer protocol: what members of classic groups have, only they can read."""
    owned = store.read(OWNERS).where("group_type = 'consumer' and member_id is not null and until is null")
    behind = store.read("lag").where("lag_records > 0 and not coalesce(topic_left, false)")
    rows = (
        behind.join(owned.select("group_id").distinct(), "group_id", "left_semi")
        .join(owned.select("group_id", "topic", "partition"), ["group_id", "topic", "partition"], "left_anti")
        .orderBy("group_id", "topic", "partition")
        .limit(MOST)
        .collect()
    )
    return [unowned(*_place(row), row.lag_records, server) for row in rows]


def _hanging(store: Store, server: str) -> list[Found]:
    rows = store.read(HELD).where("hanging").orderBy("topic", "partition").limit(MOST).collect()
    return [
        replace(
            hanging(row.topic, row.partition, row.transactional_id, row.last_stable_offset, row.records_held, server),
            since_ms=None if row.since is None else round(row.since.timestamp() * 1000),
        )
        for row in rows
    ]


def _place(row: Any) -> tuple[str, str, int]:
    return row.group_id, row.topic, row.partition

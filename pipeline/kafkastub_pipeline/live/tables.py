"""Tables of the present, made of the newest records; and what there is to be looked at in them."""

from __future__ import annotations

import shlex
import time
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from kafkastub_pipeline.live.alerts import (
    EXPIRING,
    HANGING,
    LONGEST,
    MOST,
    SOON_MS,
    UNOWNED,
    Found,
    Subject,
    expiring,
    flapping,
    hanging,
    unowned,
)
from kafkastub_pipeline.run import run
from kafkastub_pipeline.session import local_table
from kafkastub_pipeline.settings import PRESENT, Settings
from kafkastub_pipeline.small_log import held
from kafkastub_pipeline.topics import TRANSACTIONS
from kafkastub_pipeline.write import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kafkastub_pipeline.live.newest import Newest

OWNERS: Final = "partition_owners"
HELD: Final = "held_partitions"
_PLACE: Final = ("group_id", "topic", "partition")
_TYPES: Final = {"group_id": "string", "topic": "string", "partition": "int"}
TABLES: Final = (*PRESENT, OWNERS, HELD)
"""What is kept up to date. `partition_owners` has those who hold a partition now: the history is in the log."""


def refresh(
    spark: SparkSession, settings: Settings, newest: Newest, open_: Collection[Subject]
) -> tuple[list[Found], int]:
    """Make the tables, and look at them. Raise PipelineError.

    Args:
        settings: with `bootstrap_servers`, `out`, the retention and what else `run` takes.
        open_: alerts that are open: they are looked for first, so that each is cleared when it is over.

    Returns:
        What is to be looked at, and the moment in Unix milliseconds.
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
    server = shlex.quote(servers)
    rebalances = [one for groups in newest.rebalances.values() for one in groups]
    return _Look(store, open_, server).found(written) + flapping(rebalances, now_ms, server, open_), now_ms


class _Look:
    """What tables show, of each kind at most MOST: what is open already, then the most urgent."""

    def __init__(self, store: Store, open_: Collection[Subject], server: str) -> None:
        self._store, self._open, self._server = store, open_, server

    def found(self, tables: Collection[str]) -> list[Found]:
        """Of these tables."""
        return [*self._expiring(), *self._unowned(), *(self._hanging() if HELD in tables else ())]

    def _expiring(self) -> list[Found]:
        soon = self._store.read("expiry_forecast").where(f"blocked_by is null and seconds_left < {SOON_MS / 1000}D")
        rows = self._first(soon.join(self._behind(), [*_PLACE]), EXPIRING, "seconds_left", *_PLACE)
        return [expiring(*_place(row), row.seconds_left, row.lag_records, self._server) for row in rows]

    def _unowned(self) -> list[Found]:
        """Of groups with the consumer protocol: what members of classic groups have, only they can read."""
        owned = self._store.read(OWNERS).where("group_type = 'consumer' and member_id is not null and until is null")
        behind = (
            self._behind("not coalesce(topic_left, false)")
            .join(owned.select("group_id").distinct(), "group_id", "left_semi")
            .join(owned.select(*_PLACE), [*_PLACE], "left_anti")
        )
        return [unowned(*_place(row), row.lag_records, self._server) for row in self._first(behind, UNOWNED, *_PLACE)]

    def _hanging(self) -> list[Found]:
        return [
            replace(
                hanging(
                    row.topic,
                    row.partition,
                    None if row.transactional_id is None else row.transactional_id[:LONGEST],
                    row.last_stable_offset,
                    row.records_held,
                    self._server,
                ),
                since_ms=None if row.since is None else round(row.since.timestamp() * 1000),
            )
            for row in self._first(self._store.read(HELD).where("hanging"), HANGING, *_PLACE[1:])
        ]

    def _behind(self, condition: str = "true") -> DataFrame:
        """Places of groups with records behind their offset."""
        lag = self._store.read("lag").where(f"lag_records > 0 and octet_length(group_id) <= {LONGEST} and {condition}")
        return lag.select(*_PLACE, "lag_records")

    def _first(self, frame: DataFrame, alert: str, *urgency: str) -> list[Any]:
        """Rows of places, those with an open alert first."""
        from pyspark.sql import functions as f

        place: list[str] = [name for name in _PLACE if name in frame.columns]
        known = {tuple(getattr(one, name) for name in place) for one in self._open if one.alert == alert}
        ddl = ", ".join(f"`{name}` {_TYPES[name]}" for name in place)
        open_ = local_table(frame.sparkSession, [(*one, True) for one in known], f"{ddl}, is_open boolean")
        ordered = frame.join(f.broadcast(open_), place, "left").orderBy(f.col("is_open").desc_nulls_last(), *urgency)
        rows: list[Any] = ordered.limit(MOST).collect()
        return rows


def _place(row: Any) -> tuple[str, str, int]:
    return row.group_id, row.topic, row.partition

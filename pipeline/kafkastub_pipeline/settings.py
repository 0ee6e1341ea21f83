"""What a run is asked for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, TextIO

PRESENT: Final = ("offset_current", "expiry_forecast", "lag", "stale_offsets")
"""Tables of what there is now."""
NAMES_OF_SEVERAL: Final = {"present": PRESENT}
"""What may stand in `tables` for several."""
OF_TRANSACTIONS: Final = ("transactions", "held_partitions", "transaction_whatif")
"""Tables for which `__transaction_state` is read as a whole."""
OF_THE_LOG_ALONE: Final = ("offset_events", "group_events", "decode_errors", "offset_current", "group_timeline")
"""Tables of which the cluster, as it is now, knows nothing more."""
STORM_GENERATIONS: Final = 5
"""Generations of a group within ten minutes that are a storm, unless `--storm-generations` says otherwise."""
_NO_SNAPSHOT: Final = (
    "transactions",
    "transaction_whatif",
    "session_whatif",
    "findings",
    "protocol_coverage",
    "guarantees",
)
"""Others that need nothing of it."""


@dataclass
class Settings:
    """What a run is asked for.

    Attributes:
        out: directory of the tables.
        bootstrap_servers: HOST:PORT; None where `raw` or `records` says where records are and no snapshot is wanted.
        raw: directory of saved raw records.
        records: directory of records that `stream` has decoded.
        retention_minutes: what to try; the first is what the forecast assumes.
        now: "log" (the newest timestamp on the log) or an aware datetime: what is later on the log is not looked at.
        check_interval_ms: `offsets.retention.check.interval.ms`.
        probes: for so many partitions with lag the next record's timestamp is read.
        stale_after_minutes: offsets of groups without members are stale when they were not used for so long; by default
            as long as Kafka keeps them by default (`offsets.retention.minutes`).
        transaction_timeouts_ms: to try for `transaction_whatif`, which is made where there are any.
        storm_generations: that many generations of a group within ten minutes are a finding.
        commit_rate: more offsets a second over a minute are one, too.
        session_timeouts_ms, lock_durations_ms: likewise for `session_whatif` and `lock_whatif`.
        terminal: where a line shows how far it is; None for nowhere.
        append_day: tables are by days, and this one is written; "now" is the day of the moment that they are about.
            None: tables are of one run.
        tables: those to make, by their names or those of `NAMES_OF_SEVERAL`; as one text, with commas between them.
            None: all that can be made of what is given. `tables.wanted.check_tables` says what is wrong with it.
    """

    out: str
    bootstrap_servers: str | None = None
    raw: str | None = None
    records: str | None = None
    retention_minutes: Sequence[int] = (10080,)
    now: datetime | str = "log"
    journal: str | None = None
    profile: str = "kips"
    check_interval_ms: int = 600_000
    format: str = "parquet"
    options: Sequence[tuple[str, str]] = ()
    probes: int = 1000
    keep_records: bool = False
    stale_after_minutes: int = 10080
    transaction_timeouts_ms: Sequence[int] = ()
    storm_generations: int = STORM_GENERATIONS
    commit_rate: float = 100
    session_timeouts_ms: Sequence[int] = ()
    lock_durations_ms: Sequence[int] = ()
    terminal: TextIO | None = None
    append_day: date | str | None = None
    tables: Collection[str] | None = None

    @property
    def reads_the_log(self) -> bool:
        """Whether records come from the broker."""
        return self.raw is None and self.records is None

    @property
    def named(self) -> tuple[str, ...] | None:
        """What `tables` names, with each name of several in full and nothing twice; None where all tables are made."""
        if self.tables is None:
            return None
        given = self.tables.split(",") if isinstance(self.tables, str) else self.tables
        found = (str(name).strip() for name in given)
        return tuple(dict.fromkeys(one for name in found for one in NAMES_OF_SEVERAL.get(name, (name,))))

    def makes(self, *tables: str) -> bool:
        """Whether any of these tables is to be made, as far as there is what it is made from."""
        named = self.named
        return named is None or any(table in named for table in tables)

    @property
    def reads_transactions(self) -> bool:
        """Whether `__transaction_state` is read, where it is to be had."""
        return self.bootstrap_servers is not None and self.makes(*OF_TRANSACTIONS)

    @property
    def reads_shares(self) -> bool:
        """Whether `__share_group_state` is read, where it is to be had."""
        return self.makes("share_partitions") or bool(self.lock_durations_ms and self.makes("lock_whatif"))

    @property
    def needs_snapshot(self) -> bool:
        """Whether the cluster has to be asked once more when the log is read: watermarks, topics, its retention."""
        named = self.named
        return named is None or not set(named) <= {*OF_THE_LOG_ALONE, *_NO_SNAPSHOT}

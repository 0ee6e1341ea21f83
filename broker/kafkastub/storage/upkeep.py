"""One log kept in order: retention and compaction, with the memory of what was looked at already."""

from __future__ import annotations

from .compaction import compact, first_uncleanable
from .log import PartitionLog
from .retention import expired
from .settings import LogSettings


class Upkeep:
    """What is left of a log depends on the time alone, not on how often it was looked after on the way."""

    __slots__ = ("_clean_offset", "_log", "_settings", "_tombstone_ms")

    def __init__(self, log: PartitionLog) -> None:
        self._log = log
        self._settings: LogSettings | None = None
        self._clean_offset = 0
        self._tombstone_ms: int | None = None

    def run(self, now_ms: int) -> None:
        """Do what is due at `now_ms` (broker time). Costs next to nothing where nothing is."""
        log = self._log
        settings = log.settings
        if settings is not self._settings:  # configured anew: whatever was clean may be no longer
            self._settings, self._clean_offset, self._tombstone_ms = settings, 0, None
        if settings.delete and (settings.retention_ms >= 0 or settings.retention_bytes >= 0):
            last = expired(log.batches_from(0), log.size, settings, now_ms)
            if last is not None:
                log.remove_through(last)
        if settings.compact and self._compaction_due(now_ms):
            self._compact(now_ms)

    def _compaction_due(self, now_ms: int) -> bool:
        if self._tombstone_ms is not None and now_ms >= self._tombstone_ms:
            return True
        log = self._log
        first = next(iter(log.batches_from(self._clean_offset)), None)
        if first is None or first.base_offset >= log.last_stable_offset:
            return False
        return now_ms - first.appended_ms >= log.settings.min_compaction_lag_ms

    def _compact(self, now_ms: int) -> None:
        log, settings = self._log, self._log.settings
        batches, stable = list(log.batches_from(0)), log.last_stable_offset
        cleaned = batches[: first_uncleanable(batches, settings, now_ms, stable)]
        aborted = log.aborted_transactions(0, stable)
        changes, self._tombstone_ms = compact(batches, settings, now_ms, stable=stable, aborted=aborted)
        if changes:
            log.rewrite(changes)
        # The log's last record was spared: it may go once another follows, which is then new and makes us look again.
        self._clean_offset = cleaned[-1].last_offset + 1 if cleaned else self._clean_offset

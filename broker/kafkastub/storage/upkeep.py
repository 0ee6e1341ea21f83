"""One log kept in order: retention and compaction, with the memory of what was looked at already."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from kafkastub.steps import Steps, at_once

from .compaction import Compaction
from .log import PartitionLog
from .retention import expired
from .settings import LogSettings
from .unpacker import Unpacker


class Upkeep:
    """What is left of a log depends on the time alone, not on how often it was looked after on the way.

    Args:
        leave: is told once, in a sentence, that compaction leaves a batch of this log as it is.
    """

    __slots__ = ("_clean_offset", "_ended", "_leave", "_log", "_run", "_settings", "_tombstone_ms", "_too_large")

    def __init__(self, log: PartitionLog, leave: Callable[[str], object] = lambda why: None) -> None:
        self._log = log
        self._leave = leave
        self._settings: LogSettings | None = None
        self._clean_offset = 0
        self._tombstone_ms: int | None = None
        self._too_large: set[int] = set()
        """Base offsets of batches that nobody needs to unpack again to see that they are."""
        self._run: object = None
        """The run that may change the log: the latest."""
        self._ended = False

    def end(self) -> None:
        """The log is gone: nothing more is done to it."""
        self._ended, self._run = True, None

    def run(self, now_ms: int) -> None:
        """As `steps`, at once."""
        at_once(self.steps(now_ms, Unpacker()))

    def steps(self, now_ms: int, unpacker: Unpacker) -> Steps[None]:
        """Do what is due at `now_ms` (broker time), piece by piece. Costs next to nothing where nothing is.

        One that began later takes over.
        """
        if self._ended:
            return
        log = self._log
        settings = log.settings
        if settings is not self._settings:  # configured anew: whatever was clean may be no longer
            self._settings, self._clean_offset, self._tombstone_ms = settings, 0, None
        if settings.delete and (settings.retention_ms >= 0 or settings.retention_bytes >= 0):
            last = expired(log.batches_from(0), log.size, settings, now_ms)
            if last is not None:
                log.remove_through(last)
        self._run = run = object()
        while self._run is run and log.settings is settings and settings.compact and self._compaction_due(now_ms):
            yield from self._compact(now_ms, unpacker, run)

    def _compaction_due(self, now_ms: int) -> bool:
        if self._tombstone_ms is not None and now_ms >= self._tombstone_ms:
            return True
        log = self._log
        first = next(iter(log.batches_from(self._clean_offset)), None)
        if first is None or first.base_offset >= log.last_stable_offset:
            return False
        return now_ms - first.appended_ms >= log.settings.min_compaction_lag_ms

    def _compact(self, now_ms: int, unpacker: Unpacker, run: object) -> Steps[None]:
        log, settings, stable = self._log, self._log.settings, self._log.last_stable_offset
        compaction = Compaction(
            list(log.batches_from(0)),
            settings,
            now_ms,
            unpacker,
            stable=stable,
            aborted=log.aborted_transactions(0, stable),
            clean_to=self._clean_offset,
            too_large=self._too_large,
            leave=self._leave_alone,
        )
        with closing(compaction.steps()) as steps:
            while True:
                try:
                    yield next(steps)
                except StopIteration as end:
                    changes, tombstone_ms, clean_to = end.value
                    break
                if self._run is not run or log.settings is not settings:
                    return
        if changes:
            log.rewrite(changes)
        # The log's last record was spared: it may go once another follows, which is then new and makes us look again.
        self._clean_offset, self._tombstone_ms = clean_to, tombstone_ms

    def _leave_alone(self, base_offset: int) -> None:
        if not self._too_large:
            self._leave(
                f"compaction leaves the batch at offset {base_offset} of {self._log.name} as it is, and others like "
                "it: unpacked it holds more than a compacted topic takes in one request"
            )
        self._too_large.add(base_offset)

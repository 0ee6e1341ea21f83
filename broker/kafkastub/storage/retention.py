"""What cleanup.policy=delete takes from a log (Kafka: UnifiedLog.deleteOldSegments). Pure: time and sizes come in.

Kafka deletes whole segments, and never looks into the newest: with its defaults a log of a few records keeps them for a
week longer than retention.ms says. A test that moves the clock wants to know what is gone; here the unit is the batch,
the newest included. A batch's age counts from the broker time of its append, not from its records' timestamps.
"""

from __future__ import annotations

from collections.abc import Iterable

from .segment import StoredBatch
from .settings import LogSettings


def expired(batches: Iterable[StoredBatch], size: int, settings: LogSettings, now_ms: int) -> int | None:
    """The last offset that retention takes at `now_ms`, None where it takes nothing.

    `batches` are in the order of their offsets and hence of their appends; `size` is that of all of them in bytes.
    A batch goes when it is older than retention.ms (older, not as old), and the oldest go as long as those that stay
    have at least retention.bytes.
    """
    last = None
    for batch in batches:
        too_old = is_too_old(batch, settings, now_ms)
        too_many = settings.retention_bytes >= 0 and size - batch.size >= settings.retention_bytes
        if not (too_old or too_many):
            break
        size -= batch.size
        last = batch.last_offset
    return last


def is_too_old(batch: StoredBatch, settings: LogSettings, now_ms: int) -> bool:
    """Whether retention.ms has passed since it was appended."""
    return settings.retention_ms >= 0 and now_ms >= too_old_from(batch, settings)


def too_old_from(batch: StoredBatch, settings: LogSettings) -> int:
    """The first millisecond at which it is older than retention.ms, where that has a bound."""
    return batch.appended_ms + settings.retention_ms + 1

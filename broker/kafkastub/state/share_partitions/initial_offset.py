"""Where a share group begins in a partition that it has never read: `share.auto.offset.reset`.

Kafka: SharePartition.startOffsetDuringInitialization, ShareGroupAutoOffsetResetStrategy.
"""

from __future__ import annotations

import re
from typing import Final

from kafkastub.storage import PartitionLog
from kafkawire.errors import ErrorCode, KafkaError

LATEST: Final = "latest"
EARLIEST: Final = "earliest"
_DURATION: Final = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d*))?S)?)?", re.I | re.ASCII)
_UNITS: Final = (86_400_000, 3_600_000, 60_000, 1_000)


def beginning(reset: str, log: PartitionLog, broker_ms: int) -> int:
    """The offset at which the group begins.

    `reset` is what the group is configured for: `latest`, `earliest`, or `by_duration:` and how old records may be, by
    the broker's time. Raises OFFSET_NOT_AVAILABLE where no record is young enough.
    """
    if reset == LATEST:
        return log.high_watermark
    if reset == EARLIEST:
        return log.log_start_offset
    timestamp = broker_ms - _duration_ms(reset.partition(":")[2])
    found = log.offset_for_timestamp(timestamp)
    if found is None or found.offset >= log.high_watermark:
        raise KafkaError(ErrorCode.OFFSET_NOT_AVAILABLE, f"Offset for timestamp {timestamp} not found in {log.name}")
    return found.offset


def _duration_ms(text: str) -> int:
    """An ISO 8601 duration of days and less, as Java reads it, in whole milliseconds."""
    match = _DURATION.fullmatch(text)
    assert match is not None, text
    *parts, fraction = match.groups(default="0")
    return sum(int(part.lstrip("0") or 0) * unit for part, unit in zip(parts, _UNITS, strict=True)) + int(
        fraction.ljust(3, "0")[:3]
    )

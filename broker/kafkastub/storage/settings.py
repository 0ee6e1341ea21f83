"""What a log wants to know of its topic's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from kafkawire.records import Compression

_INT64_MAX = (1 << 63) - 1
PRODUCER_COMPRESSION = -1
"""`compression.type=producer`: a batch stays as it came."""
UNLIMITED_RECORD = (1 << 31) - 9
"""`max.decompressed.message.bytes` as it is by itself: the largest array that Java has."""
_COMPRESSIONS = {
    "producer": PRODUCER_COMPRESSION,
    "uncompressed": Compression.NONE,
    "gzip": Compression.GZIP,
    "snappy": Compression.SNAPPY,
    "lz4": Compression.LZ4,
    "zstd": Compression.ZSTD,
}


@dataclass(frozen=True, slots=True)
class LogSettings:
    """A topic's settings with Kafka's defaults (LogConfig). Sizes in bytes, times in milliseconds."""

    max_message_bytes: int = 1048588
    max_decompressed_message_bytes: int = UNLIMITED_RECORD
    segment_bytes: int = 1 << 30
    segment_ms: int = 604800000
    log_append_time: bool = False
    timestamp_before_max_ms: int = _INT64_MAX
    timestamp_after_max_ms: int = 3600000
    compact: bool = False
    delete: bool = True
    compression: int = PRODUCER_COMPRESSION
    retention_ms: int = 604800000
    retention_bytes: int = -1
    delete_retention_ms: int = 86400000
    min_compaction_lag_ms: int = 0
    index_interval_bytes: int = 4096
    producers_expire_ms: int = 86400000
    """producer.id.expiration.ms, which is the broker's."""

    @property
    def perishable(self) -> bool:
        """Whether time or size may take anything from the log."""
        return self.compact or (self.delete and (self.retention_ms >= 0 or self.retention_bytes >= 0))

    def with_wider_bounds(self, ahead_ms: int) -> LogSettings:
        """With bounds on timestamps that hold as well if they are measured from so much later (or earlier)."""
        return replace(
            self,
            timestamp_before_max_ms=self.timestamp_before_max_ms + max(-ahead_ms, 0),
            timestamp_after_max_ms=self.timestamp_after_max_ms + max(ahead_ms, 0),
        )

    @classmethod
    def from_topic(cls, values: Mapping[str, Any]) -> Self:
        """From typed values by their topic-level names; what is missing has Kafka's default."""
        default = cls()
        policy = values.get("cleanup.policy", ["delete"])
        return cls(
            max_message_bytes=values.get("max.message.bytes", default.max_message_bytes),
            max_decompressed_message_bytes=values.get(
                "max.decompressed.message.bytes", default.max_decompressed_message_bytes
            ),
            segment_bytes=values.get("internal.segment.bytes") or values.get("segment.bytes", default.segment_bytes),
            segment_ms=values.get("segment.ms", default.segment_ms),
            log_append_time=values.get("message.timestamp.type", "CreateTime") == "LogAppendTime",
            timestamp_before_max_ms=values.get("message.timestamp.before.max.ms", default.timestamp_before_max_ms),
            timestamp_after_max_ms=values.get("message.timestamp.after.max.ms", default.timestamp_after_max_ms),
            compact="compact" in policy,
            delete="delete" in policy,
            compression=_COMPRESSIONS[values.get("compression.type", "producer")],
            retention_ms=values.get("retention.ms", default.retention_ms),
            retention_bytes=values.get("retention.bytes", default.retention_bytes),
            delete_retention_ms=values.get("delete.retention.ms", default.delete_retention_ms),
            index_interval_bytes=values.get("index.interval.bytes", default.index_interval_bytes),
            producers_expire_ms=values.get("producer.id.expiration.ms", default.producers_expire_ms),
            min_compaction_lag_ms=values.get("min.compaction.lag.ms", default.min_compaction_lag_ms),
        )

"""`__consumer_offsets` in a data directory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafkastub.config import BrokerConfig
from kafkastub.coordinator import GroupCoordinator, Record
from kafkastub.state.internal_topics.durable_topic import DurableTopic
from kafkastub.state.internal_topics.offsets_topic import OffsetsTopic
from kafkastub.storage import Marker
from kafkastub.storage.disk import DiskLogs
from kafkastub.storage.state_log import StateLog


class DurableOffsetsTopic(DurableTopic[Record], OffsetsTopic):
    """Kept in files as every internal topic, in memory as `OffsetsTopic`, read back by runs."""

    def __init__(
        self,
        config: BrokerConfig,
        coordinator: GroupCoordinator,
        log: Any,
        partitions: Callable[[], int],
        logs: DiskLogs,
        fall_back: Callable[[], None],
    ) -> None:
        self._write_to(logs, fall_back)
        OffsetsTopic.__init__(self, config, coordinator, log, partitions)

    def append_marker(self, partition: int, marker: Marker, broker_ms: int) -> int:
        """As for memory; in the files it is too, or else KAFKA_STORAGE_ERROR, and all is what the files say."""
        offset = super().append_marker(partition, marker, broker_ms)
        self._write_out()
        return offset

    def _aborted_from(self, log: StateLog) -> int:
        """What the log has compacted is still in its files, and the cleaner has to know."""
        return min(log.compacted_end, self.cleaned_end(log))

"""`__consumer_offsets` in a data directory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kafkastub.config import BrokerConfig
from kafkastub.coordinator import GroupCoordinator, Record
from kafkastub.state.internal_topics.contract import Loaded, Skipped
from kafkastub.state.internal_topics.durable_topic import DurableTopic
from kafkastub.state.internal_topics.offsets_batches import read_offsets
from kafkastub.state.internal_topics.offsets_topic import OffsetsTopic
from kafkastub.state.internal_topics.offsets_transactions import marker_in
from kafkastub.storage import Marker
from kafkastub.storage.disk import DiskLogs
from kafkastub.storage.disk.scan import FoundBatch
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

    # -- loading -------------------------------------------------------------------------------------------------

    def _load(self, log: StateLog, batch: FoundBatch, in_tail: bool) -> None:
        header = batch.header
        if not header.control:
            super()._load(log, batch, in_tail)
            if header.has_producer:
                log.producer_states.update(header, header.base_offset, header.max_timestamp, header.max_timestamp)
            return
        log.end = header.base_offset
        marker = marker_in(header, batch.data, self._pending_in(log, header.producer_id))
        if in_tail:
            log.append_item(log.end, header.record_count, header.max_timestamp, marker or bytes(batch.data))
        if marker is not None:
            self._complete(log, marker, header.base_offset)
        log.end = header.last_offset + 1

    def _records_in(self, batch: FoundBatch, skipped: Skipped) -> Iterable[Loaded[Record]]:
        return read_offsets(batch.header, batch.data, skipped)

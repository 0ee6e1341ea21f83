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
from kafkastub.storage.disk import DiskLogs
from kafkastub.storage.disk.scan import FoundBatch


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

    def _records_in(self, batch: FoundBatch, skipped: Skipped) -> Iterable[Loaded[Record]]:
        return read_offsets(batch.header, batch.data, skipped)

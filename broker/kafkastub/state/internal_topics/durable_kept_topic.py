"""A topic that is not compacted, in a data directory: files are not cleaned, but given up from the front."""

from __future__ import annotations

from kafkastub.state.internal_topics.contract import R
from kafkastub.state.internal_topics.durable_topic import DurableTopic
from kafkastub.state.internal_topics.kept_topic import KeptTopic
from kafkastub.storage.state_log import StateLog


class DurableKeptTopic(DurableTopic[R], KeptTopic[R]):
    """See the module."""

    def prune(self, log: StateLog, offset: int) -> None:
        if offset > log.log_start_offset and self._disk.failed is None:
            super().prune(log, offset)
            self._disk.state_changed()
            self._files[log].remove_before(offset, log.end)

    def _clean(self, log: StateLog) -> None:
        """There is nothing to clean."""

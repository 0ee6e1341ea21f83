"""An internal topic that is not compacted: what is not needed any more, its coordinator says, and it is pruned.

As of other internal topics, so many records are to be remembered: where there are more, the topic says so (`overfull`),
and its coordinator sees to it that it can prune.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkastub.coordinator import partition_for
from kafkastub.state.internal_topics.contract import R
from kafkastub.state.internal_topics.internal_topic import InternalTopic
from kafkastub.storage.batches import FoundBatch
from kafkastub.storage.kept_log import KeptLog
from kafkastub.storage.state_log import PLAIN, BatchForm, Snapshot, StateLog
from kafkawire.records import NewRecord


class KeptTopic(InternalTopic[R]):
    """See the module."""

    _kind = KeptLog

    @property
    def records(self) -> int:
        """How many there are, in all of its logs."""
        return self._count

    @property
    def overfull(self) -> bool:
        """Whether it has more records than are to be remembered, or they weigh more."""
        return self._count > self._trigger or self._weight > self._heaviest

    def log_of(self, owner: str) -> StateLog:
        if not self._partitions:
            self._partitions = self._partitions_now()
        return self.logs[partition_for(owner, self._partitions)]

    def appended(self, log: StateLog) -> None:
        """Nobody asks which log has the oldest item."""

    def _trim(self) -> None:
        """Nothing goes by itself."""

    def kept(self, log: StateLog) -> Iterable[tuple[int, R]]:
        """A log's records with their offsets, but for what clients have written."""
        self.catch_up()
        return ((item.offset, item.content) for item in log.items if type(item.content) is not bytes)

    def prune(self, log: StateLog, offset: int) -> None:
        """Let a log start at an offset, unless it starts behind it already."""
        assert isinstance(log, KeptLog)
        self.catch_up()
        for item in log.prune(offset):
            if type(item.content) is not bytes:  # what a client has written was never counted
                self._count -= item.records
                if self._weigh is not None:
                    self._weight -= self._weigh(item.content)

    # -- loading -------------------------------------------------------------------------------------------------

    def take_up_batches(self, batches: Sequence[bytes]) -> None:
        super().take_up_batches(batches)
        for log in self.logs:  # where there are no batches, there is nothing that it could start behind
            log.log_start_offset = min(log.log_start_offset, log.end)

    def _tails(self, found: dict[StateLog, list[FoundBatch]]) -> dict[StateLog, int]:
        """Everything is there, from the log start offset on; of which it may not be written down that it has moved."""
        for log, batches in found.items():
            if batches:
                log.log_start_offset = max(log.log_start_offset, batches[0].header.base_offset)
        return {log: log.log_start_offset for log in found}

    def _load(self, log: StateLog, batch: FoundBatch, in_tail: bool) -> None:
        if batch.header.last_offset >= log.log_start_offset:
            super()._load(log, batch, in_tail=True)
        else:
            log.end = batch.header.last_offset + 1

    # -- reading -------------------------------------------------------------------------------------------------

    def snapshot(self, log: StateLog, end: int) -> Snapshot:
        """Nothing is left of what was pruned (`Writer`)."""
        return _Nothing()


class _Nothing:
    """A `Snapshot` without records."""

    offsets: Sequence[int] = ()

    def record(self, index: int) -> NewRecord | None:
        """There is none."""
        return None

    def form(self, index: int) -> BatchForm:
        """There is none."""
        return PLAIN

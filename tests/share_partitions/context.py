"""A share partition with a log to read and a place to write to, for tests."""

from __future__ import annotations

from collections.abc import Sequence

from kafkastub.share_coordinator.state_batches import ReadState, StateBatch
from kafkastub.share_partitions.acknowledging import AcknowledgementBatch
from kafkastub.share_partitions.dead_letters import DeadLetter
from kafkastub.share_partitions.log_batches import AbortedTransaction, Acquired, LogBatch
from kafkastub.share_partitions.partition import SharePartition, View
from kafkastub.share_partitions.settings import ShareSettings
from kafkastub.share_partitions.states import BATCH_OPTIMIZED
from kafkastub.share_partitions.transition import Transition

ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4


class SharePartitionContext:
    """Drives one share partition.

    Attributes:
        log: batches that are there to be read.
        aborted: transactions of the log that were aborted.
        now: timer time, ms.
        letters: what was handed out to be written to the dead-letter topic.
    """

    def __init__(self, settings: ShareSettings | None = None, start: int = 0, kept: ReadState | None = None) -> None:
        self.settings = settings or ShareSettings()
        self.log: list[LogBatch] = []
        self.aborted: list[AbortedTransaction] = []
        self.now = 0
        self.letters: list[DeadLetter] = []
        self.partition = SharePartition("g", bytes(16), 0, lambda: self.settings, 0)
        self.letters += self.partition.load(kept or ReadState(1, -1, -1, ()), start)

    def append(self, *counts: int) -> None:
        """Batches of so many records each."""
        for count in counts:
            base = self.log[-1].last_offset + 1 if self.log else 0
            self.log.append(LogBatch(base, base + count - 1))

    def fetch(
        self, member: str = "m", most: int = 500, mode: int = BATCH_OPTIMIZED, size: int = 500, batches: int = 1_000_000
    ) -> list[str]:
        """What a member gets, as "first-last x deliveries"."""
        return [f"{a}-{b}x{c}" for a, b, c in self.acquire(member, most, mode, size, batches)]

    def acquire(self, member: str, most: int, mode: int, size: int, batches: int) -> list[Acquired]:
        offset = self.partition.next_fetch_offset()
        read = [batch for batch in self.log if batch.last_offset >= offset][:batches]
        return self.partition.acquire(member, mode, size, most, offset, read, self.now, self.aborted)

    def say(self, member: str, *said: tuple[int, int, int | Sequence[int]]) -> list[StateBatch]:
        """Acknowledge offsets, and write it at once. Returns what was written."""
        return self.write(self.begin(member, *said))

    def begin(self, member: str, *said: tuple[int, int, int | Sequence[int]]) -> Transition:
        """Acknowledge offsets, and leave it to be written."""
        batches = [
            AcknowledgementBatch(first, last, [kind] if isinstance(kind, int) else kind) for first, last, kind in said
        ]
        return self.partition.acknowledge(member, batches, self.now)

    def write(self, transition: Transition) -> list[StateBatch]:
        self.letters += self.partition.commit(transition)
        return transition.writes

    def wait(self, ms: int) -> list[StateBatch]:
        """Time passes. Returns what was written as locks ended."""
        until = self.now + ms
        written: list[StateBatch] = []
        while (at := self.partition.next_lock_deadline()) is not None and at <= until:
            self.now = at
            written += self.write(self.partition.expire_locks(at))
        self.now = until
        return written

    def seen(self) -> list[str]:
        """What is in flight, as "first-last state x deliveries member"."""
        return [_seen(one) for one in self.partition.view()]


def _seen(view: View) -> str:
    member = f" {view.member_id}" if view.member_id else ""
    return f"{view.first_offset}-{view.last_offset} {view.state.name.lower()} x{view.delivery_count}{member}"

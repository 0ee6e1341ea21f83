"""What is begun in a share partition, and true when it is written. Kafka: SharePartition.PersisterBatch."""

from __future__ import annotations

from typing import NamedTuple

from kafkastub.share_coordinator.state_batches import StateBatch
from kafkastub.share_partitions.dead_letters import DeadLetter
from kafkastub.share_partitions.in_flight import Run
from kafkastub.share_partitions.states import RecordState


class Change(NamedTuple):
    """What becomes of neighbouring offsets.

    Attributes:
        pieces: the runs that they are; empty where it is so already, whether or not it can be written.
        write: what is to be written of it.
        cause: why a dead letter is written of them; None where none is.
    """

    pieces: list[Run]
    write: StateBatch
    cause: str | None = None


class Transition:
    """What was begun, and is to be written before it is true.

    Attributes:
        start_offset, delivery_complete_count: of the partition as it is written with `writes`.
        changes: what becomes of which offsets.
    """

    __slots__ = ("changes", "delivery_complete_count", "start_offset")

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.start_offset = 0
        self.delivery_complete_count = 0

    @property
    def writes(self) -> list[StateBatch]:
        """What is to be written; where empty there is nothing to write, and `commit` changes nothing."""
        return [change.write for change in self.changes]

    def add(self, run: Run, pieces: list[Run], cause: str | None = None) -> None:
        """What has become of a run, or is to become of it. `cause` counts where it is ARCHIVING now."""
        write = StateBatch(run.first, run.last, run.state, run.delivery_count)
        self.changes.append(Change(pieces, write, cause if run.state is RecordState.ARCHIVING else None))

    def dead_letters(self) -> list[DeadLetter]:
        """Of what is ARCHIVING by it."""
        return [
            DeadLetter(write.first_offset, write.last_offset, write.delivery_count, cause)
            for _, write, cause in self.changes
            if cause is not None
        ]

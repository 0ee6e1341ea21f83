"""Which leader epoch wrote which offsets (Kafka: LeaderEpochFileCache; KIP-101, KIP-320)."""

from __future__ import annotations

from bisect import bisect_right

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1


class LeaderEpochs:
    """Epochs with the offset at which each began, both ascending."""

    __slots__ = ("_epochs", "_starts", "latest")

    def __init__(self) -> None:
        self.latest = UNDEFINED_EPOCH
        """The epoch that writes now."""
        self._epochs: list[int] = []
        self._starts: list[int] = []

    def copy(self) -> LeaderEpochs:
        """Others that say the same."""
        copied = LeaderEpochs()
        copied.latest, copied._epochs, copied._starts = self.latest, self._epochs.copy(), self._starts.copy()
        return copied

    def starts(self) -> list[tuple[int, int]]:
        """Each with the offset at which it began."""
        return list(zip(self._epochs, self._starts, strict=True))

    def assign(self, epoch: int, start_offset: int) -> None:
        """`epoch` writes from `start_offset` on. An epoch that is known, or older than the latest, changes
        nothing.
        """
        if not self._epochs or epoch > self._epochs[-1]:
            self._epochs.append(epoch)
            self._starts.append(start_offset)
            self.latest = epoch

    def earliest(self) -> tuple[int, int] | None:
        """(epoch, its start offset) of the oldest."""
        return (self._epochs[0], self._starts[0]) if self._epochs else None

    def end_offset(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """(the largest epoch that is at most `epoch`, the offset after its last), both undefined where
        unknown.

        An epoch older than all is answered with itself and the start of the first; the latest one ends at the
        log's end.
        """
        if epoch == UNDEFINED_EPOCH or not self._epochs or epoch > self._epochs[-1]:
            return UNDEFINED_EPOCH, UNDEFINED_OFFSET
        if epoch == self._epochs[-1]:
            return epoch, log_end_offset
        higher = bisect_right(self._epochs, epoch)
        floor = self._epochs[higher - 1] if higher else epoch
        return floor, self._starts[higher]

    def truncate_from_start(self, offset: int) -> None:
        """Forget epochs that ended at or before `offset`; the one that wrote it begins there now."""
        keep = bisect_right(self._starts, offset) - 1
        if keep >= 0:
            del self._epochs[:keep], self._starts[:keep]
            self._starts[0] = offset

"""Producers whose transaction the coordinator has yet to confirm for a partition (KIP-890; VerificationStateEntry).

A batch that could not be verified is sent again. Another one behind it must not be written before: the producer's
sequences would have a hole that nobody can fill.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from kafkawire.errors import ErrorCode
from kafkawire.records import BatchHeader

from .errors import AppendError

_MOST: Final = 1000
"""Producers of one partition. Beyond, the oldest is forgotten; Kafka has no limit."""


class _Verification(NamedTuple):
    epoch: int
    lowest_sequence: int
    epochs_are_raised: bool
    started_ms: int


class Verifications:
    """Those of one partition, by producer id, in the order in which they began."""

    __slots__ = ("_started",)

    def __init__(self) -> None:
        self._started: dict[int, _Verification] = {}

    def __contains__(self, producer_id: int) -> bool:
        return producer_id in self._started

    def copy(self) -> Verifications:
        """Others that are the same."""
        copied = Verifications()
        copied._started = self._started.copy()
        return copied

    def start(self, producer_id: int, epoch: int, sequence: int, epochs_are_raised: bool, now_ms: int) -> None:
        """A batch with that first sequence is about to be verified, at that broker time."""
        known = self._started.get(producer_id)
        if known is None:
            if len(self._started) >= _MOST:
                del self._started[next(iter(self._started))]
            self._started[producer_id] = _Verification(epoch, sequence, epochs_are_raised, now_ms)
        elif epoch > known.epoch or (epoch == known.epoch and sequence < known.lowest_sequence):
            self._started[producer_id] = known._replace(epoch=epoch, lowest_sequence=sequence)

    def over(self, producer_id: int) -> None:
        """A transactional batch of the producer was written."""
        self._started.pop(producer_id, None)

    def ended(self, producer_id: int, epoch: int) -> None:
        """A marker of the producer was written, with that epoch.

        What was to be verified with raised epochs is of the transaction behind, unless the marker's epoch is above.
        """
        known = self._started.get(producer_id)
        if known is not None and (epoch > known.epoch or not known.epochs_are_raised):
            del self._started[producer_id]

    def forget(self, until_ms: int) -> None:
        """Forget those that began at or before that broker time."""
        while self._started:
            oldest = next(iter(self._started))
            if self._started[oldest].started_ms > until_ms:
                return
            del self._started[oldest]

    def check(self, header: BatchHeader, *, no_state: bool, where: str) -> None:
        """AppendError OUT_OF_ORDER_SEQUENCE_NUMBER for a batch before which others are missing.

        `no_state`: nothing of the producer's batches is known.
        """
        known = self._started.get(header.producer_id)
        if known is None:
            return
        first = header.base_sequence
        if known.epochs_are_raised and first != 0 and no_state:
            why = f"{first} came where 0 is due"
        elif first > known.lowest_sequence:
            why = f"{first} came before {known.lowest_sequence}, which was seen already"
        else:
            return
        raise AppendError(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, f"out of order sequence number for {where}: {why}")

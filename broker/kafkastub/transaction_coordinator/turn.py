"""What the coordinator is given and gives back: a moment, and what came of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from kafkastub.transaction_coordinator.records import TransactionRecord
from kafkawire.errors import ErrorCode

TopicPartition = tuple[str, int]
"""A topic's name and a partition's index."""


class ProducerIdAndEpoch(NamedTuple):
    """What a producer writes with; -1, -1 for none."""

    producer_id: int
    epoch: int


NO_PRODUCER = ProducerIdAndEpoch(-1, -1)


class Markers(NamedTuple):
    """What is to be written at the end of a transaction: a control batch into each of its partitions.

    Attributes:
        producer_epoch: that of the markers, which a producer of transaction version 2 did not write with yet.
        partitions: those that have no marker yet; `__consumer_offsets` ones among them.
        coordinator_epoch: the leader epoch of the transactional id's partition of `__transaction_state`.
        transaction_version: 0 to 2; decides what the log asks of the marker's epoch (KIP-890).
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    commit: bool
    partitions: tuple[TopicPartition, ...]
    coordinator_epoch: int
    transaction_version: int


class Turn:
    """One thing that happened to the coordinator, a request or a deadline, and everything that followed from it.

    Fulfils `state.internal_topics.contract.Turn`.

    Attributes:
        broker_ms: the moment in broker time, unix milliseconds: it stamps records.
        timer_ms: the same moment in timer time, monotonic milliseconds: transaction timeouts count in it.
        records: what to append to `__transaction_state`, in order; already applied.
        completions: always empty: nothing is parked here.
        markers: what to write into partitions once the records are safe, in order; each partition is reported with
            `TransactionCoordinator.markers_written`.
        reply: the answer to the request.
        error: what is answered instead, although something happened, and its records are to be written: NONE or
            CONCURRENT_TRANSACTIONS.
    """

    __slots__ = ("broker_ms", "completions", "error", "markers", "records", "reply", "timer_ms")

    def __init__(self, broker_ms: int, timer_ms: int) -> None:
        self.broker_ms = broker_ms
        self.timer_ms = timer_ms
        self.records: list[TransactionRecord] = []
        self.completions: list[tuple[Any, Any]] = []
        self.markers: list[Markers] = []
        self.reply: Any = None
        self.error = ErrorCode.NONE

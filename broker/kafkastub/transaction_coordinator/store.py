"""All transactional ids: what is known of each, changed by records alone, and when the open ones time out.

`coordinator.TransactionCoordinator` is it with all verbs. Kafka: TransactionStateManager.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from kafkastub.deadlines import Deadline, Deadlines
from kafkastub.transaction_coordinator import transitions
from kafkastub.transaction_coordinator.records import (
    TransactionMetadata,
    TransactionRecord,
    TransactionState,
    TransactionTombstone,
)
from kafkastub.transaction_coordinator.turn import TopicPartition, Turn


class TransactionDescription(NamedTuple):
    """What DescribeTransactions tells of a transactional id.

    Attributes:
        start_ms: broker milliseconds; -1 where none is open.
        partitions: those that have no marker yet.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    state: TransactionState
    timeout_ms: int
    start_ms: int
    partitions: tuple[TopicPartition, ...]


class Transaction:
    """One transactional id.

    Attributes:
        metadata: its last record.
        partitions: those of an open transaction that have no marker yet; a dict for its order.
        deadline: its timeout.
    """

    __slots__ = ("deadline", "metadata", "partitions")

    def __init__(self, metadata: TransactionMetadata, deadline: Deadline[Turn]) -> None:
        self.metadata = metadata
        self.deadline = deadline
        self.partitions: dict[TopicPartition, None] = dict.fromkeys(metadata.partitions)


def described(transaction: Transaction) -> TransactionDescription:
    metadata = transaction.metadata
    return TransactionDescription(
        metadata.transactional_id,
        metadata.producer_id,
        metadata.producer_epoch,
        metadata.state,
        metadata.timeout_ms,
        metadata.start_timestamp,
        tuple(transaction.partitions),
    )


class Meters:
    """Counters since the start of the process; loading and restore do not count.

    Attributes:
        committed, aborted: transactions that are complete.
        timed_out: those that were aborted because their timeout was over, or was said to be.
    """

    __slots__ = ("aborted", "committed", "timed_out")

    def __init__(self) -> None:
        self.committed = 0
        self.aborted = 0
        self.timed_out = 0


class TransactionStore:
    """Every transactional id.

    Args:
        time_out: what becomes of an open transaction whose time is over.

    Attributes:
        transactions: by transactional id; to be read only.
        deadlines: transaction timeouts, on timer time; `deadlines.mark_dirty` is called where the next one may have
            come nearer.
        idle: when each id that has no open transaction was last used, broker milliseconds; the earliest first.
    """

    def __init__(self, time_out: Callable[[str, Turn], None]) -> None:
        self.transactions: dict[str, Transaction] = {}
        self.deadlines: Deadlines[Turn] = Deadlines()
        self.idle: dict[str, int] = {}
        self.meters = Meters()
        self._time_out = time_out

    def apply(self, record: TransactionRecord) -> None:
        """Make a record of `__transaction_state` true; on loading `TransactionCoordinator.loaded` follows the last."""
        transactional_id = record.transactional_id
        known = self.transactions.get(transactional_id)
        if isinstance(record, TransactionTombstone):
            self.idle.pop(transactional_id, None)
            if known is not None:
                known.deadline.cancel()
                del self.transactions[transactional_id]
            return
        if known is None:
            timeout = Deadline(("transaction", transactional_id), partial(self._time_out, transactional_id))
            known = self.transactions[transactional_id] = Transaction(record, timeout)
        self._become(known, record)

    def _become(self, known: Transaction, record: TransactionMetadata) -> None:
        known.metadata = record
        known.partitions = dict.fromkeys(record.partitions)
        self.idle.pop(record.transactional_id, None)
        if record.state not in transitions.OPEN:
            self.idle[record.transactional_id] = record.last_update_timestamp

    def log(self, turn: Turn, record: TransactionRecord) -> None:
        """Append a record to the turn, and make it true."""
        known = self.transactions.get(record.transactional_id)
        turn.records.append(record)
        if known is None or isinstance(record, TransactionTombstone):
            self.apply(record)
        else:
            self.go_on(known, record, turn.timer_ms)

    def go_on(self, known: Transaction, record: TransactionMetadata, timer_ms: int) -> None:
        """Make the next record of a transactional id true: live, with its timeout."""
        self._become(known, record)
        state, deadline = record.state, known.deadline
        if state is TransactionState.ONGOING:
            if deadline.at is None:
                self.deadlines.arm(deadline, timer_ms + record.timeout_ms)
            return
        deadline.cancel()
        if state is TransactionState.COMPLETE_COMMIT:
            self.meters.committed += 1
        elif state is TransactionState.COMPLETE_ABORT:
            self.meters.aborted += 1

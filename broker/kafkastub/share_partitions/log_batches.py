"""What a share partition is told of records that were read, and what it tells of those that it gives out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class LogBatch(NamedTuple):
    """A batch of the log, without what is in it. Kafka: RecordBatch.

    Attributes:
        base_offset: of its first record.
        last_offset: of its last.
        producer_id: -1: none.
        is_transactional: whether it belongs to a transaction.
        is_abort_marker: a control batch that ends its producer's transaction as aborted.
    """

    base_offset: int
    last_offset: int
    producer_id: int = -1
    is_transactional: bool = False
    is_abort_marker: bool = False


class AbortedTransaction(NamedTuple):
    """A transaction that a reader of committed records does not see, as a fetch names it."""

    producer_id: int
    first_offset: int


class Acquired(NamedTuple):
    """Neighbouring offsets that a member has got. Kafka: ShareFetchResponse.AcquiredRecords."""

    first_offset: int
    last_offset: int
    delivery_count: int


def count_of(acquired: Iterable[Acquired]) -> int:
    """How many offsets these are: so many less may be acquired from the next partition of a fetch."""
    return sum(each.last_offset - each.first_offset + 1 for each in acquired)

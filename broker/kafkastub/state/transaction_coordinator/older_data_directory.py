"""Transactional ids of a data directory that was written before there were transactions.

Their producer ids and epochs were kept beside the topic; they become its records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Protocol

from kafkastub.state.transaction_coordinator.runtime import TransactionRuntime
from kafkastub.transaction_coordinator import TransactionRecord, Turn
from kafkastub.transaction_coordinator.transitions import created

_TIMEOUT_MS: Final = 60_000
"""Nobody wrote down what the producers had asked for; the next InitProducerId does."""
_AT_ONCE: Final = 1000


class Kept(Protocol):
    """What was written down of one."""

    @property
    def producer_id(self) -> int: ...
    @property
    def epoch(self) -> int: ...
    @property
    def last_epoch(self) -> int: ...


def adopt(transactions: TransactionRuntime, kept: Mapping[str, Kept], broker_ms: int) -> Iterator[None]:
    """Write them to `__transaction_state`, whose records are applied, step by step; who is there already stays as is.

    KAFKA_STORAGE_ERROR.
    """
    coordinator, records = transactions.coordinator, list[TransactionRecord]()
    for name, one in kept.items():
        if not coordinator.knows(name):
            new = created(name, one.producer_id, _TIMEOUT_MS, broker_ms)
            records.append(new._replace(producer_epoch=one.epoch, last_producer_epoch=one.last_epoch))
    for first in range(0, len(records), _AT_ONCE):
        turn = Turn(broker_ms, 0)
        turn.records = records[first : first + _AT_ONCE]
        for record in turn.records:
            coordinator.apply(record)
        transactions.topic.write(turn)
        yield

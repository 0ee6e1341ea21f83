"""`__transaction_state`: an internal topic as any other, in memory or in a data directory."""

from __future__ import annotations

from typing import Any, Final

from kafkastub.metadata import TRANSACTION_STATE
from kafkastub.state.internal_topics.internal_topic import InternalTopic
from kafkastub.state.transaction_coordinator.needed_state import NeededState
from kafkastub.transaction_coordinator import (
    TransactionCodec,
    TransactionCoordinator,
    TransactionRecord,
    TransactionTombstone,
)

_HISTORY: Final = 10_000
"""So many of the newest records are kept though newer ones of their keys follow, all partitions together."""
_HEAVIEST: Final = 1_000_000
"""Partitions that they name together, at most: some 100 MB. One transaction may have ten thousands."""
_UNCOMPRESSED: Final = 0


def _weight(record: TransactionRecord) -> int:
    return 0 if isinstance(record, TransactionTombstone) else len(record.partitions)


def transactions_topic(
    state: NeededState, codec: TransactionCodec, coordinator: TransactionCoordinator
) -> InternalTopic[TransactionRecord]:
    """The logs of `__transaction_state` (`transaction.state.log.*`)."""
    shape: dict[str, Any] = {
        "history": _HISTORY,
        "heaviest": _HEAVIEST,
        "key_of": lambda record: (record.transactional_id, not isinstance(record, TransactionTombstone)),
        "weigh": _weight,
        "compression": _UNCOMPRESSED,
        "log": state.log,
        "kept": coordinator,
        "partitions": lambda: len(state.cluster.topics[TRANSACTION_STATE].partitions),
    }
    if state.disk is None:
        return InternalTopic(codec, coordinator, **shape)
    from kafkastub.state.internal_topics.durable_topic import DurableTopic
    from kafkastub.storage.disk import DiskLogs

    assert isinstance(state.logs, DiskLogs)
    return DurableTopic(codec, coordinator, **shape, logs=state.logs, fall_back=state.fall_back)

"""EndTxn, straight from the frame to the answer's bytes: of a transaction that ends with nothing in its way.

What that is, and what is done, `state.transaction_coordinator.at_once` has. Anything else is left to `k26_end_txn`:
nothing has happened then.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.layers.fast_paths.contract import FastPath, IsClear, always_clear
from kafkastub.state.broker_state import BrokerState
from kafkawire.messages.end_txn_request import EndTxnRequest

if TYPE_CHECKING:
    from kafkastub.state.transaction_coordinator.at_once import AtOnce

FLEXIBLE_FROM: Final = 3
RAISES_EPOCH_FROM: Final = 5
_V1, _V2 = 0, 2
"""Transaction versions; Kafka counts clients below the second as 0."""
_asked = Struct(">qhBB")
"""Behind the transactional id: producer id, epoch, whether to commit, the count of tags."""
_raised = Struct(">ihqhB").pack
"""The answer: throttle time, error code, producer id, epoch, the count of tags."""
_PLAIN: Final = bytes(7)
_LONGEST: Final = 127
"""Bytes of a transactional id whose length is one byte, and one more."""
_MOST_NAMES: Final = 10_000
"""Transactional ids that are remembered."""


def fast_path(state: BrokerState, version: int, is_clear: IsClear = always_clear) -> FastPath | None:
    """The fast path for one version; None where there is none."""
    if version < FLEXIBLE_FROM:
        return None
    names: dict[bytes, str | None] = {}
    raises = version >= RAISES_EPOCH_FROM
    transaction_version = _V2 if raises else _V1
    unpack, size = _asked.unpack_from, _asked.size
    at_once: AtOnce | None = None

    def end_txn(info: ConnectionInfo, data: bytes, body: int, end: int, broker_ms: int, timer_ms: int) -> bytes | None:
        nonlocal at_once
        length = data[body]
        at = body + length
        if not 1 < length <= _LONGEST or end - at != size:
            return None
        if at_once is None:
            if not state.has_transactions:
                return None
            at_once = state.transactions.at_once
        raw = data[body + 1 : at]
        name = names.get(raw)
        if name is None:
            if raw in names:
                return None
            if len(names) >= _MOST_NAMES:
                names.clear()
            name = names[raw] = _clear_name(raw, is_clear)
            if name is None:
                return None
        producer_id, epoch, commit, tags = unpack(data, at)
        if tags:
            return None
        found = at_once.end(name, producer_id, epoch, commit != 0, transaction_version, broker_ms, timer_ms)
        if found is None:
            return None
        return _raised(0, 0, *found, 0) if raises else _PLAIN

    return end_txn


def _clear_name(raw: bytes, is_clear: IsClear) -> str | None:
    """The transactional id; None where something stands before the handler that may care for it."""
    try:
        name = raw.decode()
    except UnicodeDecodeError:
        return None
    return name if is_clear(EndTxnRequest(name)) else None

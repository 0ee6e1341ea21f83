"""Heartbeats of groups with epochs that say nothing new: what a member sends over and over while nothing happens.

The request is known by its bytes, and its answer was encoded before. Whether it says nothing new to its group as that
is now, is asked of the coordinator each time, as the careful way asks; and the member's session counts anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.layers.fast_paths.contract import IsClear, always_clear
from kafkastub.state.broker_state import BrokerState
from kafkawire.codec import Parts
from kafkawire.schema import Message

_LONGEST_REQUEST: Final = 1 << 9
"""Bytes of a body."""
_MOST: Final = 10_000
"""Members whose heartbeats are remembered."""


class _Known(NamedTuple):
    request: Message
    answer: bytes
    basis: object
    """See `ModernGroups.answer_basis`."""
    finalized: Mapping[str, int]
    """Features, without which there is no such protocol."""


class Heartbeats:
    """A fast path that learns (`contract.Memory`): of one group type."""

    __slots__ = ("_group_type", "_is_clear", "_known", "_state", "_version")
    token: Final = None
    """What is put off is never kept."""

    def __init__(self, group_type: str, state: BrokerState, version: int, is_clear: IsClear = always_clear) -> None:
        self._group_type = group_type
        self._state = state
        self._version = version
        self._is_clear = is_clear
        self._known: dict[bytes, _Known] = {}

    def __call__(
        self, info: ConnectionInfo, data: bytes, body: int, end: int, broker_ms: int, timer_ms: int
    ) -> bytes | None:
        if end - body > _LONGEST_REQUEST:
            return None
        known = self._known.get(data[body:end])
        if known is None:
            return None
        state, client_id = self._state, info.client_id_bytes
        serving = state.serving
        at = body - 1 - len(client_id)
        if (
            serving is None
            or data[at - 2 : body - 1] != len(client_id).to_bytes(2, "big") + client_id  # it may have none
            or state.features.finalized is not known.finalized
            or state.group_watchers
            or state.offsets_topic.watched
        ):
            return None
        groups = serving.modern.get(self._group_type)
        if groups is None:
            return None
        basis = groups.repeat_heartbeat(known.request, self._version, info.client_id, info.client_host, timer_ms)
        return known.answer if basis is known.basis else None

    def keep(self, info: ConnectionInfo, raw: bytes, request: Any, answer: Any, token: object, body: Parts) -> None:
        """The careful way has answered. What it answers to the same bytes once more, and that alone, is remembered."""
        state = self._state
        serving = state.serving
        if answer.error_code or len(raw) > _LONGEST_REQUEST or request.member_epoch <= 0:
            return
        if (answer.member_id, answer.member_epoch) != (request.member_id, request.member_epoch):
            return
        if serving is None or not self._is_clear(request):
            return
        basis = serving.modern[self._group_type].answer_basis(request, answer)
        if basis is None:
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[raw] = _Known(request, b"".join(body), basis, state.features.finalized)

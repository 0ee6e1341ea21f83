"""Heartbeats of groups with epochs that say nothing new: what a member sends over and over while nothing happens.

The request is known by its bytes, and its answer was encoded before. Whether it says nothing new to its group as that
is now, is asked of the coordinator each time, as the careful way asks; and the member's session counts anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from kafkastub.coordinator import GroupCoordinator
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
    hangs_on: object
    finalized: Mapping[str, int]
    """Features, without which there is no such protocol."""


class Heartbeats:
    """A fast path that learns (`contract.Memory`): of one group type."""

    __slots__ = ("_is_clear", "_known", "_state", "_version")
    token: Final = None
    """What is put off is never kept."""

    def __init__(self, state: BrokerState, version: int, is_clear: IsClear = always_clear) -> None:
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
        again = self._again(serving, known.request, info, broker_ms, timer_ms)
        return known.answer if again is known.hangs_on else None

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
        hangs_on = self._hangs_on(serving, request, answer)
        if hangs_on is None:
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[raw] = _Known(request, b"".join(body), hangs_on, state.features.finalized)

    def _again(
        self, serving: GroupCoordinator, request: Any, info: ConnectionInfo, broker_ms: int, timer_ms: int
    ) -> object:
        """What the answer hangs on beside the request, the same object as long as that is the same; and the member's
        session counts anew. None, and nothing has happened, where the heartbeat is for the handler.
        """
        raise NotImplementedError

    def _hangs_on(self, serving: GroupCoordinator, request: Any, answer: Any) -> object:
        """As `_again` gives it; None where the answer tells more than that all is well."""
        raise NotImplementedError


class ConsumerHeartbeats(Heartbeats):
    """ConsumerGroupHeartbeat."""

    __slots__ = ()

    def _again(
        self, serving: GroupCoordinator, request: Any, info: ConnectionInfo, broker_ms: int, timer_ms: int
    ) -> object:
        if not serving.has_consumer:
            return None
        return serving.consumer.heartbeats.beat_again(request, info.client_id, info.client_host, timer_ms)

    def _hangs_on(self, serving: GroupCoordinator, request: Any, answer: Any) -> object:
        if answer.assignment is not None or request.topic_partitions is not None:
            return None
        return serving.consumer.context.of(request.group_id)


class ShareHeartbeats(Heartbeats):
    """ShareGroupHeartbeat."""

    __slots__ = ()

    def _again(
        self, serving: GroupCoordinator, request: Any, info: ConnectionInfo, broker_ms: int, timer_ms: int
    ) -> object:
        if not serving.has_share:
            return None
        return serving.share.heartbeats.beat_again(request, info.client_id, info.client_host, timer_ms)

    def _hangs_on(self, serving: GroupCoordinator, request: Any, answer: Any) -> object:
        return None if answer.assignment is not None else serving.share.context.of(request.group_id)


class StreamsHeartbeats(Heartbeats):
    """StreamsGroupHeartbeat."""

    __slots__ = ()

    def _again(
        self, serving: GroupCoordinator, request: Any, info: ConnectionInfo, broker_ms: int, timer_ms: int
    ) -> object:
        if not serving.has_streams:
            return None
        turn = serving.streams.heartbeat_again(
            request, self._version, info.client_id, info.client_host, broker_ms, timer_ms
        )
        return None if turn is None else turn.reply.response

    def _hangs_on(self, serving: GroupCoordinator, request: Any, answer: Any) -> object:
        return answer

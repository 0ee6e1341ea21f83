"""An answer that was given before, given again: to what every client asks first, while nothing has changed.

Nothing is decided here. An answer of the careful way is kept by the request's bytes and the listener that it came in
on, and is good for the same bytes on the same listener as long as `Cluster.version` stays: nodes, addresses, topics,
partitions, leaders. What an answer hangs on beside that, its API's module asks about each time.

Kept are only answers without any error, to short requests: an error may tell of something that the request would have
done, and of what the configuration allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.layers.fast_paths.contract import IsClear
from kafkastub.state.broker_state import BrokerState
from kafkawire.codec import Parts

LONGEST_REQUEST: Final = 1 << 10
"""Bytes of a body."""
_LONGEST_ANSWER: Final = 1 << 20
_MOST_BYTES: Final = 1 << 22
"""Of all that is kept by one of these, requests counted as well."""
_OVERHEAD: Final = 200
"""Bytes that an answer takes beside its own and the request's."""


class Remembered:
    """A fast path that gives again what the careful way has given before (`keep`)."""

    __slots__ = ("_cluster", "_is_clear", "_is_good", "_known", "_size", "_version")

    def __init__(self, state: BrokerState, is_clear: IsClear, is_good: Callable[[Any], bool]) -> None:
        """`is_good` tells whether an answer has no errors."""
        self._cluster = state.cluster
        self._is_clear = is_clear
        self._is_good = is_good
        self._known: dict[str, dict[bytes, bytes]] = {}
        """By the listener, and the request's body: the answer's."""
        self._version = self._cluster.version
        """The version of the cluster that all of them tell of."""
        self._size = 0

    def __call__(
        self, info: ConnectionInfo, data: bytes, body: int, end: int, broker_ms: int, timer_ms: int
    ) -> bytes | None:
        if end - body > LONGEST_REQUEST or self._version != self._cluster.version:
            return None
        known = self._known.get(info.listener)
        return None if known is None else known.get(data[body:end])

    @property
    def token(self) -> object:
        """What is the same as long as an answer that is being worked out may be kept."""
        return self._cluster.version

    def keep(self, info: ConnectionInfo, raw: bytes, request: Any, answer: Any, token: object, body: Parts) -> None:
        """The careful way has answered the request whose body is `raw`; `token` is of when it began, or of later."""
        version = self._cluster.version
        if token != version or len(raw) > LONGEST_REQUEST or not self._is_good(answer) or not self._is_clear(request):
            return
        length = sum(map(len, body))
        if length > _LONGEST_ANSWER:
            return
        size = len(raw) + length + _OVERHEAD
        if version != self._version or self._size + size > _MOST_BYTES:
            self._known, self._size, self._version = {}, 0, version
        self._known.setdefault(info.listener, {})[raw] = b"".join(body)
        self._size += size

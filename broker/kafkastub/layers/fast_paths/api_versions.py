"""ApiVersions: what is served does not change; features do, and with all that is kept the epoch that they come with.

A client says by it who it is, too: that is noted of its connection each time, as the handler notes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.layers.fast_paths.contract import FastPath, IsClear, always_clear
from kafkastub.layers.fast_paths.remembered import LONGEST_REQUEST
from kafkastub.state.broker_state import BrokerState
from kafkawire.codec import Parts
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.api_versions_response import ApiVersionsResponse

_NAMES_SOFTWARE_FROM: Final = 3
_MOST: Final = 100
"""Clients that are remembered: there is one answer for each, all alike."""


def fast_path(state: BrokerState, version: int, is_clear: IsClear = always_clear) -> FastPath | None:
    """The fast path for one version."""
    return ApiVersions(state, version, is_clear)


class _Known(NamedTuple):
    software_name: str
    software_version: str
    answer: bytes
    offset: int
    """Of the metadata log."""
    finalized: Mapping[str, int]


class ApiVersions:
    """As `Remembered`, with the client's name beside each answer."""

    __slots__ = ("_is_clear", "_known", "_names_software", "_state")
    token: Final = None
    """An answer is never put off."""

    def __init__(self, state: BrokerState, version: int, is_clear: IsClear) -> None:
        self._state = state
        self._is_clear = is_clear
        self._names_software = version >= _NAMES_SOFTWARE_FROM
        self._known: dict[bytes, _Known] = {}

    def __call__(
        self, info: ConnectionInfo, data: bytes, body: int, end: int, broker_ms: int, timer_ms: int
    ) -> bytes | None:
        if end - body > LONGEST_REQUEST:
            return None
        known = self._known.get(data[body:end])
        state = self._state
        if known is None or known.offset != state.metadata_offset or known.finalized is not state.features.finalized:
            return None
        if self._names_software:
            info.software_name, info.software_version = known.software_name, known.software_version
        return known.answer

    def keep(
        self,
        info: ConnectionInfo,
        raw: bytes,
        request: ApiVersionsRequest,
        answer: ApiVersionsResponse,
        token: object,
        body: Parts,
    ) -> None:
        """The careful way has answered. Who names the node that it asks is not remembered: there may be several."""
        if answer.error_code or len(raw) > LONGEST_REQUEST or request.node_id != -1 or request.cluster_id is not None:
            return
        if not self._is_clear(request):
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        state = self._state
        name, version = request.client_software_name, request.client_software_version
        self._known[raw] = _Known(name, version, b"".join(body), state.metadata_offset, state.features.finalized)

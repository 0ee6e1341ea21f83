"""A connection without a socket, and an API whose every request says how it wants to be answered."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from kafkastub.config import BrokerConfig, Profile
from kafkastub.handlers.context import ConnectionInfo, RequestContext
from kafkastub.handlers.outcome import CLOSE, NO_REPLY, Deferred, Outcome
from kafkastub.handlers.registry import Registration
from kafkastub.metadata import Node
from kafkastub.server import dispatch
from kafkastub.server.connection import Connection
from kafkastub.server.dispatch import Dispatcher
from kafkastub.state.broker_state import BrokerState
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.framing import FrameSplitter, frame
from kafkawire.header import request_header
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.api_versions_response import ApiVersion, ApiVersionsResponse
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.heartbeat_response import HeartbeatResponse

LIMIT = 1 << 20

REPLY, DEFER, DONE, SILENT, END, FAIL, REFUSE, UNWRITABLE, SPEECHLESS = range(9)
"""What a Heartbeat's generation asks for."""


class Log:
    """Remembers its lines: (level, event, fields)."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, Any]]] = []

    def __getattr__(self, level: str) -> Any:
        return lambda event, **fields: self.lines.append((level, event, fields))


class Bench:
    """One connection of a broker that serves Heartbeat and ApiVersions."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, limit: int = LIMIT) -> None:
        self.log = Log()
        self.deferred: list[Deferred] = []
        self.served: list[RequestContext] = []
        self.woken = 0
        self.now = (1_700_000_000_000, 5_000)
        state = BrokerState(BrokerConfig({}, Profile.named("kips")), [Node(1, "localhost", 9092)], self.log)
        apis = {
            ApiKey.HEARTBEAT: self._register(ApiKey.HEARTBEAT, self._heartbeat, _heartbeat_error),
            ApiKey.API_VERSIONS: self._register(ApiKey.API_VERSIONS, self._api_versions, _api_versions_error),
        }
        monkeypatch.setattr(dispatch, "served_apis", lambda release: apis)
        self.dispatcher = Dispatcher(state)
        info = ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:5555")
        self.connection = Connection(self.dispatcher, info, limit, lambda: self.now, self._wake)

    @staticmethod
    def _register(key: ApiKey, handler: Any, error_response: Any) -> Registration:
        return Registration(key, 0, 4, handler, error_response, 0, True)

    def receive(self, *frames: bytes) -> list[tuple[int, int]]:
        """Feed bytes, run what was woken, and give what went out."""
        self.connection.receive(b"".join(frames))
        return self.sent()

    def sent(self) -> list[tuple[int, int]]:
        """(correlation id, error code) of the answers since last time."""
        while self.woken:
            self.woken = 0
            self.connection.resume()
        data = b"".join(self.connection.out)
        self.connection.out = []
        found = []
        for buffer, start, _ in FrameSplitter(LIMIT).feed(data):
            correlation_id, code = struct.unpack_from(">i4xh", buffer, start)
            found.append((correlation_id, code))
        return found

    def _wake(self) -> None:
        self.woken += 1

    def _heartbeat(self, context: RequestContext, request: HeartbeatRequest) -> Outcome:
        self.served.append(context)
        match request.generation_id:
            case 1 | 2:
                deferred = Deferred(lambda code: HeartbeatResponse(error_code=code))
                self.deferred.append(deferred)
                if request.generation_id == DONE:
                    deferred.complete(6)
                return deferred
            case 3:
                return NO_REPLY
            case 4:
                return CLOSE
            case 5:
                raise ZeroDivisionError("a bug")
            case 6:
                raise KafkaError(ErrorCode.NOT_COORDINATOR)
            case 7:
                return HeartbeatResponse(error_code=2**40)
            case 8:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        return HeartbeatResponse(error_code=0)

    def _api_versions(self, context: RequestContext, request: ApiVersionsRequest) -> Outcome:
        self.served.append(context)
        return ApiVersionsResponse()


def _heartbeat_error(request: HeartbeatRequest, code: ErrorCode, version: int) -> HeartbeatResponse:
    if request.generation_id == SPEECHLESS:
        raise ZeroDivisionError("a bug in the error answer")
    return HeartbeatResponse(error_code=code)


def _api_versions_error(request: ApiVersionsRequest, code: ErrorCode, version: int) -> ApiVersionsResponse:
    return ApiVersionsResponse(error_code=code, api_keys=[ApiVersion(18, 0, 4)])


def heartbeat(correlation_id: int, what: int = REPLY, client_id: str | None = "client", version: int = 3) -> bytes:
    """One frame. Its answer has the throttle time in front of the error code."""
    body = encode(HeartbeatRequest("g", what, "m"), version)
    return frame(request_header(ApiKey.HEARTBEAT, version, correlation_id, client_id, version >= 4) + body)


def api_versions(correlation_id: int, version: int, rest: bytes) -> bytes:
    return frame(request_header(ApiKey.API_VERSIONS, version, correlation_id, "client", False) + rest)

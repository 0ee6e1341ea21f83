"""A Kafka client that knows frames only: one blocking connection, requests out, answers in, in their order.

It uses the codec under test. What keeps that honest: Apache Kafka reads what it encodes and writes what it decodes.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
from collections import deque
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import cast

from kafkawire.api import ApiKey
from kafkawire.messages import REQUESTS
from kafkawire.schema import Message

API_OF = {ApiKey(key).camel: ApiKey(key) for key in REQUESTS}
"""Api keys by the name that documentation uses: "OffsetCommit"."""


NO_CLIENT_ID = "(none)"
"""The client id of a connection that sends a null one."""


class Closed(Exception):
    """The broker has closed the connection."""


class NoAnswer(Exception):
    """Nothing came within the deadline."""


@cache
def request_class(api: str) -> type[Message]:
    """The request message of an api name."""
    module, name, _ = REQUESTS[API_OF[api]]
    return cast("type[Message]", getattr(import_module(module), name))


@cache
def response_class(api: str) -> type[Message]:
    """The response message of an api name."""
    module, name, _ = REQUESTS[API_OF[api]]
    module = module.removesuffix("_request") + "_response"
    return cast("type[Message]", getattr(import_module(module), name.removesuffix("Request") + "Response"))


def versions(api: str) -> range:
    """All versions of an api that Apache Kafka 4.3.1 knows."""
    low, high = REQUESTS[API_OF[api]][2]
    return range(low, high + 1)


def is_flexible(api: str, version: int) -> bool:
    """Whether this version has tagged fields (KIP-482), in its headers too."""
    flexible = request_class(api).FLEXIBLE
    return flexible is not None and flexible[0] <= version <= flexible[1]


@dataclass
class Frame:
    """One request and its answer, as bytes behind the length: headers included. `response` is None until it came.

    `broken` marks a request that no encoder made: it may not come out of a codec as it went in.
    """

    api: str
    version: int
    request: bytes
    response: bytes | None = None
    broken: bool = False

    def body(self) -> bytes:
        """The answer without its header."""
        assert self.response is not None
        # ApiVersions answers always carry header v0, for clients that do not know the version (KIP-511).
        tagged = is_flexible(self.api, self.version) and self.api != "ApiVersions"
        return self.response[5:] if tagged else self.response[4:]


class Connection:
    """One connection to a broker under one client id.

    `waiting` holds the requests that have no answer yet, oldest first: a broker answers a connection in order.
    """

    def __init__(self, host: str, port: int, client_id: str) -> None:
        self.client_id = client_id
        self.waiting: deque[Frame] = deque()
        self._socket = socket.create_connection((host, port), timeout=10)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = bytearray()
        self._correlation = 0

    def fileno(self) -> int:
        """For select."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close at once, whatever waits."""
        with contextlib.suppress(OSError):
            self._socket.close()

    def send(self, api: str, version: int, body: bytes) -> Frame:
        """Send one request; raises Closed where the broker has gone."""
        self._correlation += 1
        name = b"" if self.client_id == NO_CLIENT_ID else self.client_id.encode()
        length = -1 if self.client_id == NO_CLIENT_ID else len(name)
        header = struct.pack(f">hhih{len(name)}s", API_OF[api], version, self._correlation, length, name)
        if is_flexible(api, version):
            header += b"\x00"
        frame = Frame(api, version, header + body)
        self.waiting.append(frame)
        try:
            self._socket.sendall(struct.pack(">i", len(frame.request)) + frame.request)
        except OSError:
            raise Closed from None
        return frame

    def receive(self, timeout: float) -> Frame:
        """The next answer, for the oldest waiting request. Raises NoAnswer after `timeout` seconds, or Closed."""
        deadline = time.monotonic() + timeout
        while True:
            size = struct.unpack_from(">i", self._received)[0] if len(self._received) >= 4 else None
            if size is not None and len(self._received) >= 4 + size:
                break
            self._read(deadline)
        frame = self.waiting.popleft()
        frame.response = bytes(self._received[4 : 4 + size])
        del self._received[: 4 + size]
        if frame.response[:4] != frame.request[4:8]:
            raise AssertionError(f"answer {frame.response.hex()} has not the correlation id of {frame.request.hex()}")
        return frame

    def _read(self, deadline: float) -> None:
        ready, _, _ = select.select([self._socket], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise NoAnswer
        try:
            chunk = self._socket.recv(1 << 16)
        except OSError:
            raise Closed from None
        if not chunk:
            raise Closed
        self._received += chunk

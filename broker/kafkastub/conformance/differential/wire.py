"""A Kafka client that knows frames only: one blocking connection, requests out, answers in, in their order.

It can wait for a moment and go on: what has arrived of an answer by then is kept.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
from collections import deque
from dataclasses import dataclass

from kafkastub.conformance import model
from kafkastub.conformance.messages import KEYS, request_class
from kafkawire.header import is_flexible, request_header, response_header_size
from kafkawire.messages import REQUESTS

NO_CLIENT_ID = "(none)"
"""The client id of a connection that sends a null one."""

LARGEST_ANSWER = 1 << 28


class Closed(Exception):
    """The broker has closed the connection."""


class NoAnswer(Exception):
    """Nothing came within the deadline."""


class Lost(Exception):
    """A broker cannot be asked any further; the message says which, and why."""


def versions(api: str) -> range:
    """All versions of an api that Apache Kafka 4.3.1 knows."""
    low, high = REQUESTS[KEYS[api]][2]
    return range(low, high + 1)


def has_tags(api: str, version: int) -> bool:
    """Whether this version has tagged fields (KIP-482), in its headers too."""
    return is_flexible(request_class(api), version)


@dataclass
class Frame(model.Frame):
    """One request and its answer, as bytes behind the length: headers included. `answer` is None until it came.

    `broken` marks a request that no encoder made: it may not come out of a codec as it went in.
    """

    broken: bool = False

    def body(self) -> bytes:
        """The answer without its header."""
        assert self.answer is not None
        return self.answer[response_header_size(KEYS[self.api], has_tags(self.api, self.version)) :]


class Connection:
    """One connection to a broker under one client id. Opening it raises OSError.

    `waiting` holds the requests that have no answer yet, oldest first: a broker answers a connection in order.
    """

    def __init__(self, host: str, port: int, client_id: str, timeout: float = 10) -> None:
        self.client_id = client_id
        self.waiting: deque[Frame] = deque()
        self._socket = socket.create_connection((host, port), timeout)
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
        client = None if self.client_id == NO_CLIENT_ID else self.client_id
        header = request_header(KEYS[api], version, self._correlation, client, has_tags(api, version))
        frame = Frame(api, version, header + body)
        self.waiting.append(frame)
        try:
            self._socket.sendall(struct.pack(">i", len(frame.request)) + frame.request)
        except OSError:
            self._end()
        return frame

    def receive(self, timeout: float) -> Frame:
        """The next answer, for the oldest waiting request. Raises NoAnswer after `timeout` seconds, Closed, or Lost
        where what comes is no answer to it."""
        deadline = time.monotonic() + timeout
        while True:
            size = struct.unpack_from(">i", self._received)[0] if len(self._received) >= 4 else None
            if size is not None and not 4 <= size <= LARGEST_ANSWER:
                raise Lost(f"sent an answer of {size} bytes")
            if size is not None and len(self._received) >= 4 + size:
                break
            self._read(deadline)
        frame = self.waiting.popleft()
        frame.answer = bytes(self._received[4 : 4 + size])
        del self._received[: 4 + size]
        if frame.answer[:4] != frame.request[4:8]:
            raise Lost(f"answers {frame.api} v{frame.version} with another correlation id: {frame.answer[:4].hex()}")
        return frame

    def _read(self, deadline: float) -> None:
        ready, _, _ = select.select([self._socket], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise NoAnswer
        try:
            chunk = self._socket.recv(1 << 16)
        except OSError:
            chunk = b""
        if not chunk:
            self._end()
        self._received += chunk

    def _end(self) -> None:
        for frame in self.waiting:
            frame.closed = True
        raise Closed

"""A client that speaks frames: what a test needs to see the very bytes."""

from __future__ import annotations

import socket
import struct
from typing import Self

from kafkawire.header import request_header, response_header_size
from tests.waiting import SECONDS


class RawClient:
    """One blocking connection."""

    def __init__(self, bootstrap_servers: str, timeout: float = SECONDS, source: str = "") -> None:
        """`source`: the address to come from, which is what an entry's host is compared with."""
        host, _, port = bootstrap_servers.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout, (source, 0) if source else None)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._next = 0

    def send(self, key: int, version: int, body: bytes, flexible: bool = False, client_id: str | None = "raw") -> int:
        """Send one request; gives its correlation id."""
        self._next += 1
        data = request_header(key, version, self._next, client_id, flexible) + body
        self.socket.sendall(struct.pack(">i", len(data)) + data)
        return self._next

    def receive(self) -> bytes | None:
        """The contents of the next frame, or None where the broker closed."""
        head = self._exactly(4)
        return None if head is None else self._exactly(struct.unpack(">i", head)[0])

    def drain(self) -> int | None:
        """The size of the next frame, whose contents are thrown away, or None where the broker closed."""
        head = self._exactly(4)
        if head is None:
            return None
        size = left = int(struct.unpack(">i", head)[0])
        room = memoryview(bytearray(1 << 20))
        while left:
            more = self.socket.recv_into(room[: min(left, len(room))])
            if not more:
                return None
            left -= more
        return size

    def exchange(self, key: int, version: int, body: bytes, flexible: bool | None = None) -> bytes:
        """One request and its answer's body. Raises ConnectionError where the broker closes instead."""
        is_flexible = _flexible(key, version, "REQUESTS") if flexible is None else flexible
        correlation_id = self.send(key, version, body, is_flexible)
        answer = self.receive()
        if answer is None:
            raise ConnectionError(f"closed after request {key} v{version}")
        assert struct.unpack_from(">i", answer) == (correlation_id,)
        return answer[response_header_size(key, _flexible(key, version, "RESPONSES")) :]

    def _exactly(self, size: int) -> bytes | None:
        data = memoryview(bytearray(size))
        at = 0
        while at < size:
            try:
                more = self.socket.recv_into(data[at:])
            except ConnectionResetError:
                return None
            if not more:
                return None
            at += more
        return bytes(data)

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _flexible(key: int, version: int, side: str) -> bool:
    import importlib

    from kafkawire import messages
    from kafkawire.header import is_flexible

    module, name, _ = getattr(messages, side)[key]
    return is_flexible(getattr(importlib.import_module(module), name), version)

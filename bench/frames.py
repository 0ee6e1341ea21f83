"""Requests as frames, answers as messages, and one blocking connection that speaks both."""

from __future__ import annotations

import importlib
import socket
import struct
import time
from collections.abc import Iterator
from typing import Any, Self

from kafkawire.codec import decode_from, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages import RESPONSES
from kafkawire.messages.request_header import RequestHeader
from kafkawire.messages.response_header import ResponseHeader
from kafkawire.schema import Message, Struct

ANSWER_SECONDS = 30.0
"""Without an answer for so long, a server counts as hung."""

API_VERSIONS = 18

NOT_YET = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
"""What a server says while a topic or a coordinator is being made."""

_LENGTH = struct.Struct(">i")


class BadAnswer(Exception):
    """An answer that is not what a measurement may be based on."""


def flexible(message: type[Message] | Message, version: int) -> bool:
    """Whether this version of the message has compact strings and tagged fields (KIP-482)."""
    return message.FLEXIBLE is not None and message.FLEXIBLE[0] <= version <= message.FLEXIBLE[1]


def frame(message: Message, version: int, correlation_id: int = 0) -> bytes:
    """The request as it goes over the wire, length prefix included."""
    header = RequestHeader(
        request_api_key=message.API_KEY,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id="bench",
    )
    payload = encode(header, 2 if flexible(message, version) else 1) + encode(message, version)
    return _LENGTH.pack(len(payload)) + payload


def answer_class(api_key: int) -> type[Message]:
    """The class of the answers to an API's requests."""
    module, name, _ = RESPONSES[api_key]
    found: type[Message] = getattr(importlib.import_module(module), name)
    return found


def read_answer(api_key: int, version: int, payload: bytes) -> tuple[int, Any]:
    """(correlation id, message) of an answer without its length prefix."""
    cls = answer_class(api_key)
    header_version = 1 if api_key != API_VERSIONS and flexible(cls, version) else 0
    header, position = decode_from(ResponseHeader, header_version, payload, 0)
    message, _ = decode_from(cls, version, payload, position)
    return header.correlation_id, message


def error_codes(found: object) -> Iterator[ErrorCode]:
    """Every error code in a message that is not NONE, at whatever level it stands."""
    if isinstance(found, Struct):
        for row in found.FIELDS:
            value = getattr(found, row[0])
            if row[0] == "error_code":
                if value:
                    yield ErrorCode(value)
            else:
                yield from error_codes(value)
    elif isinstance(found, list | tuple):
        for item in found:
            yield from error_codes(item)


class Client:
    """One blocking connection. Context manager."""

    def __init__(self, host: str, port: int) -> None:
        self.socket = socket.create_connection((host, port), timeout=ANSWER_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def read_frame(self) -> bytes:
        """The next answer, without its length prefix."""
        (size,) = _LENGTH.unpack(self._read(4))
        return self._read(size)

    def exchange(self, request: bytes) -> bytes:
        """Send a frame; the answer to it, without its length prefix."""
        self.socket.sendall(request)
        return self.read_frame()

    def ask(self, message: Message, version: int, correlation_id: int = 7) -> Any:
        """The answer as a message, whatever errors it holds. Raises BadAnswer when it is another request's."""
        payload = self.exchange(frame(message, version, correlation_id))
        answered, answer = read_answer(message.API_KEY, version, payload)
        if answered != correlation_id:
            raise BadAnswer(f"asked {correlation_id}, answered {answered}")
        return answer

    def succeed(self, message: Message, version: int, seconds: float = ANSWER_SECONDS) -> Any:
        """The answer, once it holds no error; a server that is still preparing is asked again until the deadline.

        Raises BadAnswer with the errors otherwise.
        """
        deadline = time.monotonic() + seconds
        while True:
            answer = self.ask(message, version)
            errors = set(error_codes(answer))
            if not errors:
                return answer
            if not errors <= NOT_YET or time.monotonic() > deadline:
                names = ", ".join(sorted(code.name for code in errors))
                raise BadAnswer(f"{type(message).__name__} v{version} was answered {names}")
            time.sleep(0.02)

    def _read(self, size: int) -> bytes:
        buffer = bytearray(size)
        view, got = memoryview(buffer), 0
        while got < size:
            read = self.socket.recv_into(view[got:])
            if not read:
                raise BadAnswer("the server closed the connection")
            got += read
        return bytes(buffer)

"""One connection: frames, raw or as messages, at the version that both sides have or any that the caller wants.

How the bytes travel is the connector's business: `plain` opens a TCP socket. TLS is another connector; SASL is a
connector's or a caller's exchange of frames before the first request.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from functools import cache
from typing import Any, Final, Protocol, Self

from kafkastub.client.errors import ClientError, ConnectionClosed, NotABroker, NotListening, TimedOut, Unsupported
from kafkawire.api import ApiKey
from kafkawire.catalogue import response_class
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode, MalformedMessage
from kafkawire.header import is_flexible, request_header, response_header_size
from kafkawire.messages import REQUESTS
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.schema import Message

LARGEST_ANSWER: Final = 1 << 28
"""Bytes. What claims to be larger is no frame of a Kafka broker: a TLS alert read as a size is 353 MB, HTTP 1.2 GB."""

_size = struct.Struct(">i")
_short = struct.Struct(">h")


class Frames(Protocol):
    """What a connector gives: as much of a socket as is used."""

    def sendall(self, data: bytes, /) -> None: ...
    def recv(self, size: int, /) -> bytes: ...
    def settimeout(self, seconds: float | None, /) -> None: ...
    def close(self) -> None: ...


Connector = Callable[[str, int, float], Frames]
"""(host, port, timeout in seconds) -> an open stream. Raises OSError."""


def plain(host: str, port: int, timeout: float) -> Frames:
    """A TCP socket."""
    opened = socket.create_connection((host, port), timeout)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return opened


class Connection:
    """Opened when made. Requests may be pipelined with `send` and `receive`; answers come in order.

    Args:
        timeout: seconds for connecting and for each answer, unless a call brings its own deadline.
    """

    def __init__(
        self,
        host: str,
        port: int,
        timeout: float = 30,
        client_id: str | None = "kafkastub",
        connector: Connector = plain,
    ) -> None:
        """Raises NotListening, TimedOut."""
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.timeout = timeout
        self.client_id = client_id
        self.versions: dict[int, tuple[int, int]] | None = None
        """What the broker advertises, once `negotiate` was called: key to (lowest, highest)."""
        self._next_correlation_id = 0
        self._answered = False
        self._received = bytearray()
        """What has come of the next frame, its size included: kept where the time runs out meanwhile."""
        try:
            self._stream = connector(host, port, timeout)
        except TimeoutError:
            raise TimedOut(f"{self.address} did not accept a connection within {timeout:g} s") from None
        except OSError as error:
            raise NotListening(f"nobody listens at {self.address}: {_reason(error)}") from None

    def negotiate(self, deadline: float | None = None) -> dict[int, tuple[int, int]]:
        """What the broker advertises; asked once. Raises ClientError."""
        if self.versions is None:
            answer = self._api_versions(deadline)
            self.versions = {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}
        return self.versions

    def common_version(self, key: int, highest: int | None = None, deadline: float | None = None) -> int:
        """The highest version that the broker and this client have, `highest` at most. Raises Unsupported."""
        name = ApiKey(key).camel
        ours = REQUESTS[key][2]
        theirs = self.negotiate(deadline).get(key)
        if theirs is None:
            raise Unsupported(f"the broker at {self.address} does not support {name}")
        version = min(ours[1], theirs[1], ours[1] if highest is None else highest)
        if version < max(ours[0], theirs[0]):
            shown = f"{name} {theirs[0]} to {theirs[1]}, this client {ours[0]} to {ours[1]}"
            raise Unsupported(f"the broker at {self.address} has {shown}")
        return version

    def ask(self, request: Message, version: int | None = None, deadline: float | None = None) -> Any:
        """The answer to `request`, at the highest common version or at the given one. Raises ClientError.

        `deadline` is of `time.monotonic()`.
        """
        key = request.API_KEY
        if version is None:
            version = self.common_version(key, deadline=deadline)
        correlation_id = self.send(request, version)
        answer = self.receive(correlation_id, ApiKey(key).camel, deadline)
        body = answer[response_header_size(key, is_flexible(response_class(key), version)) :]
        try:
            return decode(response_class(key), version, body)
        except MalformedMessage as error:
            raise NotABroker(f"{self.address} sent an answer that is not Kafka's: {error}") from None

    def send(self, request: Message, version: int) -> int:
        """Send a message without waiting; gives its correlation id. Raises ValueError for a version that it has not."""
        return self.send_raw(request.API_KEY, version, encode(request, version), is_flexible(type(request), version))

    def send_raw(self, key: int, version: int, body: bytes, flexible: bool = False) -> int:
        """Send a body behind a header of any key and version; gives its correlation id."""
        self._next_correlation_id = (self._next_correlation_id + 1) & 0x7FFFFFFF
        header = request_header(key, version, self._next_correlation_id, self.client_id, flexible)
        self.send_frame(header + body)
        return self._next_correlation_id

    def send_frame(self, contents: bytes) -> None:
        """Send one frame, whatever is in it. Raises ConnectionClosed."""
        try:
            self._stream.sendall(_size.pack(len(contents)) + contents)
        except TimeoutError:
            raise TimedOut(f"{self.address} does not take any more requests") from None
        except OSError:
            raise ConnectionClosed(f"{self.address} closed the connection") from None

    def receive(self, correlation_id: int, what: str = "the request", deadline: float | None = None) -> bytes:
        """The next frame, whose correlation id must be this one. Raises ClientError."""
        contents = self.receive_frame(what, deadline)
        if len(contents) < 4 or _size.unpack_from(contents)[0] != correlation_id:
            raise NotABroker(f"{self.address} answers something that was not asked: it is not a Kafka broker")
        self._answered = True
        return contents

    def receive_frame(self, what: str = "the request", deadline: float | None = None) -> bytes:
        """The contents of the next frame. Raises ClientError; after TimedOut it can be called again."""
        if deadline is None:
            deadline = time.monotonic() + self.timeout
        self._receive_until(4, what, deadline)
        size = _size.unpack_from(self._received)[0]
        if not 0 <= size <= LARGEST_ANSWER:
            raise NotABroker(f"what listens at {self.address} is not a Kafka broker, or wants TLS")
        self._receive_until(4 + size, what, deadline)
        contents = bytes(memoryview(self._received)[4:])
        self._received = bytearray()
        return contents

    def close(self) -> None:
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _api_versions(self, deadline: float | None) -> Any:
        """ApiVersions at our newest version, and where the broker does not have it, at the one that it names."""
        version = REQUESTS[ApiKey.API_VERSIONS][2][1]
        for _ in range(2):
            correlation_id = self.send(ApiVersionsRequest("kafkastub", _own_version()), version)
            answer = self.receive(correlation_id, "ApiVersions", deadline)
            body = answer[response_header_size(ApiKey.API_VERSIONS, False) :]
            # the refusal is in version 0, whatever was asked
            refused = len(body) >= 2 and _short.unpack_from(body)[0] == ErrorCode.UNSUPPORTED_VERSION
            try:
                decoded: Any = decode(response_class(ApiKey.API_VERSIONS), 0 if refused else version, body)
            except MalformedMessage as error:
                raise NotABroker(f"what listens at {self.address} is not a Kafka broker: {error}") from None
            if not refused:
                break
            named = [api.max_version for api in decoded.api_keys if api.api_key == ApiKey.API_VERSIONS]
            version = min([version - 1, *named]) if named else 0
        if decoded.error_code:
            raise ClientError(f"{self.address} answered ApiVersions with error {decoded.error_code}")
        return decoded

    def _receive_until(self, size: int, what: str, deadline: float) -> None:
        """Read until so many bytes of the frame are there, and none behind it."""
        while (missing := size - len(self._received)) > 0:
            left = deadline - time.monotonic()
            try:
                if left <= 0:
                    raise TimeoutError
                self._stream.settimeout(left)
                chunk = self._stream.recv(min(missing, 1 << 20))
            except TimeoutError:
                raise TimedOut(f"{self.address} did not answer {what} in time") from None
            except OSError:
                chunk = b""
            if not chunk:
                raise ConnectionClosed(self._why_closed(what))
            self._received += chunk

    def _why_closed(self, what: str) -> str:
        if self._answered:
            return f"{self.address} closed the connection instead of answering {what}"
        return f"{self.address} closed the connection at once: it is not a Kafka broker, or it wants TLS or SASL"


@cache
@cache
def _own_version() -> str:
    """For the broker's journal (KIP-511)."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("kafkastub")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "unknown"


def _reason(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    return (error.strerror or str(error)).lower()

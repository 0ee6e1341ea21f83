"""A connection that remembers what went over it."""

from __future__ import annotations

import select
import struct
import time
from collections import deque
from typing import Any

from kafkastub.client import ClientError, Connection, ConnectionClosed, NotABroker, TimedOut
from kafkastub_conformance.expecting import Answer
from kafkastub_conformance.messages import KEYS, build, has_tags, response_class
from kafkastub_conformance.model import FRAMES_KEPT, Body, Frame
from kafkawire.api import ApiKey
from kafkawire.codec import decode_from
from kafkawire.errors import MalformedMessage
from kafkawire.header import is_flexible, response_header_size

MOMENT = 0.001
"""So long the rest of an answer is given, of which a part is there when the time is over."""

_head = struct.Struct(">hh")


class Malformed(ClientError):
    """The answer is not laid out as its version is."""


class Link(Connection):
    """One client's connection. `frames` are the last that went over it, shared with the case's other connections.

    `waiting` are the requests that have no answer yet, oldest first: a broker answers a connection in their order.
    `until` is the moment, of `time.monotonic()`, at which the case has taken too long.
    """

    def __init__(self, host: str, port: int, timeout: float, client_id: str | None, until: float, frames: deque[Frame]):
        super().__init__(host, port, timeout, client_id)
        self.until = until
        self.frames = frames
        self.waiting: deque[Frame] = deque()

    def send_frame(self, contents: bytes) -> None:
        frame = Frame(*_named(contents), contents)
        self.waiting.append(frame)
        self.frames.append(frame)
        try:
            super().send_frame(contents)
        except ConnectionClosed:
            self._end()
            raise

    def silent(self) -> None:
        """No answer is expected to what was sent last."""
        self.waiting.pop()

    def receive_frame(self, what: str = "the request", deadline: float | None = None) -> bytes:
        if deadline is None:
            deadline = time.monotonic() + self.timeout
        try:
            contents = super().receive_frame(what, min(deadline, self.until))
        except ConnectionClosed:
            self._end()
            raise
        if self.waiting:
            self.waiting.popleft().answer = contents
        return contents

    def next_answer(self, seconds: float) -> Frame:
        """The request that waits longest, with its answer; what came of that in time is there for the next call.

        Raises ClientError: TimedOut after so many seconds, which may be none.
        """
        frame = self.waiting[0]
        what = f"{frame.api} v{frame.version}"
        deadline = time.monotonic() + seconds
        if not self.arrives(seconds):
            raise TimedOut(f"{self.address} did not answer {what} in time")
        contents = self.receive_frame(what, max(deadline, time.monotonic() + MOMENT))
        if contents[:4] != frame.request[4:8]:
            raise NotABroker(f"{self.address} answers {what} with another correlation id: {contents[:4].hex()}")
        return frame

    def request(self, api: str, version: int, body: Body) -> Pending:
        """Send a request; its answer can be had later."""
        correlation_id = self.send(build(api, body), version)
        return Pending(self, api, version, correlation_id)

    def raw(self, api: str, version: int, body: bytes) -> Pending:
        """Send a body that no encoder made."""
        return Pending(self, api, version, self.send_raw(KEYS[api], version, body, has_tags(api, version)))

    def send_bytes(self, data: bytes) -> None:
        """Bytes as they are, without a size before them."""
        self.stream.sendall(data)

    @property
    def stream(self) -> Any:
        """The socket."""
        return self._stream

    def arrives(self, seconds: float) -> bool:
        """Whether anything can be read, or the end, within so many seconds."""
        return bool(select.select([self.stream], [], [], seconds)[0])

    def closed(self, seconds: float | None = None) -> bool:
        """Whether the broker ends the connection, without a word before it, within the time."""
        try:
            self.receive_frame(deadline=time.monotonic() + (self.timeout if seconds is None else seconds))
        except ConnectionClosed:
            return True
        except ClientError:
            return False
        return False

    def _end(self) -> None:
        for frame in self.waiting:
            frame.closed = True


class Pending:
    """A request that was sent."""

    def __init__(self, link: Link, api: str, version: int, correlation_id: int) -> None:
        self.link = link
        self.api = api
        self.version = version
        self.correlation_id = correlation_id
        self._answer: Answer | None = None

    def answer(self, seconds: float | None = None) -> Answer:
        """The answer, waited for; those of one link come in the order of the requests. Raises ClientError."""
        if self._answer is None:
            deadline = None if seconds is None else time.monotonic() + seconds
            contents = self.link.receive(self.correlation_id, f"{self.api} v{self.version}", deadline)
            self._answer = decoded(self.api, self.version, contents)
        return self._answer

    def waits(self, seconds: float = 0.03) -> bool:
        """Whether there is no answer yet, nor within so many seconds."""
        return self._answer is None and not self.link.arrives(seconds)


def decoded(api: str, version: int, contents: bytes) -> Answer:
    """The answer in a frame. Raises Malformed, for bytes behind the message too."""
    cls = response_class(api)
    body = contents[response_header_size(KEYS[api], is_flexible(cls, version)) :]
    try:
        message, end = decode_from(cls, version, body, 0)
    except MalformedMessage as error:
        raise Malformed(f"the answer to {api} v{version} is not laid out as that version is: {error}") from None
    if end != len(body):
        raise Malformed(f"the answer to {api} v{version} has {len(body) - end} bytes more than that version has")
    return Answer(message, version, body)


def remembered() -> deque[Frame]:
    """A memory for frames."""
    return deque(maxlen=FRAMES_KEPT)


def _named(contents: bytes) -> tuple[str, int]:
    try:
        key, version = _head.unpack_from(contents)
        return ApiKey(key).camel, version
    except (struct.error, ValueError):
        return "?", -1

"""A request that is under way between a client and its broker, and what those who meddle with it need of each other."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from kafkastub.handlers.context import ConnectionInfo
    from kafkastub.journal.ring import Outcome
    from kafkastub.proxy.room import Room
    from kafkastub.proxy.routes import Route
    from kafkastub.server.watching.faults import Arrive


class Pending:
    """A request that is under way. `route` is None for a token of SASL that has no header."""

    __slots__ = ("acting", "answer", "correlation_id", "fetch", "principal", "raw", "route", "sequence", "started")

    def __init__(self, route: Route | None, correlation_id: int) -> None:
        self.route = route
        self.correlation_id = correlation_id
        self.acting: Acting | None = None
        """What a fault makes of it."""
        self.fetch: Callable[[bytes], None] | None = None
        """Is told the beginning of the answer to a Fetch, which has the session's id."""
        self.answer: Any = None
        """What was answered, where somebody has read it already."""
        self.raw: list[Any] | None = None
        """The journal's entry."""
        self.sequence = -1
        self.started = 0
        self.principal: str | None = None
        """Who the client is once this is answered well: what SaslAuthenticate says."""


class Acting(Protocol):
    """What a fault makes of a request: what its connection asks of it."""

    is_local: bool
    """Whether the broker is not asked."""
    taken: int
    """Room that its request has."""

    def begin(self, client: Client, pending: Pending, frame: bytes, is_answered: bool, taken: int) -> None:
        """The request has come, in `frame` with its size, which has that room; nothing behind it is sent on."""

    def reached(self) -> None:
        """All in front of it is answered."""

    def worked(self, answer: bytes, taken: int) -> None:
        """The broker has answered it: a frame, which has that room."""

    def abandon(self) -> None:
        """The client has gone."""


class Watch(Protocol):
    """Who is told of every request (`watching.Watching`)."""

    def keeping(self, size: int) -> list[bytes] | None: ...
    def on_request(
        self, request: Pending, info: ConnectionInfo, data: bytes, start: int, end: int, is_answered: bool
    ) -> None: ...
    def on_answer(self, request: Pending, info: ConnectionInfo, reply: bytes | None) -> None: ...
    def on_no_answer(
        self, request: Pending, became: Outcome | None = None, sent: bytes | None = None, *, closed: bool = False
    ) -> None: ...


class Around(Protocol):
    """The proxy, as far as a request that a fault has met needs it."""

    loop: asyncio.AbstractEventLoop
    log: Any
    room: Room

    @property
    def watch(self) -> Watch | None: ...
    def arriving(self, node_id: int, frame: bytes) -> Arrive:
        """What lets a request arrive that the network has held back, at that node; its answer goes to nobody."""


class Client(Protocol):
    """The client's side of a connection, as far as a fault needs it."""

    info: ConnectionInfo
    transport: asyncio.Transport
    pending: deque[Pending]

    @property
    def owner(self) -> Around: ...
    def send(self, data: bytes) -> None: ...
    def deliver(self, reply: bytes, taken: int) -> None: ...
    def unmute(self) -> None: ...

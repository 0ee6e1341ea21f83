"""One client connection, sans I/O: bytes in, bytes out, one request at a time.

Kafka mutes a channel while a request is under way, so requests of a connection are served strictly in order and so are
their replies. Here a frame that arrives while a reply is deferred waits in `_queue`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.handlers.outcome import CLOSE, NO_REPLY, Deferred
from kafkastub.server.dispatch import Dispatcher, Exchange, Refused
from kafkawire.codec import Parts
from kafkawire.errors import MalformedMessage
from kafkawire.framing import Frame, FrameSplitter
from kafkawire.schema import Message


class Connection:
    """State of one connection.

    The owner calls `receive` with what the socket gives and `resume` when `wake` was called; then it sends what is in
    `out` and looks at `closing`. While `blocked` is set (nobody reads our replies), frames are kept, not served.
    """

    __slots__ = (
        "_dispatcher", "_frames", "_now", "_queue", "_waiting", "_wake", "blocked", "closing", "info", "out", "queued",
        "reason",
    )  # fmt: skip

    def __init__(
        self,
        dispatcher: Dispatcher,
        info: ConnectionInfo,
        limit: int,
        now: Callable[[], tuple[int, int]],
        wake: Callable[[], None],
    ) -> None:
        # for the connection's life
        self._dispatcher = dispatcher
        self._frames = FrameSplitter(limit)
        self._now = now
        """Gives (broker time, timer time), both in ms."""
        self._wake = wake
        """Called, from within somebody else's request, when a deferred reply is there."""
        self.info = info
        # from one call to the next
        self.out: Parts = []
        self._queue: deque[bytes] = deque()
        self.queued = 0
        """Bytes in frames that wait."""
        self._waiting: tuple[Exchange, Deferred] | None = None
        self.blocked = False
        self.closing = False
        self.reason: str | None = None
        """Why we close it, where that is the client's doing."""

    @property
    def muted(self) -> bool:
        """Whether frames wait: for a deferred reply, or for a client that does not read."""
        return self._waiting is not None or self.blocked

    def receive(self, data: bytes) -> None:
        """Serve what `data` completes."""
        broker_ms, timer_ms = self._now()
        try:
            for frame in self._frames.feed(data):
                if self.closing:
                    return
                if self._waiting is not None or self.blocked or self._queue:
                    self._keep(frame)
                else:
                    self._serve(frame, broker_ms, timer_ms)
        except MalformedMessage as error:
            self._end(str(error))

    def resume(self) -> None:
        """Send the deferred reply if it is there, then serve what waited behind it."""
        if self._waiting is not None:
            exchange, deferred = self._waiting
            if deferred.reply is None:
                return
            self._waiting = None
            self._reply(exchange, deferred.reply)
        broker_ms, timer_ms = self._now()
        while self._queue and not (self.muted or self.closing):
            data = self._queue.popleft()
            self.queued -= len(data)
            self._serve((data, 0, len(data)), broker_ms, timer_ms)

    def lost(self) -> None:
        """The peer has gone: nobody waits for the deferred reply any more."""
        self.closing = True
        self._queue.clear()
        self.queued = 0
        if self._waiting is not None:
            self._waiting[1].abandoned = True
            self._waiting = None

    @property
    def pending(self) -> int:
        """Bytes held for frames that are not complete or have to wait."""
        return self._frames.pending + self.queued

    def _keep(self, frame: Frame) -> None:
        data, start, end = frame
        self._queue.append(data[start:end])
        self.queued += end - start

    def _serve(self, frame: Frame, broker_ms: int, timer_ms: int) -> None:
        data, start, end = frame
        dispatcher = self._dispatcher
        try:
            exchange = dispatcher.parse(data, start, end, self.info, broker_ms, timer_ms)
        except Refused as refused:
            self._end(str(refused))
            return
        outcome = dispatcher.run(exchange)
        if isinstance(outcome, Message):
            self._reply(exchange, outcome)
        elif outcome is NO_REPLY:
            pass
        elif outcome is CLOSE:
            self.closing = True
        else:
            self._defer(exchange, outcome)

    def _defer(self, exchange: Exchange, deferred: Deferred) -> None:
        if deferred.reply is not None:
            self._reply(exchange, deferred.reply)
            return
        self._waiting = (exchange, deferred)
        deferred.when_done(lambda _: self._wake())

    def _reply(self, exchange: Exchange, response: Message) -> None:
        try:
            self._dispatcher.reply(exchange, response, self.out)
        except Exception:
            self._dispatcher.state.log.exception("a reply cannot be encoded", api=exchange.route.key.camel)
            self.closing = True

    def _end(self, reason: str) -> None:
        self.closing = True
        self.reason = reason

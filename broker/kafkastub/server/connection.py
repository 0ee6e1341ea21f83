"""One client connection, sans I/O: bytes in, bytes out, one request at a time.

Kafka mutes a channel while a request is under way, so requests of a connection are served strictly in order and so are
their replies. Here a frame that arrives while a reply is deferred waits in `_queue`.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final, Protocol

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.handlers.outcome import CLOSE, NO_REPLY, Deferred, Outcome
from kafkastub.server.dispatch import LargeRequest, Refused
from kafkastub.state.quota_usage import Usage
from kafkawire.codec import Parts
from kafkawire.errors import MalformedMessage
from kafkawire.framing import FrameSplitter

if TYPE_CHECKING:
    from kafkastub.server.routes import Exchange
    from kafkastub.server.slices import Slices
    from kafkastub.server.watcher import Watcher
    from kafkastub.state.broker_state import BrokerState

_size = struct.Struct(">i").unpack_from
_TLS_HELLO = b"\x16\x03"
"""How a client begins that speaks TLS; as a frame's size it is more than 352 MB."""
NO_TLS_HERE = "the client speaks TLS, and this listener does not: set the client's security.protocol, or the listener's"
_TURN_REQUESTS = 128
"""Requests that one connection has served in a row before the others have their turn; a reply of 1 KB counts as one."""
_TURN_NS: Final = 5_000_000
"""Nanoseconds after which the turn is over, too: some requests take a thousand times as long as others, and others wait
for the turns of all who ask without end."""
_CLOCK_MASK: Final = 3
"""Of the requests left, the bits that are not set when we look how long it took."""


_FRAME_OVERHEAD = 48
"""Bytes that a frame takes beside its own while it waits."""
_SMALL = 1 << 12
"""Bytes of an unfinished frame up to which nobody counts them."""


def _nobody() -> None:
    """Is woken."""


class Dispatching(Protocol):
    """What a connection asks of its dispatcher, or of what takes its place for this connection (`sasl.SaslGate`)."""

    @property
    def watch(self) -> Watcher | None:
        """Who is told of every request, if anybody."""

    @property
    def one_by_one(self) -> bool:
        """Whether what is to be done with a frame depends on the one before it."""

    @property
    def state(self) -> BrokerState:
        """Of the broker that is asked."""

    @property
    def slices(self) -> Slices | None:
        """Who serves large requests a slice at a time."""

    def serve(
        self, data: bytes, start: int, end: int, info: ConnectionInfo, broker_ms: int, timer_ms: int, out: Parts
    ) -> tuple[Exchange, Outcome] | None:
        """Serve the request in `data[start:end]`. None where its reply is in `out`. Raises Refused, LargeRequest."""

    def answer(self, exchange: Exchange, deferred: Deferred, out: Parts) -> bool:
        """Append the reply that has come; whether the connection goes on."""

    def forget(self, exchange: Exchange) -> None:
        """The client has gone before its deferred reply came."""


class Connection:
    """State of one connection.

    The owner calls `receive` with what the socket gives and `resume` when `wake` was called; then it sends what is in
    `out` and looks at `closing`. While `blocked` is set (nobody reads our replies), frames are kept, not served.
    """

    __slots__ = (
        "_broken",
        "_busy",
        "_dispatcher",
        "_drop",
        "_frames",
        "_limit",
        "_now",
        "_queue",
        "_told",
        "_turns_left",
        "_unfinished",
        "_until",
        "_waiting",
        "_wake",
        "_yielded",
        "active_ms",
        "blocked",
        "closing",
        "info",
        "out",
        "queued",
        "reason",
        "unframed",
    )  # fmt: skip

    def __init__(
        self,
        dispatcher: Dispatching,
        info: ConnectionInfo,
        limit: int,
        now: Callable[[], tuple[int, int]],
        wake: Callable[[], None],
        unfinished: Callable[[int], None] | None = None,
    ) -> None:
        # for the connection's life
        self._dispatcher = dispatcher
        self._frames = FrameSplitter(limit)
        self._limit = limit
        self._now = now
        """Gives (broker time, timer time), both in ms."""
        self._wake = wake
        """Called, from within a request of this or another connection, to have `resume` called soon."""
        self._unfinished = unfinished
        """Told how many bytes of an unfinished frame are held, unless they are few."""
        self.info = info
        # from one call to the next
        self.out: Parts = []
        self._queue: deque[bytes] = deque()
        self.queued = 0
        """Bytes that frames take that wait."""
        self._waiting: tuple[Exchange | None, Deferred] | None = None
        """The request whose reply is awaited; None where it has gone out and the client has to wait (KIP-219)."""
        self._busy = False
        """Whether a large request is served, a slice at a time."""
        self._broken: str | None = None
        """Why what follows the frames that wait is none. Noticed when its turn comes: Kafka reads one at a time."""
        self._turns_left = _TURN_REQUESTS
        """Requests left of this turn."""
        self._until = 0
        """When it is over in any case, by the processor's clock."""
        self._drop: Callable[[], None] | None = None
        """Called when the client goes and a large request of it has come that is not done."""
        self._yielded = False
        """Whether the turn is over: frames wait for the next one."""
        self.active_ms = 0
        """Timer time of the last bytes, or of a reply that had to wait."""
        self.blocked = False
        self.closing = False
        self.reason: str | None = None
        """Why we close it, where that is the client's doing."""
        self.unframed = False
        """Whether that is a size of a frame that is none."""
        self._told = 0
        """What `_unfinished` was told last."""

    @property
    def muted(self) -> bool:
        """Whether frames wait: for a deferred reply, for a large request, or for a client that does not read."""
        return self._waiting is not None or self._busy or self.blocked

    @property
    def _held(self) -> bool:
        """Whether a frame that arrives now has to wait for its turn."""
        return bool(self._queue) or self.muted or self._yielded

    @property
    def is_behind(self) -> bool:
        """Whether something of what has come is still to be served, and waits neither for another client nor for a
        timer; but for the one that a quota sets.
        """
        if self.closing:
            return False
        if self._waiting is None:
            return bool(self._queue or self._busy)
        exchange, deferred = self._waiting
        return bool(self._queue) if exchange is None else deferred.goes_on

    @property
    def pending(self) -> int:
        """Bytes held for frames that are not complete or have to wait."""
        return self._frames.pending + self.queued

    def receive(self, data: bytes) -> None:
        """Serve what `data` completes."""
        if self.closing:
            return
        broker_ms, timer_ms = self._now()
        self.active_ms = timer_ms
        position, length = 0, len(data)
        if not (self._frames.pending or self._held):
            # Nothing is under way: whole frames are served where they lie.
            watch = self._dispatcher.watch
            if 4 <= length <= self._limit and _size(data, 0)[0] == length - 4:
                # Most clients wait for an answer before they ask again: a frame that came alone.
                if watch is not None:
                    self._serve_the_only_watched(watch, data, length, broker_ms, timer_ms)
                    return
                try:
                    unsettled = self._dispatcher.serve(data, 4, length, self.info, broker_ms, timer_ms, self.out)
                    if unsettled is not None:
                        self._settle(*unsettled)
                except LargeRequest as large:
                    self._serve_slices(large, data, 4, length, broker_ms)
                except Refused as refused:
                    self._end(str(refused))
                return
            if self._dispatcher.one_by_one:
                self._turns_left = _TURN_REQUESTS
                self._receive_slowly(data, broker_ms, timer_ms)
                return
            serve, info, out, limit = self._dispatcher.serve, self.info, self.out, self._limit
            turns, until = _TURN_REQUESTS, perf_counter_ns() + _TURN_NS
            began, first, sent = 0 if watch is None else perf_counter_ns(), 0, len(out)
            try:
                while length - position >= 4:
                    (size,) = _size(data, position)
                    end = position + 4 + size
                    if not 0 <= size <= limit or end > length:
                        break
                    before = len(out)
                    unsettled = serve(data, position + 4, end, info, broker_ms, timer_ms, out)
                    position = end
                    if unsettled is not None:
                        if watch is not None:
                            at, count = end - size - 4, before - sent
                            if count:
                                watch.served(info, data, first, at, out, sent, before, count, broker_ms, began)
                            watch.without_reply(info, data, at + 4, end, broker_ms, began, *unsettled)
                        going = self._settle(*unsettled)
                        first, sent = end, len(out)
                        if not going:
                            break
                    else:
                        turns -= len(out[-1]) >> 10
                    if position == length:
                        break
                    turns -= 1
                    if turns <= 0 or len(out) - before > 1 or (not turns & _CLOCK_MASK and perf_counter_ns() > until):
                        self._yield()
                        break
            except LargeRequest:
                before -= 1  # it is served below, behind those in front of it
            except Refused as refused:
                if watch is not None:
                    before -= 1
                    watch.refused(info, data, position + 4, end, broker_ms, began)
                self._end(str(refused))
            if watch is not None and position > first:
                count = before - sent + 1
                watch.served(info, data, first, position, out, sent, len(out), count, broker_ms, began)
        if position < length and not self.closing:
            self._turns_left = _TURN_REQUESTS
            self._until = perf_counter_ns() + _TURN_NS
            self._receive_slowly(data[position:] if position else data, broker_ms, timer_ms)

    def _serve_the_only_watched(self, watch: Watcher, data: bytes, end: int, broker_ms: int, timer_ms: int) -> None:
        """A frame that came alone, and somebody watches."""
        info, out, began = self.info, self.out, perf_counter_ns()
        sent = len(out)
        try:
            unsettled = self._dispatcher.serve(data, 4, end, info, broker_ms, timer_ms, out)
        except LargeRequest as large:
            self._serve_slices(large, data, 4, end, broker_ms)
            return
        except Refused as refused:
            watch.refused(info, data, 4, end, broker_ms, began)
            self._end(str(refused))
            return
        if unsettled is None:
            watch.served(info, data, 0, end, out, sent, len(out), 1, broker_ms, began)
        else:
            watch.without_reply(info, data, 4, end, broker_ms, began, *unsettled)
            self._settle(*unsettled)

    def resume(self) -> None:
        """Send the deferred reply if it is there, then serve what waited behind it."""
        before = len(self.out)
        if self._waiting is not None:
            exchange, deferred = self._waiting
            if deferred.reply is None:
                return
            self._waiting = None
            if exchange is not None:
                self._reply(exchange, deferred)
        self._yielded = False
        self._turns_left = _TURN_REQUESTS
        self._until = perf_counter_ns() + _TURN_NS
        if len(self.out) > before + 1:
            self._yield()  # a long reply, which may be more than the client reads: nothing is added to that
        broker_ms, timer_ms = self._now()
        self.active_ms = timer_ms
        while self._queue and not (self.muted or self._yielded or self.closing):
            data = self._queue.popleft()
            self.queued -= len(data) + _FRAME_OVERHEAD
            self._serve(data, 0, len(data), broker_ms, timer_ms)
        if self._broken is not None and not (self._held or self.closing):
            self._end(self._broken)

    def allow(self, limit: int) -> None:
        """Accept frames of so many bytes from now on."""
        self._limit = limit
        self._frames.allow(limit)

    def lost(self) -> None:
        """The peer has gone: nobody waits for the deferred reply any more."""
        self.closing = True
        self._queue.clear()
        self.queued = 0
        self._frames.drop()
        self._tell_unfinished(0)
        if self._drop is not None:
            self._drop()
            self._drop = None
        if self._waiting is not None:
            exchange, deferred = self._waiting
            self._waiting = None
            deferred.abandon()
            if exchange is not None:
                self._dispatcher.forget(exchange)

    def gone(self) -> None:
        """The transport is closed, and whoever owns this is not to be kept by it: nobody is woken or told any more."""
        self.lost()
        self._wake = _nobody
        self._unfinished = None

    def _receive_slowly(self, data: bytes, broker_ms: int, timer_ms: int) -> None:
        """Pieces of frames, frames that have to wait, sizes that are none."""
        if self._broken is not None:
            return
        try:
            for buffer, start, end in self._frames.feed(data):
                if self.closing:
                    return
                if self._held:
                    self._queue.append(buffer[start:end])
                    self.queued += end - start + _FRAME_OVERHEAD
                else:
                    self._serve(buffer, start, end, broker_ms, timer_ms)
        except MalformedMessage as error:
            self.unframed = True
            why = NO_TLS_HERE if data.startswith(_TLS_HELLO) else str(error)
            if self._held:
                self._broken = why
            else:
                self._end(why)
        pending = self._frames.pending
        if (pending > _SMALL or self._told) and not self.closing:
            self._tell_unfinished(pending)

    def _tell_unfinished(self, size: int) -> None:
        if self._told != size and self._unfinished is not None:
            self._told = size
            self._unfinished(size)

    def _serve(self, data: bytes, start: int, end: int, broker_ms: int, timer_ms: int) -> None:
        before = len(self.out)
        watch = self._dispatcher.watch
        began = 0 if watch is None else perf_counter_ns()
        try:
            unsettled = self._dispatcher.serve(data, start, end, self.info, broker_ms, timer_ms, self.out)
        except LargeRequest as large:
            self._serve_slices(large, data, start, end, broker_ms)
            return
        except Refused as refused:
            if watch is not None:
                watch.refused(self.info, data, start, end, broker_ms, began)
            self._end(str(refused))
            return
        if unsettled is not None:
            if watch is not None:
                watch.without_reply(self.info, data, start, end, broker_ms, began, *unsettled)
            self._settle(*unsettled)
        elif watch is not None:
            watch.served_one(self.info, data, start, end, self.out[before:], broker_ms, began)
        self._turns_left -= 1 if unsettled is not None else 1 + (len(self.out[-1]) >> 10)
        if self._turns_left <= 0 or len(self.out) - before > 1 or perf_counter_ns() > self._until:
            self._yield()  # a reply is one buffer, unless it is long

    def _serve_slices(self, large: LargeRequest, data: bytes, start: int, end: int, broker_ms: int) -> None:
        """Serve a request that may take long, while others are served; what follows on this connection waits for it."""
        out: Parts = []
        began, watch, info = perf_counter_ns(), self._dispatcher.watch, self.info
        at_once = True

        def serve() -> tuple[Exchange, Outcome] | Refused | None:
            try:  # at the time that it is now: it may have waited
                return self._dispatcher.serve(data, start, end, info, *self._now(), out)
            except Refused as refused:
                return refused

        def finish(result: tuple[Exchange, Outcome] | Refused | None) -> None:
            self._busy = False
            self._drop = None
            if watch is not None:
                if isinstance(result, Refused):
                    watch.refused(info, data, start, end, broker_ms, began)
                elif result is not None:
                    watch.without_reply(info, data, start, end, broker_ms, began, *result)
                else:
                    watch.served_one(info, data, start, end, out, broker_ms, began)
            self.out += out
            if isinstance(result, Refused):
                self._end(str(result))
            elif result is not None and self.closing:
                self._give_up(*result)
            elif result is not None:
                self._settle(*result)
            if at_once:
                self._yield()  # whatever it was, it has had its turn
            else:
                self._wake()

        self._busy = True
        request = large.slices.run(self._dispatcher.state, end - start, serve, finish)
        at_once = False
        if self._busy:
            self._drop = request.drop

    def _give_up(self, exchange: Exchange, outcome: Outcome) -> None:
        """The client has gone meanwhile."""
        if isinstance(outcome, Deferred):
            outcome.abandon()
            self._dispatcher.forget(exchange)

    def _yield(self) -> None:
        """End this turn: what was answered is sent, and others are served, before this connection goes on."""
        self._yielded = True
        self._wake()

    def _settle(self, exchange: Exchange, outcome: Outcome) -> bool:
        """Deal with an outcome that is no reply; whether the next request may be served."""
        if outcome is NO_REPLY:
            return self.info.usage is None or not self._is_muted(self.info.usage)
        if outcome is CLOSE:
            self.closing = True
            return False
        assert isinstance(outcome, Deferred)
        if outcome.reply is not None:
            self._reply(exchange, outcome)
            return not (self.closing or self.muted)
        self._waiting = (exchange, outcome)
        outcome.when_done(lambda _: self._wake())
        return False

    def _reply(self, exchange: Exchange, deferred: Deferred) -> None:
        slices = self._dispatcher.slices
        if exchange.large and slices is not None:
            self._reply_in_slices(slices, exchange, deferred)
        elif not self._dispatcher.answer(exchange, deferred, self.out):
            self.closing = True
        elif self.info.usage is not None:
            self._is_muted(self.info.usage)

    def _reply_in_slices(self, slices: Slices, exchange: Exchange, deferred: Deferred) -> None:
        """The answer to a large request may be long."""
        out: Parts = []
        at_once = True

        def finish(goes_on: bool) -> None:
            self._busy = False
            self.out += out
            if not goes_on:
                self.closing = True
            elif self.info.usage is not None:
                self._is_muted(self.info.usage)
            if not at_once:
                self._wake()

        self._busy = True
        slices.run(self._dispatcher.state, 0, lambda: self._dispatcher.answer(exchange, deferred, out), finish)
        at_once = False

    def _is_muted(self, usage: Usage) -> bool:
        """Whether nothing more is served for a while: the client has used more than its quotas allow."""
        muted, usage.muted = usage.muted, None
        if muted is None:
            return False
        self._waiting = (None, muted)
        muted.when_done(lambda _: self._wake())
        return True

    def _end(self, reason: str) -> None:
        self.closing = True
        self.reason = reason

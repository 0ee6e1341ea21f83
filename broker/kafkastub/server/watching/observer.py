"""What watches requests and meddles with them: the journal, the metrics and the faults share this one seam.

While all three are off, nothing of it is there. `Observer` puts its own handlers into a dispatcher's routes, and itself
into `Dispatcher.watch`, where connections look for every read: switching works for those that are open.

A request's way, when everything is on:

    route.handler (here)  counts the outcome, and asks the fault plan: `plan.match(route, context, request)` -> an
                          `Action`, or None: then all goes its usual way. A fast path past the handler is counted
                          likewise, and only open to what no rule can match (`plan.never_matches`)
    served (here)         requests that were read together and answered at once, each with one reply, are noted
                          together, with the time until their replies were ready to go, which is every one's. The
                          replies are joined, as they would be to be sent: the journal and the socket share them
    without_reply (here)  a request that has no reply yet, or none at all, is noted by itself, "pending" or what it is
    answer (here)         the time has come to send a deferred reply: it is cut short or not sent where an action says
                          so, and the journal's entry is completed
    forget (here)         where the client has gone before it
    refused (here)        what is no request that can be served

What a fault plan has to offer stands in `watching.faults`, as protocols: the faults' room imports nothing from here.
`observer.set_plan(plan)` is called whenever the rules change, `set_plan(None)` when none is left; that costs a loop
over the routes in use. All of it belongs to the server's thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from time import perf_counter_ns
from typing import Any, Final, cast

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.handlers.outcome import CLOSE, Deferred, Outcome
from kafkastub.handlers.registry import Handler
from kafkastub.journal.ring import Outcome as Became
from kafkastub.journal.ring import Reply, reply_size
from kafkastub.layers.fast_paths.contract import IsClear, Memory, always_clear
from kafkastub.layers.fast_paths.table import FAST_PATHS
from kafkastub.server.clock import Clock
from kafkastub.server.dispatch import Dispatcher
from kafkastub.server.routes import Exchange, Route
from kafkastub.server.watching.faults import HANG_UP, NOTHING, Faulted, FaultInjector, Plan
from kafkastub.server.watching.switches import Switches
from kafkawire.codec import Parts
from kafkawire.schema import Message

_SIZE: Final = 4
"""Bytes of a request's size, in front of it."""


class _OpenEntry:
    """What is kept of a request whose reply is deferred, in `Exchange.watcher_entry`."""

    __slots__ = ("deferred", "raw", "route", "sequence")

    def __init__(self, route: Route, deferred: Deferred, raw: list[Any], sequence: int) -> None:
        self.route = route
        self.deferred = deferred
        self.raw = raw
        self.sequence = sequence
        """In the journal; -1 where there was none at the time."""


class Observer(Switches):
    """One a dispatcher. Does nothing until it is given a journal, metrics or a plan."""

    plan: Plan | None

    def __init__(
        self, dispatcher: Dispatcher, clock: Clock, loop: asyncio.AbstractEventLoop, rearm: Callable[[], None]
    ) -> None:
        """`rearm` sets the broker's timer to the state's next deadline."""
        super().__init__()
        self._dispatcher = dispatcher
        self._clock = clock
        self.faults = FaultInjector(dispatcher, clock, loop, rearm)

    def follow(self, dispatcher: Dispatcher) -> None:
        """Another dispatcher takes the place of the one that was watched: journal, metrics and faults go on there."""
        self._dispatcher = dispatcher
        self.faults.follow(dispatcher)
        self._switch()

    def clock_moved(self, how: str) -> None:
        """The broker's clock was moved by hand; `how` is one of `kafkastub.journal.ring.CLOCK_MOVES`."""
        if self.ring is not None:
            now, text = perf_counter_ns(), how.encode()
            self.ring.add([text, 0, len(text), None, None, self._clock.broker_ms(), now, now, Became.CLOCK, None])

    # --- switching

    def _switch(self) -> None:
        dispatcher = self._dispatcher
        own = vars(dispatcher)
        own.pop("route", None)
        for route in dispatcher.routes():
            self._wrap(route)
        dispatcher.watch = None
        if self.ring is None and self.metrics is None and self.plan is None:
            return  # `answer` and `forget` stay for what is open, and cost nothing
        own["answer"], own["forget"], own["route"] = self._answer, self._forget, self._new_route
        dispatcher.watch = self

    def _new_route(self, data: bytes, start: int, end: int) -> Route:
        route = Dispatcher.route(self._dispatcher, data, start, end)
        self._wrap(route)
        return route

    def _wrap(self, route: Route) -> None:
        """Put what is on between the route and its handler."""
        plan, metrics, api = self.plan, self.metrics, route.api
        route.handler, route.bypassed = _unwrapped(route.handler), api.handler
        is_open = route.fast_path is not None and route.handler is api.handler
        is_clear: IsClear = always_clear
        if plan is not None and plan.concerns(route.key):
            route.handler, is_clear = self.faults.wrapped(route, plan), partial(plan.never_matches, route)
        if metrics is not None:
            route.handler = metrics.counted(route, self._dispatcher.lowered)
        if is_open:  # made anew: what it has learnt holds for the rules that there were
            fast = FAST_PATHS[route.key]
            path = fast.make(self._dispatcher.state, route.version, is_clear)
            route.memory = cast("Memory", path) if fast.learns else None
            if path is not None and metrics is not None:
                path = metrics.counted_fast_path(route, path)
                if route.memory is not None:
                    route.memory = metrics.counted_memory(route, route.memory)
            route.fast_path, route.bypassed = path, route.handler

    # --- what connections tell: a `server.watcher.Watcher`

    def served(
        self, info: ConnectionInfo, data: bytes, first: int, last: int, out: Parts, sent: int, upto: int,
        count: int, broker_ms: int, began: int,
    ) -> None:  # fmt: skip
        """`count` requests in `data[first:last]`, sizes included, got the replies `out[sent:upto]`, one each."""
        ended = perf_counter_ns()
        reply: Reply
        if upto - sent != count:  # the last one is in pieces
            reply = tuple(out[sent:upto])
            size = sum(map(len, reply))
        else:
            if count == 1:
                reply = out[sent]
            else:
                reply = b"".join(out[sent:upto])
                out[sent:upto] = (reply,)
            size = len(reply)
        if self.metrics is not None:
            self.metrics.served(data[first + 4 : first + 8], count, ended - began, last - first, size)
        if self.ring is not None:
            size += last - first
            self.ring.add_run(data, first, last, reply, info, broker_ms, began, ended, count, size)

    def served_one(
        self, info: ConnectionInfo, data: bytes, start: int, end: int, replies: Parts, broker_ms: int, began: int
    ) -> None:
        """A request that had to wait for its turn, in `data[start:end]`."""
        ended = perf_counter_ns()
        reply: Reply = replies[0] if len(replies) == 1 else tuple(replies)
        if self.metrics is not None:
            self.metrics.served(data[start : start + 4], 1, ended - began, _SIZE + end - start, reply_size(reply))
        if self.ring is not None:
            self.ring.add([data, start, end, reply, info, broker_ms, began, ended, Became.REPLY, None])

    def without_reply(
        self, info: ConnectionInfo, data: bytes, start: int, end: int, broker_ms: int, began: int, exchange: Exchange,
        outcome: Outcome,
    ) -> None:  # fmt: skip
        """The request in `data[start:end]` has no reply yet, or none at all."""
        if not isinstance(outcome, Deferred):
            self._note(info, data, start, end, broker_ms, began, Became.CLOSED if outcome is CLOSE else Became.NO_REPLY)
            return
        fault = outcome.action.fault if isinstance(outcome, Faulted) else None
        raw = [data, start, end, None, info, broker_ms, began, None, Became.PENDING, fault]
        exchange.watcher_entry = _OpenEntry(exchange.route, outcome, raw, -1 if self.ring is None else self.ring.total)
        if self.metrics is not None:
            self.metrics.bytes_in += _SIZE + end - start
        if self.ring is not None:
            self.ring.add(raw)

    def refused(self, info: ConnectionInfo, data: bytes, start: int, end: int, broker_ms: int, began: int) -> None:
        """What is in `data[start:end]` is no request that can be served."""
        if self.metrics is not None:
            self.metrics.refused += 1
        from kafkastub.journal.redact import may_be_token

        if may_be_token(data[start:end], info.sasl is not None):  # in the wrong place
            if self.metrics is not None:
                self.metrics.bytes_in += end - start
            data, start, end = b"", 0, 0
        self._note(info, data, start, end, broker_ms, began, Became.REFUSED)

    def _note(
        self, info: ConnectionInfo, data: bytes, start: int, end: int, broker_ms: int, began: int, became: Became
    ) -> None:
        if self.metrics is not None:
            self.metrics.bytes_in += _SIZE + end - start
        if self.ring is not None:
            self.ring.add([data, start, end, None, info, broker_ms, began, perf_counter_ns(), became, None])

    # --- what takes the place of the dispatcher's methods

    def _answer(self, exchange: Exchange, deferred: Deferred, out: Parts) -> bool:
        """`Dispatcher.answer`: send a reply that was deferred; whether the connection goes on."""
        entry: _OpenEntry | None = exchange.watcher_entry
        if entry is None:  # it is older than the observer
            return Dispatcher.answer(self._dispatcher, exchange, deferred, out)
        exchange.watcher_entry = None
        before, reply = len(out), deferred.reply
        action = deferred.action if isinstance(deferred, Faulted) else None
        ending = "answer" if action is None else action.ending
        if reply is HANG_UP or reply is NOTHING:
            became = Became.CLOSED if reply is HANG_UP else Became.NO_REPLY
            if ending != "answer":
                became = Became.DROPPED
        elif ending == "close":
            became = Became.DROPPED
        elif not Dispatcher.answer(self._dispatcher, exchange, deferred, out):
            became = Became.CLOSED
        elif action is not None and ending == "cut":
            cut = b"".join(out[before:])[: action.cut_at]
            out[before:] = [cut] if cut else []
            became = Became.DROPPED
        else:
            became = Became.REPLY
        sent: Reply | None = out[-1] if len(out) - before == 1 else tuple(out[before:]) or None
        self._end(entry, sent, became, reply)
        return became is Became.REPLY or became is Became.NO_REPLY

    def _forget(self, exchange: Exchange) -> None:
        """`Dispatcher.forget`: the client has gone before its reply came."""
        entry: _OpenEntry | None = exchange.watcher_entry
        if entry is not None:
            exchange.watcher_entry = None
            self._end(entry, None, Became.DROPPED, None)

    def _end(self, entry: _OpenEntry, sent: Reply | None, became: Became, reply: Message | None) -> None:
        raw = entry.raw
        raw[3], raw[7], raw[8] = sent, perf_counter_ns(), became
        if self.metrics is not None:
            self.metrics.bytes_out += reply_size(sent)
            if sent is None or reply is None:
                self.metrics.unanswered(entry.route, became)
            else:
                self.metrics.count_deferred(entry.route, reply, raw[7] - raw[6], self._dispatcher.state.pace)
        if self.ring is not None and entry.sequence >= 0:
            self.ring.complete(entry.sequence, raw)


def _unwrapped(handler: Handler) -> Handler:
    """The handler with nothing of ours in front of it."""
    while hasattr(handler, "inner"):
        handler = handler.inner
    return handler

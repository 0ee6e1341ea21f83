"""Carrying out what a fault plan asks for. `Plan` and `Action` say what a plan has to offer.

A request that an action meets is answered by a `Faulted`, a deferred reply that may be complete at once: what is
special about it ends in `Observer.answer`, at the time its connection sends it.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, Protocol

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import CLOSE, NO_REPLY, Deferred, Outcome
from kafkastub.handlers.registry import Handler
from kafkastub.server.clock import Clock
from kafkastub.server.dispatch import Dispatcher
from kafkastub.server.routes import Exchange, Route
from kafkastub.state.deferred import as_it_is
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.schema import Message

Ending = Literal["answer", "close", "cut", "silence"]
Arrive = Callable[[Callable[[], None]], None]
"""Lets a request arrive that was held back, and calls what it is given when its work is done."""


class Action(Protocol):
    """What happens to a request. A frozen dataclass with these fields will do; the order of things is:

    1. `before_ms` pass, or it is held. The connection is muted from the start, as Kafka mutes a channel.
    2. The work is done, if `work`.
    3. The answer is the handler's, or `error`'s where there is one, whether the work was done or not; `rewrite`
       changes it, `throttle_ms` is written into it.
    4. `after_ms` pass, or it is held.
    5. `ending`: it is sent ("answer"); its first `cut_at` bytes are, and the connection is closed ("cut"); nothing is,
       and the connection is closed ("close"), or stays open and muted until the client gives up ("silence").

    Without `work` and without `error` there is nothing to send: `ending` is then "close" or "silence". A Produce with
    acks=0 has no answer; an error closes its connection, as in Kafka.
    """

    @property
    def fault(self) -> str:
        """The rule's id, for journal and metrics."""

    @property
    def work(self) -> bool: ...

    @property
    def error(self) -> ErrorCode | None:
        """Answered at the level where the API has it (`error_response`)."""

    @property
    def narrow(self) -> Callable[[Message], Message] | None:
        """Gives the request that the work is done for, for example without one partition; another message."""

    @property
    def rewrite(self) -> Callable[[Message], Message] | None:
        """Gives another message of the same kind; must leave the one that it gets alone, which may be sent again."""

    @property
    def throttle_ms(self) -> int | None:
        """For `throttle_time_ms`; without effect on an answer that has none at this version."""

    @property
    def before_ms(self) -> int: ...

    @property
    def after_ms(self) -> int: ...

    @property
    def hold(self) -> Literal["before", "after"] | None:
        """Whether it waits in `holds`, and where."""

    @property
    def holds(self) -> Holds | None: ...

    @property
    def later(self) -> Callable[[Arrive], None] | None:
        """Is given what lets the request arrive after all, behind the one that is served then; its answer goes to
        nobody. Its connection ends now: but for that, nothing else of the action counts."""

    @property
    def ending(self) -> Ending: ...

    @property
    def cut_at(self) -> int:
        """Bytes of the frame, its size included."""


class Holds(Protocol):
    """Requests that wait for a test."""

    def hold(
        self, api: str, version: int, connection: int, client_id: str | None, go: Callable[[], None]
    ) -> Callable[[], None]:
        """Let it wait until `go` is called; what is given back forgets it."""


class Plan(Protocol):
    """The rules as the server asks them, in its own thread."""

    def concerns(self, key: ApiKey) -> bool:
        """Whether some rule may match requests of this API: asked once, not for each request."""

    def match(self, route: Route, context: RequestContext, request: Message) -> Action | None:
        """What happens to this request, None where nothing does. Called for each request of an API of concern.

        Of a route, `key`, `version` and `api` (its Registration) are of interest. The request must not be changed.
        """

    def never_matches(self, route: Route, request: Message) -> bool:
        """Whether `match` gives None, and counts nothing, for this request and for every other one that names the same
        groups, transactions, topics and partitions, until the rules change. Asked once for what then goes a fast path.
        """


NOTHING: Final = Message()
"""Stands for a reply where there is none to send."""
HANG_UP: Final = Message()
"""Stands for a reply where the connection is to be closed instead."""


class Faulted(Deferred):
    """The reply of a request that a fault met."""

    __slots__ = ("action", "forget", "inner", "timer")

    def __init__(self, action: Action) -> None:
        super().__init__(as_it_is)
        self.action = action
        self.inner: Deferred | None = None
        """What the handler itself waits for."""
        self.timer: asyncio.TimerHandle | None = None
        self.forget: Callable[[], None] | None = None
        """For whoever holds it."""

    def abandon(self) -> None:
        super().abandon()
        if self.forget is not None:
            self.forget()
        if self.inner is not None:
            self.inner.abandon()
        if self.timer is not None:
            self.timer.cancel()


class FaultInjector:
    """Puts a plan in front of the handlers of one dispatcher's routes."""

    def __init__(
        self, dispatcher: Dispatcher, clock: Clock, loop: asyncio.AbstractEventLoop, rearm: Callable[[], None]
    ) -> None:
        """`rearm` sets the broker's timer to the state's next deadline."""
        self._dispatcher = dispatcher
        self._clock = clock
        self._loop = loop
        self._rearm = rearm
        self.fired: dict[str, int] = {}
        """How often, by fault; the first `_MOST_NAMES` of them."""

    def follow(self, dispatcher: Dispatcher) -> None:
        """Another dispatcher has taken the place of the one."""
        self._dispatcher = dispatcher

    def wrapped(self, route: Route, plan: Plan) -> Handler:
        """The route's handler behind the plan."""
        match, inner = plan.match, route.handler

        def handle(context: RequestContext, request: Any) -> Outcome:
            action = match(route, context, request)
            if action is None:
                return inner(context, request)
            return self._inject(action, route, context, request, inner)

        handle.inner = inner  # type: ignore[attr-defined]
        return handle

    def _inject(self, action: Action, route: Route, context: RequestContext, request: Any, inner: Handler) -> Outcome:
        name = action.fault
        if name in self.fired or len(self.fired) < _MOST_NAMES:
            self.fired[name] = self.fired.get(name, 0) + 1
        faulted = Faulted(action)
        work = partial(self._work, faulted, Exchange(route, context, request), inner)
        if action.later is not None:
            unheard = partial(self._unheard, context, request, inner, name)
            action.later(partial(self._arrive, partial(self._late, context, unheard)))
            faulted.complete(NOTHING)
        elif action.hold == "before":
            self._hold(faulted, route, context, partial(self._late, context, work))
        elif action.before_ms > 0:
            faulted.timer = self._loop.call_later(action.before_ms / 1000, self._late, context, work)
        else:
            work()
        return faulted

    @staticmethod
    def _hold(faulted: Faulted, route: Route, context: RequestContext, go: Callable[[], None]) -> None:
        assert faulted.action.holds is not None
        faulted.forget = faulted.action.holds.hold(
            route.key.camel, route.version, context.connection.id, context.client_id, go
        )

    def _late(self, context: RequestContext, work: Callable[[], None]) -> None:
        """Do it now; nobody else looks whether a deadline has come nearer by it, as that of a fetch which now waits."""
        context.broker_ms, context.timer_ms = self._clock.both()
        work()
        if self._dispatcher.state.dirty:
            self._rearm()

    def _arrive(self, work: Callable[[], None], done: Callable[[], None]) -> None:
        self._loop.call_soon(work)
        self._loop.call_soon(done)

    def _unheard(self, context: RequestContext, request: Any, inner: Handler, fault: str) -> None:
        """Do the work of a request that the network has held back."""
        try:
            inner(context, request)
        except Exception:
            self._dispatcher.state.log.exception("a request that came late failed", fault=fault)

    def _work(self, faulted: Faulted, exchange: Exchange, inner: Handler) -> None:
        outcome: Outcome
        try:
            if faulted.action.work:
                narrow = faulted.action.narrow
                outcome = inner(exchange.context, exchange.request if narrow is None else narrow(exchange.request))
            else:
                outcome = _unanswered(exchange)
        except Exception as error:
            outcome = self._dispatcher.lowered(exchange, error)
        if isinstance(outcome, Deferred):
            faulted.inner = outcome
            outcome.when_done(partial(self._finish, faulted, exchange))
        else:
            self._finish(faulted, exchange, outcome)

    def _finish(self, faulted: Faulted, exchange: Exchange, outcome: Outcome) -> None:
        """The work is done, or was not to be done: send what the action makes of it, when its time has come."""
        action = faulted.action
        if action.ending == "silence" or faulted.abandoned:
            return
        try:
            reply = self._changed(action, exchange, outcome)
        except Exception:
            self._dispatcher.state.log.exception("a fault failed", fault=action.fault, api=exchange.route.key.camel)
            reply = HANG_UP
        if action.hold == "after":
            self._hold(faulted, exchange.route, exchange.context, partial(faulted.complete, reply))
        elif action.after_ms > 0:
            faulted.timer = self._loop.call_later(action.after_ms / 1000, faulted.complete, reply)
        else:
            faulted.complete(reply)

    def _changed(self, action: Action, exchange: Exchange, outcome: Outcome) -> Message:
        route = exchange.route
        if outcome is CLOSE:
            return HANG_UP
        if outcome is NO_REPLY:
            return NOTHING if action.error is None else HANG_UP
        assert isinstance(outcome, Message)
        reply = outcome
        if action.error is not None:
            reply = route.api.error_response(exchange.request, action.error, route.version)
        if reply is NOTHING:
            return reply
        if action.rewrite is not None:
            reply = action.rewrite(reply)
        if action.throttle_ms is not None and hasattr(reply, "throttle_time_ms"):
            reply = copy.copy(reply)  # it may be kept to be given again
            reply.throttle_time_ms = action.throttle_ms
        return reply


def _unanswered(exchange: Exchange) -> Outcome:
    """What a request has come to when no work was done for it."""
    if exchange.route.key == ApiKey.PRODUCE and getattr(exchange.request, "acks", None) == 0:
        return NO_REPLY
    return NOTHING


_MOST_NAMES: Final = 1000

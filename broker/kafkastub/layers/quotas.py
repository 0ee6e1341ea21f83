"""Clients that use more than their quotas allow are told how long to wait, and are not listened to for so long.

The answer goes out at once with throttle_time_ms, and what comes in on its connection meanwhile waits (KIP-219). All of
it goes by timer time, as sessions and long polls do: a frozen or advanced broker clock changes nothing, and
`advance(…, timers=True)` lets the wait pass.

As long as nobody has a quota, no request comes by here: the server puts `throttled` around handlers when the first one
is set, and takes it away with the last. What a handler has to do itself, because its work depends on it, it does with
`BrokerState.throttle`: Fetch gives nothing to who has to wait, CreateTopics, DeleteTopics and CreatePartitions refuse.
"""

from __future__ import annotations

import copy
import heapq
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kafkastub.handlers.context import RequestContext, Usage
from kafkastub.handlers.outcome import CLOSE, NO_REPLY, Deferred, Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.security.quota_meters import UNLIMITED, Meters, Rates
from kafkastub.security.quota_rates import TokenBucket, Windows
from kafkastub.security.quotas import (
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
)
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.schema import Message

if TYPE_CHECKING:
    from kafkastub.metadata import Topic
    from kafkastub.state.broker_state import BrokerState

_PERCENT_PER_NS: Final = 100 / 1_000_000_000
_CONTROLLER: Final = 0
"""What is counted there is counted once, whichever node is asked."""
_SIGNING_IN: Final = frozenset((ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE))
_STRICT_FROM: Final = {ApiKey.CREATE_TOPICS: 6, ApiKey.DELETE_TOPICS: 5, ApiKey.CREATE_PARTITIONS: 3}
_NOTHING: Final = Message()
_FEW: Final = 64


class Rests:
    """Connections that are not listened to, by when they are again."""

    def __init__(self, stir: Callable[[], None]) -> None:
        self._stir = stir
        self._ends: list[tuple[int, int, Deferred]] = []
        self._count = 0
        self._most = _FEW

    def begin(self, until_ms: int) -> Deferred:
        """It is complete at that timer time."""
        if len(self._ends) >= self._most:
            self._ends = [one for one in self._ends if not one[2].abandoned]
            heapq.heapify(self._ends)
            self._most = max(_FEW, 2 * len(self._ends))
        rest = Deferred(_as_it_is)
        self._count += 1
        heapq.heappush(self._ends, (until_ms, self._count, rest))
        self._stir()
        return rest

    def next_deadline(self) -> int | None:
        """Timer time (ms) of the next one that ends."""
        return self._ends[0][0] if self._ends else None

    def expire(self, timer_ms: int) -> None:
        """Listen to whoever has waited long enough."""
        while self._ends and self._ends[0][0] <= timer_ms:
            heapq.heappop(self._ends)[2].complete(_NOTHING)


class Throttle:
    """What is used of all quotas, while there are any."""

    def __init__(self, state: BrokerState, timer_ms: Callable[[], int], nanos: Callable[[], int]) -> None:
        """`timer_ms` is timer time; `nanos` measures how long handlers take."""
        quotas, config = state.quotas, state.config
        windows = Windows(config["quota.window.num"], config["quota.window.size.seconds"] * 1000)
        controllers = Windows(
            config["controller.quota.window.num"], config["controller.quota.window.size.seconds"] * 1000
        )
        self.produce = Rates(quotas, PRODUCER_BYTE_RATE, windows)
        self.fetch = Rates(quotas, CONSUMER_BYTE_RATE, windows)
        self.request = Rates(quotas, REQUEST_PERCENTAGE, windows)
        self.mutation = Meters(quotas, CONTROLLER_MUTATION_RATE, controllers, TokenBucket)
        if state.rests is None:
            state.rests = Rests(state.stir)
        self._rests = state.rests
        self.now = timer_ms
        self.nanos = nanos

    def request_ms(self, ctx: RequestContext) -> int:
        """Count the time that the request took; how long its client has to wait for it, at most one window."""
        if not self.request.enabled:
            return 0
        usage = ctx.connection.usage
        took = 0 if usage is None else usage.took if usage.took >= 0 else self.nanos() - usage.began
        wait = self.request.record(ctx.node_id, *_client(ctx), took * _PERCENT_PER_NS, self.now())
        return min(wait, self.request.windows.size_ms)

    def produce_ms(self, ctx: RequestContext) -> int:
        """Count the request's bytes; how long its client has to wait for them."""
        usage = ctx.connection.usage
        return self.produce.record(ctx.node_id, *_client(ctx), 0 if usage is None else usage.size, self.now())

    def fetch_ms(self, ctx: RequestContext, size: int) -> int:
        """Count the answer's bytes; how long its client has to wait; then they are kept back, and do not count."""
        who, now = _client(ctx), self.now()
        asked = self.request_ms(ctx)
        wait = self.fetch.record(ctx.node_id, *who, size, now)
        if asked or wait:
            self.fetch.take_back(ctx.node_id, *who, size, now)
        return max(asked, wait)

    def most_fetched(self, ctx: RequestContext) -> int:
        """Bytes that a client can be given at once without having to wait for certain."""
        most = self.fetch.most_at_once(ctx.node_id, *_client(ctx), self.now())
        return 0x7FFFFFFF if most == UNLIMITED or most != most else int(min(most, 0x7FFFFFFF))

    def mutations(self, ctx: RequestContext) -> Mutations:
        """For the partitions that one request makes or deletes."""
        return Mutations(self, ctx)

    def created(self, ctx: RequestContext, create: Callable[[], Topic | None]) -> Topic | None:
        """What is created, and counted, where the client has not made too many before."""
        bucket, limit = self.mutation.of(_CONTROLLER, *_client(ctx), self.now())
        if self.mutation.enabled and limit != UNLIMITED and bucket.over(limit, self.now()):
            return None
        topic = create()
        if topic is not None:
            self.mutations(ctx).count(len(topic.partitions))
        return topic

    def rest(self, usage: Usage, ms: int) -> None:
        """Once it is answered, do not listen to the connection for so long."""
        usage.rest = self._rests.begin(self.now() + ms)


class Mutations:
    """One request's partitions that are made or deleted (KIP-599). Old versions are not refused, only slowed down."""

    def __init__(self, throttle: Throttle, ctx: RequestContext) -> None:
        self._throttle = throttle
        self._strict = ctx.api_version >= _STRICT_FROM.get(ctx.api_key, 0)
        self._who = _client(ctx)
        self.ms = 0
        """How long the client has to wait."""

    def count(self, partitions: int) -> None:
        """So many more. Raises THROTTLING_QUOTA_EXCEEDED where there were too many before."""
        meters, now = self._throttle.mutation, self._throttle.now()
        if not meters.enabled:
            return
        bucket, limit = meters.of(_CONTROLLER, *self._who, now)
        if limit == UNLIMITED:
            return
        if self._strict:
            wait = bucket.over(limit, now)
            if wait:
                self.ms = wait
                raise KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        bucket.record(partitions, limit, now)
        if not self._strict:
            self.ms = bucket.over(limit, now)


def throttled(api: Registration, throttle: Throttle) -> Handler:
    """The API's handler, which says how long the client has to wait."""
    handler, finish = api.handler, _FINISH.get(api.key, _finish)
    if api.key in _SIGNING_IN:
        return handler

    def serve(ctx: RequestContext, request: Any) -> Outcome:
        connection = ctx.connection
        usage = connection.usage
        if usage is None or (connection.sasl is not None and not connection.sasl.is_open):
            return handler(ctx, request)
        usage.began, usage.took = throttle.nanos(), -1
        try:
            outcome = handler(ctx, request)
        except KafkaError as error:
            outcome = api.error_response(request, error.code, ctx.api_version)
        usage.took = throttle.nanos() - usage.began
        if outcome is CLOSE:
            return outcome
        if isinstance(outcome, Deferred):
            if outcome.reply is None:
                lower = outcome.lower
                outcome.lower = lambda value: _told(throttle, usage, lower(value), finish(throttle, ctx, request))
                return outcome
            outcome = outcome.reply
        if outcome is NO_REPLY:
            wait = throttle.produce_ms(ctx)
            if wait > 0:
                throttle.rest(usage, wait)
            return outcome
        assert isinstance(outcome, Message)
        reply = _told(throttle, usage, outcome, finish(throttle, ctx, request))
        if usage.rest is None:
            return reply
        done = Deferred(_as_it_is)  # what the connection does after an answer, it does after one that was awaited
        done.complete(reply)
        return done

    return serve


def _told(throttle: Throttle, usage: Usage, reply: Message, ms: int) -> Message:
    """The reply with throttle_time_ms, where its version has that; the connection rests afterwards."""
    told: int | None = getattr(reply, "throttle_time_ms", None)
    wait = max(ms, told or 0)
    if wait <= 0:
        return reply
    throttle.rest(usage, wait)
    if told is not None and told != wait:
        reply = copy.copy(reply)  # it may be kept to be given again
        reply.throttle_time_ms = wait  # type: ignore[attr-defined]
    return reply


def _finish(throttle: Throttle, ctx: RequestContext, request: Any) -> int:
    return throttle.request_ms(ctx)


def _finish_produce(throttle: Throttle, ctx: RequestContext, request: Any) -> int:
    return max(throttle.produce_ms(ctx), throttle.request_ms(ctx))


def _finish_fetch(throttle: Throttle, ctx: RequestContext, request: Any) -> int:
    return 0  # it has counted by itself


_FINISH: Final = {ApiKey.PRODUCE: _finish_produce, ApiKey.FETCH: _finish_fetch}


def _client(ctx: RequestContext) -> tuple[str, str]:
    """The user's name, and the client id."""
    return ctx.principal.partition(":")[2], ctx.client_id or ""


def _as_it_is(reply: Message) -> Message:
    return reply

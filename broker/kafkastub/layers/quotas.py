"""Clients that use more than their quotas allow are told how long to wait, and are not listened to for so long.

The answer goes out at once with throttle_time_ms, and what comes in on its connection meanwhile waits (KIP-219). All of
it goes by timer time, as sessions and long polls do: a frozen or advanced broker clock changes nothing, and
`advance(…, timers=True)` lets the wait pass.

As long as nobody has a quota, no request comes by here: `throttled` is put around handlers when the first one
is set, and taken away with the last. What a handler has to do itself, because its work depends on it, it does with
`BrokerState.throttle`: Fetch gives nothing to who has to wait, CreateTopics, DeleteTopics and CreatePartitions refuse.
"""

from __future__ import annotations

import copy
from typing import Any, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import CLOSE, NO_REPLY, Deferred, Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.state.deferred import as_it_is
from kafkastub.state.quota_usage import Throttle, Usage
from kafkawire.api import ApiKey
from kafkawire.errors import KafkaError
from kafkawire.schema import Message

_SIGNING_IN: Final = frozenset((ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE))


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
                outcome.lower = lambda value: _with_throttle_time(
                    throttle, usage, lower(value), finish(throttle, ctx, request)
                )
                return outcome
            outcome = outcome.reply
        if outcome is NO_REPLY:
            wait = throttle.produce_ms(ctx)
            if wait > 0:
                throttle.mute(usage, wait)
            return outcome
        assert isinstance(outcome, Message)
        reply = _with_throttle_time(throttle, usage, outcome, finish(throttle, ctx, request))
        if usage.muted is None:
            return reply
        done = Deferred(as_it_is)  # what the connection does after an answer, it does after one that was awaited
        done.complete(reply)
        return done

    return serve


def _with_throttle_time(throttle: Throttle, usage: Usage, reply: Message, ms: int) -> Message:
    """The reply with throttle_time_ms, where its version has that; the connection is muted afterwards."""
    own: int | None = getattr(reply, "throttle_time_ms", None)
    wait = max(ms, own or 0)
    if wait <= 0:
        return reply
    throttle.mute(usage, wait)
    if own is not None and own != wait:
        reply = copy.copy(reply)  # it may be kept to be given again
        reply.throttle_time_ms = wait  # type: ignore[attr-defined]
    return reply


def _finish(throttle: Throttle, ctx: RequestContext, request: Any) -> int:
    return throttle.request_ms(ctx)


def _finish_produce(throttle: Throttle, ctx: RequestContext, request: Any) -> int:
    return max(throttle.produce_ms(ctx), throttle.request_ms(ctx))


def _finish_fetch(throttle: Throttle, ctx: RequestContext, request: Any) -> int:
    return 0  # it has counted by itself


_FINISH: Final = {
    ApiKey.PRODUCE: _finish_produce,
    ApiKey.FETCH: _finish_fetch,
    ApiKey.SHARE_FETCH: _finish_fetch,
}

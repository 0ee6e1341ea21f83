"""What stands between a connection of a SASL listener and the dispatcher: nobody is served who has not said who he is.

A `SaslGate` takes the dispatcher's place for one connection. SaslHandshake and SaslAuthenticate go through the
dispatcher like all requests, so that journal, metrics and faults know them; the gate looks at what they have come to.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kafkastub.handlers.context import ConnectionInfo, RequestContext
from kafkastub.handlers.outcome import CLOSE, Deferred, Outcome
from kafkastub.security.session import SaslSession, State
from kafkastub.server.dispatch import Dispatcher, Refused
from kafkastub.server.routes import Exchange
from kafkastub.state.rate_limiter import RateLimiter
from kafkawire.api import ApiKey
from kafkawire.codec import Parts
from kafkawire.errors import ErrorCode

if TYPE_CHECKING:
    from kafkastub.security.credentials import ListenerSasl
    from kafkastub.server.slices import Slices
    from kafkastub.server.watcher import Watcher
    from kafkastub.state.broker_state import BrokerState

_key = struct.Struct(">h").unpack_from
_size = struct.Struct(">i").pack


class SaslGate:
    """One connection's way to the dispatcher."""

    __slots__ = ("_dispatcher", "_log_limiter", "_session", "has_told_failure", "limit")

    def __init__(self, dispatcher: Dispatcher, session: SaslSession, log_limiter: RateLimiter) -> None:
        self._dispatcher = dispatcher
        self._session = session
        self._log_limiter = log_limiter
        self.limit: int = dispatcher.state.config["sasl.server.max.receive.size"]
        """Bytes of a frame before authentication."""
        self.has_told_failure = False
        """Whether the last reply says that authentication has failed."""

    @property
    def watch(self) -> Watcher | None:
        """Who is told of every request; of tokens without a header nobody is."""
        session = self._session
        return None if session.raw and session.state is State.TOKENS else self._dispatcher.watch

    @property
    def state(self) -> BrokerState:
        """Of the broker that is asked."""
        return self._dispatcher.state

    @property
    def slices(self) -> Slices | None:
        """Who serves large requests a slice at a time."""
        return self._dispatcher.slices

    @property
    def one_by_one(self) -> bool:
        """Whether what a frame is, and whether it may be watched, is known only when the one before it is served."""
        return self._session.raw or self._session.state is not State.OPEN

    def serve(
        self, data: bytes, start: int, end: int, info: ConnectionInfo, broker_ms: int, timer_ms: int, out: Parts
    ) -> tuple[Exchange, Outcome] | None:
        """As the dispatcher's."""
        session = self._session
        if session.state is State.OPEN:
            if session.has_ended(timer_ms) and _api(data, start, end) != ApiKey.SASL_HANDSHAKE:
                raise Refused("the session is over (connections.max.reauth.ms), and the client did not renew it")
            return self._dispatcher.serve(data, start, end, info, broker_ms, timer_ms, out)
        if session.state is State.FAILED:
            raise Refused("the client has failed to authenticate on this connection: it has to open another one")
        if end - start > self.limit:
            raise Refused(f"a request of {end - start} bytes before authentication; {self.limit} are allowed")
        if session.state is State.TOKENS:
            if session.raw:
                return self._raw_token(data[start:end], info, broker_ms, timer_ms, out)
            if _api(data, start, end) != ApiKey.SASL_AUTHENTICATE:
                return self._out_of_turn(data, start, end, info, broker_ms, timer_ms, out)
            return self._dispatcher.serve(data, start, end, info, broker_ms, timer_ms, out)
        key = _api(data, start, end)
        if key == ApiKey.API_VERSIONS and session.state is State.VERSIONS:
            before = len(out)
            unsettled = self._dispatcher.serve(data, start, end, info, broker_ms, timer_ms, out)
            if len(out) > before and not int.from_bytes(out[before][8:10]):
                session.state = State.HANDSHAKE
            return unsettled
        if key != ApiKey.SASL_HANDSHAKE:
            name = ApiKey(key).camel if key in _KNOWN else f"api key {key}"
            raise Refused(f"{name} before authentication: the client's security.protocol is not the listener's")
        return self._dispatcher.serve(data, start, end, info, broker_ms, timer_ms, out)

    def answer(self, exchange: Exchange, deferred: Deferred, out: Parts) -> bool:
        """As the dispatcher's; a connection whose authentication has failed ends."""
        goes_on = self._dispatcher.answer(exchange, deferred, out)
        if self._session.state is not State.FAILED:
            return goes_on
        self.has_told_failure = goes_on
        self._log_failure(exchange.context.connection, exchange.context.timer_ms)
        return False

    def when_open(self, call: Callable[[], None]) -> None:
        """Have `call` called when the client is who it says."""
        self._session.opened = call

    def is_told_late(self, unframed: bool) -> bool:
        """Whether the connection ends with a failed authentication, which Kafka is slow to tell.

        `unframed`: whether it ends because of a frame's size that is none.
        """
        session = self._session
        if session.state is State.FAILED:
            return not session.ends_at_once
        return unframed and session.state is not State.OPEN

    def forget(self, exchange: Exchange) -> None:
        self._dispatcher.forget(exchange)

    def _raw_token(
        self, token: bytes, info: ConnectionInfo, broker_ms: int, timer_ms: int, out: Parts
    ) -> tuple[Exchange, Outcome] | None:
        session = self._session
        found = session.token(token, 0, broker_ms, timer_ms)
        if found is None:
            self._log_failure(info, timer_ms)
            raise Refused("authentication failed")
        info.principal = session.principal or info.principal
        out.append(_size(len(found[0])) + found[0])
        return None

    def _out_of_turn(
        self, data: bytes, start: int, end: int, info: ConnectionInfo, broker_ms: int, timer_ms: int, out: Parts
    ) -> tuple[Exchange, Outcome]:
        """A request that is neither of SASL nor to be served: told so, and the connection ends."""
        dispatcher = self._dispatcher
        route = dispatcher.route(data, start, end)
        correlation_id, client_id, request = dispatcher.read_with_care(route, data, start, end)
        context = RequestContext(
            dispatcher.state, info, route.key, route.version, correlation_id, client_id, broker_ms, timer_ms
        )
        answer = route.api.error_response(request, ErrorCode.ILLEGAL_SASL_STATE, route.version)
        dispatcher.reply(route, correlation_id, answer, out)
        self._session.state = State.FAILED
        self.has_told_failure = True
        return Exchange(route, context, request), CLOSE

    def _log_failure(self, info: ConnectionInfo, timer_ms: int) -> None:
        failure = self._session.failure
        why = "the mechanism is not enabled" if failure is None else failure.why
        if self._log_limiter.allows((info.listener, info.client_host, why), timer_ms):
            self._dispatcher.state.log.info("authentication failed", peer=info.peer, listener=info.listener, why=why)


def sasl_gate(
    dispatcher: Dispatcher, listener: ListenerSasl, info: ConnectionInfo, log_limiter: RateLimiter
) -> SaslGate:
    """For a new connection."""
    state = dispatcher.state
    info.sasl = session = SaslSession(listener, state.scram_users, state.delegation_tokens)
    return SaslGate(dispatcher, session, log_limiter)


def _api(data: bytes, start: int, end: int) -> int:
    if end - start < 8:
        raise Refused(f"a request of {end - start} bytes")
    key: int = _key(data, start)[0]
    return key


_KNOWN: Final = frozenset(ApiKey)

"""From a frame to a handler and back to bytes; no I/O.

What Kafka does with requests that it cannot serve (`SocketServer.processCompletedReceives`, `RequestContext.parseRequest`):
an unknown key, a version out of range or a malformed body ends the connection; only ApiVersions answers a version that
is too new.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Final

from kafkastub.handlers.context import ConnectionInfo, RequestContext
from kafkastub.handlers.outcome import CLOSE, Deferred, Outcome
from kafkastub.handlers.registry import Handler, Registration, registrations
from kafkastub.handlers.state import BrokerState
from kafkawire.api import ApiKey
from kafkawire.codec import Decoder, Encoder, Parts, decoder, encoder
from kafkawire.errors import ErrorCode, KafkaError, MalformedMessage
from kafkawire.header import is_flexible, read_request_header, response_header_size
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.schema import Message

_key_version = struct.Struct(">hh").unpack_from
_head = struct.Struct(">ii").pack
_flexible_head = struct.Struct(">iib").pack


@dataclass(slots=True)
class Route:
    """All that serving one version of one API takes."""

    api: Registration
    key: ApiKey
    version: int
    handler: Handler
    decode: Decoder | None
    encode: Encoder
    flexible_request: bool
    header_size: int
    """Of the response."""
    chunked: bool
    """Replies may be long: they are sent as the chunks that they are made of."""


class Refused(Exception):
    """The request cannot be served and the connection ends; the text says who sent what."""


class Exchange:
    """A request that was understood, and what is needed to answer it."""

    __slots__ = ("context", "request", "route")

    def __init__(self, route: Route, context: RequestContext, request: Message) -> None:
        self.route = route
        self.context = context
        self.request = request


class Dispatcher:
    """One a broker. `routes` fills as versions are first used."""

    def __init__(self, state: BrokerState) -> None:
        self.state = state
        self._routes: dict[bytes, Route] = {}

    def parse(
        self, data: bytes, start: int, end: int, connection: ConnectionInfo, broker_ms: int, timer_ms: int
    ) -> Exchange:
        """The request in `data[start:end]`. Raises Refused."""
        route = self._routes.get(data[start : start + 4])
        if route is None:
            route = self._route(data, start, end)
        try:
            header = read_request_header(data, start, end, route.flexible_request)
            if route.decode is None:  # an ApiVersions of the future: its body is not needed to refuse it
                request: Message = ApiVersionsRequest()
            else:
                request, _ = route.decode(data, header.end, end)
        except MalformedMessage as error:
            raise Refused(f"{route.key.camel} v{route.version}: {error}") from error
        context = RequestContext(
            self.state,
            connection,
            route.key,
            route.version,
            header.correlation_id,
            header.client_id,
            broker_ms,
            timer_ms,
        )
        return Exchange(route, context, request)

    def run(self, exchange: Exchange) -> Outcome:
        """Ask the handler; whatever it raises becomes an answer."""
        route, context = exchange.route, exchange.context
        try:
            return route.handler(context, exchange.request)
        except KafkaError as error:
            return self._lowered(exchange, error.code)
        except Exception:
            self.state.log.exception(
                "handler failed", api=route.key.camel, version=route.version, peer=context.connection.peer
            )
            return self._lowered(exchange, ErrorCode.UNKNOWN_SERVER_ERROR)

    def reply(self, exchange: Exchange, response: Message, out: Parts) -> None:
        """Append the frame of `response` to `out`."""
        route = exchange.route
        parts = route.encode(response)
        correlation_id = exchange.context.correlation_id
        if route.chunked:
            size = sum(map(len, parts)) + route.header_size
            body: Parts = parts
        else:
            joined = b"".join(parts)
            size = len(joined) + route.header_size
            body = [joined]
        if route.header_size == 5:
            out.append(_flexible_head(size, correlation_id, 0))
        else:
            out.append(_head(size, correlation_id))
        out += body

    def _lowered(self, exchange: Exchange, code: ErrorCode) -> Outcome:
        route = exchange.route
        try:
            return route.api.error_response(exchange.request, code, route.version)
        except Exception:
            self.state.log.exception("no error answer", api=route.key.camel, version=route.version)
            return CLOSE

    def _route(self, data: bytes, start: int, end: int) -> Route:
        if end - start < 8:
            raise Refused(f"a request of {end - start} bytes")
        key, version = _key_version(data, start)
        api = registrations().get(key)
        if api is None:
            raise Refused(f"api key {key} (version {version}) is not served")
        if api.first <= version <= api.last:
            route = self._compile(api, version)
        elif api.key == ApiKey.API_VERSIONS:
            route = self._unheard_of(api, version)
        else:
            raise Refused(f"{api.key.camel} v{version} is not served, only {api.first} to {api.last}")
        if len(self._routes) < _MOST_ROUTES:
            self._routes[data[start : start + 4]] = route
        return route

    def _compile(self, api: Registration, version: int) -> Route:
        request, response = api.request_class(), api.response_class()
        flexible = is_flexible(response, version)
        return Route(
            api=api,
            key=api.key,
            version=version,
            handler=api.handler,
            decode=decoder(request, version),
            encode=encoder(response, version),
            flexible_request=is_flexible(request, version),
            header_size=response_header_size(api.key, flexible),
            chunked=api.key == ApiKey.FETCH,
        )

    def _unheard_of(self, api: Registration, version: int) -> Route:
        def refuse(context: RequestContext, request: Any) -> Outcome:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)

        return Route(
            api=api,
            key=api.key,
            version=version,
            handler=refuse,
            decode=None,
            encode=encoder(api.response_class(), 0),
            flexible_request=False,
            header_size=4,
            chunked=False,
        )


_MOST_ROUTES: Final = 1000
"""ApiVersions of ever new versions must not make the table grow."""

__all__ = ["Deferred", "Dispatcher", "Exchange", "Refused", "Route"]

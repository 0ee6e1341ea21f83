"""From a frame to a handler and back to bytes; no I/O.

What Kafka does with requests that it cannot serve: an unknown key, a version out of range or a malformed body ends the
connection; only ApiVersions answers a version that does not exist. Source: `SocketServer.processCompletedReceives`,
`RequestContext.parseRequest`.
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
from kafkawire.codec import Decoder, Encoder, Parts, decoder, encoder, straight_decoder
from kafkawire.errors import ErrorCode, KafkaError, MalformedMessage
from kafkawire.header import is_flexible, read_request_header, response_header_size
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.schema import Message

_key_version = struct.Struct(">hh").unpack_from
_correlation_and_client = struct.Struct(">ih").unpack_from
_head = struct.Struct(">ii").pack
_flexible_head = struct.Struct(">iib").pack


@dataclass(slots=True)
class Route:
    """All that serving one version of one API takes."""

    api: Registration
    key: ApiKey
    version: int
    handler: Handler
    straight: Decoder | None
    """None: the body is not looked at."""
    decode: Decoder
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
    """One a broker. `_routes` fills as versions are first used."""

    def __init__(self, state: BrokerState) -> None:
        self.state = state
        self._routes: dict[bytes, Route] = {}

    def serve(
        self, data: bytes, start: int, end: int, info: ConnectionInfo, broker_ms: int, timer_ms: int, out: Parts
    ) -> tuple[Exchange, Outcome] | None:
        """Serve the request in `data[start:end]`.

        None where its reply is in `out`; otherwise the outcome that the connection has to deal with. Raises Refused.
        """
        route = self._routes.get(data[start : start + 4])
        if route is None:
            route = self._route(data, start, end)
        client_id: str | None
        # The straight way through a header and a body; whatever is out of the ordinary is read again, with care.
        try:
            correlation_id, size = _correlation_and_client(data, start + 4)
            body = start + 10
            if size > 0:
                raw = data[body : body + size]
                body += size
                if raw != info.client_id_bytes:
                    info.remember_client_id(raw)
                client_id = info.client_id
            else:
                client_id = None if size < 0 else ""
            if route.flexible_request:
                if data[body]:
                    raise Refused  # tags in a header: the careful way
                body += 1
            request, stop = route.straight(data, body, end)  # type: ignore[misc]
            if stop > end:
                raise Refused
        except Exception:
            correlation_id, client_id, request = self._read_with_care(route, data, start, end)
        context = RequestContext(
            self.state, info, route.key, route.version, correlation_id, client_id, broker_ms, timer_ms
        )
        try:
            outcome = route.handler(context, request)
        except Exception as error:
            outcome = self._lowered(Exchange(route, context, request), error)
        if not isinstance(outcome, Message):
            return Exchange(route, context, request), outcome
        try:
            self.reply(route, correlation_id, outcome, out)
        except Exception:
            self.state.log.exception("a reply cannot be encoded", api=route.key.camel, version=route.version)
            return Exchange(route, context, request), CLOSE
        return None

    def reply(self, route: Route, correlation_id: int, response: Message, out: Parts) -> None:
        """Append the frame of `response` to `out`."""
        parts = route.encode(response)
        if route.chunked:
            size = sum(map(len, parts)) + route.header_size
        else:
            joined = b"".join(parts)
            size = len(joined) + route.header_size
            parts = [joined]
        if route.header_size == 5:
            out.append(_flexible_head(size, correlation_id, 0))
        else:
            out.append(_head(size, correlation_id))
        out += parts

    def _read_with_care(self, route: Route, data: bytes, start: int, end: int) -> tuple[int, str | None, Message]:
        """Correlation id, client id and body. Raises Refused with what is wrong."""
        try:
            header = read_request_header(data, start, end, route.flexible_request)
            if route.straight is None:
                return header.correlation_id, header.client_id, ApiVersionsRequest()
            request, _ = route.decode(data, header.end, end)
        except MalformedMessage as error:
            raise Refused(f"{route.key.camel} v{route.version}: {error}") from error
        return header.correlation_id, header.client_id, request

    def _lowered(self, exchange: Exchange, error: Exception) -> Outcome:
        """What a handler raised, as an answer."""
        route, log = exchange.route, self.state.log
        code = ErrorCode.UNKNOWN_SERVER_ERROR
        if isinstance(error, KafkaError):
            code = error.code
        else:
            peer = exchange.context.connection.peer
            log.exception("handler failed", api=route.key.camel, version=route.version, peer=peer)
        try:
            return route.api.error_response(exchange.request, code, route.version)
        except Exception:
            log.exception("no error answer", api=route.key.camel, version=route.version)
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

    def _handler(self, api: Registration) -> Handler:
        """The API's handler; with a data directory its replies wait for the disk."""
        persistence = self.state.persistence
        if persistence is None:
            return api.handler
        from kafkastub.server.durability import held_back

        return held_back(api, persistence.disk)

    def _compile(self, api: Registration, version: int) -> Route:
        request, response = api.request_class(), api.response_class()
        flexible = is_flexible(response, version)
        return Route(
            api=api,
            key=api.key,
            version=version,
            handler=self._handler(api),
            straight=straight_decoder(request, version),
            decode=decoder(request, version),
            encode=encoder(response, version),
            flexible_request=is_flexible(request, version),
            header_size=response_header_size(api.key, flexible),
            chunked=api.key == ApiKey.FETCH,
        )

    def _unheard_of(self, api: Registration, version: int) -> Route:
        """ApiVersions of a version that we do not know: its body does not matter, its answer is in version 0."""

        def refuse(context: RequestContext, request: Any) -> Outcome:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)

        return Route(
            api=api,
            key=api.key,
            version=version,
            handler=refuse,
            straight=None,
            decode=decoder(api.request_class(), 0),
            encode=encoder(api.response_class(), 0),
            flexible_request=version >= 3,  # of the header, which Kafka reads all the same
            header_size=4,
            chunked=False,
        )


_MOST_ROUTES: Final = 1000
"""ApiVersions of ever new versions must not make the table grow."""

__all__ = ["Deferred", "Dispatcher", "Exchange", "Refused", "Route"]

"""From a frame to a handler and back to bytes; no I/O.

What Kafka does with requests that it cannot serve: an unknown key, a version out of range or a malformed body ends the
connection; only ApiVersions answers a version that does not exist. Source: `SocketServer.processCompletedReceives`,
`RequestContext.parseRequest`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from kafkastub.handlers.context import ConnectionInfo, RequestContext
from kafkastub.handlers.outcome import CLOSE, Deferred, Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.handlers.release import served_apis
from kafkastub.layers.fast_paths.contract import always_clear
from kafkastub.layers.stack import behind_layers
from kafkastub.server.routes import Exchange, Route
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.pace import Pace, no_pause
from kafkawire.api import ApiKey
from kafkawire.codec import (
    Parts,
    decoder,
    encoder,
    fast_decoder,
    paced_decoder,
    paced_encoder,
    read_reference,
)
from kafkawire.errors import ErrorCode, KafkaError, MalformedMessage
from kafkawire.header import is_flexible, read_request_header, response_header_size
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.schema import Message

if TYPE_CHECKING:
    from kafkastub.layers.fast_paths.contract import Memory
    from kafkastub.server.slices import Slices
    from kafkastub.server.watcher import Watcher

LARGE: Final = 1 << 13
"""Bytes of a body from which a request may take long, unless a fast path takes it."""
MOST_ENTRIES: Final = "kafkastub.max.request.entries"
NAMES_TOO_MUCH: Final = "names too much"
"""Stands in why a connection ends whose client has sent more entries in a request than it may."""
_key_version = struct.Struct(">hh").unpack_from
_correlation_and_client = struct.Struct(">ih").unpack_from
_head = struct.Struct(">ii").pack
_flexible_head = struct.Struct(">iix").pack
_FLEXIBLE_SIZE: Final = 5
"""Of the header in that."""
_REPEATED: Final = frozenset({ApiKey.HEARTBEAT, ApiKey.OFFSET_FETCH, ApiKey.STREAMS_GROUP_HEARTBEAT})
_PARKED: Final = frozenset({ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP})
_LONGEST_REPEATED: Final = 1 << 10
"""Bytes of a request that is remembered, one for each connection and route."""
IS_NOT_SERVED: Final = "is not served"
"""Stands in why a connection ends whose client asked for an API or a version that there is not."""
_LONG_REPLY: Final = 1 << 14
"""Bytes from which a reply is long."""
_LONGEST_FRAME: Final = (1 << 31) - 1
_LONGEST_REPLY: Final = _LONGEST_FRAME - 5
"""Bytes of a body: the header has five at most."""
_MANY_PIECES: Final = 1 << 9
_LONG_PIECE: Final = 1 << 12
"""Bytes of a piece, in the mean, from which handing it over is cheaper than copying it."""


class Refused(Exception):
    """The request cannot be served and the connection ends; the text says who sent what."""


class TooManyEntries(Refused):
    """The request names more things than a request may."""


class LargeRequest(Exception):
    """Nothing was done yet: the request is to be served again, by `slices.run`."""

    def __init__(self, slices: Slices) -> None:
        super().__init__("to be served a slice at a time")
        self.slices = slices


class ReplyTooLong(KafkaError):
    """What was asked for does not fit into a frame. Kafka fails, too: ``SendBuilder`` counts in 32 bits."""

    def __init__(self, size: int) -> None:
        super().__init__(ErrorCode.UNKNOWN_SERVER_ERROR, f"an answer of {size} bytes; a frame has {_LONGEST_FRAME}")


def _fewer(parts: Parts, size: int) -> Parts:
    """The same bytes in fewer pieces, where they are small: a transport takes some hundred thousand at once, not more.

    Records as they are stored, and what is sent many times, is long, and not copied.
    """
    if size > len(parts) * _LONG_PIECE:
        return parts
    return [b"".join(parts[at : at + _MANY_PIECES]) for at in range(0, len(parts), _MANY_PIECES)]


def _body(route: Route, response: Message, out: Parts, sent: int) -> Parts:
    """The pieces of the body of `response`, whose frame `Dispatcher.reply` has put into `out[sent:]`."""
    return [route.answer_body] if response is route.answer else out[sent + 1 :]


class Dispatcher:
    """One a broker. `_routes` fills as versions are first used."""

    one_by_one: Final = False
    """Whether what is to be done with a frame depends on the one before it."""

    def __init__(self, state: BrokerState, apis: Mapping[ApiKey, Registration] | None = None) -> None:
        """`apis`: what is served, where that is not all loaded yet (see `LoadedLater`)."""
        self.state = state
        release = state.config["kafkastub.as.version"]
        self._apis: Mapping[ApiKey, Registration] = served_apis(release) if apis is None or release else apis
        self._routes: dict[bytes, Route] = {}
        self.watch: Watcher | None = None
        """Who is told of every request, if anybody."""
        self.slices: Slices | None = None
        """Who serves large requests a slice at a time; None where they are served at once."""

    def serve(
        self, data: bytes, start: int, end: int, info: ConnectionInfo, broker_ms: int, timer_ms: int, out: Parts
    ) -> tuple[Exchange, Outcome] | None:
        """Serve the request in `data[start:end]`.

        None where its reply is in `out`; otherwise the outcome that the connection has to deal with. Raises Refused,
        and LargeRequest, unless `state.pace` is one with pauses.
        """
        name = data[start : start + 4]
        route = self._routes.get(name)
        if route is None:
            route = self.route(data, start, end)
        client_id: str | None
        # The fast path through a header and a body; whatever is out of the ordinary is read again, with care.
        try:
            correlation_id, size = _correlation_and_client(data, start + 4)
            body = start + 10
            if size > 0:
                raw = data[body : body + size]
                body += size
                if raw != info.client_id_bytes:
                    info.remember_client_id(raw)
            if route.flexible_request:
                if data[body]:
                    raise Refused  # tags in a header: the careful way
                body += 1
            fast_path = route.fast_path
            if fast_path is not None and route.handler is route.bypassed:
                found = fast_path(info, data, body, end, broker_ms, timer_ms)
                if found is not None:
                    out.append(route.head(len(found) + route.header_size, correlation_id) + found)
                    return None
            client_id = info.client_id if size > 0 else None if size < 0 else ""
            if end - body > LARGE:
                request, stop = self._decode_large(route, data, body, end)
                if stop > end:
                    raise Refused
            elif route.repeated and end - body <= _LONGEST_REPEATED:
                raw = data[body:end]
                before = info.last_requests.get(name)
                if before is not None and before[0] == raw:
                    request = before[1]
                else:
                    request, _ = route.fast_decode(raw, 0, end - body)  # type: ignore[misc]
                    info.last_requests[name] = raw, request
            else:
                request, stop = route.fast_decode(data, body, end)  # type: ignore[misc]
                if stop > end:
                    raise Refused
        except (LargeRequest, TooManyEntries):
            raise
        except Exception:
            correlation_id, client_id, request = self.read_with_care(route, data, start, end)
            body = 0
        context = RequestContext(
            self.state, info, route.key, route.version, correlation_id, client_id, broker_ms, timer_ms
        )
        try:
            outcome = route.handler(context, request)
        except Exception as error:
            outcome = self.lowered(Exchange(route, context, request), error)
        if (
            route.parks
            and type(outcome) is Deferred
            and outcome.reply is not None
            and self.watch is None
            and info.usage is None
            and self.state.pace is no_pause
        ):
            outcome = outcome.reply  # it is there already, and nobody else is to be told: a reply like any other
        memory = route.memory
        if memory is not None and (not body or end - body > LARGE):  # a large one may have been served with pauses
            memory = None
        if not isinstance(outcome, Message):
            exchange = Exchange(route, context, request)
            if memory is not None and (token := memory.token) is not None:
                exchange.learnt = memory, data[body:end], token
            return exchange, outcome
        sent = len(out)
        try:
            self.reply(route, correlation_id, outcome, out)
        except Exception as error:
            exchange = Exchange(route, context, request)
            return None if self._reply_instead(exchange, outcome, error, out) else (exchange, CLOSE)
        if memory is not None:
            memory.keep(info, data[body:end], request, outcome, memory.token, _body(route, outcome, out, sent))
        return None

    def reply(self, route: Route, correlation_id: int, response: Message, out: Parts) -> None:
        """Append the frame of `response` to `out`: as one buffer, or in pieces, which only a long one is."""
        head = route.head
        if response is route.answer:
            body = route.answer_body
        else:
            pace = self.state.pace
            if pace is no_pause:
                parts = route.encode(response)
            else:
                parts = self._encode_large(route, response, pace)
            size = sum(map(len, parts))
            if size > _LONG_REPLY:  # the pieces may be records as they are stored: they are not copied
                if size > _LONGEST_REPLY:
                    raise ReplyTooLong(size + route.header_size)
                out.append(head(size + route.header_size, correlation_id))
                out += parts if len(parts) <= _MANY_PIECES else _fewer(parts, size)
                return
            route.answer_body = body = b"".join(parts)
            route.answer = response
        out.append(head(len(body) + route.header_size, correlation_id) + body)

    def _decode_large(self, route: Route, data: bytes, body: int, end: int) -> tuple[Message, int]:
        """(request, where it ends). Raises LargeRequest, TooManyEntries, and what a fast decoder raises."""
        if route.fast_decode is None:
            raise Refused  # the careful way knows why
        decode = paced_decoder(route.api.request_class(), route.version)
        found: tuple[Message, int] = decode(data, body, end, *self._unhurried(route))
        return found

    def _unhurried(self, route: Route) -> tuple[Callable[[int], None], Callable[[], None]]:
        """`count` and `tick` (see `PacedDecoder`) for a large request. Raises LargeRequest where it is to be served in
        slices, and is not yet.
        """
        pace = self.state.pace
        if pace is no_pause and self.slices is not None:
            raise LargeRequest(self.slices)
        return self._counting(route), partial(pace, 1)

    def _counting(self, route: Route) -> Callable[[int], None]:
        """Is given how many entries come next, and raises TooManyEntries."""
        most: int = self.state.config[MOST_ENTRIES]
        left = most

        def count(number: int) -> None:
            nonlocal left
            left -= number
            if left < 0:
                raise TooManyEntries(
                    f"{route.key.camel} v{route.version} {NAMES_TOO_MUCH}: it has more than the {most} entries that "
                    f"{MOST_ENTRIES} allows; name fewer things in a request, or raise it"
                )

        return count

    @staticmethod
    def _encode_large(route: Route, response: Message, pace: Pace) -> Parts:
        """As `route.encode`, with pauses, and in few pieces where they are small."""
        parts = paced_encoder(type(response), route.version)(response, partial(pace, 1))
        if len(parts) <= _MANY_PIECES:
            return parts
        found: Parts = []
        for at in range(0, len(parts), _MANY_PIECES):
            some = parts[at : at + _MANY_PIECES]
            found += some if sum(map(len, some)) > len(some) * _LONG_PIECE else [b"".join(some)]
            pace(_MANY_PIECES // 8)
        return found

    def answer(self, exchange: Exchange, deferred: Deferred, out: Parts) -> bool:
        """Append the reply that has come; whether the connection goes on."""
        assert deferred.reply is not None
        route, reply, sent = exchange.route, deferred.reply, len(out)
        try:
            self.reply(route, exchange.context.correlation_id, reply, out)
        except Exception as error:
            return self._reply_instead(exchange, reply, error, out)
        if exchange.learnt is not None:
            memory, raw, token = exchange.learnt
            body = _body(route, reply, out, sent)
            memory.keep(exchange.context.connection, raw, exchange.request, reply, token, body)
        return True

    def _reply_instead(self, exchange: Exchange, response: Message, error: Exception, out: Parts) -> bool:
        """An answer could not be encoded: say that it is too long, or cut its texts; whether that was it."""
        route, context, log = exchange.route, exchange.context, self.state.log
        if not isinstance(error, ReplyTooLong):
            return self._reply_cut(route, context.correlation_id, response, out)
        log.warning("a reply is too long", api=route.key.camel, peer=context.connection.peer, why=error.message)
        instead = self.lowered(exchange, error)
        if not isinstance(instead, Message):
            return False
        self.reply(route, context.correlation_id, instead, out)
        return True

    def _reply_cut(self, route: Route, correlation_id: int, response: Message, out: Parts) -> bool:
        """A reply that cannot be encoded, with error messages that fit; whether that was it."""
        from kafkastub.server.long_texts import cut_error_messages

        if cut_error_messages(response):
            with suppress(Exception):
                self.reply(route, correlation_id, response, out)
                return True
        self.state.log.exception("a reply cannot be encoded", api=route.key.camel, version=route.version)
        return False

    def forget(self, exchange: Exchange) -> None:
        """The client has gone before its deferred reply came."""

    def routes(self) -> Iterable[Route]:
        """Those in use."""
        return self._routes.values()

    def read_with_care(self, route: Route, data: bytes, start: int, end: int) -> tuple[int, str | None, Message]:
        """Correlation id, client id and body. Raises Refused with what is wrong."""
        try:
            header = read_request_header(data, start, end, route.flexible_request)
            if route.fast_decode is None:
                return header.correlation_id, header.client_id, ApiVersionsRequest()
            if end - header.end <= LARGE:
                request, _ = route.decode(data, header.end, end)
            else:
                of = route.api.request_class()
                request, _ = read_reference(of, route.version, data, header.end, end, *self._unhurried(route))
        except MalformedMessage as error:
            raise Refused(f"{route.key.camel} v{route.version}: {error}") from error
        return header.correlation_id, header.client_id, request

    def lowered(self, exchange: Exchange, error: Exception) -> Outcome:
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

    def route(self, data: bytes, start: int, end: int) -> Route:
        """How the request in data[start:end] is read, done and answered. Raises Refused."""
        if end - start < 8:
            raise Refused(f"a request of {end - start} bytes")
        key, version = _key_version(data, start)
        api = self._apis.get(key)
        refused = False
        if api is None:
            from kafkastub.handlers.not_served import refused_apis, unknown

            api = refused_apis(self.state.config["kafkastub.as.version"]).get(key)
            refused = api is not None
            if api is None:
                what, who = unknown(data, start, end)
                raise Refused(f"{what} {IS_NOT_SERVED}{who}")
        if api.first <= version <= api.last:
            route = self._compile(api, version, api.handler if refused else behind_layers(api, self.state))
        elif api.key == ApiKey.API_VERSIONS:
            route = self._unheard_of(api, version)
        else:
            raise Refused(f"{api.key.camel} v{version} {IS_NOT_SERVED}, only {api.first} to {api.last}")
        if len(self._routes) < _MOST_ROUTES:
            self._routes[data[start : start + 4]] = route
        return route

    def forget_routes(self) -> None:
        """There are several nodes now, or one, or quotas: each request finds its handler anew."""
        self._routes.clear()

    def _compile(self, api: Registration, version: int, handler: Handler) -> Route:
        from kafkastub.layers.fast_paths.table import FAST_PATHS  # is there already: it takes some time to load

        request, response = api.request_class(), api.response_class()
        header_size = response_header_size(api.key, is_flexible(response, version))
        # A fast path does not know who asks, and where a handler asks the authorizer by itself no guard closes it:
        # where there is an authorizer, nothing is passed by.
        fast = None if self.state.authorizer is not None else FAST_PATHS.get(api.key)
        path = None if fast is None else fast.make(self.state, version, always_clear)
        return Route(
            api=api,
            key=api.key,
            version=version,
            handler=handler,
            fast_decode=fast_decoder(request, version),
            decode=decoder(request, version),
            encode=encoder(response, version),
            flexible_request=is_flexible(request, version),
            header_size=header_size,
            head=_flexible_head if header_size == _FLEXIBLE_SIZE else _head,
            repeated=api.key in _REPEATED,
            parks=api.key in _PARKED,
            fast_path=path,
            bypassed=api.handler,
            memory=cast("Memory", path) if fast is not None and fast.learns and handler is api.handler else None,
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
            fast_decode=None,
            decode=decoder(api.request_class(), 0),
            encode=encoder(api.response_class(), 0),
            flexible_request=version >= 3,  # of the header, which Kafka reads all the same
            header_size=4,
            head=_head,
        )


_MOST_ROUTES: Final = 1000
"""ApiVersions of ever new versions must not make the table grow."""

__all__ = ["IS_NOT_SERVED", "Deferred", "Dispatcher", "Exchange", "Refused", "Route"]

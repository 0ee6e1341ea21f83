"""The ASGI application of the registry's port."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any, Final

from kafkastub.control.problems import Problem
from kafkastub.control.threads import OneAtATime
from kafkastub.control.visitors import Visitors, read_headers
from kafkastub.registry.errors import RegistryError, store_failed
from kafkastub.registry.records import as_json
from kafkastub.registry.registry import Registry
from kafkastub.registry_port.kept import KeptRegistry
from kafkastub.registry_port.requests import NOT_FOUND, NotServed, RegistryRequest, json_of, parts_of
from kafkastub.registry_port.routes import schemas, settings, subjects
from kafkastub.registry_port.routes.tables import Raw, Route
from kafkastub.registry_port.writer import Overtaken, Writer

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]

LARGEST_BODY: Final = 4 << 20
_MOST_TRIES: Final = 5
V1: Final = "application/vnd.schemaregistry.v1+json"
_GIVEN: Final = (V1, "application/vnd.schemaregistry+json", "application/json")
_TAKEN: Final = frozenset((*_GIVEN, "application/octet-stream"))


class RegistryApp:
    """Answers as Confluent's registry does: `{"error_code": …, "message": …}` where it refuses."""

    def __init__(self, kept: KeptRegistry, log: Any, visitors: Visitors) -> None:
        self._kept = kept
        self._log = log
        self._visitors = visitors
        self._thread = OneAtATime()
        self._routes: dict[int, list[Route]] = {}
        for table in (schemas.table, subjects.table, settings.table):
            for route in table.routes:
                self._routes.setdefault(len(route.path), []).append(route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        media = V1
        try:
            headers = read_headers(scope)
            self._visitors.check(scope["method"], headers)
            media = _media(headers.get(b"accept", b"*/*").decode("latin-1"))
            status, body = 200, await self._answer(scope, headers, receive)
        except RegistryError as error:
            status, body = error.status, as_json({"error_code": error.code, "message": error.message})
        except NotServed as error:
            status, body = error.status, as_json({"error_code": error.status, "message": error.words})
        except Problem as problem:
            status, body = problem.status, as_json({"error_code": problem.status, "message": problem.sentence})
        except Exception:
            self._log.exception("a request to the registry failed", path=scope.get("path"))
            sentence = "this is a fault of kafkastub: its log has more"
            status, body = 500, as_json({"error_code": 500, "message": sentence})
        await _send(send, status, body, media, close=status == 413)

    async def _answer(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        parts, context = _within(parts_of(scope["raw_path"]))
        route, varying = self._route(method, parts)
        body = await _body(receive, headers)
        if body and headers.get(b"content-type", b"application/json").split(b";")[0].decode("latin-1") not in _TAKEN:
            raise NotServed(415, "HTTP 415 Unsupported Media Type")
        asked = RegistryRequest(scope["query_string"], context)

        def work(registry: Registry) -> bytes:
            if method != "GET":
                asked.body = json_of(body)
            return _told(route.handler(registry, asked, *varying))

        if method == "GET" and not route.is_long and not asked.text("format"):
            return work(self._kept.now())
        async with self._kept.changing:
            told = await self._in_a_thread(work)
        if method != "GET":
            await self._kept.until_kept()
        return told

    def _route(self, method: str, parts: list[str]) -> tuple[Route, list[str]]:
        """Raises NotServed."""
        there = False
        for route in self._routes.get(len(parts), ()):
            if all(each in ("*", part) for each, part in zip(route.path, parts, strict=True)):
                if route.method == method:
                    return route, [part for each, part in zip(route.path, parts, strict=True) if each == "*"]
                there = True
        if parts == ["v1", "metadata", "id"] and method == "GET":
            return Route(method, tuple(parts), self._cluster), []
        raise NotServed(405, "HTTP 405 Method Not Allowed") if there else NOT_FOUND

    def _cluster(self, registry: Any, asked: RegistryRequest) -> dict[str, Any]:
        cluster = self._kept.broker().state.cluster.cluster_id
        clusters = {"kafka-cluster": cluster, "schema-registry-cluster": "schema-registry"}
        return {"scope": {"path": [], "clusters": clusters}}

    async def _in_a_thread(self, work: Callable[[Registry], bytes]) -> bytes:
        """What may take long, while the broker serves; what it writes is written on the loop."""
        for _ in range(_MOST_TRIES):
            registry = self._kept.now()
            writer = self._kept.worker = Writer(self._kept)
            try:
                return await self._thread.run(partial(writer.run, partial(work, registry)))
            except Overtaken:
                continue
            finally:
                self._kept.worker = None
        raise store_failed(f"others have written to the registry in the midst of it, {_MOST_TRIES} times")


def _within(parts: list[str]) -> tuple[list[str], str]:
    """The path and the prefix of the context that it begins with: /contexts/.staging/subjects."""
    if len(parts) < 3 or parts[0] != "contexts":
        return parts, ""
    name = parts[1].strip(":")
    name = name if name.startswith(".") else f".{name}"
    return parts[2:], "" if name == "." else f":{name}:"


async def _body(receive: Receive, headers: dict[bytes, bytes]) -> bytes:
    """Raises NotServed."""
    length = headers.get(b"content-length", b"0")
    pieces: list[bytes] = []
    size = int(length) if length.isdigit() else 0
    while size <= LARGEST_BODY:
        event = await receive()
        if event["type"] != "http.request":
            raise NotServed(499, "the client has gone")
        pieces.append(event.get("body", b""))
        if not event.get("more_body"):
            return b"".join(pieces)
        size = sum(map(len, pieces))
    raise NotServed(413, f"the body has more than {LARGEST_BODY} bytes")


def _media(accept: str) -> str:
    """What is answered with, of what is accepted: the kind that is liked most. Raises NotServed."""
    best, found = 0.0, ""
    for one in accept.split(","):
        kind, *parameters = (part.strip() for part in one.split(";"))
        liked = 1.0
        for each in parameters:
            name, _, value = each.partition("=")
            if name == "q":
                try:
                    liked = float(value)
                except ValueError:
                    liked = 0.0
        offered = V1 if kind in ("*/*", "application/*") else kind if kind in _GIVEN else ""
        if offered and liked > best:
            best, found = liked, offered
    if not found:
        raise NotServed(406, "HTTP 406 Not Acceptable")
    return found


def _told(found: Any) -> bytes:
    if isinstance(found, list):  # one by one: who writes a value holds the interpreter until it is written
        return b"[" + b",".join(map(as_json, found)) + b"]"
    return found.text.encode("utf-8", "backslashreplace") if isinstance(found, Raw) else as_json(found)


async def _send(send: Send, status: int, body: bytes, media: str, *, close: bool) -> None:
    headers = [(b"content-type", media.encode()), (b"content-length", str(len(body)).encode())]
    headers += [(b"vary", b"Accept-Encoding, User-Agent"), (b"x-content-type-options", b"nosniff")]
    if close:  # what is left of a body that is too large is not read
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

"""What every request to the control port passes first, so that no client of it can take the broker down."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from starlette.exceptions import HTTPException

from kafkastub.control.keys import READS, Keys
from kafkastub.control.problems import OUR_FAULT, Problem
from kafkastub.control.visitors import Visitors, read_headers

LARGEST_BODY: Final = 1 << 20
"""Bytes of a request's body."""
LARGEST_FILE: Final = 1 << 28
"""Bytes of the file of a snapshot that is sent; what it unpacks to has a limit of its own (`routes.snapshots`)."""
_FILES: Final = re.compile("/v1/snapshots/[^/]+/file")
HEALTH: Final = "/health"
"""Who asks for that does not wait behind others: it is a matter of life and death."""

_ALWAYS: Final = ((b"x-content-type-options", b"nosniff"),)
"""What is in a record is never taken for a page, whoever goes to its address."""

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """An ASGI application in front of another.

    Bodies are limited, and taken for JSON whatever they are called: `curl -d` calls them a form. A page that a browser
    has from somewhere else may not ask (`visitors`), and who changes something needs what `keys` say. What fails
    unforeseen is logged and answered with 500.
    """

    def __init__(self, app: App, log: Any, visitors: Visitors, keys: Keys, changed: Callable[[], None]) -> None:
        """`changed` is called after each request that may have changed something."""
        self._app = app
        self._log = log
        self._visitors = visitors
        self._keys = keys
        self._changed = changed
        self._turn = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def sending(event: Event) -> None:
            nonlocal begun
            begun = True
            if event["type"] == "http.response.start":
                event = {**event, "headers": [*event["headers"], *_ALWAYS]}
            await send(event)

        try:
            if scope["type"] == "http":
                headers = read_headers(scope)
                self._visitors.check(scope["method"], headers)
                self._keys.check(scope["method"], scope["path"], headers)
                limit = LARGEST_FILE if _FILES.fullmatch(scope["path"]) else LARGEST_BODY
                scope = {**scope, "headers": _checked(scope["headers"], limit)}
                receive = _Limited(receive, limit).receive
                if scope["path"] != HEALTH:
                    async with self._turn:  # of many that come at once one is begun, then the broker serves
                        await asyncio.sleep(0)
            await self._app(scope, receive, sending)
            if scope["type"] == "http" and scope["method"] not in READS:
                self._changed()
        except Problem as problem:
            if not begun:
                await _answer(send, problem)
        except Exception:
            self._log.exception("a request to the control port failed", path=scope.get("path"))
            if not begun:
                await _answer(send, OUR_FAULT)


class _Limited:
    """A body of at most so many bytes."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = self._left = limit

    async def receive(self) -> Event:
        event = await self._receive()
        if event["type"] == "http.request":
            self._left -= len(event.get("body", b""))
            if self._left < 0:  # in the midst of FastAPI, which lets its own kind of exception through
                problem = _too_large(self._limit)
                raise HTTPException(problem.status, problem.sentence)
        return event


def _checked(headers: list[tuple[bytes, bytes]], limit: int) -> list[tuple[bytes, bytes]]:
    """The headers as the application is to see them. Raises Problem."""
    length = dict(headers).get(b"content-length", b"0")
    if length.isdigit() and int(length) > limit:
        raise _too_large(limit)
    return [each for each in headers if each[0] != b"content-type"] + [(b"content-type", b"application/json")]


def _too_large(limit: int) -> Problem:
    return Problem(413, f"the body has more than {limit} bytes")


async def _answer(send: Send, problem: Problem) -> None:
    body = json.dumps(problem.body()).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    # What is left of a body that is too large is not read: the connection ends.
    headers += [(b"connection", b"close"), *_ALWAYS]
    if problem.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

"""What FastAPI puts off until it is first asked for, done bit by bit or in a thread: meanwhile the broker serves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, Final

from fastapi import FastAPI

from kafkastub.control.guard import Receive, Scope, Send
from kafkastub.control.threads import OneAtATime

_NOBODY: Final = {"type": "http", "method": "GET", "path": "\0", "root_path": "", "headers": [], "query_string": b""}
"""A request that no route is for: each is made ready when it is compared with one."""


class Prepared:
    """The application with its routes made ready, a few at a time, before the first request that is for one of many.

    All together they take a tenth of a second.
    """

    def __init__(self, app: FastAPI, at_once: Callable[[Scope], bool]) -> None:
        """`at_once` tells the requests that are for the first routes, and need not wait for the others."""
        self._app = app
        self._at_once = at_once
        self._ready = False
        self._turn = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._ready and not self._at_once(scope):
            async with self._turn:
                await self._prepare()
        await self._app(scope, receive, send)

    async def _prepare(self) -> None:
        if not self._ready:
            for route in self._app.router.routes:
                route.matches(dict(_NOBODY))
                await asyncio.sleep(0)
            self._ready = True


class Description:
    """The application's description, made once, in a thread: that takes a third of a second."""

    def __init__(self) -> None:
        self._thread = OneAtATime()
        self._made: tuple[dict[str, Any], bytes] | None = None

    async def of(self, app: FastAPI) -> tuple[dict[str, Any], bytes]:
        """As it is, and as JSON."""
        if self._made is None:
            self._made = await self._thread.run(lambda: _made(app))
        return self._made


def _made(app: FastAPI) -> tuple[dict[str, Any], bytes]:
    schema = app.openapi()
    return schema, json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode()

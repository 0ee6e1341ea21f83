"""What FastAPI puts off until it is first asked for, done bit by bit or in a thread: meanwhile the broker serves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from starlette.routing import BaseRoute, Match

from kafkastub.control.endpoints import MAKING, Application, Serving
from kafkastub.control.guard import Receive, Scope, Send
from kafkastub.control.threads import OneAtATime

_NOBODY: Final = {"type": "http", "method": "GET", "path": "\0", "root_path": "", "headers": [], "query_string": b""}
"""A request that no route is for: each is made ready when it is compared with one."""


class Prepared:
    """The application with its routes made ready, a few at a time, before the first request that is for one of many.

    All together they take a tenth of a second, once a process.
    """

    def __init__(self, serving: Serving, at_once: Callable[[Scope], bool]) -> None:
        """`at_once` tells the requests that are for the first routes, and need not wait for the others."""
        self._serving = serving
        self._at_once = at_once
        self._turn = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        application = self._serving.application
        if not application.is_ready:
            if self._at_once(scope):
                any(_made_ready(route, scope) for route in application.router.routes)
            else:
                async with self._turn:
                    await self._prepare(application)
        await self._serving(scope, receive, send)

    async def _prepare(self, application: Application) -> None:
        """Two brokers, each in its thread, may do so at once."""
        if not application.is_ready:
            for route in application.router.routes:
                _made_ready(route, _NOBODY)
                await asyncio.sleep(0)
            application.is_ready = True


def _made_ready(route: BaseRoute, scope: Scope) -> bool:
    """Whether it is the one for this request."""
    with MAKING:
        return route.matches(dict(scope))[0] is Match.FULL


class Description:
    """The application's description, made in a thread, with the first who asks."""

    def __init__(self) -> None:
        self._thread = OneAtATime()

    async def of(self, application: Application) -> tuple[dict[str, Any], bytes]:
        """As it is, and as JSON."""
        if application.described is not None:
            return application.described
        return await self._thread.run(application.describe)

"""Answers that wait for something, as long as somebody is there to be told."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from starlette.requests import Request

from kafkastub.control.problems import Problem

T = TypeVar("T")

LONGEST_WAIT: Final = 60
"""Seconds."""
MOST_WAITING: Final = 64


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What comes of it, as long as the client is there to be told. Raises Problem."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise Problem(499, "the client has gone")
        return task.result()
    finally:
        for each in (task, gone):
            each.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass

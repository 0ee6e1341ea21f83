"""What FastAPI puts off: done once, whoever asks first, and not all at once."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
from starlette.routing import Match

from kafkastub import KafkaStub
from kafkastub.control.prepared import Prepared


class Routes:
    """An application with so many routes that want to be made ready."""

    def __init__(self, count: int) -> None:
        self.application = self.router = self
        self.is_ready = False
        self.routes = [self] * count
        self.made = 0
        self.served: list[int] = []

    def matches(self, scope: MutableMapping[str, Any]) -> tuple[Match, MutableMapping[str, Any]]:
        if scope["path"] == "/page":
            return Match.FULL, {}
        self.made += 1
        return Match.NONE, {}

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        self.served.append(self.made)


async def test_others_are_served_while_routes_are_made_ready():
    routes = Routes(50)
    prepared: Any = Prepared(routes, lambda scope: scope["path"] == "/page")  # type: ignore[arg-type]
    first = asyncio.ensure_future(prepared({"path": "/v1"}, None, None))
    second = asyncio.ensure_future(prepared({"path": "/v1"}, None, None))
    await asyncio.sleep(0)
    await prepared({"path": "/page"}, None, None)
    assert routes.served[0] < 5  # the page does not wait
    await asyncio.gather(first, second)
    assert routes.served[1:] == [50, 50]
    await prepared({"path": "/v1"}, None, None)
    assert routes.made == 50


def test_many_may_be_the_first():
    with KafkaStub(control_port=0) as stub, ThreadPoolExecutor(8) as pool:
        paths = ["/v1/clock", "/openapi.json", "/", "/health"] * 4
        answers = list(pool.map(lambda path: httpx.get(stub.control_url + path, timeout=60), paths))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer, path in zip(answers, paths, strict=True) if path == "/openapi.json"}) == 1

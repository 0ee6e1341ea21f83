"""One application for all brokers of a process: whoever is asked answers, and nothing but the routes is shared."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import httpx
import pytest
from fastapi import Query, Request
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from kafkastub import KafkaProxy, KafkaStub
from kafkastub.config import BrokerConfig, Profile
from kafkastub.control import app
from kafkastub.control.endpoints import Application, Endpoints, Part, Serving, Shared
from kafkastub.control.hosted import Hosted
from kafkastub.stub.chaos import StubChaos
from kafkastub.stub.clock import StubClock
from kafkastub.stub.faults import StubFaults


class Named(BaseModel):
    name: str


class Owner:
    """Somebody who has endpoints of his own."""

    def __init__(self, name: str, paths: tuple[str, ...] = ("/name",)) -> None:
        self.name = name
        self.asked = 0
        self.endpoints = Endpoints(prefix="/of", tags=["names"])
        for path in paths:
            self.endpoints.get(path, summary="Whose it is")(self._answer())
        self.endpoints.post("/name", status_code=201)(self._renamed())

    def _answer(self) -> Any:
        async def named(request: Request, twice: Annotated[bool, Query()] = False) -> Named:
            """A name."""
            self.asked += 1
            await asyncio.sleep(0)  # others are asked meanwhile
            assert request.url.path == "/v1/of/name"
            return Named(name=self.name * (2 if twice else 1))

        return named

    def _renamed(self) -> Any:
        async def renamed(body: Named) -> Named:
            self.name = body.name
            return body

        return renamed

    def client(self, shared: Shared) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.ASGITransport(self.serving(shared)), base_url="http://test")

    def serving(self, shared: Shared) -> Serving:
        return shared.serving([Part(self.endpoints, {"prefix": "/v1"})])


@pytest.fixture
def shared() -> Shared:
    return Shared(lambda parts: Application(parts, title="names", version="1"))


async def test_each_is_asked_for_itself(shared: Shared):
    one, two = Owner("one"), Owner("two")
    async with one.client(shared) as of_one, two.client(shared) as of_two:
        answers = await asyncio.gather(
            *(client.get("/v1/of/name", params={"twice": True}) for client in (of_one, of_two) * 5)
        )
        assert [answer.json()["name"] for answer in answers] == ["oneone", "twotwo"] * 5
        assert (one.asked, two.asked) == (5, 5)
        answer = await of_two.post("/v1/of/name", json={"name": "three"})
        assert (answer.status_code, one.name, two.name) == (201, "one", "three")


async def test_a_check_is_a_brokers_own_and_comes_before_what_is_invalid(shared: Shared):
    checked: list[str] = []

    def check_of(name: str) -> Any:
        async def check(request: Request) -> None:
            checked.append(f"{name} {request.method}")
            if name == "closed":
                raise HTTPException(403)

        return check

    opened, closed = Owner("open"), Owner("closed")
    for owner in (opened, closed):
        owner.endpoints.checks.append(check_of(owner.name))
    async with opened.client(shared) as of_open, closed.client(shared) as of_closed:
        answers = [await client.post("/v1/of/name", json={}) for client in (of_open, of_closed)]
    assert [answer.status_code for answer in answers] == [422, 403]
    assert checked == ["open POST", "closed POST"]
    with pytest.raises(AssertionError, match="other endpoints"):
        Owner("without a check").serving(shared)


async def test_what_a_function_says_of_itself_is_what_is_checked_and_described(shared: Shared):
    async with Owner("one").client(shared) as client:
        answer = await client.get("/v1/of/name", params={"twice": "perhaps"})
        assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["query", "twice"])
    described = Owner("two").serving(shared).application.openapi()["paths"]["/v1/of/name"]
    get = described["get"]
    assert (get["summary"], get["description"], get["tags"]) == ("Whose it is", "A name.", ["names"])
    assert [parameter["name"] for parameter in get["parameters"]] == ["twice"]
    assert set(get["responses"]) == {"200"}
    assert get["responses"]["200"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Named"}
    assert set(described["post"]["responses"]) == {"201"}


def test_other_endpoints_than_the_first_had_are_refused(shared: Shared):
    Owner("one").serving(shared)
    with pytest.raises(AssertionError, match="other endpoints"):
        Owner("two", ("/name", "/more")).serving(shared)


def test_it_is_made_once_and_keeps_nothing_of_who_was_the_first(shared: Shared):
    first = Owner("first")
    application, gone = first.serving(shared).application, weakref.ref(first)
    del first
    gc.collect()
    assert gone() is None
    assert Owner("second").serving(shared).application is application


def test_brokers_have_one_application():
    def hosted() -> Hosted:
        config = BrokerConfig({}, Profile.named("kips"))
        return Hosted(config, {}, clock=StubClock, faults=StubFaults, chaos=StubChaos)

    first = hosted()
    application = app.make_app(first).application
    assert app.make_app(hosted()).application is application
    gone = weakref.ref(first)
    del first
    gc.collect()
    assert gone() is None


@pytest.fixture
def stubs() -> Iterator[list[KafkaStub]]:
    with (
        KafkaStub(topics={"one": 1}, control_port=0) as one,
        KafkaStub(topics={"two": 1}, control_port=0, control_token="secret") as two,
    ):
        yield [one, two]


def test_stubs_in_their_threads_and_a_proxy_answer_each_for_itself(stubs: list[KafkaStub]):
    with KafkaProxy(stubs[0].bootstrap_servers, control_port=0) as proxy, ThreadPoolExecutor(12) as pool:
        urls = [stubs[0].control_url, stubs[1].control_url, proxy.control_url] * 8
        asked = [pool.submit(httpx.get, f"{url}/v1/topics", timeout=60) for url in urls]
        told = [[topic["name"] for topic in each.result().json()["topics"]] for each in asked]
        assert told == [["one"], ["two"], ["one"]] * 8
        asked = [pool.submit(httpx.post, f"{url}/v1/clock/freeze", timeout=60) for url in urls[:3]]
        assert [each.result().status_code for each in asked] == [200, 401, 501]
    assert [stub.clock.frozen for stub in stubs] == [True, False]

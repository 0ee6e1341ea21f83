"""A stub with a control port, and HTTP to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkastub.client.groups import commit
from tests.conftest import CONFIG
from tests.stub.consumers import Player


class Http:
    """JSON over HTTP: `http.get("/health")` is (status, what was said)."""

    def __init__(self, url: str) -> None:
        self.client = httpx.Client(base_url=url, timeout=30)

    def ask(self, method: str, path: str, body: Any = None, **parameters: Any) -> tuple[int, Any]:
        response = self.client.request(method, path, json=body, params=parameters or None)
        return response.status_code, response.json()

    def get(self, path: str, **parameters: Any) -> tuple[int, Any]:
        return self.ask("GET", path, **parameters)

    def post(self, path: str, body: Any = None) -> tuple[int, Any]:
        return self.ask("POST", path, body)

    def put(self, path: str, body: Any) -> tuple[int, Any]:
        return self.ask("PUT", path, body)

    def delete(self, path: str) -> tuple[int, Any]:
        return self.ask("DELETE", path)

    def good(self, method: str, path: str, body: Any = None, **parameters: Any) -> Any:
        """What was said, which has to be good."""
        status, said = self.ask(method, path, body, **parameters)
        assert status < 300, said
        return said

    def refusal(self, method: str, path: str, body: Any = None, **parameters: Any) -> str:
        """The sentence of a refusal, which has to be the client's own fault."""
        status, said = self.ask(method, path, body, **parameters)
        assert status == 400, said
        assert "\n" not in said["error"]
        return str(said["error"])


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2}, config=CONFIG, control_port=0) as stub:
        yield stub


@pytest.fixture
def http(stub: KafkaStub) -> Iterator[Http]:
    http = Http(stub.control_url)
    with http.client:
        yield http


@pytest.fixture
def player(stub: KafkaStub) -> Iterator[Callable[[str], Player]]:
    """Makes members of group g that are closed at the end; targets are at once where the stub has `AT_ONCE`."""
    with ExitStack() as made:

        def make(member_id: str) -> Player:
            one = Player(stub, member_id)
            made.callback(one.close)
            return one

        yield make


def commit_for(stub: KafkaStub, group: str, offset: int = 42, topic: str = "orders") -> None:
    """A group without members commits an offset of partition 0."""
    with Client(stub.bootstrap_servers) as client:
        commit(client, group, {(topic, 0): offset})

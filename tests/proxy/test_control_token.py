"""Who may ask a proxy's control port for what only a login may see: whoever has its token."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from confluent_kafka import Producer

from kafkastub import KafkaProxy, KafkaStub
from tests.waiting import SECONDS

TOKEN = "open-sesame"
LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "bob",
    "sasl.password": "hidden",
}
OF_THE_CLUSTER = [
    ("GET", "/v1/topics"), ("GET", "/v1/topics/t"), ("GET", "/v1/topics/t/records"),
    ("GET", "/v1/topics/t/wait?records=1"), ("GET", "/v1/groups"), ("GET", "/v1/groups/g"),
    ("GET", "/v1/groups/g/wait?state=Empty"), ("GET", "/v1/nodes"), ("GET", "/health?topic=t"),
    ("GET", "/v1/journal?messages=true"), ("GET", "/v1/journal?limit=5&frames=1"), ("GET", "/v1/journal/0"),
    ("GET", "/v1/journal/export?frames=yes"), ("GET", "/v1/journal/wait?api=Produce&messages=True"),
    ("GET", "/v1/journal?frames=false&messages=true"),
]  # fmt: skip
CHANGES = [
    ("POST", "/v1/topics"),
    ("DELETE", "/v1/topics/t"),
    ("POST", "/v1/topics/t/records"),
    ("DELETE", "/v1/groups/g"),
    ("PUT", "/v1/chaos"),
]
OF_THE_PROXY = [
    "/health", "/metrics", "/v1/summary", "/v1/journal", "/v1/journal?messages=false", "/v1/journal/export",
    "/v1/faults", "/v1/holds", "/v1/chaos", "/v1/causes", "/v1/check",
]  # fmt: skip


@pytest.fixture(scope="module")
def sasl() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"t": 1}, users={"alice": "secret", "bob": "hidden"}) as stub:
        stub.commit("g", {("t", 0): 0})
        yield stub


def write(servers: str) -> None:
    producer = Producer(
        {"bootstrap.servers": servers, **LOGIN, "sasl.username": "alice", "sasl.password": "secret", "log_level": 2}
    )
    producer.produce("t", b"a secret of Alice's")
    assert producer.flush(SECONDS) == 0


def asked(method: str, url: str, token: str | None = None, body: object = None) -> httpx.Response:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    return httpx.request(method, url, headers=headers, json=body, timeout=SECONDS)


@pytest.fixture(scope="module")
def guarded(sasl: KafkaStub) -> Iterator[str]:
    with KafkaProxy(sasl.bootstrap_servers, command_config=LOGIN, control_port=0, control_token=TOKEN) as proxy:
        write(proxy.bootstrap_servers)
        yield proxy.control_url


@pytest.fixture(scope="module")
def without_token(sasl: KafkaStub) -> Iterator[str]:
    with KafkaProxy(sasl.bootstrap_servers, command_config=LOGIN, control_port=0) as proxy:
        write(proxy.bootstrap_servers)
        yield proxy.control_url


@pytest.mark.parametrize(("method", "path"), OF_THE_CLUSTER)
def test_what_a_login_may_see_needs_the_token(guarded: str, method: str, path: str) -> None:
    answer = asked(method, guarded + path)
    assert (answer.status_code, answer.json()["code"]) == (401, "NO_TOKEN")
    assert "secret" not in answer.text
    wrong = asked(method, guarded + path, "open")
    assert (wrong.status_code, wrong.json()["code"]) == (401, "WRONG_TOKEN")
    assert asked(method, guarded + path, TOKEN).status_code == 200


@pytest.mark.parametrize(("method", "path"), OF_THE_CLUSTER + CHANGES)
def test_without_a_token_at_the_start_nobody_sees_it(without_token: str, method: str, path: str) -> None:
    body = {"seed": 1, "level": 1, "name": "new", "records": [{"value": "v"}]} if method in ("POST", "PUT") else None
    answer = asked(method, without_token + path, body=body)
    assert (answer.status_code, answer.json()["code"]) == (403, "NO_TOKEN_IS_THERE")
    assert "--control-token" in answer.json()["error"]


@pytest.mark.parametrize("path", OF_THE_PROXY)
def test_what_is_the_proxys_own_is_told_as_on_a_stub(guarded: str, without_token: str, path: str) -> None:
    for url in (guarded, without_token):
        answer = asked("GET", url + path)
        assert answer.status_code == 200, answer.text
        assert "a secret" not in answer.text


def test_a_summary_has_what_the_cluster_has_for_the_token_only(guarded: str) -> None:
    assert asked("GET", f"{guarded}/v1/summary").json()["topics"] is None
    told = asked("GET", f"{guarded}/v1/summary", TOKEN).json()
    assert told["topics"] == 1


def test_a_cluster_that_knows_nobody_is_shown_to_all(sasl: KafkaStub) -> None:
    with KafkaStub(topics={"open": 1}) as stub, KafkaProxy(stub.bootstrap_servers, control_port=0) as proxy:
        assert asked("GET", f"{proxy.control_url}/v1/topics/open").status_code == 200
        assert asked("GET", f"{proxy.control_url}/v1/journal?messages=true").status_code == 200

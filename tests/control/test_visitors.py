"""Who may ask: nobody whom a foreign web site has sent, whatever its name points at."""

from __future__ import annotations

import socket
from typing import Any

import httpx
import pytest

from kafkastub import KafkaStub
from tests.control.conftest import Http
from tests.process.serving import refused
from tests.process.test_control_port import Controlled, asking

PATHS = ("/health", "/metrics", "/v1/config", "/v1/journal", "/openapi.json", "/docs", "/")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:9090", "127.0.0.1.evil.example", "localhost.evil.com"])
def test_a_name_that_is_rebound_to_this_machine_gets_nothing(http: Http, host: str):
    """To the browser it is that site: its pages have the right origin."""
    for path in PATHS:
        answer = http.client.get(path, headers={"host": host})
        assert answer.status_code == 403, path
        assert repr(host) in answer.json()["error"]
    before = http.good("GET", "/v1/clock")["frozen"]
    headers = {"host": host, "origin": f"http://{host}", "sec-fetch-site": "same-origin"}
    assert http.client.post("/v1/clock/freeze", headers=headers).status_code == 403
    assert http.good("GET", "/v1/clock")["frozen"] is before is False


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.0.0.1:1", "LOCALHOST:9090", "localhost.", "[::1]:9090", "10.1.2.3", "kafka:9090",
        "stub.localhost", "host.docker.internal:9090", socket.gethostname(),
    ],
)  # fmt: skip
def test_addresses_and_names_that_no_site_has_are_good(http: Http, host: str):
    answer = http.client.post("/v1/clock/freeze", headers={"host": host})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("host", ["[", "[]", "[evil.example]", "1.2.3.4.5", "a..b"])
def test_what_is_no_host(http: Http, host: str):
    assert http.client.get("/health", headers={"host": host}).status_code in (400, 403)


def test_names_that_are_allowed():
    with KafkaStub(control_port=0, control_allowed_hosts=["Stub.Example."]) as stub:
        for host, status in (("stub.example", 200), ("STUB.example:1", 200), ("other.example", 403)):
            assert httpx.get(f"{stub.control_url}/health", headers={"host": host}).status_code == status
    with KafkaStub(control_port=0, control_allowed_hosts=["*"]) as stub:
        assert httpx.get(f"{stub.control_url}/health", headers={"host": "any.example"}).status_code == 200


def test_names_that_are_allowed_in_a_process():
    with Controlled("--control-allowed-hosts", "stub.example, other.example") as process, asking(process) as client:
        for host, status in (("stub.example", 200), ("other.example", 200), ("evil.example", 403)):
            assert client.get("/health", headers={"host": host}).status_code == status
    status, said = refused("--control-port", "0", "--control-allowed-hosts", "a,,b")
    assert status == 2
    assert "--control-allowed-hosts: 'a,,b': NAME is wanted, several with commas, or * for any" in said


@pytest.mark.parametrize(
    ("given", "error"),
    [("stub.example", TypeError), ([1], TypeError), (5, TypeError), ([""], ValueError), (["a,b"], ValueError)],
)
def test_names_that_are_none(given: Any, error: type[Exception]):
    with pytest.raises(error, match="control_allowed_hosts="):
        KafkaStub(control_port=0, control_allowed_hosts=given)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://localhost", "http://localhost:3000"])
def test_a_page_of_another_site_may_not_ask(http: Http, origin: str):
    answer = http.client.post("/v1/reset", headers={"origin": origin})
    assert (answer.status_code, answer.json()) == (
        403, {"error": f"a page of {origin} may not use the control port"},
    )  # fmt: skip


def test_a_page_of_its_own_may_ask(http: Http):
    own = {"origin": str(http.client.base_url).rstrip("/")}
    assert http.client.post("/v1/reset", headers=own).json()["code"] == "STALE_PAGE"
    shown = http.client.get("/", headers={"accept": "text/html"}).text
    word = shown.partition('name="kafkastub-page" content="')[2].partition('"')[0]
    assert http.client.post("/v1/reset", headers=own | {"x-kafkastub-page": word}).status_code == 200


def test_what_a_page_of_another_site_embeds_is_refused_and_a_link_is_not(http: Http):
    """A browser sends no origin with an image; so many of them that wait would leave no place for others."""
    for site in ("cross-site", "same-site"):
        embedded = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}
        assert http.client.get("/v1/journal/wait?timeout=0", headers=embedded).status_code == 403
        assert http.client.get("/docs", headers=embedded | {"sec-fetch-mode": "navigate"}).status_code == 200
    own = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
    assert http.client.get("/openapi.json", headers=own).status_code == 200

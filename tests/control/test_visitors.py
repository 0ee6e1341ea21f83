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
from tests.waiting import SECONDS

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
        "stub.localhost", "host.docker.internal:9090", socket.gethostname(), "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]:1", "kafka_1:9090", "[fe80::1%eth0]:9090", "3a0f6c1d2b4e:65535",
    ],
)  # fmt: skip
def test_addresses_and_names_that_no_site_has_are_good(http: Http, host: str):
    answer = http.client.post("/v1/clock/freeze", headers={"host": host})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    "host",
    [
        "[", "[]", "[evil.example]", "1.2.3.4.5", "a..b", "[::1]evil.example", "[::1", "[::1]:", "[::1]:x",
        "[::1]:99999", "[127.0.0.1]", "127.0.0.1:80:evil.example", "127.0.0.1:evil", "127.0.0.1:", "127.0.0.1:0",
        "127.0.0.1:000080", "0x7f000001", "0x7f.1", "2130706433", "0177.0.0.1", "017700000001", "127.1",
        "evil%2eexample", "evil%252eexample", "localhost%00", "a_b c", "a/b", "user@localhost",
        "localhost#", "localhost?", "localhost\\evil", "::1", "fe80::1%25eth0", "[fe80::1%]",
        "a,b", "localhost, evil", "-a", "a-", "a" * 64,
        ".", "..", "localhost..",
        "b\u00fccher",
    ],
)  # fmt: skip
def test_what_is_no_host_is_served_by_nobody(http: Http, host: str):
    """Browsers and proxies read some of them as another name than we did."""
    answer = http.client.get("/health", headers={"host": host.encode("latin-1")})
    assert answer.status_code in (400, 403), answer.text
    assert not answer.is_success


def raw(http: Http, text: str) -> tuple[int, str]:
    """What a request that is written out by hand is answered."""
    address = http.client.base_url
    with socket.create_connection((address.host, address.port or 0), timeout=SECONDS) as sock:
        sock.sendall(text.encode("latin-1"))
        answer = b""
        while piece := sock.recv(1 << 16):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), body.decode()


@pytest.mark.parametrize(
    ("request_line", "headers", "status"),
    [
        ("GET /health HTTP/1.0", "", 400),
        ("GET /health HTTP/1.1", "", 400),
        ("GET /health HTTP/1.0", "Host: \r\n", 403),
        ("GET /health HTTP/1.0", "Host: localhost\r\n", 200),
        ("GET /health HTTP/1.1", "Host: localhost\r\nHost: localhost\r\n", 400),
        ("GET /health HTTP/1.0", "Host: evil.example\r\nHost: localhost\r\n", 400),
        ("GET /health HTTP/1.1", "Host: localhost\r\nHost: evil.example\r\n", 400),
        # The target names the host in the place of the header (RFC 9112, 3.2.2), which only a proxy is asked.
        ("GET http://evil.example/health HTTP/1.1", "Host: localhost\r\n", 400),
        ("GET http://localhost/health HTTP/1.1", "Host: localhost\r\n", 400),
        ("GET //evil.example/health HTTP/1.1", "Host: localhost\r\n", 404),
        ("GET evil.example:80 HTTP/1.1", "Host: localhost\r\n", 400),
        ("OPTIONS * HTTP/1.1", "Host: localhost\r\n", 400),
        # Nobody in between is believed.
        ("GET /health HTTP/1.1", "Host: evil.example\r\nX-Forwarded-Host: localhost\r\n", 403),
        ("GET /health HTTP/1.1", "Host: evil.example\r\nForwarded: host=localhost\r\n", 403),
        ("GET /health HTTP/1.1", "Host: localhost\r\nX-Forwarded-Host: evil.example\r\n", 200),
        ("GET /health HTTP/1.1", "Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://e.example\r\n", 400),
        ("GET /health HTTP/1.1", "Host: localhost\r\nSec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n", 400),
        ("GET /v1/events?subjects=groups HTTP/1.1", "Host: localhost\r\nOrigin: http://evil.example\r\n", 403),
        ("GET /v1/events?subjects=groups HTTP/1.1", "Host: evil.example\r\n", 403),
        (
            "GET /v1/events?subjects=groups HTTP/1.1",
            "Host: evil.example\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AA==\r\nSec-WebSocket-Version: 13\r\n",
            403,
        ),
    ],
)  # fmt: skip
def test_a_host_is_named_once_and_by_its_header(http: Http, request_line: str, headers: str, status: int):
    connection = "Connection: Upgrade, close" if "Upgrade:" in headers else "Connection: close"
    assert raw(http, f"{request_line}\r\n{headers}{connection}\r\n\r\n")[0] == status


def test_who_says_no_host_changes_nothing(http: Http):
    """A request of HTTP/1.0 once needed none."""
    status, said = raw(http, "POST /v1/clock/freeze HTTP/1.0\r\nContent-Length: 0\r\n\r\n")
    assert status == 400
    assert "Host" in said
    assert http.good("GET", "/v1/clock")["frozen"] is False


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
    assert "--control-allowed-hosts: 'a,,b': expected NAME, several with commas, or * for any" in said


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

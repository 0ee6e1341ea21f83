"""Who may change something: whoever has the token, where there is one; a browser only by our own page."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from kafkastub import KafkaStub
from kafkastub.control.keys import LONGEST
from tests.cli.kafkas_tools import run
from tests.control.conftest import Http
from tests.process.serving import refused
from tests.process.test_control_port import Controlled, asking
from tests.waiting import SECONDS

TOKEN = "correct-horse"
CHANGES = (
    ("POST", "/v1/clock/freeze"),
    ("POST", "/v1/reset"),
    ("DELETE", "/v1/journal"),
    ("PUT", "/v1/chaos"),
    ("PATCH", "/v1/clock"),
    ("GET", "/v1/snapshots/a/file"),
)
READS = ("/", "/docs", "/health", "/metrics", "/openapi.json", "/v1/clock", "/v1/topics", "/page/app.js")


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_with_a_token_nobody_changes_anything_without_it():
    with (
        KafkaStub(control_port=0, control_token=TOKEN) as stub,
        httpx.Client(base_url=stub.control_url, timeout=SECONDS) as client,
    ):
        for path in READS:
            assert client.get(path).status_code == 200, path
        for method, path in CHANGES:
            for headers in ({}, bearer("wrong"), {"authorization": TOKEN}, {"x-kafkastub-page": "x"}):
                answer = client.request(method, path, headers=headers)
                assert answer.status_code == 401, (path, headers)
                assert answer.headers["www-authenticate"] == "Bearer"
                assert "token" in answer.json()["error"]
                assert TOKEN not in answer.text
        assert client.get("/v1/clock").json()["frozen"] is False
        assert client.post("/v1/clock/freeze", headers=bearer(TOKEN)).json()["frozen"] is True
        assert client.get("/v1/snapshots/a/file", headers=bearer(TOKEN)).status_code == 404


def test_a_browser_without_the_page_changes_nothing(http: Http):
    own = str(http.client.base_url).rstrip("/")
    for headers in ({"origin": own}, {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}):
        for word in ({}, {"x-kafkastub-page": ""}, {"x-kafkastub-page": "guess"}):
            answer = http.client.post("/v1/clock/freeze", headers={**headers, **word})
            assert (answer.status_code, answer.json()["code"]) == (403, "STALE_PAGE")
    assert http.good("GET", "/v1/clock")["frozen"] is False


def test_the_word_of_the_page_is_another_one_in_each_process():
    words = set()
    for _ in range(2):
        with KafkaStub(control_port=0) as stub:
            words.add(httpx.get(stub.control_url, headers={"accept": "text/html"}).text)
    assert len(words) == 2


@pytest.mark.parametrize(
    ("given", "error"), [(5, TypeError), (b"x", TypeError), ("", ValueError), ("a b", ValueError), ("ü", ValueError)]
)
def test_tokens_that_are_none(given: Any, error: type[Exception]):
    with pytest.raises(error, match="control_token= is refused"):
        KafkaStub(control_port=0, control_token=given)
    with pytest.raises(ValueError, match="control_token= is refused"):
        KafkaStub(control_port=0, control_token="x" * (LONGEST + 1))


def test_a_token_for_a_process_and_for_the_command(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("KAFKASTUB_CONTROL_TOKEN", raising=False)
    with Controlled("--control-token", TOKEN) as process, asking(process) as client:
        assert client.post("/v1/clock/freeze").status_code == 401
        url = str(client.base_url)
        done = run("clock", "freeze", "--control", url)
        assert done.status == 1
        assert "needs the token" in done.err
        assert run("clock", "freeze", "--control", url, "--control-token", TOKEN).status == 0
        monkeypatch.setenv("KAFKASTUB_CONTROL_TOKEN", TOKEN)
        assert run("clock", "unfreeze", "--control", url).status == 0
    status, said = refused("--control-port", "0", "--control-token", "two words")
    assert status == 2
    assert "two words" not in said
    assert "a token is 1 to" in said

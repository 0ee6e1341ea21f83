"""/v1/journal: what the broker was asked, read, awaited and exported from outside."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

from kafkastub import KafkaStub
from kafkastub.client import BrokerError, Client
from kafkastub.client.groups import commit
from kafkastub.control.waiting import MOST_WAITING
from kafkastub.journal.export import COLUMNS
from tests.control.conftest import Http, commit_for
from tests.waiting import SECONDS, until

OF_CHOICE = {"request", "response", "request_message", "response_message"}


def test_entries_are_those_of_the_stub(stub: KafkaStub, http: Http):
    commit_for(stub, "shipping")
    commit_for(stub, "billing")
    page = http.good("GET", "/v1/journal", api="OffsetCommit", group="shipping")
    (entry,) = page["entries"]
    (mine,) = stub.journal.requests(api="OffsetCommit", group="shipping")
    assert entry["sequence"] == mine.sequence
    assert entry["text"] == str(mine)
    assert entry["partitions"] == [{"topic": "orders", "partition": 0}]
    assert entry["errors"] == [{"code": 0, "name": "NONE", "count": 1}]
    assert page["total"] == stub.journal.total
    assert set(entry) == {name for name, _, _ in COLUMNS} - OF_CHOICE | {"throttle_time_ms", "text"}


def test_messages_and_frames_are_told_where_they_are_asked_for(stub: KafkaStub, http: Http):
    commit_for(stub, "shipping")
    (mine,) = stub.journal.requests(api="OffsetCommit")
    asked = {"api": "OffsetCommit", "messages": "true", "frames": "true"}
    (listed,) = http.good("GET", "/v1/journal", **asked)["entries"]
    waited = http.good("GET", "/v1/journal/wait", **asked)["entry"]
    exported = json.loads(http.client.get("/v1/journal/export", params=asked).text)
    for entry in (listed, waited, exported):
        assert entry["request_message"]["group_id"] == "shipping"
        (topic,) = entry["request_message"]["topics"]
        assert topic["name"] == "orders"
        assert topic["partitions"][0]["committed_offset"] == 42
        (answered,) = entry["response_message"]["topics"]
        assert [each["error_code"] for each in answered["partitions"]] == [0]
        assert base64.b64decode(entry["request"]) == mine.request_frame
        assert base64.b64decode(entry["response"]) == mine.response_frame
    with http.client.stream("GET", "/v1/journal/follow", params=asked) as response:
        lines = response.iter_lines()
        next(lines)
        commit_for(stub, "billing")
        assert json.loads(next(lines))["request_message"]["group_id"] == "billing"
    found = http.client.get("/v1/journal/export", params=asked | {"format": "parquet"}).content
    row = pq.read_table(io.BytesIO(found)).to_pylist()[0]
    assert json.loads(row["request_message"]) == listed["request_message"]
    assert http.refusal("GET", "/v1/journal", messages="perhaps").startswith("messages='perhaps' is refused")


def test_the_newest_are_given_oldest_first_and_paging_goes_on(stub: KafkaStub, http: Http):
    for number in range(5):
        commit_for(stub, f"group-{number}")
    newest = http.good("GET", "/v1/journal", api="OffsetCommit", limit=2)["entries"]
    assert [entry["groups"] for entry in newest] == [["group-3"], ["group-4"]]
    seen: list[str] = []
    since = 0
    while len(seen) < 5:
        page = http.good("GET", "/v1/journal", api="OffsetCommit", limit=2, since=since)
        seen += [entry["groups"][0] for entry in page["entries"]]
        since = page["next"]
    assert seen == [f"group-{number}" for number in range(5)]
    assert http.good("GET", "/v1/journal", since=stub.journal.total)["entries"] == []


def test_paging_goes_back_from_any_entry(stub: KafkaStub, http: Http):
    for number in range(5):
        commit_for(stub, f"group-{number}")
    seen: list[str] = []
    before = None
    while len(seen) < 5:
        page = http.good("GET", "/v1/journal", api="OffsetCommit", limit=2, **({"before": before} if before else {}))
        seen = [entry["groups"][0] for entry in page["entries"]] + seen
        before = page["entries"][0]["sequence"]
    assert seen == [f"group-{number}" for number in range(5)]
    page = http.good("GET", "/v1/journal", before=10, limit=3)
    assert ([entry["sequence"] for entry in page["entries"]], page["first"]) == ([7, 8, 9], 0)
    assert http.good("GET", "/v1/journal", before=10, since=8)["entries"][0]["sequence"] == 8
    assert http.good("GET", "/v1/journal", before=0)["entries"] == []


def test_some_apis_are_left_out(stub: KafkaStub, http: Http):
    commit_for(stub, "g")
    entries = http.good("GET", "/v1/journal", not_api=["ApiVersions", "FindCoordinator"])["entries"]
    assert [entry["api"] for entry in entries] == ["OffsetCommit"]
    assert http.refusal("GET", "/v1/journal", not_api="Weather").startswith("not_api='Weather'")


def test_every_filter(stub: KafkaStub, http: Http):
    fault = stub.faults.add(api="OffsetCommit", error="REBALANCE_IN_PROGRESS", times=1)
    at = stub.clock.now().isoformat()
    with Client(stub.bootstrap_servers, client_id="me") as client:
        with pytest.raises(BrokerError):
            commit(client, "shipping", {("orders", 0): 1})
        commit(client, "shipping", {("orders", 0): 1})
    for filters in (
        {"error": "REBALANCE_IN_PROGRESS"},
        {"error": "27"},
        {"fault": fault.id},
        {"topic": "orders", "error": "NONE"},
        {"client_id": "me", "api": "OffsetCommit", "outcome": "reply", "error": "NONE"},
        {"api": "OffsetCommit", "since": at, "error": "NONE"},
    ):
        assert len(http.good("GET", "/v1/journal", **filters)["entries"]) == 1, filters


def watchers(stub: KafkaStub) -> int:
    """How many look at what comes into the journal."""
    assert stub._journal.ring is not None
    ring = stub._journal.ring
    return int(stub._call(lambda: len(ring.watchers)))


def test_waiting_for_what_is_there_and_for_what_comes(stub: KafkaStub, http: Http):
    commit_for(stub, "shipping")
    there = http.good("GET", "/v1/journal/wait", api="OffsetCommit", group="shipping")["entry"]
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(
            http.good, "GET", "/v1/journal/wait", api="OffsetCommit", since=there["sequence"] + 1, timeout=60
        )
        until(lambda: watchers(stub) == 1, "somebody who waits")
        commit_for(stub, "billing")
        assert coming.result(SECONDS)["entry"]["groups"] == ["billing"]


def test_waiting_in_vain_says_for_what(http: Http):
    status, said = http.get("/v1/journal/wait", api="OffsetCommit", group="nobody", timeout=0.01)
    assert status == 408
    assert said["error"] == "no request with api=OffsetCommit, group=nobody was answered within 0.01 s"


def test_those_who_wait_do_not_hold_up_the_broker_and_are_few(stub: KafkaStub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("kafkastub.control.serving._CLOSING_SECONDS", SECONDS)  # so many are told in good time
    url = f"{stub.control_url}/v1/journal/wait?api=Heartbeat&timeout=60"

    def wait(_: int) -> int:
        return httpx.get(url, timeout=2 * SECONDS).status_code

    with ThreadPoolExecutor(70) as pool:
        waiting = [pool.submit(wait, number) for number in range(70)]
        # as many as may wait do, the others were sent away
        until(lambda: sum(each.done() for each in waiting) == 70 - MOST_WAITING, "six that are sent away")
        assert watchers(stub) == MOST_WAITING
        commit_for(stub, "shipping")
        assert [each.result() for each in waiting if each.done()] == [429] * 6
        stub.close()
        assert [each.result(SECONDS) for each in waiting].count(503) == MOST_WAITING


def test_following(stub: KafkaStub, http: Http):
    commit_for(stub, "before")
    with http.client.stream("GET", "/v1/journal/follow", params={"api": "OffsetCommit"}) as response:
        lines = response.iter_lines()
        assert next(lines) == ""
        for group in ("first", "second"):
            commit_for(stub, group)
            assert json.loads(next(lines))["groups"] == [group]
    until(lambda: watchers(stub) == 0, "the broker to notice that the reader has gone")


def test_an_empty_journal_is_exported(http: Http):
    assert http.client.get("/v1/journal/export").text == ""


def test_exports(stub: KafkaStub, http: Http):
    for group in ("shipping", "billing"):
        commit_for(stub, group)
    lines = http.client.get("/v1/journal/export?api=OffsetCommit&frames=true")
    assert lines.headers["content-type"].startswith("application/x-ndjson")
    rows = [json.loads(line) for line in lines.text.splitlines()]
    assert [row["groups"] for row in rows] == [["shipping"], ["billing"]]
    assert rows[0]["request"]

    table = pq.read_table(io.BytesIO(http.client.get("/v1/journal/export?format=parquet").content))
    assert table.column_names == [name for name, _, _ in COLUMNS]
    assert table.num_rows == stub.journal.total
    assert table.column("request").null_count == table.num_rows


def test_clearing(stub: KafkaStub, http: Http):
    commit_for(stub, "shipping")
    there = stub.journal.total
    assert http.good("DELETE", "/v1/journal") == {"removed": there}
    page = http.good("GET", "/v1/journal")
    assert (page["entries"], page["total"], page["first"]) == ([], there, there)


@pytest.mark.parametrize(
    ("path", "parameters", "names"),
    [
        ("", {"api": "Nope"}, "api='Nope'"),
        ("", {"error": "NOPE"}, "error='NOPE'"),
        ("", {"outcome": "odd"}, "outcome='odd'"),
        ("", {"since": "yesterday"}, "since='yesterday'"),
        ("", {"since": "2030-01-01T00:00:00"}, "since="),
        ("", {"limit": 0}, "limit='0'"),
        ("", {"limit": 10001}, "limit='10001'"),
        ("", {"groups": "g"}, "groups"),
        ("/wait", {"timeout": 61}, "timeout='61'"),
        ("/wait", {"timeout": "nan"}, "timeout='nan'"),
        ("/wait", {"api": "Nope"}, "api='Nope'"),
        ("/follow", {"api": "Nope"}, "api='Nope'"),
        ("/export", {"format": "csv"}, "format='csv'"),
        ("/export", {"api": "Nope"}, "api='Nope'"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(http: Http, path: str, parameters: Any, names: str):
    assert names in http.refusal("GET", f"/v1/journal{path}", **parameters)


@pytest.mark.parametrize("path", ["", "/wait", "/follow", "/export"])
def test_without_a_journal(path: str):
    with KafkaStub(journal=False, control_port=0) as stub, httpx.Client(base_url=stub.control_url) as client:
        answer = client.get(f"/v1/journal{path}")
        assert answer.status_code == 404
        assert "keeps no journal" in answer.json()["error"]


def test_the_broker_serves_while_a_long_journal_is_searched(
    stub: KafkaStub, http: Http, monkeypatch: pytest.MonkeyPatch
):
    with Client(stub.bootstrap_servers) as client:
        for _ in range(500):
            commit(client, "shipping", {("orders", 0): 1})
    resting, go_on = threading.Event(), threading.Event()

    class Asyncio:
        """asyncio as the search has it: a rest lasts until the broker has served somebody else."""

        def __getattr__(self, name: str) -> Any:
            return getattr(asyncio, name)

        async def sleep(self, seconds: float) -> None:
            resting.set()
            await asyncio.to_thread(go_on.wait)

    monkeypatch.setattr("kafkastub.control.walks.asyncio", Asyncio())
    with ThreadPoolExecutor(1) as pool:
        search = pool.submit(http.good, "GET", "/v1/journal", group="billing")
        try:
            assert resting.wait(SECONDS), "the search did not rest"
            commit_for(stub, "billing")
        finally:
            go_on.set()
        assert search.result(SECONDS)["entries"] == [], "what came meanwhile is no part of it"

"""/v1/snapshots."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kafkastub import KafkaStub
from kafkastub.control.routes.snapshots import MOST_KEPT
from tests.control.conftest import Http
from tests.waiting import until


def values(stub: KafkaStub) -> list[bytes | None]:
    return [record.value for record in stub.records("orders")]


def test_a_snapshot_is_taken_and_restored(http: Http, stub: KafkaStub) -> None:
    stub.produce("orders", "kept")
    status, said = http.post("/v1/snapshots", {"id": "seed"})
    assert (status, said["id"], said["topics"], said["records"]) == (201, "seed", {"orders": 2}, 1)
    stub.produce("orders", "gone")
    assert http.good("POST", "/v1/snapshots/seed/restore") == said
    assert values(stub) == [b"kept"]
    assert http.good("GET", "/v1/snapshots/seed") == said
    assert http.good("GET", "/v1/snapshots")["snapshots"] == [said]
    assert http.good("DELETE", "/v1/snapshots/seed") == {"deleted": "seed"}
    assert http.good("GET", "/v1/snapshots")["snapshots"] == []


def test_what_waits_on_the_control_port_goes_on(http: Http, stub: KafkaStub) -> None:
    http.good("POST", "/v1/snapshots")
    http.good("POST", "/v1/snapshots/snapshot-1/restore")
    stub.commit("worker", {("orders", 0): 0})
    assert http.good("GET", "/v1/groups/worker")["state"] == "Empty"
    assert "kafkastub" in http.client.get("/metrics").text


def test_who_waits_sees_what_comes_behind_a_restore(http: Http, stub: KafkaStub) -> None:
    stub.commit("worker", {("orders", 0): 0})
    http.good("POST", "/v1/snapshots")
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(Http(stub.control_url).get, "/v1/groups/worker/wait?lag=0&topic=orders&timeout=30")
        assert waiting.result(30)[0] == 200
        stub.produce("orders", "more", partition=0)
        waiting = pool.submit(Http(stub.control_url).get, "/v1/groups/worker/wait?lag=0&topic=orders&timeout=30")
        until(lambda: bool(stub._running().state.group_watchers), "somebody waits")
        http.good("POST", "/v1/snapshots/snapshot-1/restore")
        assert waiting.result(30)[0] == 200


def test_names_are_given_where_none_is_said(http: Http) -> None:
    assert [http.good("POST", "/v1/snapshots")["id"] for _ in range(2)] == ["snapshot-1", "snapshot-2"]


def test_so_many_are_kept(http: Http) -> None:
    for _ in range(MOST_KEPT):
        http.good("POST", "/v1/snapshots")
    status, said = http.post("/v1/snapshots")
    assert (status, said["error"]) == (409, f"{MOST_KEPT} snapshots are kept, which are the most: delete one")


def test_a_name_is_taken_once(http: Http) -> None:
    http.good("POST", "/v1/snapshots", {"id": "seed"})
    status, said = http.post("/v1/snapshots", {"id": "seed"})
    assert status == 409
    assert "there is a snapshot 'seed' already" in said["error"]


def test_names_are_plain(http: Http) -> None:
    assert http.refusal("POST", "/v1/snapshots", {"id": "a/b"})
    assert http.refusal("POST", "/v1/snapshots", {"id": ""})


def test_what_is_not_there_is_not_found(http: Http) -> None:
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/restore"), ("GET", "/file")):
        status, said = http.ask(method, f"/v1/snapshots/nope{path}")
        assert (status, said["error"]) == (404, "there is no snapshot 'nope'")


def test_a_file_goes_from_one_stub_to_another(http: Http, stub: KafkaStub, tmp_path: Path) -> None:
    stub.produce("orders", "kept")
    http.good("POST", "/v1/snapshots", {"id": "seed"})
    content = http.client.get("/v1/snapshots/seed/file").content
    (tmp_path / "seed").write_bytes(content)
    with KafkaStub(snapshot=tmp_path / "seed", control_port=0) as other:
        assert values(other) == [b"kept"]
        there = Http(other.control_url)
        other.produce("orders", "gone")
        sent = there.client.put("/v1/snapshots/back/file", content=content)
        assert sent.status_code == 201, sent.text
        there.good("POST", "/v1/snapshots/back/restore")
        assert values(other) == [b"kept"]


def test_what_is_no_file_of_one_is_refused(http: Http) -> None:
    sent = http.client.put("/v1/snapshots/bad/file", content=b"something else" * 100)
    assert sent.status_code == 400
    assert "it does not end as one does" in sent.json()["error"]


def test_a_reset_leaves_the_snapshots(http: Http, stub: KafkaStub) -> None:
    stub.produce("orders", "kept")
    http.good("POST", "/v1/snapshots", {"id": "seed"})
    http.good("POST", "/v1/reset")
    assert values(stub) == []
    http.good("POST", "/v1/snapshots/seed/restore")
    assert values(stub) == [b"kept"]


def test_who_waits_for_records_counts_those_of_the_restored_state(http: Http, stub: KafkaStub) -> None:
    http.good("POST", "/v1/snapshots")
    stub.produce("orders", "gone", partition=0)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(Http(stub.control_url).get, "/v1/topics/orders/wait?records=2&timeout=30")
        until(lambda: bool(stub._running().state.topic_watchers), "somebody waits")
        http.good("POST", "/v1/snapshots/snapshot-1/restore")
        stub.produce("orders", "instead", partition=0)
        stub.produce("orders", "and on", partition=0)
        assert waiting.result(30) == (200, {"topic": "orders", "partitions": 2, "records": 2})

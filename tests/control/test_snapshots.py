"""/v1/snapshots."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from kafkastub import KafkaStub
from kafkastub.control.routes.snapshots import ALL, MOST_KEPT, ONE
from tests.conftest import CONFIG
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


def bomb(stub: KafkaStub, path: Path, size: int) -> bytes:
    """A file of some kilobytes that becomes so many bytes: a batch of zeros, as anybody may make one."""
    stub.produce("orders", bytes(1000), partition=0)
    stub.snapshot().save(path)
    content = BytesIO()
    with ZipFile(path) as archive, ZipFile(content, "w", ZIP_DEFLATED) as other:
        for one in archive.namelist():
            other.writestr(one, archive.read(one))
        other.writestr("more", bytes(size))
    return content.getvalue()


def test_a_small_file_that_becomes_large_is_refused_before_it_does(tmp_path: Path) -> None:
    """Files of 832 KB became 855 MB each, as many as one liked."""
    with KafkaStub(topics={"orders": 1}, config=CONFIG | {ONE: 5_000_000}, control_port=0) as stub:
        http = Http(stub.control_url)
        content = bomb(stub, tmp_path / "seed", 50_000_000)
        assert len(content) < 100_000
        for number in range(3):
            sent = http.client.put(f"/v1/snapshots/bad-{number}/file", content=content)
            assert sent.status_code == 400
            assert f"and 5000000 are the most ({ONE}: give the broker more)" in sent.json()["error"]
        sent = http.client.put("/v1/snapshots/bad/file", content=bytes(6_000_000))
        assert (sent.status_code, sent.json()["error"]) == (
            413, f"the file has more than 5000000 bytes, which are the most ({ONE}: give the broker more)",
        )  # fmt: skip
        assert http.good("GET", "/v1/snapshots")["snapshots"] == []


def test_all_that_are_kept_together_have_a_limit(tmp_path: Path) -> None:
    config = CONFIG | {ALL: 1_000_000, "offsets.topic.num.partitions": 1}
    with KafkaStub(topics={"orders": 1}, config=config, control_port=0) as stub:
        http = Http(stub.control_url)
        stub.produce("orders", bytes(400_000), partition=0)
        stub.snapshot().save(tmp_path / "seed")
        content = (tmp_path / "seed").read_bytes()
        for name in ("one", "two"):
            assert http.client.put(f"/v1/snapshots/{name}/file", content=content).status_code == 201
        sent = http.client.put("/v1/snapshots/three/file", content=content)
        assert sent.status_code == 400
        assert f"(what is left of {ALL}=1000000: delete a snapshot, or give the broker more)" in sent.json()["error"]
        status, said = http.post("/v1/snapshots")
        assert (status, said["error"]) == (
            409, f"snapshots hold 1000000 bytes at most ({ALL}): delete one, or give the broker more",
        )  # fmt: skip
        http.good("DELETE", "/v1/snapshots/one")
        assert http.client.put("/v1/snapshots/three/file", content=content).status_code == 201


def test_snapshots_of_the_same_records_count_them_once() -> None:
    with KafkaStub(topics={"orders": 1}, config=CONFIG | {ALL: 1_000_000}, control_port=0) as stub:
        http = Http(stub.control_url)
        stub.produce("orders", bytes(600_000), partition=0)
        for _ in range(5):
            http.good("POST", "/v1/snapshots")


@pytest.mark.parametrize("name", [ALL, ONE])
def test_limits_of_snapshots_are_no_less_than_nothing(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        KafkaStub(config={name: -1})

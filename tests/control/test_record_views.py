"""/v1/topics/{name}/…: records looked for by text and time, in parts, as bytes, by an Avro schema."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import fastavro
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub import KafkaStub
from kafkastub.control import unpacked
from kafkawire.codec import encode
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch
from tests.control.conftest import Http, commit_for
from tests.rawclient import RawClient

FIELDS = '[{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"]}]'
SCHEMA = f'{{"type": "record", "name": "Order", "fields": {FIELDS}}}'


def avro(value: Any, schema: str = SCHEMA) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema)), value)
    return out.getvalue()


def write(http: Http, *values: bytes | str | None, **more: Any) -> None:
    records = [
        {"partition": 0, "value": {"base64": base64.b64encode(one).decode()} if isinstance(one, bytes) else one, **more}
        for one in values
    ]
    http.good("POST", "/v1/topics/orders/records", {"records": records})


def test_sizes_are_told_and_contents_are_cut_where_no_character_is_halved(http: Http):
    write(http, "é" * 1000, b"\xff" * 1000, None, "", key="é")
    whole = http.good("GET", "/v1/topics/orders/records")["records"]
    assert [(one["key_size"], one["value_size"]) for one in whole] == [(2, 2000), (2, 1000), (2, -1), (2, 0)]
    cut = http.good("GET", "/v1/topics/orders/records", cut=5)["records"]
    assert [one["value"] for one in cut] == ["éé", {"base64": base64.b64encode(b"\xff" * 5).decode()}, None, ""]
    assert cut[0]["value_size"] == 2000
    assert http.refusal("GET", "/v1/topics/orders/records", cut=0).startswith("cut")


def test_a_text_is_found_in_keys_values_and_headers(http: Http):
    write(http, "nothing", "some PAID thing", b"\x00paid\xff")
    write(http, "x", key="unpaid")
    write(http, "x", headers={"state": "paid"})
    found = http.good("GET", "/v1/topics/orders/search", text="Paid")
    assert [one["offset"] for one in found["records"]] == [1, 2, 3, 4]
    assert (found["looked"], found["next"], found["end"]) == (5, 5, 5)
    first = http.good("GET", "/v1/topics/orders/search", text="paid", limit=2)
    assert [one["offset"] for one in first["records"]] == [1, 2]
    rest = http.good("GET", "/v1/topics/orders/search", text="paid", limit=2, offset=first["next"])
    assert [one["offset"] for one in rest["records"]] == [3, 4]
    assert http.good("GET", "/v1/topics/orders/search", text="paid", partition=1)["records"] == []
    assert http.get("/v1/topics/none/search", text="x")[0] == 404
    assert http.get("/v1/topics/orders/search", text="x", partition=9)[0] == 404
    assert http.refusal("GET", "/v1/topics/orders/search", text="").startswith("text")


def test_one_search_looks_through_so_much_and_says_where_to_go_on(http: Http):
    for _ in range(9):
        write(http, "x" * 700_000)
    write(http, "needle")
    offset, rounds = 0, 0
    while True:
        said = http.good("GET", "/v1/topics/orders/search", text="needle", offset=offset)
        rounds, offset = rounds + 1, said["next"]
        if offset == said["end"]:
            break
        assert said["records"] == []
    assert [one["offset"] for one in said["records"]] == [9]
    assert 1 < rounds < 9


def test_where_a_time_begins(http: Http):
    for at in (1000, 2000, 3000):
        http.good("POST", "/v1/topics/orders/records", {"records": [{"partition": 0, "value": "x", "timestamp": at}]})
    for time, offset in ((0, 0), (1000, 0), (1001, 1), ("1970-01-01T00:00:02.500Z", 2), (3001, 3), (-5, 0)):
        said = http.good("GET", "/v1/topics/orders/offset", time=time)
        assert said["offset"] == offset
        assert said["timestamp_ms"] == (None if offset == 3 else 1000 * (offset + 1))
    for wrong in ("yesterday", "2026-01-01T00:00:00", "", "9" * 30):
        assert "time" in http.refusal("GET", "/v1/topics/orders/offset", time=wrong)
    assert http.get("/v1/topics/orders/offset", time=0, partition=7)[0] == 404


def test_the_bytes_of_a_record(http: Http):
    content = b"<script>alert(1)</script>\xff\x00"
    write(http, content, None)
    answer = http.client.get("/v1/topics/orders/partitions/0/records/0/value")
    assert answer.content == content
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-disposition"] == 'attachment; filename="orders-0-0.value"'
    for path in (
        "0/records/1/value",
        "0/records/0/key",
        "0/records/2/value",
        "7/records/0/value",
        "-1/records/0/value",
    ):
        assert http.get(f"/v1/topics/orders/partitions/{path}")[0] == 404, path
    assert http.get("/v1/topics/orders/partitions/0/records/0/body")[0] == 400


def test_values_and_keys_by_an_avro_schema(http: Http):
    order = {"id": 7, "note": "é"}
    write(http, avro(order), b"\x00\x00\x00\x00\x2a" + avro(order), b"no avro", None)
    write(http, "x", key={"base64": base64.b64encode(avro(order)).decode()})
    said = http.good("POST", "/v1/topics/orders/avro", {"avro_schema": SCHEMA, "limit": 10})["records"]
    assert said[0] == {"offset": 0, "content": order, "schema_id": None, "error": None}
    assert said[1] == {"offset": 1, "content": order, "schema_id": 42, "error": None}
    assert said[2]["content"] is None
    assert said[2]["error"]
    assert said[3] == {"offset": 3, "content": None, "schema_id": None, "error": None}
    by_key = http.good("POST", "/v1/topics/orders/avro", {"avro_schema": SCHEMA, "offset": 4, "part": "key"})["records"]
    assert by_key[0]["content"] == order
    assert "avro_schema" in http.refusal("POST", "/v1/topics/orders/avro", {"avro_schema": "{"})


def test_topics_are_chosen_and_ordered():
    with KafkaStub(topics={"b": 1, "a": 2, "Orders": 1}, control_port=0) as stub:
        stub.produce("b", value="x" * 100)

        def names(**chosen: Any) -> list[str]:
            said = httpx.get(f"{stub.control_url}/v1/topics", params=chosen).json()
            return [one["name"] for one in said["topics"]]

        assert names(sort="name") == ["Orders", "a", "b"]
        assert names(sort="records")[0] == names(sort="size")[0] == "b"
        assert names(search="ORD") == ["Orders"]
        assert names(sort="name", offset=1, limit=1) == ["a"]
        assert names(internal=True) == []
        assert httpx.get(f"{stub.control_url}/v1/topics", params={"search": "a", "limit": 1}).json()["total"] == 1
        part = httpx.get(f"{stub.control_url}/v1/topics/a", params={"offset": 1}).json()
        assert [one["partition"] for one in part["partition_list"]] == [1]


def test_what_a_configuration_comes_from():
    with KafkaStub(topics=["t"], config={"offsets.retention.minutes": 60}, control_port=0) as stub:

        def entries(**whose: str) -> dict[str, Any]:
            return {
                one["name"]: one for one in httpx.get(f"{stub.control_url}/v1/configs", params=whose).json()["configs"]
            }

        broker = entries()
        assert broker["offsets.retention.minutes"]["source"] == "static_broker"
        assert [one["value"] for one in broker["offsets.retention.minutes"]["sources"]] == ["60", "10080"]
        assert broker["group.max.size"]["source"] == "default"
        assert broker["kafkastub.users"]["sensitive"] is True
        assert broker["kafkastub.flush"]["source"] == "kafkastub"
        assert entries(topic="t")["cleanup.policy"]["value"] == "delete"
        assert httpx.get(f"{stub.control_url}/v1/configs", params={"topic": "none"}).status_code == 404


def test_a_summary(http: Http, stub: KafkaStub):
    write(http, "x", "y")
    commit_for(stub, "g")
    said = http.good("GET", "/v1/summary")
    assert (said["topics"], said["records"], said["nodes_running"], said["frozen"]) == (1, 2, 1, False)
    assert said["bootstrap_servers"] == stub.bootstrap_servers
    assert said["group_states"] == [{"type": "classic", "state": "Empty", "count": 1}]


@pytest.mark.parametrize(("size", "looked"), [(33 << 20, None), (31 << 20, 2)])
def test_what_a_batch_is_when_it_is_unpacked(stub: KafkaStub, http: Http, size: int, looked: int | None):
    """Two kilobytes of zstd stand for it, and 6 KB for 200 MB: a search in a few of them took minutes."""
    batch = build_batch([NewRecord(None, bytes(size), 0)], compression=4)
    data = [PartitionProduceData(0, batch)]
    with RawClient(stub.bootstrap_servers) as client:
        for _ in range(4):
            request = ProduceRequest(None, -1, 1000, [TopicProduceData("orders", partition_data=data)])
            client.exchange(0, 9, encode(request, 9))
    if looked is None:
        for path in ("search?text=a", "records", "records?cut=1", "partitions/0/records/0/value"):
            answer = http.client.get(f"/v1/topics/orders/{path}")
            assert answer.status_code == 400
            assert "33554432 bytes" in answer.json()["error"]
        return
    found = http.good("GET", "/v1/topics/orders/search", text="a")
    assert (found["looked"], found["next"], found["end"]) == (looked, looked, 4)
    page = http.good("GET", "/v1/topics/orders/records", cut=1)
    assert (len(page["records"]), page["next"]) == (looked, looked)
    assert http.client.get("/v1/topics/orders/records").json()["records"][0]["value"] == "\0" * size


@given(st.binary(min_size=1, max_size=4), st.integers(0, 30), st.booleans())
def test_what_is_searched_in_pieces_is_found_wherever_it_stands(wanted: bytes, at: int, any_case: bool):
    content = bytearray(b"\xff" * (2 * unpacked._PIECE))
    place = unpacked._PIECE - 15 + at
    content[place : place + len(wanted)] = wanted
    low = bytes(content).lower() if any_case else bytes(content)
    for sought in (wanted, wanted + b"\x01"):
        sought = sought.lower() if any_case else sought
        assert unpacked.has(bytes(content), sought, any_case) == (sought in low)


async def test_json_in_pieces_is_json():
    long = 'é"\n\x00' * 500_000
    value = {"a": [], "b": {}, "c": [1, None, {"d": long}, (True, "x")], "e": long}
    pieces = [piece async for piece in unpacked.in_pieces(value)]
    assert len(pieces) > 10
    assert json.loads(b"".join(pieces)) == json.loads(json.dumps(value))

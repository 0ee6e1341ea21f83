"""Values by the schemas of the stub's own registry: in `stub.records`, `stub.produce`, over HTTP and in the journal."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from kafkastub import KafkaStub, RegistryError

AVRO = {
    "type": "record", "name": "Order", "fields": [
        {"name": "id", "type": "long"},
        {"name": "raw", "type": "bytes", "default": "\u00ff"},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None},
    ],
}  # fmt: skip
JSON = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
PROTOBUF = 'syntax = "proto3"; package shop; message Order { int64 id = 1; } message Refund { int64 of = 1; }'
AT = "2026-03-01T12:00:00+00:00"


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 1}, registry=True, control_port=0, journal=True) as stub:
        yield stub


@pytest.fixture
def http(stub: KafkaStub) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=stub.control_url, timeout=30) as client:
        yield client


def shown(http: httpx.Client, topic: str = "orders", **query: Any) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = http.get(f"/v1/topics/{topic}/records", params={"decoded": True, **query}).json()[
        "records"
    ]
    return records


def test_a_value_is_written_by_a_subject_and_read_by_its_id(stub: KafkaStub) -> None:
    stub.registry.register("orders-value", AVRO)
    key = stub.registry.register("orders-key", JSON, "JSON")
    stub.produce("orders", {"id": 7, "raw": b"x"}, schema="orders-value", key={"id": 1}, key_schema=key)
    stub.produce("orders", None, schema="orders-value")
    stub.produce("orders", "plain", key="k")
    first, second, third = stub.records("orders", by_schema=True)
    assert first.value == {"id": 7, "raw": b"x", "at": None}
    assert first.key == {"id": 1}
    assert second.value is None
    assert (third.key, third.value) == (b"k", b"plain")
    assert stub.records.wait("orders", match=lambda one: one.key == {"id": 1}, by_schema=True) == [first]


def test_a_value_that_does_not_fit_is_not_written(stub: KafkaStub) -> None:
    stub.registry.register("orders-value", AVRO)
    with pytest.raises(ValueError, match=r"orders-value version 1: Order\.id: a long is expected, not 'x' \(str\)"):
        stub.produce("orders", {"id": "x"}, schema="orders-value")
    with pytest.raises(RegistryError, match="40401"):
        stub.produce("orders", {"id": 1}, schema="nothing")
    assert stub.records("orders") == []


def test_a_value_that_is_not_of_its_schema_says_which_record(stub: KafkaStub) -> None:
    one = stub.registry.register("orders-value", AVRO)
    stub.produce("orders", b"\0" + one.id.to_bytes(4, "big") + b"\x02")
    with pytest.raises(ValueError, match="the data is not of orders-value version 1") as refused:
        stub.records("orders", by_schema=True)
    assert "orders-0@0" in "".join(refused.value.__notes__)


def test_bytes_that_are_no_schemas_stay_bytes(stub: KafkaStub) -> None:
    for value in (b"", b"\0", bytes(8), b"\0\0\0\0\x09x"):
        stub.produce("orders", value)
    assert [one.value for one in stub.records("orders", by_schema=True)] == [b"", b"\0", bytes(8), b"\0\0\0\0\x09x"]


def test_without_a_registry_and_beside_deserializers_it_is_refused(stub: KafkaStub) -> None:
    with pytest.raises(TypeError, match="by_schema=True is refused with deserializers"):
        stub.records("orders", by_schema=True, deserializer=json.loads)
    with KafkaStub(topics={"orders": 1}) as bare:
        with pytest.raises(RuntimeError, match="registry=True"):
            bare.records("orders", by_schema=True)
        with pytest.raises(RuntimeError, match="registry=True"):
            bare.produce("orders", {"id": 7}, schema="orders-value")


# -- over HTTP ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "schema", "value", "told"),
    [
        ("AVRO", AVRO, {"id": 7, "at": AT}, {"id": 7, "raw": {"base64": "/w=="}, "at": AT}),
        ("JSON", JSON, {"id": 7}, {"id": 7}),
        ("PROTOBUF", PROTOBUF, {"id": "7"}, {"id": "7"}),
    ],
)
def test_each_type_is_written_and_shown_over_http(
    stub: KafkaStub, http: httpx.Client, kind: str, schema: Any, value: Any, told: Any
) -> None:
    registered = stub.registry.register("orders-value", schema, kind)
    record = {"value": {"json": value, "schema": "orders-value"}, "key": "k"}
    assert http.post("/v1/topics/orders/records", json={"records": [record]}).status_code == 201
    (one,) = shown(http)
    place = {"schema_id": registered.id, "subject": "orders-value", "version": 1, "type": kind}
    assert one["value_by_schema"] == place | {"content": told, "error": None}
    assert one["key_by_schema"] is None
    assert http.get("/v1/topics/orders/records").json()["records"][0]["value_by_schema"] is None
    again = {"value": {"json": one["value_by_schema"]["content"], "schema": "orders-value"}}
    http.post("/v1/topics/orders/records", json={"records": [again]})
    first, second = stub.records("orders")
    assert first.value == second.value, "what is shown can be written again"


def test_another_message_of_protobuf_is_named(stub: KafkaStub, http: httpx.Client) -> None:
    stub.registry.register("orders-value", PROTOBUF, "PROTOBUF")
    given = {"json": {"of": "7"}, "schema": "orders-value", "message": "shop.Refund"}
    http.post("/v1/topics/orders/records", json={"records": [{"value": given}]})
    assert shown(http)[0]["value_by_schema"]["content"] == {"of": "7"}


def test_what_does_not_fit_is_refused_with_its_place(stub: KafkaStub, http: httpx.Client) -> None:
    stub.registry.register("orders-value", AVRO)
    good = {"value": {"json": {"id": 1}, "schema": "orders-value"}}

    def refused(value: Any, part: str = "value") -> tuple[int, str]:
        answer = http.post("/v1/topics/orders/records", json={"records": [good, {part: value}]})
        return answer.status_code, answer.json()["error"]

    sentence = (
        "records.1.value: the value does not fit orders-value version 1: Order.id: a long is expected, not 'x' (str)"
    )
    assert refused({"json": {"id": "x"}, "schema": "orders-value"}) == (400, sentence)
    assert refused({"json": 1, "schema": "nothing"}) == (400, "schema='nothing': Subject 'nothing' not found.")
    assert refused({"json": {"id": 1}, "schema": 7})[0] == 400
    assert refused({"base64": "", "schema": "orders-value"})[0] == 400
    assert stub.records("orders") == [], "none of them is written"


def test_without_a_registry_nothing_is_decoded_and_writing_says_what_to_do() -> None:
    with KafkaStub(topics={"orders": 1}, control_port=0) as bare, httpx.Client(base_url=bare.control_url) as http:
        bare.produce("orders", b"\0\0\0\0\x01x")
        assert shown(http)[0]["value_by_schema"] is None
        record = {"value": {"json": 1, "schema": "orders-value"}}
        answer = http.post("/v1/topics/orders/records", json={"records": [record]})
        assert (answer.status_code, "--registry-port" in answer.json()["error"]) == (409, True)
        bare.with_registry().register("orders-value", '"string"')
        bare.produce("orders", "x", schema="orders-value")
        assert shown(http)[1]["value_by_schema"]["content"] == "x"


def test_why_something_is_not_shown(stub: KafkaStub, http: httpx.Client) -> None:
    one = stub.registry.register("orders-value", AVRO)
    head = b"\0" + one.id.to_bytes(4, "big")
    for value in (head + b"\x02", b"\0\0\0\0\x63x", head + bytes(300_000), b"plain"):
        stub.produce("orders", value)
    broken, unknown, large, plain = (each["value_by_schema"] for each in shown(http))
    assert broken["error"] == "it is not of orders-value version 1: at byte 1: it ends within a number"
    assert unknown == {
        "schema_id": 99, "subject": None, "version": None, "type": None, "content": None,
        "error": "the registry has no schema with the id 99",
    }  # fmt: skip
    assert large["error"] == "it is too much for one answer: it has 300005 bytes, and of one value 262144 are read"
    assert plain is None


def test_of_several_subjects_with_a_schema_the_topics_own_is_shown(stub: KafkaStub, http: httpx.Client) -> None:
    for subject in ("aaa-value", "orders-value"):
        stub.registry.register(subject, AVRO)
    stub.produce("orders", {"id": 7}, schema="aaa-value")
    assert shown(http)[0]["value_by_schema"]["subject"] == "orders-value"


def test_a_schema_of_another_id_after_a_restore_is_the_one_that_counts(stub: KafkaStub, http: httpx.Client) -> None:
    before = stub.snapshot()
    stub.registry.register("orders-value", '"string"')
    stub.produce("orders", "x", schema="orders-value")
    assert shown(http)[0]["value_by_schema"]["content"] == "x"
    stub.restore(before)
    stub.registry.register("orders-value", '"bytes"')
    stub.produce("orders", b"x", schema="orders-value")
    assert shown(http)[0]["value_by_schema"]["content"] == {"base64": "eA=="}


# -- in the journal ----------------------------------------------------------------------------------------------------


def by_schema(fields: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = [each["by_schema"] for each in fields if each.get("by_schema")]
    return found + [inner for each in fields for inner in by_schema(each.get("fields") or [])]


def test_the_journal_shows_records_of_requests_by_their_schemas(stub: KafkaStub, http: httpx.Client) -> None:
    from confluent_kafka import Producer

    stub.registry.register("orders-value", AVRO)
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers})
    producer.produce("orders", stub.registry.encode("orders-value", {"id": 7}), b"k")
    producer.flush()
    (entry,) = http.get("/v1/journal", params={"api": "Produce"}).json()["entries"]
    told = http.get(f"/v1/journal/{entry['sequence']}").json()
    (one,) = by_schema(told["request"]["fields"])
    assert (one["subject"], one["content"]["id"], one["error"]) == ("orders-value", 7, None)
    assert base64.b64decode(told["request"]["bytes"])

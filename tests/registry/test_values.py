"""`stub.registry.encode` and `decode`: the same bytes as Confluent's serializers, and errors that say what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema as TheirSchema
from confluent_kafka.schema_registry import SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from kafkastub import KafkaStub, RegistryError

VALUE = SerializationContext("orders", MessageField.VALUE)
AVRO = {
    "type": "record", "name": "Order", "fields": [
        {"name": "id", "type": "long"},
        {"name": "notes", "type": {"type": "array", "items": "string"}, "default": []},
        {"name": "paid", "type": ["null", "double"], "default": None},
    ],
}  # fmt: skip
JSON = {
    "type": "object", "title": "Order", "properties": {"id": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["id"],
}  # fmt: skip
PROTOBUF = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Order {
  int64 id = 1;
  repeated Line lines = 2;
  google.protobuf.Timestamp at = 3;
  message Line { string what = 1; }
}
message Refund { int64 order_id = 1; }
"""


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 1}, registry=True) as stub:
        yield stub


def test_avro_is_written_as_confluent_writes_it_and_read_by_it(stub: KafkaStub) -> None:
    value: dict[str, Any] = {"id": 7, "notes": ["a", "b"], "paid": 1.5}
    with SchemaRegistryClient({"url": stub.registry.url}) as client:
        theirs = AvroSerializer(client, json.dumps(AVRO))(value, VALUE)
        assert stub.registry.encode("orders-value", value) == theirs
        assert AvroDeserializer(client)(stub.registry.encode("orders-value", value), VALUE) == value
    assert stub.registry.decode(theirs) == value


def test_json_is_written_as_confluent_writes_it_and_read_by_it(stub: KafkaStub) -> None:
    value = {"id": 7, "note": "für Ö"}
    with SchemaRegistryClient({"url": stub.registry.url}) as client:
        theirs = JSONSerializer(json.dumps(JSON), client)(value, VALUE)
        assert stub.registry.decode(theirs) == value
        ours = stub.registry.encode("orders-value", value)
        assert ours[:5] == theirs[:5]
        assert JSONDeserializer(json.dumps(JSON))(ours, VALUE) == value


def test_protobuf_messages_are_found_by_their_indexes(stub: KafkaStub) -> None:
    stub.registry.register("orders-value", PROTOBUF, "PROTOBUF")
    order = {"id": "7", "lines": [{"what": "tea"}], "at": "2026-01-02T03:04:05Z"}
    ours = stub.registry.encode("orders-value", order)
    assert ours[5] == 0, "the first message of a file is one byte"
    assert stub.registry.decode(ours) == order
    refund = stub.registry.encode("orders-value", {"order_id": 7}, message="shop.Refund")
    assert refund[5:7] == bytes((2, 2)), "one index, and it is 1, as zigzag varints"
    assert stub.registry.decode(refund) == {"order_id": "7"}
    line = stub.registry.encode("orders-value", {"what": "tea"}, message="shop.Order.Line")
    assert stub.registry.decode(line) == {"what": "tea"}


def test_references_are_followed(stub: KafkaStub) -> None:
    registry = stub.registry
    registry.register("person", {"type": "record", "name": "Person", "fields": [{"name": "name", "type": "string"}]})
    text = {"type": "record", "name": "Order", "fields": [{"name": "buyer", "type": "Person"}]}
    registry.register("orders-value", text, references=[("Person", "person", 1)])
    assert registry.decode(registry.encode("orders-value", {"buyer": {"name": "Ada"}})) == {"buyer": {"name": "Ada"}}

    registry.register("number", {"type": "integer"}, "JSON")
    registry.register(
        "bills-value", {"type": "object", "properties": {"id": {"$ref": "number.json"}}}, "JSON",
        references=[("number.json", "number", 1)],
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"bills-value version 1: \$\.id: 'x' is not of type 'integer'"):
        registry.encode("bills-value", {"id": "x"})

    registry.register("line", 'syntax = "proto3"; message Line { string what = 1; }', "PROTOBUF")
    with SchemaRegistryClient({"url": registry.url}) as client:
        references = [SchemaReference("line.proto", "line", 1)]
        text = 'syntax = "proto3"; import "line.proto"; message Bill { Line line = 1; }'
        client.register_schema("lines-value", TheirSchema(text, "PROTOBUF", references))
    value = {"line": {"what": "tea"}}
    assert registry.decode(registry.encode("lines-value", value)) == value


@pytest.mark.parametrize(
    ("schema", "kind", "value", "sentence"),
    [
        (AVRO, "AVRO", {"id": "seven"}, r"Order.id: a long is expected, not .seven. \(str\)"),
        (AVRO, "AVRO", {"id": 1 << 70}, "Order.id: a long is expected, not 1180591620717411303424"),
        (AVRO, "AVRO", [], "does not fit orders-value version 1"),
        (JSON, "JSON", {"note": "x"}, r"\$: 'id' is a required property"),
        (JSON, "JSON", {"id": float("nan")}, "does not fit orders-value version 1"),
        (JSON, "JSON", {"id": {1}}, "does not fit orders-value version 1"),
        (PROTOBUF, "PROTOBUF", {"id": "seven"}, "does not fit orders-value version 1"),
        (PROTOBUF, "PROTOBUF", {"colour": 1}, 'no field named "colour"'),
        (PROTOBUF, "PROTOBUF", 7, "does not fit orders-value version 1"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_what_is_wrong(
    stub: KafkaStub, schema: Any, kind: str, value: Any, sentence: str
) -> None:
    stub.registry.register("orders-value", schema, kind)
    with pytest.raises(ValueError, match=sentence):
        stub.registry.encode("orders-value", value)


@pytest.mark.parametrize(
    ("schema", "kind", "data"),
    [
        (AVRO, "AVRO", b""), (AVRO, "AVRO", b"\x0e\x00\x00x"), (AVRO, "AVRO", b"\xff" * 20), (JSON, "JSON", b"{"),
        (JSON, "JSON", b"\xff"), (JSON, "JSON", b"{}"),
        (PROTOBUF, "PROTOBUF", b""), (PROTOBUF, "PROTOBUF", b"\xff" * 9),
        (PROTOBUF, "PROTOBUF", b"\x02\x0e"), (PROTOBUF, "PROTOBUF", b"\x00\xff\xff"), (PROTOBUF, "PROTOBUF", b"\x03"),
    ],
)  # fmt: skip
def test_data_that_is_not_of_its_schema_is_a_value_error(stub: KafkaStub, schema: Any, kind: str, data: bytes) -> None:
    one = stub.registry.register("orders-value", schema, kind)
    with pytest.raises(ValueError, match=r"."):
        stub.registry.decode(b"\0" + one.id.to_bytes(4, "big") + data)


def test_what_has_no_schema_is_refused(stub: KafkaStub) -> None:
    with pytest.raises(ValueError, match="does not begin with a zero byte and a schema's id"):
        stub.registry.decode(b"plain")
    with pytest.raises(RegistryError, match="40403"):
        stub.registry.decode(b"\0\0\0\0\x07x")
    with pytest.raises(RegistryError, match="40401"):
        stub.registry.encode("nothing-value", {})
    stub.registry.register("orders-value", PROTOBUF, "PROTOBUF")
    with pytest.raises(ValueError, match=r"no message 'shop.Bill': there are shop.Order, shop.Order.Line, shop.Refund"):
        stub.registry.encode("orders-value", {}, message="shop.Bill")


@pytest.mark.parametrize(
    "items", ["null", {"type": "record", "name": "Nothing", "fields": []}, {"type": "fixed", "name": "None", "size": 0}]
)
def test_a_few_bytes_that_stand_for_very_many_values_take_nobodys_memory(stub: KafkaStub, items: Any) -> None:
    wrapped = {"type": "record", "name": "Order", "fields": [{"name": "of", "type": {"type": "array", "items": items}}]}
    one = stub.registry.register("orders-value", wrapped)
    many = b"\x80\x80\x80\x80\x80\x01\x00"
    with pytest.raises(ValueError, match="values, which is more than is read"):
        stub.registry.decode(b"\0" + one.id.to_bytes(4, "big") + many)

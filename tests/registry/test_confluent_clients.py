"""Confluent's own Python client and serializers against the registry beside a stub."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from kafkastub import KafkaStub

VALUE = SerializationContext("orders", MessageField.VALUE)
ONE = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"}]}'
TWO = (
    '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"},'
    '{"name":"note","type":["null","string"],"default":null}]}'
)


@pytest.fixture
def client(kafka_registry_url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": kafka_registry_url}) as made:
        yield made


def test_an_avro_value_is_written_and_read(client: SchemaRegistryClient, kafka_stub: KafkaStub):
    written = AvroSerializer(client, ONE)({"id": 7}, VALUE)
    assert AvroDeserializer(client)(written, VALUE) == {"id": 7}
    assert kafka_stub.registry.latest("orders-value").text == ONE


def test_a_reader_with_a_newer_schema_reads_what_an_older_one_wrote(client: SchemaRegistryClient):
    written = AvroSerializer(client, ONE)({"id": 7}, VALUE)
    AvroSerializer(client, TWO)({"id": 8, "note": "x"}, VALUE)
    assert AvroDeserializer(client, TWO)(written, VALUE) == {"id": 7, "note": None}
    assert client.get_versions("orders-value") == [1, 2]


def test_a_schema_that_cannot_follow_is_refused(client: SchemaRegistryClient):
    client.register_schema("orders-value", Schema(ONE, "AVRO"))
    other = Schema(ONE.replace("long", "string"), "AVRO")
    assert not client.test_compatibility("orders-value", other)
    with pytest.raises(SchemaRegistryError, match="TYPE_MISMATCH") as refused:
        client.register_schema("orders-value", other)
    assert (refused.value.http_status_code, refused.value.error_code) == (409, 40901)


def test_a_json_value_is_written_and_read(client: SchemaRegistryClient):
    schema = '{"type":"object","title":"Order","properties":{"id":{"type":"integer"}},"required":["id"]}'
    written = JSONSerializer(schema, client)({"id": 7}, VALUE)
    assert JSONDeserializer(schema, schema_registry_client=client)(written, VALUE) == {"id": 7}
    assert client.get_latest_version("orders-value").schema.schema_type == "JSON"


def order_class() -> Any:
    """A message as protoc would generate it: with a map, a oneof, an optional field and an enum."""
    file = descriptor_pb2.FileDescriptorProto(name="shop/order.proto", package="shop", syntax="proto3")
    state = file.enum_type.add(name="State")
    state.value.add(name="NEW", number=0)
    message = file.message_type.add(name="Order")
    kinds = descriptor_pb2.FieldDescriptorProto
    message.field.add(name="id", number=1, type=kinds.TYPE_INT64, label=kinds.LABEL_OPTIONAL)
    message.field.add(name="state", number=2, type=kinds.TYPE_ENUM, type_name=".shop.State", label=1)
    entry = message.nested_type.add(name="TagsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=kinds.TYPE_STRING, label=1)
    entry.field.add(name="value", number=2, type=kinds.TYPE_STRING, label=1)
    message.field.add(name="tags", number=3, type=kinds.TYPE_MESSAGE, type_name=".shop.Order.TagsEntry", label=3)
    message.oneof_decl.add(name="way")
    message.field.add(name="by_mail", number=4, type=kinds.TYPE_STRING, label=1, oneof_index=0)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))


def test_a_protobuf_value_is_written_and_read(
    client: SchemaRegistryClient, kafka_stub: KafkaStub, kafka_registry_url: str
):
    order = order_class()
    value = order(id=7, tags={"a": "b"}, by_mail="x")
    configured = {"use.deprecated.format": False}
    written = ProtobufSerializer(order, client, configured)(value, VALUE)
    assert ProtobufDeserializer(order, configured, client)(written, VALUE) == value
    with SchemaRegistryClient({"url": kafka_registry_url}) as fresh:  # which asks for the descriptor
        assert ProtobufDeserializer(order, configured, fresh)(written, VALUE) == value
    assert kafka_stub.registry.latest("orders-value").text == (
        'syntax = "proto3";\npackage shop;\n\n'
        "message Order {\n  int64 id = 1;\n  .shop.State state = 2;\n  map<string, string> tags = 3;\n\n"
        "  oneof way {\n    string by_mail = 4;\n  }\n}\nenum State {\n  NEW = 0;\n}\n"
    )


def test_references_are_kept_and_followed(client: SchemaRegistryClient):
    item = '{"type":"record","name":"Item","namespace":"shop","fields":[{"name":"sku","type":"string"}]}'
    client.register_schema("item", Schema(item, "AVRO"))
    order = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"item","type":"shop.Item"}]}'
    schema = Schema(order, "AVRO", [SchemaReference("shop.Item", "item", 1)])
    written = AvroSerializer(client, schema)({"item": {"sku": "a"}}, VALUE)
    assert AvroDeserializer(client)(written, VALUE) == {"item": {"sku": "a"}}
    with pytest.raises(SchemaRegistryError) as refused:
        client.delete_version("item", 1)
    assert refused.value.error_code == 42206


def test_what_the_client_has_a_call_for(client: SchemaRegistryClient):
    schema_id = client.register_schema("a", Schema(ONE, "AVRO"))
    assert client.get_schema(schema_id).schema_str == ONE
    assert client.lookup_schema("a", Schema(ONE, "AVRO")).version == 1
    assert client.get_subjects() == ["a"]
    assert client.get_version("a", 1).schema_id == schema_id
    client.set_compatibility("a", "FULL")
    assert client.get_compatibility("a") == "FULL"
    assert client.delete_subject("a") == [1]
    assert client.get_subjects(deleted=True) == ["a"]
    assert client.delete_subject("a", permanent=True) == [1]
    with pytest.raises(SchemaRegistryError) as missing:
        client.get_latest_version("a")
    assert missing.value.error_code == 40401


def test_a_value_that_was_written_is_read_after_its_subject_is_gone(
    client: SchemaRegistryClient, kafka_registry_url: str
):
    written = AvroSerializer(client, ONE)({"id": 7}, VALUE)
    client.delete_subject("orders-value")
    with SchemaRegistryClient({"url": kafka_registry_url}) as fresh:
        assert AvroDeserializer(fresh)(written, VALUE) == {"id": 7}

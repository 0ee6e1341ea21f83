"""Protobuf: files read, laid out anew, compared."""

from __future__ import annotations

import base64

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool

from kafkastub.registry.errors import InvalidSchema
from kafkastub.registry.protobuf import ProtobufSchema

HEAD = 'syntax = "proto3";\n'
FULL = """// comments go
syntax = "proto3"; package shop.v1;
import "google/protobuf/timestamp.proto"; import public "item.proto";
option java_package = "com.shop";
enum State { option allow_alias = true; NEW = 0; FRESH = 0; DONE = 1 [deprecated = true]; reserved 5 to 7, 9; }
message Order {
  reserved 20 to max; reserved "old";
  int64 id = 1 [json_name = "ID", deprecated = true];
  optional string note = 2;
  repeated Item items = 3;
  map<string, State> states = 4;
  oneof way { string mail = 5; Address address = 6; }
  message Address { string street = 1; }
  google.protobuf.Timestamp at = 7;
}
service Shop { rpc Get (Order) returns (stream Order) { option deprecated = true; } }
"""
LAID_OUT = """syntax = "proto3";
package shop.v1;

import "google/protobuf/timestamp.proto";
import public "item.proto";

option java_package = "com.shop";

message Order {
  reserved 20 to max;
  reserved "old";

  int64 id = 1 [
    json_name = "ID",
    deprecated = true
  ];
  optional string note = 2;
  repeated Item items = 3;
  map<string, State> states = 4;
  google.protobuf.Timestamp at = 7;

  oneof way {
    string mail = 5;
    Address address = 6;
  }

  message Address {
    string street = 1;
  }
}
enum State {
  reserved 5 to 7, 9;
  option allow_alias = true;
  NEW = 0;
  FRESH = 0;
  DONE = 1 [deprecated = true];
}

service Shop {
  rpc Get (Order) returns (stream Order) {
    option deprecated = true;
  };
}
"""
ITEM = ("item.proto", HEAD + "package shop.v1; message Item { string sku = 1; }")


def parsed(text: str, *references: tuple[str, str]) -> ProtobufSchema:
    return ProtobufSchema(text, references, as_new=True)


def kinds(before: str, after: str) -> set[str]:
    """What keeps one body of a message from following on another one."""
    texts = [f"{HEAD}enum E {{ A = 0; }} message Other {{}} message M {{ {body} }}" for body in (before, after)]
    found = parsed(texts[1]).why_not_after(parsed(texts[0]), "STRICT")
    return {one.partition("'")[2].partition("'")[0] for one in found}


def test_a_file_is_laid_out_anew_without_its_comments():
    assert parsed(FULL, ITEM).text == LAID_OUT
    assert parsed(LAID_OUT, ITEM).text == LAID_OUT


def test_a_descriptor_is_what_protoc_would_make_of_it():
    text = parsed(FULL, ITEM).formatted("serialized")
    found = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(text))
    pool = descriptor_pool.DescriptorPool()  # which refuses what does not fit together
    from google.protobuf import timestamp_pb2

    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    item = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(parsed(ITEM[1]).formatted("serialized")))
    item.name, found.name = "item.proto", "order.proto"
    pool.Add(item)
    pool.Add(found)
    order = pool.FindMessageTypeByName("shop.v1.Order")
    assert [one.name for one in order.fields] == ["id", "note", "items", "states", "at", "mail", "address"]
    assert order.fields_by_name["note"].has_presence
    assert order.fields_by_name["states"].message_type.GetOptions().map_entry
    again = parsed(text, ITEM).text
    assert ".shop.v1.Item items = 3;" in again
    assert parsed(again, ITEM).why_not_after(parsed(FULL, ITEM), "STRICT") == []


def test_normalizing_sorts_fields_and_names_types_in_full():
    one = parsed(HEAD + "package p; message A { string b = 2; B a = 1; } message B {}")
    two = parsed(HEAD + "package p; message A { .p.B a = 1; string b = 2; } message B {}")
    assert one.text != two.text
    assert one.normalized() == two.normalized()


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("int32 a = 1;", "int32 a = 1; string b = 2;", set()),
        ("int32 a = 1; string b = 2;", "int32 a = 1;", set()),
        ("int32 a = 1;", "int32 b = 1;", set()),
        ("int32 a = 1;", "uint64 a = 1;", set()),
        ("int32 a = 1;", "E a = 1;", set()),
        ("string a = 1;", "bytes a = 1;", set()),
        ("string a = 1;", "repeated string a = 1;", set()),
        ("repeated string a = 1;", "optional string a = 1;", set()),
        ("repeated int32 a = 1;", "optional int32 a = 1;", {"FIELD_NUMERIC_LABEL_CHANGED"}),
        ("int32 a = 1;", "sint32 a = 1;", {"FIELD_SCALAR_KIND_CHANGED"}),
        ("int32 a = 1;", "string a = 1;", {"FIELD_SCALAR_KIND_CHANGED"}),
        ("int32 a = 1;", "Other a = 1;", {"FIELD_KIND_CHANGED"}),
        ("Other a = 1;", "M a = 1;", {"FIELD_NAMED_TYPE_CHANGED"}),
        ("map<string, int32> a = 1;", "map<string, int64> a = 1;", set()),
        ("map<string, int32> a = 1;", "map<string, string> a = 1;", {"FIELD_SCALAR_KIND_CHANGED"}),
        ("message In {}", "", {"MESSAGE_REMOVED"}),
        ("enum In { A = 0; }", "enum In { B = 0; C = 1; }", set()),
        ("int32 a = 1;", "oneof o { int32 a = 1; }", set()),
        ("int32 a = 1; int32 b = 2;", "oneof o { int32 a = 1; int32 b = 2; }", {"MULTIPLE_FIELDS_MOVED_TO_ONEOF"}),
        (
            "oneof o { int32 a = 1; } int32 b = 2;",
            "oneof o { int32 a = 1; int32 b = 2; }",
            {"FIELD_MOVED_TO_EXISTING_ONEOF"},
        ),
        ("oneof o { int32 a = 1; int32 b = 2; }", "oneof o { int32 a = 1; }", {"ONEOF_FIELD_REMOVED"}),
        ("oneof o { int32 a = 1; int32 b = 2; }", "", set()),
    ],
)
def test_what_may_follow(before: str, after: str, why: set[str]):
    assert kinds(before, after) == why


def test_a_required_field_neither_comes_nor_goes():
    one, two = (parsed(f'syntax = "proto2"; message M {{ {body} }}') for body in ("", "required int32 a = 1;"))
    assert "REQUIRED_FIELD_ADDED" in two.why_not_after(one, "STRICT")[0]
    assert "REQUIRED_FIELD_REMOVED" in one.why_not_after(two, "STRICT")[0]


def test_a_type_of_another_file_is_compared_with_what_it_was():
    text = HEAD + 'package shop.v1; import "item.proto"; message Order { Item item = 1; }'
    other = ("item.proto", ITEM[1].replace("string", "int32"))
    found = parsed(text, other).why_not_after(parsed(text, ITEM), "STRICT")
    assert {one.partition("'")[2].partition("'")[0] for one in found} == {
        "FIELD_SCALAR_KIND_CHANGED",
        "FIELD_NAMED_TYPE_CHANGED",
    }


@pytest.mark.parametrize(
    "text",
    [
        "message",
        "message M { int32 a = 1 }",
        'syntax = "proto9"; message M {}',
        HEAD + "message M { Nothing a = 1; }",
        HEAD + "message M { int32 a = 1; int32 b = 1; }",
        HEAD + "message M { int32 a = 1; int32 a = 2; }",
        HEAD + "message M { int32 a = 0; }",
        HEAD + "message M { int32 a = 19500; }",
        HEAD + "message M {} message M {}",
        HEAD + "enum E { A = 1; }",
        HEAD + "enum E { A = 0; B = 0; }",
        HEAD + "message M { map<double, int32> a = 1; }",
        HEAD + 'import "none.proto"; message M {}',
        "AAAA",
        "!",
    ],
)
def test_what_is_no_file_is_refused(text: str):
    with pytest.raises(InvalidSchema):
        parsed(text)

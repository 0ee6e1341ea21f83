"""Protobuf, by its own library: a value is a dict as Protobuf's JSON has it, with the fields' names of the schema."""

from __future__ import annotations

import base64
import importlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from google.protobuf import descriptor_pb2, json_format, message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError

from kafkastub.registry.entities import Schema, is_descriptor
from kafkastub.registry.protobuf import ProtobufSchema
from kafkawire.codec.varint import read_varint, varint

_OWN: Final = "schema.proto"
_MOST_INDEXES: Final = 64


def encode(schema: Schema, references: Any, value: Any, message: str | None) -> bytes:
    """The indexes of the message, and its bytes. Raises ValueError."""
    file = _file(schema, references)
    names = dict(_messages(file))
    if message is None:
        message = next(iter(names), "")
    if message not in names:
        raise ValueError(f"{_named(schema)} has no message {message!r}: there are {', '.join(names) or 'none'}")
    found = message_factory.GetMessageClass(file.pool.FindMessageTypeByName(message))()
    try:
        json_format.ParseDict(value, found)
    except (json_format.ParseError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"the value does not fit {_named(schema)}: {error}") from None
    data: bytes = found.SerializeToString(deterministic=True)
    return _written(names[message]) + data


def decode(schema: Schema, references: Any, data: bytes) -> Any:
    """The value. Raises ValueError."""
    file = _file(schema, references)
    indexes, at = _read(data)
    name = next((name for name, each in _messages(file) if each == indexes), None)
    if name is None:
        raise ValueError(f"the data is not of {_named(schema)}: it has no message at {indexes}")
    found = message_factory.GetMessageClass(file.pool.FindMessageTypeByName(name))()
    try:
        found.ParseFromString(data[at:])
    except DecodeError as error:
        raise ValueError(f"the data is not of {_named(schema)}: {error}") from None
    return json_format.MessageToDict(found, preserving_proto_field_name=True)


def _file(schema: Schema, references: Any) -> Any:
    return _described(schema.text, tuple(references))


@lru_cache(maxsize=64)
def _described(own: str, references: tuple[tuple[str, str], ...]) -> Any:
    """The descriptor in a pool of its own; kept by the text, as after a restore an id may stand for another one."""
    pool: Any = DescriptorPool()
    before: list[tuple[str, str]] = []
    for name, text in (*references, (_OWN, own)):
        whole = text if is_descriptor(text) else ProtobufSchema(text, before, as_new=False).formatted("serialized")
        described = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(whole))
        described.name = name
        for needed in described.dependency:
            _add_known(pool, needed)
        pool.Add(described)
        before.append((name, text))
    return pool.FindFileByName(_OWN)


def _add_known(pool: Any, name: str) -> None:
    """A file that comes with Protobuf: `google/protobuf/timestamp.proto`."""
    if not name.startswith("google/protobuf/") or not name.endswith(".proto"):
        return
    known = importlib.import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2").DESCRIPTOR
    for needed in known.dependencies:
        _add_known(pool, needed.name)
    pool.AddSerializedFile(known.serialized_pb)


def _messages(file: Any) -> Iterator[tuple[str, tuple[int, ...]]]:
    def below(messages: Any, before: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
        for number, one in enumerate(messages):
            yield one.full_name, (*before, number)
            yield from below(one.nested_types, (*before, number))

    yield from below(file.message_types_by_name.values(), ())


def _written(indexes: tuple[int, ...]) -> bytes:
    """Zigzag varints, the number of them first; the first message of a file is a single zero."""
    if indexes == (0,):
        return b"\0"
    return b"".join(map(varint, (len(indexes), *indexes)))


def _read(data: bytes) -> tuple[tuple[int, ...], int]:
    """The indexes, and where they end. Raises ValueError."""
    count, at = _read_varint(data, 0)
    if not 0 <= count <= _MOST_INDEXES:
        raise ValueError(f"it begins with {count} indexes of a message")
    indexes = []
    for _ in range(count):
        number, at = _read_varint(data, at)
        indexes.append(number)
    return tuple(indexes) or (0,), at


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    try:
        return read_varint(data, at)
    except (IndexError, ValueError):
        raise ValueError("it ends within the indexes of its message") from None


def _named(schema: Schema) -> str:
    return f"{schema.subject} version {schema.version}"

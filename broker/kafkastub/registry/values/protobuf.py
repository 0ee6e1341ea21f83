"""Protobuf, by its own library: a value is a dict as Protobuf's JSON has it, with the fields' names of the schema."""

from __future__ import annotations

import base64
import importlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

from google.protobuf import descriptor_pb2, json_format, message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError

from kafkastub.registry.entities import is_descriptor
from kafkastub.registry.protobuf import ProtobufSchema
from kafkawire.codec.varint import read_varint, varint

_OWN: Final = "schema.proto"
_MOST_INDEXES: Final = 64


class Codec:
    """Values of one schema: a file of messages."""

    def __init__(self, text: str, references: Sequence[tuple[str, str]]) -> None:
        """Raises InvalidSchema, TypeError, ValueError."""
        try:
            self._file = _described(text, references)
        except DecodeError as error:
            raise ValueError(f"it is not a descriptor: {error}") from None
        self._names = dict(_messages(self._file))
        self._of_indexes = {indexes: name for name, indexes in self._names.items()}

    def encode(self, value: Any, message: str | None) -> bytes:
        """The indexes of the message, and its bytes. Raises ValueError."""
        if message is None:
            message = next(iter(self._names), "")
        if message not in self._names:
            there = ", ".join(list(self._names)[:20]) or "none"
            raise ValueError(f"the schema has no message {message!r}: there are {there}")
        found = self._made(message)
        try:
            json_format.ParseDict(value, found)
        except (json_format.ParseError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ValueError(f"{message}: {error}") from None
        data: bytes = found.SerializeToString(deterministic=True)
        return _written(self._names[message]) + data

    def decode(self, data: bytes) -> Any:
        """The value. Raises ValueError."""
        indexes, at = _read(data)
        name = self._of_indexes.get(indexes)
        if name is None:
            raise ValueError(f"the schema has no message at {list(indexes)}")
        found = self._made(name)
        try:
            found.ParseFromString(data[at:])
            return json_format.MessageToDict(found, preserving_proto_field_name=True)
        except (DecodeError, json_format.Error, TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"{name}: {error}") from None

    def _made(self, message: str) -> Any:
        return message_factory.GetMessageClass(self._file.pool.FindMessageTypeByName(message))()


def _described(own: str, references: Sequence[tuple[str, str]]) -> Any:
    """The descriptor in a pool of its own."""
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

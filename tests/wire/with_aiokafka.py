"""Between our messages and aiokafka's: positional values, with a dict of tags behind them in flexible versions."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import Any

import aiokafka.protocol
from aiokafka.protocol.api import RequestStruct, Response
from aiokafka.protocol.types import Array, Bytes, CompactBytes, Schema, TaggedFields

from kafkawire.codec.layout import FieldLayout, StructLayout
from kafkawire.messages import REQUESTS, RESPONSES
from kafkawire.schema import Struct
from tests.wire.catalogue import by_name

TheirClass = Any


class OtherShape(Exception):
    """aiokafka's idea of a version differs from the definition; the text says how."""


@cache
def aiokafka_classes() -> dict[tuple[str, int], TheirClass]:
    """(message name, version) -> aiokafka's class, as far as Kafka 4 still has the version."""
    for found in pkgutil.iter_modules(aiokafka.protocol.__path__):
        importlib.import_module(f"aiokafka.protocol.{found.name}")
    chosen = {}
    for base, names in ((RequestStruct, REQUESTS), (Response, RESPONSES)):
        for cls in _below(base):
            key, version = cls.API_KEY, int(cls.__name__.rpartition("_v")[2])
            name = names[key][1]
            first, last = by_name()[name].VERSIONS
            if first <= version <= last:
                chosen[name, version] = cls
    return chosen


def _below(cls: type) -> Iterator[TheirClass]:
    for one in cls.__subclasses__():
        yield one
        yield from _below(one)


def to_theirs(struct: Struct, of: StructLayout, schema: Schema) -> tuple[Any, ...]:
    """Values in aiokafka's order. Raises OtherShape."""
    types = [t for t in schema.fields if t is not TaggedFields]
    if len(types) != len(of.fields):
        raise OtherShape(f"{of.cls.__name__}: {schema.names} for {[f.name for f in of.fields]}")
    values = [_to(getattr(struct, f.name), f, t) for f, t in zip(of.fields, types, strict=True)]
    return (*values, {}) if TaggedFields in schema.fields else tuple(values)


def _to(value: Any, field: FieldLayout, theirs: Any) -> Any:
    if field.array:
        if not isinstance(theirs, Array):
            raise OtherShape(f"{field.name}: {theirs} for an array")
        return None if value is None else [_to_one(item, field, theirs.array_of) for item in value]
    return _to_one(value, field, theirs)


def _to_one(value: Any, field: FieldLayout, theirs: Any) -> Any:
    if field.struct is None or value is None:
        if field.kind in ("bytes", "records") and theirs not in (Bytes, CompactBytes):
            raise OtherShape(f"{field.name}: {theirs} for bytes")
        return value
    if isinstance(theirs, Schema):
        return to_theirs(value, field.struct, theirs)
    if len(field.struct.fields) != 1:
        raise OtherShape(f"{field.name}: {theirs} for {field.struct.cls.__name__}")
    return getattr(value, field.struct.fields[0].name)  # a structure of one field is that field

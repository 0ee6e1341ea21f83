"""Between our messages and kafka-python's: its own field names, uuid objects, sets of bits."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any
from uuid import UUID

from kafkawire.codec.layout import FieldLayout, StructLayout
from kafkawire.schema import Struct

TheirClass = Any
TheirField = Any


@cache
def kafka_python_classes() -> dict[str, TheirClass]:
    """Message name -> kafka-python's class, for requests and responses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of functions that read its schemas
        for room in ("admin", "consumer", "metadata", "producer", "sasl"):
            package = importlib.import_module(f"kafka.protocol.{room}")
            for found in pkgutil.iter_modules(getattr(package, "__path__", ())):
                importlib.import_module(f"kafka.protocol.{room}.{found.name}")
        base = importlib.import_module("kafka.protocol.api_message").ApiMessage
        return {cls.name: cls for cls in _below(base) if cls._class_version is None}


def _below(cls: type) -> Iterator[TheirClass]:
    for one in cls.__subclasses__():
        yield one
        yield from _below(one)


def to_theirs(struct: Struct, of: StructLayout, cls: TheirClass, version: int) -> Any:
    """kafka-python's instance of the same message."""
    values = {}
    for field, theirs in _pairs(of, cls._struct, version):
        value = getattr(struct, field.name)
        if field.tag is not None and value == field.default:
            continue
        values[theirs.name] = _each(value, field, lambda one, f=field, t=theirs: _to(one, f, t, version))
    return cls(version=version, **values)


def from_theirs(instance: Any, of: StructLayout, version: int) -> Struct:
    """Ours of what kafka-python read."""
    made = of.cls()
    for field, theirs in _pairs(of, instance._struct, version):
        value = getattr(instance, theirs.name)
        if field.tag is not None and value is None and not field.nullable:
            continue  # absent
        setattr(made, field.name, _each(value, field, lambda one, f=field, t=theirs: _from(one, f, t, version)))
    return made


def _pairs(of: StructLayout, theirs: TheirField, version: int) -> list[tuple[FieldLayout, TheirField]]:
    present = {_plain(f.name): f for f in theirs.fields.values() if f.for_version_q(version)}
    ours = (*of.fields, *of.tagged)
    assert present.keys() == {_plain(f.name) for f in ours}, (of.cls, version)
    return [(field, present[_plain(field.name)]) for field in ours]


def _plain(name: str) -> str:
    """kafka-python says authorized operations where Kafka says cluster (or topic) authorized operations.

    Its TxnOffsetCommit has a generation id, which Kafka 4.4 has renamed.
    """
    if name.endswith("_authorized_operations") and not name.startswith("include"):
        name = "authorized_operations"
    name = name.removesuffix("_or_member_epoch")
    return name.replace("_", "")


def _each(value: Any, field: FieldLayout, convert: Any) -> Any:
    if value is None and (field.array or field.kind not in ("uuid", "int32")):
        return None
    return tuple(map(convert, value)) if field.array else convert(value)


def _to(value: Any, field: FieldLayout, theirs: TheirField, version: int) -> Any:
    if field.struct is not None:
        return to_theirs(value, field.struct, theirs.data_class, version)
    if field.kind == "uuid":
        return UUID(bytes=value)
    if _is_bits(theirs):
        return {bit for bit in range(32) if value >> bit & 1}
    return value


def _from(value: Any, field: FieldLayout, theirs: TheirField, version: int) -> Any:
    if field.struct is not None:
        return from_theirs(value, field.struct, version)
    if field.kind == "uuid":
        return bytes(16) if value is None else value.bytes
    if field.kind in ("bytes", "records"):
        return bytes(value)
    if _is_bits(theirs):
        unsigned = sum(1 << bit for bit in ({31} if value is None else value))
        return unsigned - 2**32 if unsigned >> 31 else unsigned
    return value


def _is_bits(theirs: TheirField) -> bool:
    return theirs.type_str == "bitfield"

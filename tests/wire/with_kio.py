"""Between our messages and kio's: one class a version, times as timedelta and datetime, error codes as an enum."""

from __future__ import annotations

import dataclasses
import io
from datetime import UTC, datetime, timedelta
from functools import cache
from pkgutil import resolve_name
from typing import Any, Final
from uuid import UUID

from hypothesis import strategies as st
from kio.schema.errors import ErrorCode
from kio.schema.index import schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.serial._introspect import EntityField, EntityTupleField, classify_field

from kafkawire.codec.layout import FieldLayout, StructLayout
from kafkawire.schema import Struct
from tests.wire.catalogue import layout, messages, versions

KioClass = Any


def _places() -> dict[str, dict[int, str]]:
    found: dict[str, dict[int, str]] = {}
    for by_version in schema_name_map.values():
        for version, places in by_version.items():
            for place in places.values():
                found.setdefault(place.rpartition(":")[2], {})[version] = place
    return found


KIO_PLACES: Final = _places()
"""Message name -> version -> where kio's class is, "kio.schema.fetch.v4.request:FetchRequest".

All the classes take four seconds to import: in each process that only looks which tests there are.
"""


@cache
def kio_class(name: str, version: int) -> KioClass:
    """kio's class of a message, "FetchRequest", at a version. Raises KeyError where kio has none."""
    return resolve_name(KIO_PLACES[name][version])


def kio_writes(entity: Any) -> bytes:
    with io.BytesIO() as buffer:
        entity_writer(type(entity))(buffer, entity)
        return buffer.getvalue()


def kio_reads(cls: KioClass, data: bytes) -> tuple[Any, int]:
    """(entity, bytes read)."""
    entity, size = entity_reader(cls)(data, 0)
    return entity, size


def to_kio(struct: Struct, of: StructLayout, cls: KioClass) -> Any:
    """kio's instance of the same message."""
    values = {}
    for field, theirs in pairs(of, cls):
        values[theirs.name] = _value(getattr(struct, field.name), field, theirs)
    return cls(**values)


def pairs(of: StructLayout, cls: KioClass) -> list[tuple[FieldLayout, dataclasses.Field[Any]]]:
    """Our fields and kio's, in the order of the definition. Raises AssertionError where they are not the same ones."""
    here = {field.name: field for field in (*of.fields, *of.tagged)}
    ours = [here[row[0]] for row in of.cls.FIELDS if row[0] in here]
    theirs = dataclasses.fields(cls)
    assert [_plain(f.name) for f in ours] == [_plain(f.name) for f in theirs], (of.cls, cls.__module__)
    assert [f.tag for f in ours] == [f.metadata.get("tag") for f in theirs], (of.cls, cls.__module__)
    return list(zip(ours, theirs, strict=True))


_RENAMED = {"acceptablerecoverylaglegacy": "acceptablerecoverylag", "generationidormemberepoch": "generationid"}
"""What fields are called in Kafka 4.4, and in the definitions that kio was made from."""


def _plain(name: str) -> str:
    plain = name.replace("_", "").removesuffix("ms")
    return _RENAMED.get(plain, plain)


def _value(value: Any, field: FieldLayout, theirs: dataclasses.Field[Any]) -> Any:
    kind = classify_field(theirs)
    if value is None:
        return None
    if isinstance(kind, EntityField | EntityTupleField):
        assert field.struct is not None
        inner = field.struct
        return (
            tuple(to_kio(item, inner, kind.type_) for item in value)
            if field.array
            else to_kio(value, inner, kind.type_)
        )
    convert = _CONVERT.get(theirs.metadata["kafka_type"], lambda plain: plain)
    return tuple(map(convert, value)) if field.array else convert(value)


_CONVERT = {
    "error_code": ErrorCode,
    "timedelta_i32": lambda ms: timedelta(milliseconds=ms),
    "timedelta_i64": lambda ms: timedelta(milliseconds=ms),
    "datetime_i64": lambda ms: datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=ms),
    "uuid": lambda raw: UUID(bytes=raw) if any(raw) else None,
}

_MOST_MS = 2**47
"""Some 4,400 years: timedelta holds more, but kio goes by way of floats."""
_MOST_EXACT_MS = 2**41
"""The year 2039: from where kio's floats lose microseconds of a datetime."""

_HELD = {
    "error_code": st.sampled_from([code.value for code in ErrorCode]),
    "timedelta_i64": st.integers(-_MOST_MS, _MOST_MS),
    "datetime_i64": st.integers(0, _MOST_EXACT_MS),
}


@cache
def _types(module: str) -> dict[tuple[type[Struct], str], str]:
    """(struct, field) -> kio's type, where it is a narrower one than ours, for the message of one of our modules."""
    found: dict[tuple[type[Struct], str], str] = {}

    def gather(of: StructLayout, cls: KioClass) -> None:
        for field, theirs in pairs(of, cls):
            kind = classify_field(theirs)
            if isinstance(kind, EntityField | EntityTupleField):
                assert field.struct is not None
                gather(field.struct, kind.type_)
            elif theirs.metadata["kafka_type"] in _HELD:
                found[of.cls, field.name] = theirs.metadata["kafka_type"]

    for cls in (cls for cls in messages() if cls.__module__ == module):
        for version in KIO_PLACES[cls.__name__].keys() & set(versions(cls)):
            gather(layout(cls, version), kio_class(cls.__name__, version))
    return found


def held_by_kio(struct: type[Struct], field: FieldLayout) -> st.SearchStrategy[Any] | None:
    """Narrows fields to what kio can hold: error codes that it knows, times that survive its floats."""
    kind = _types(struct.__module__).get((struct, field.name))
    return None if kind is None else _HELD[kind]

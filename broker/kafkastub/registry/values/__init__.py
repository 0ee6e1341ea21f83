"""Values written and read by their schemas, in the format of Confluent's serializers: a zero byte, the schema's id in
four bytes, and the value in the form of its type.

    avro, json, protobuf    the values of one schema
    as_json                 values as JSON, with bounds
    shown                   a record's key or value, as people are shown it
"""

from __future__ import annotations

import importlib
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

from kafkastub.registry.entities import Schema
from kafkastub.registry.errors import InvalidSchema

_HEAD: Final = struct.Struct(">bI")
_LONGEST_KEPT: Final = 64 << 10
"""Characters of schemas that are kept parsed, one by one: a topic's values have few schemas."""

References = Sequence[tuple[str, str]]
"""Names with texts of what a schema refers to, each before those that refer to it."""


class ResolvedSchema(NamedTuple):
    """A schema of a registry, with the texts that it refers to."""

    schema: Schema
    references: References


class Codec(Protocol):
    """Writes and reads the values of one schema."""

    def encode(self, value: Any, message: str | None) -> bytes:
        """Raises ValueError for a value that does not fit; the text says what of it."""

    def decode(self, data: bytes) -> Any:
        """Raises ValueError for data that is not of the schema."""


def encode(known: ResolvedSchema, value: Any, message: str | None = None, *, trusted: bool = True) -> bytes:
    """Return a value as a serializer writes it. `message` is the full name of a Protobuf message; None is the first.

    `trusted`: whether the schema's regular expressions may take as long as they like.

    Raises ValueError for a value that does not fit the schema.
    """
    codec = codec_of(known, trusted=trusted)
    try:
        return _HEAD.pack(0, known.schema.id) + codec.encode(value, message)
    except ValueError as error:
        raise ValueError(f"the value does not fit {named(known.schema)}: {error}") from None


def schema_id(data: bytes) -> int:
    """Return the id that a value begins with. Raises ValueError where there is none."""
    if len(data) < _HEAD.size or data[0] != 0:
        raise ValueError(f"{data[:8]!r} does not begin with a zero byte and a schema's id")
    found: int = _HEAD.unpack_from(data)[1]
    return found


def id_in(content: bytes | None) -> int | None:
    """The id of a schema that a key or value begins with; None where it begins with none."""
    try:
        return (schema_id(content) or None) if content is not None else None
    except ValueError:
        return None


def decode(known: ResolvedSchema, data: bytes, *, trusted: bool = True) -> Any:
    """Return the value behind the id. Raises ValueError for data that is not of the schema."""
    codec = codec_of(known, trusted=trusted)
    try:
        return codec.decode(data[_HEAD.size :])
    except ValueError as error:
        raise ValueError(f"the data is not of {named(known.schema)}: {error}") from None


def named(schema: Schema) -> str:
    """Return a schema's place as a person names it."""
    return f"{schema.subject} version {schema.version}"


def codec_of(known: ResolvedSchema, *, trusted: bool) -> Codec:
    """Return what writes and reads the values of a schema. Raises ValueError where the schema cannot be used."""
    schema = known.schema
    size = len(schema.text) + sum(len(text) for _, text in known.references)
    make = _kept if size <= _LONGEST_KEPT else _made
    try:
        return make(schema.type, schema.text, tuple(known.references), trusted)
    except (InvalidSchema, TypeError, ValueError, LookupError, RecursionError) as error:
        raise ValueError(f"{named(schema)} cannot be used: {error}") from None


def _made(kind: str, text: str, references: tuple[tuple[str, str], ...], trusted: bool) -> Codec:
    module: Any = importlib.import_module(f"{__name__}.{kind.lower()}")
    more = {"trusted": trusted} if kind == "JSON" else {}
    found: Codec = module.Codec(text, references, **more)
    return found


_kept = lru_cache(maxsize=64)(_made)
"""By the texts: after a restore an id may stand for another schema."""

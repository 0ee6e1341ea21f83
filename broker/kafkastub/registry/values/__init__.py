"""Values written and read by their schemas, in the format of Confluent's serializers: a zero byte, the schema's id in
four bytes, and the value in the form of its type.
"""

from __future__ import annotations

import importlib
import struct
from collections.abc import Sequence
from typing import Any, Final, Protocol

from kafkastub.registry.entities import Schema

_HEAD: Final = struct.Struct(">bI")

References = Sequence[tuple[str, str]]
"""Names with texts of what a schema refers to, each before those that refer to it."""


class _Codec(Protocol):
    """A module for a type of schema."""

    def encode(self, schema: Schema, references: References, value: Any, message: str | None) -> bytes:
        """Raises ValueError for a value that does not fit; the text says what of it."""

    def decode(self, schema: Schema, references: References, data: bytes) -> Any:
        """Raises ValueError for data that is not of the schema."""


def encode(schema: Schema, references: References, value: Any, message: str | None = None) -> bytes:
    """Return a value as a serializer writes it. `message` is the full name of a Protobuf message; None is the first.

    Raises ValueError for a value that does not fit the schema.
    """
    return _HEAD.pack(0, schema.id) + _codec(schema).encode(schema, references, value, message)


def schema_id(data: bytes) -> int:
    """Return the id that a value begins with. Raises ValueError where there is none."""
    if len(data) < _HEAD.size or data[0] != 0:
        raise ValueError(f"{data[:8]!r} does not begin with a zero byte and a schema's id")
    found: int = _HEAD.unpack_from(data)[1]
    return found


def decode(schema: Schema, references: References, data: bytes) -> Any:
    """Return the value behind the id. Raises ValueError for data that is not of the schema."""
    return _codec(schema).decode(schema, references, data[_HEAD.size :])


def _codec(schema: Schema) -> _Codec:
    found: Any = importlib.import_module(f"{__name__}.{schema.type.lower()}")
    return found  # type: ignore[no-any-return]

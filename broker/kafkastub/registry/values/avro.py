"""Avro: a value is a dict, a list or a plain value; of a logical type, what Python has for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafkastub.registry.avro import AvroSchema
from kafkastub.registry.values.avro_reading import read
from kafkastub.registry.values.avro_writing import write


class Codec:
    """Values of one schema."""

    def __init__(self, text: str, references: Sequence[tuple[str, str]]) -> None:
        """Raises InvalidSchema."""
        self._root = AvroSchema(text, references, as_new=False).root

    def encode(self, value: Any, message: str | None) -> bytes:
        """The binary encoding. Raises ValueError."""
        return write(self._root, value)

    def decode(self, data: bytes) -> Any:
        """The value. Raises ValueError."""
        return read(self._root, data)

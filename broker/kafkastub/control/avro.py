"""Avro by a schema that somebody gives: for records whose schema no registry of this broker has."""

from __future__ import annotations

import struct
from typing import Any, Final

MOST_SCHEMA: Final = 64 << 10
"""Bytes of a schema."""
_MOST_VALUES: Final = 50_000
"""That one reader reads, of all that it is given."""
_MOST_TOLD: Final = 4 << 20
"""Bytes of texts that one reader tells, of all that it reads: a field's name, say, is told with each value."""
_CONFLUENT: Final = struct.Struct(">xI")
"""What Confluent's serializers put before it: a zero and the schema's id."""


class AvroError(ValueError):
    """No schema, or data that is not of it; the text is one sentence."""


class Reader:
    """Reads what was written by one schema."""

    def __init__(self, schema: str) -> None:
        """Raises AvroError."""
        from kafkastub.registry.avro import AvroSchema
        from kafkastub.registry.errors import InvalidSchema
        from kafkastub.registry.values.as_json import JsonMaker

        if len(schema.encode("utf-8", "replace")) > MOST_SCHEMA:
            raise AvroError(f"the schema has more than {MOST_SCHEMA} bytes")
        try:
            self._schema = AvroSchema(schema, [], as_new=False).root
        except InvalidSchema as error:
            raise AvroError(f"the schema is not an Avro schema: {error}") from None
        self._maker = JsonMaker(_MOST_VALUES, _MOST_TOLD)

    def read(self, content: bytes) -> tuple[Any, int | None]:
        """(the value as JSON has it, the schema id of Confluent's prefix or None). Raises AvroError."""
        try:
            return self._whole(content), None
        except AvroError as error:
            if len(content) < _CONFLUENT.size or content[0]:
                raise
            try:
                return self._whole(content[_CONFLUENT.size :]), _CONFLUENT.unpack_from(content)[0]
            except AvroError:
                raise error from None

    def _whole(self, content: bytes) -> Any:
        from kafkastub.registry.values.avro_reading import read

        try:
            self._maker.check()
            return self._maker.to_json(read(self._schema, content))
        except ValueError as error:
            raise AvroError(str(error)) from None

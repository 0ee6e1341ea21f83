"""Avro, read with bounds: what is in a record may be anything, and must neither take the broker's memory nor its time.

fastavro says whether a schema is one, and what its names mean. It trusts the data, however: an array of a trillion
nulls is six bytes long. So the data is read here, with a budget of values and of depth. Avro 1.11, "Binary encoding".
"""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal
from typing import Any, Final, TypeVar

MOST_SCHEMA: Final = 64 << 10
"""Bytes of a schema."""
_MOST_VALUES: Final = 50_000
"""That one reader reads, of all that it is given."""
_MOST_TOLD: Final = 4 << 20
"""Bytes of texts that one reader tells, of all that it reads: a field's name, say, is told with each value."""
_DEEPEST: Final = 64
_WIDEST: Final = 64
"""Bytes of a decimal that is told as a number. Python makes the digits of one in time that grows with the square of
its length, and nothing else runs meanwhile."""
_EXACT: Final = Context(prec=200)
"""Rounds no such number."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CONFLUENT: Final = struct.Struct(">xI")
"""What Confluent's serializers put before it: a zero and the schema's id."""

T = TypeVar("T")
Schema = str | list[Any] | dict[str, Any]


class AvroError(ValueError):
    """No schema, or data that is not of it; the text is one sentence."""


class Reader:
    """Reads what was written by one schema."""

    def __init__(self, schema: str) -> None:
        """Raises AvroError; ImportError where fastavro is not installed."""
        import fastavro
        from fastavro.schema import SchemaParseException, UnknownType

        if len(schema.encode("utf-8", "replace")) > MOST_SCHEMA:
            raise AvroError(f"the schema has more than {MOST_SCHEMA} bytes")
        self._named: dict[str, Any] = {}
        self._left = _MOST_VALUES
        self._room = _MOST_TOLD
        try:
            self._schema: Any = fastavro.parse_schema(json.loads(schema), named_schemas=self._named)
        except json.JSONDecodeError as error:
            raise AvroError(f"the schema is no JSON: {error}") from None
        except RecursionError:
            raise AvroError("the schema is too deep") from None
        except (SchemaParseException, UnknownType, KeyError, TypeError, ValueError, AttributeError) as error:
            raise AvroError(f"the schema is none of Avro: {error or type(error).__name__}") from None

    def read(self, content: bytes) -> tuple[Any, int | None]:
        """(the value as JSON has it, the schema id of Confluent's prefix or None). Raises AvroError."""
        try:
            return self._whole(content, 0), None
        except AvroError as error:
            if len(content) < _CONFLUENT.size or content[0]:
                raise
            try:
                return self._whole(content, _CONFLUENT.size), _CONFLUENT.unpack_from(content)[0]
            except AvroError:
                raise error from None

    def _whole(self, content: bytes, start: int) -> Any:
        data = _Data(content, start)
        try:
            value = self._value(self._schema, data, 0)
        except (TypeError, KeyError) as error:  # fastavro does not look at all that a schema says
            raise AvroError(f"the schema is none of Avro: {error}") from None
        if data.position != len(content):
            raise AvroError(f"{len(content) - data.position} bytes are left over: it is not of this schema")
        return value

    def _value(self, schema: Schema, data: _Data, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise AvroError(f"more than {_MOST_VALUES} values were to be read")
        if depth > _DEEPEST:
            raise AvroError(f"it is more than {_DEEPEST} deep")
        if isinstance(schema, list):
            branch = data.long()
            if not 0 <= branch < len(schema):
                raise AvroError(f"at byte {data.position}: there is no branch {branch} of a union of {len(schema)}")
            return self._value(schema[branch], data, depth + 1)
        if isinstance(schema, str):
            simple = _SIMPLE.get(schema)
            if simple is not None:
                return _as_json(self._told(simple(data)))
            return self._value(self._named[schema], data, depth + 1)
        kind = schema["type"]
        if not isinstance(kind, str):
            return self._value(kind, data, depth + 1)
        if kind in ("record", "error"):
            return {
                self._told(field["name"]): self._value(field["type"], data, depth + 1) for field in schema["fields"]
            }
        if kind == "array":
            return [self._value(schema["items"], data, depth + 1) for _ in data.blocks()]
        if kind == "map":
            return {self._told(data.text()): self._value(schema["values"], data, depth + 1) for _ in data.blocks()}
        if kind == "enum":
            return self._told(_symbol(schema["symbols"], data))
        if kind in _SIMPLE or kind == "fixed":
            value = data.take(schema["size"]) if kind == "fixed" else _SIMPLE[kind](data)
            return _as_json(_logical(schema, self._told(value)))
        return self._value(self._named[kind], data, depth + 1)

    def _told(self, value: T) -> T:
        """A value, or a name, that is paid for where it is long."""
        if isinstance(value, str | bytes):
            self._room -= len(value)
            if self._room < 0:
                raise AvroError(f"more than {_MOST_TOLD} bytes of texts were to be told")
        return value


class _Data:
    """What is left to read."""

    def __init__(self, content: bytes, position: int) -> None:
        self._content = content
        self.position = position

    def take(self, count: int) -> bytes:
        if not 0 <= count <= len(self._content) - self.position:
            raise AvroError(f"at byte {self.position}: {count} bytes are wanted, {self.left} are left")
        self.position += count
        return self._content[self.position - count : self.position]

    @property
    def left(self) -> int:
        return len(self._content) - self.position

    def long(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
        raise AvroError(f"at byte {self.position}: a number of more than ten bytes")

    def text(self) -> str:
        try:
            return self.take(self.long()).decode()
        except UnicodeDecodeError:
            raise AvroError(f"at byte {self.position}: a string that is no UTF-8") from None

    def blocks(self) -> Any:
        """As often as there are items. Each of them is paid for, those that have no bytes too."""
        while count := self.long():
            if count < 0:  # then the size of the block follows, for those who skip it
                count = -count
                self.long()
            for _ in range(count):
                yield None


def _boolean(data: _Data) -> bool:
    byte = data.take(1)[0]
    if byte > 1:
        raise AvroError(f"at byte {data.position}: {byte} is no boolean")
    return byte == 1


def _symbol(symbols: list[str], data: _Data) -> str:
    number = data.long()
    if not 0 <= number < len(symbols):
        raise AvroError(f"at byte {data.position}: there is no symbol {number} of an enum of {len(symbols)}")
    return symbols[number]


_SIMPLE: Final[Mapping[str, Callable[[_Data], Any]]] = {
    "null": lambda data: None,
    "boolean": _boolean,
    "int": _Data.long,
    "long": _Data.long,
    "float": lambda data: struct.unpack("<f", data.take(4))[0],
    "double": lambda data: struct.unpack("<d", data.take(8))[0],
    "bytes": lambda data: data.take(data.long()),
    "string": _Data.text,
}


def _logical(schema: dict[str, Any], value: Any) -> Any:
    """As people read it, where the schema says what it means; else as it is."""
    meant = schema.get("logicalType")
    try:
        if meant == "decimal" and isinstance(value, bytes) and len(value) <= _WIDEST:
            unscaled = Decimal(int.from_bytes(value, "big", signed=True))
            return str(unscaled.scaleb(-int(schema.get("scale", 0)), _EXACT))
        if meant == "date" and isinstance(value, int):
            return (_EPOCH + timedelta(days=value)).date().isoformat()
        if meant in ("timestamp-millis", "timestamp-micros") and isinstance(value, int):
            unit = timedelta(milliseconds=1) if meant == "timestamp-millis" else timedelta(microseconds=1)
            return (_EPOCH + value * unit).isoformat()
    except (ValueError, OverflowError, ArithmeticError, TypeError):
        pass
    return value


def _as_json(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value

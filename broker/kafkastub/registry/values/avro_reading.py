"""Avro's binary encoding, read with bounds: what is in a record may be anything. Avro 1.12, "Binary encoding".

Libraries trust the data: an array of a trillion nulls is six bytes long. They also read in one step, in which no other
thread of the process runs. Here each value is counted.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import Any, Final
from uuid import UUID

from kafkastub.registry.avro.model import Enum, Fixed, Many, Node, Record, Union
from kafkawire.codec.varint import read_varint

_FREE: Final = 50_000
"""Values that any data may have, and so many more for each of its bytes: most values take one at least."""
_EACH_BYTE: Final = 4
DEEPEST: Final = 200
WIDEST: Final = 64
"""Bytes of a decimal that becomes a number. Python makes one in time that grows with the square of its length."""
EXACT: Final = Context(prec=200)
"""Rounds no such number."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_ONE: Final = date(1970, 1, 1)


def read(schema: Node, content: bytes) -> Any:
    """Return the value. Raises ValueError for data that is not of the schema, or that is more than is read."""
    reader = _Reader(content)
    try:
        value = reader.value(schema, 0)
    except RecursionError:
        raise ValueError("it is too deep") from None
    if reader.position != len(content):
        raise ValueError(f"{len(content) - reader.position} bytes are left over")
    return value


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self.position = 0
        self._most = self._left = _FREE + _EACH_BYTE * len(content)

    def value(self, schema: Node, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise ValueError(f"it has more than {self._most} values, which is more than is read")
        if depth > DEEPEST:
            raise ValueError(f"it is more than {DEEPEST} deep")
        simple = _SIMPLE.get(schema.type)
        if simple is not None:
            value = simple(self)
            return meant(schema, value) if schema.props else value
        if isinstance(schema, Record):
            return {field.name: self.value(field.schema, depth + 1) for field in schema.fields}
        if isinstance(schema, Union):
            number = self._number_below(len(schema.branches), "branch", "union")
            return self.value(schema.branches[number], depth + 1)
        if isinstance(schema, Many):
            if schema.type == "array":
                return [self.value(schema.of, depth + 1) for _ in self._blocks()]
            return {self._text(): self.value(schema.of, depth + 1) for _ in self._blocks()}
        if isinstance(schema, Enum):
            return schema.symbols[self._number_below(len(schema.symbols), "symbol", "enum")]
        assert isinstance(schema, Fixed)
        content = self._take(schema.size)
        return meant(schema, content) if schema.props else content

    def _take(self, count: int) -> bytes:
        begin, left = self.position, len(self._content) - self.position
        if not 0 <= count <= left:
            raise ValueError(f"at byte {begin}: {count} bytes were expected, {left} are left")
        self.position += count
        return self._content[begin : self.position]

    def _long(self) -> int:
        begin = self.position
        try:
            value, self.position = read_varint(self._content, begin, 10)
        except IndexError:
            raise ValueError(f"at byte {begin}: it ends within a number") from None
        except ValueError:
            raise ValueError(f"at byte {begin}: a number of more than ten bytes") from None
        return value

    def _number_below(self, count: int, what: str, of: str) -> int:
        begin, number = self.position, self._long()
        if not 0 <= number < count:
            raise ValueError(f"at byte {begin}: there is no {what} {number} of the {of}, which has {count}")
        return number

    def _text(self) -> str:
        begin = self.position
        try:
            return self._take(self._long()).decode()
        except UnicodeDecodeError:
            raise ValueError(f"at byte {begin}: a string that is not UTF-8") from None

    def _blocks(self) -> Iterator[None]:
        """As often as there are items. Each of them is counted, those without bytes too."""
        while count := self._long():
            if count < 0:  # then the size of the block follows, for those who skip it
                count = -count
                self._long()
            for _ in range(count):
                yield None

    def _boolean(self) -> bool:
        byte = self._take(1)[0]
        if byte > 1:
            raise ValueError(f"at byte {self.position - 1}: {byte} is not a boolean")
        return byte == 1

    def _float(self) -> float:
        found: float = struct.unpack("<f", self._take(4))[0]
        return found

    def _double(self) -> float:
        found: float = struct.unpack("<d", self._take(8))[0]
        return found

    def _bytes(self) -> bytes:
        return self._take(self._long())


_SIMPLE: Final[Mapping[str, Callable[[_Reader], Any]]] = {
    "null": lambda reader: None,
    "boolean": _Reader._boolean,
    "int": _Reader._long,
    "long": _Reader._long,
    "float": _Reader._float,
    "double": _Reader._double,
    "bytes": _Reader._bytes,
    "string": _Reader._text,
}


def meant(schema: Node, value: Any) -> Any:
    """The value of a logical type, where Python has one for it; else as it is."""
    read = _LOGICAL.get((schema.type, str(schema.props.get("logicalType"))))
    if read is None:
        return value
    try:
        return read(schema, value)
    except (ValueError, OverflowError, ArithmeticError, TypeError):
        return value  # a day that no calendar has, say


def scale_of(schema: Node) -> int:
    """Digits of a decimal after its point."""
    scale = schema.props.get("scale", 0)
    return scale if isinstance(scale, int) and 0 <= scale <= EXACT.prec else 0


def _decimal(schema: Node, value: bytes) -> Any:
    if len(value) > WIDEST:
        return value
    return Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-scale_of(schema), EXACT)


def _time(value: timedelta) -> time:
    if not timedelta() <= value < timedelta(days=1):
        raise OverflowError
    return (_EPOCH + value).time()


_MILLIS: Final = timedelta(milliseconds=1)
_MICROS: Final = timedelta(microseconds=1)
_LOGICAL: Final[Mapping[tuple[str, str], Callable[[Node, Any], Any]]] = {
    ("bytes", "decimal"): _decimal,
    ("fixed", "decimal"): _decimal,
    ("string", "uuid"): lambda schema, value: UUID(value),
    ("int", "date"): lambda schema, value: _DAY_ONE + timedelta(days=value),
    ("int", "time-millis"): lambda schema, value: _time(value * _MILLIS),
    ("long", "time-micros"): lambda schema, value: _time(value * _MICROS),
    ("long", "timestamp-millis"): lambda schema, value: _EPOCH + value * _MILLIS,
    ("long", "timestamp-micros"): lambda schema, value: _EPOCH + value * _MICROS,
    ("long", "local-timestamp-millis"): lambda schema, value: (_EPOCH + value * _MILLIS).replace(tzinfo=None),
    ("long", "local-timestamp-micros"): lambda schema, value: (_EPOCH + value * _MICROS).replace(tzinfo=None),
}

"""Values written in Avro's binary encoding, as fastavro and Confluent's serializer for Python write them.

A value that does not fit raises ValueError with the field, what is expected there and what is given. Python's values of
logical types are taken, and what the control port shows of them, so that what was read can be written again.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, DecimalException
from typing import Any, Final
from uuid import UUID

from kafkastub.registry.avro.model import MISSING, Enum, Field, Fixed, Many, Named, Node, Record, Union
from kafkastub.registry.values.avro_reading import DEEPEST, EXACT, scale_of
from kafkawire.codec.varint import varint

_MOST_IN_VAIN: Final = 200_000
"""Values that are looked at in branches of unions that do not fit: unions within unions look at the same ones again."""
_LONGEST_SHOWN: Final = 100
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_ONE: Final = date(1970, 1, 1)


def write(schema: Node, value: Any) -> bytes:
    """Return the value's bytes. Raises ValueError for one that does not fit."""
    writer = _Writer()
    begin = schema.name if isinstance(schema, Named) else "the value"
    try:
        writer.value(schema, value, begin, 0)
    except RecursionError:
        raise ValueError(f"{begin}: it is too deep") from None
    return b"".join(writer.parts)


class _Misfit(ValueError):
    """Attributes: depth, how deep in the value it does not fit."""

    def __init__(self, sentence: str, depth: int) -> None:
        super().__init__(sentence)
        self.depth = depth


class _Writer:
    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._steps = self._in_vain = 0
        self._symbols: dict[Enum, dict[str, int]] = {}

    def value(self, schema: Node, value: Any, place: str, depth: int) -> None:
        self._steps += 1
        if depth > DEEPEST:
            raise ValueError(f"{place}: it is more than {DEEPEST} deep")
        if isinstance(schema, Record):
            self._record(schema, value, place, depth)
        elif isinstance(schema, Union):
            self._union(schema, value, place, depth)
        elif isinstance(schema, Many):
            self._many(schema, value, place, depth)
        else:
            written = self._symbol(schema, value) if isinstance(schema, Enum) else _bytes_of(schema, value)
            if written is None:
                raise _Misfit(f"{place}: {describe_schema(schema)} is expected, not {describe_value(value)}", depth)
            self.parts.append(written)

    def _symbol(self, schema: Enum, value: Any) -> bytes | None:
        there = self._symbols.get(schema)
        if there is None:
            there = self._symbols[schema] = {symbol: number for number, symbol in enumerate(schema.symbols)}
        return _long(there[value]) if isinstance(value, str) and value in there else None

    def _record(self, schema: Record, value: Any, place: str, depth: int) -> None:
        if not isinstance(value, Mapping):
            raise _Misfit(f"{place}: {describe_schema(schema)} is expected, not {describe_value(value)}", depth)
        known = {field.name for field in schema.fields}
        for name in value:
            if name not in known:
                names = ", ".join(field.name for field in schema.fields[:20]) or "none"
                sentence = f"{place}: there is no field {name!r:.{_LONGEST_SHOWN}}; the fields are {names}"
                raise _Misfit(sentence, depth + 1)
        for field in schema.fields:
            inner = f"{place}.{field.name}"
            given = value.get(field.name, MISSING)
            if given is MISSING:
                given = _missing(field, inner, depth)
            self.value(field.schema, given, inner, depth + 1)

    def _many(self, schema: Many, value: Any, place: str, depth: int) -> None:
        if schema.type == "array":
            if not isinstance(value, list | tuple):
                raise _Misfit(f"{place}: {describe_schema(schema)} is expected, not {describe_value(value)}", depth)
            if value:
                self.parts.append(_long(len(value)))
            for number, one in enumerate(value):
                self.value(schema.of, one, f"{place}[{number}]", depth + 1)
        else:
            if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
                raise _Misfit(f"{place}: {describe_schema(schema)} is expected, not {describe_value(value)}", depth)
            if value:
                self.parts.append(_long(len(value)))
            for name, one in value.items():
                self.parts.append(_with_length(_utf8(name)))
                self.value(schema.of, one, f"{place}[{name!r:.{_LONGEST_SHOWN}}]", depth + 1)
        self.parts.append(b"\0")

    def _union(self, schema: Union, value: Any, place: str, depth: int) -> None:
        """The first branch that fits. Where none does, the one that fits furthest says why."""
        branches = list(enumerate(schema.branches))
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):  # as fastavro names a branch
            named = [(number, one) for number, one in branches if value[0] in _names(one)]
            if named:
                branches, value = named, value[1]
        furthest: _Misfit | None = None
        for number, branch in branches:
            begin, steps = len(self.parts), self._steps
            try:
                self.parts.append(_long(number))
                self.value(branch, value, place, depth + 1)
                return
            except _Misfit as error:
                del self.parts[begin:]
                self._in_vain += self._steps - steps
                if self._in_vain > _MOST_IN_VAIN:
                    raise ValueError(f"{place}: too many branches of unions had to be tried: {error}") from None
                if error.depth > depth + 1 and (furthest is None or error.depth > furthest.depth):
                    furthest = error
        if furthest is not None:
            raise furthest
        raise _Misfit(f"{place}: {describe_schema(schema)} is expected, not {describe_value(value)}", depth)


def _missing(field: Field, place: str, depth: int) -> Any:
    """What stands for a field that is not given: its default; null where it may be null."""
    if field.default is not MISSING:
        return _default(field.schema, field.default)
    branches = field.schema.branches if isinstance(field.schema, Union) else [field.schema]
    if any(one.type == "null" for one in branches):
        return None
    raise _Misfit(f"{place}: it is missing; {describe_schema(field.schema)} is expected", depth + 1)


def _default(schema: Node, value: Any) -> Any:
    """A default as a value: in a schema, bytes are texts of characters up to 255."""
    if isinstance(schema, Union):
        return value if value is None else _default(schema.branches[0], value)
    if schema.type in ("bytes", "fixed") and isinstance(value, str):
        return value.encode("latin-1", "replace")
    if isinstance(schema, Many) and isinstance(value, list):
        return [_default(schema.of, one) for one in value]
    if isinstance(schema, Many) and isinstance(value, dict):
        return {name: _default(schema.of, one) for name, one in value.items()}
    if isinstance(schema, Record) and isinstance(value, dict):
        schemas = {field.name: field.schema for field in schema.fields}
        return {name: _default(schemas[name], one) if name in schemas else one for name, one in value.items()}
    return value


# -- values that have no others in them -----------------------------------------------------------------------------


def _bytes_of(schema: Node, value: Any) -> bytes | None:
    """None where the value does not fit."""
    prepare = _LOGICAL.get((schema.type, str(schema.props.get("logicalType")))) if schema.props else None
    if prepare is not None:
        try:
            value = prepare(schema, value)
        except (ValueError, OverflowError, DecimalException, TypeError, AttributeError):
            return None
    if isinstance(schema, Fixed):
        given = _given_bytes(value)
        return given if given is not None and len(given) == schema.size else None
    return _PLAIN[schema.type](value)


def _whole(bits: int) -> Callable[[Any], bytes | None]:
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def write(value: Any) -> bytes | None:
        is_one = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        return _long(value) if is_one else None

    return write


def _real(form: str) -> Callable[[Any], bytes | None]:
    def write(value: Any) -> bytes | None:
        if isinstance(value, str) and value in ("nan", "inf", "-inf"):  # JSON has no other words for them
            value = float(value)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        try:
            return struct.pack(form, value)
        except (OverflowError, struct.error):
            return None

    return write


def _string(value: Any) -> bytes | None:
    if not isinstance(value, str):
        return None
    try:
        return _with_length(value.encode())
    except UnicodeEncodeError:
        return None


def _given_bytes(value: Any) -> bytes | None:
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, dict) and value.keys() == {"base64"} and isinstance(value["base64"], str):
        try:
            return base64.b64decode(value["base64"], validate=True)
        except (binascii.Error, ValueError):
            return None
    return None


def _bytes(value: Any) -> bytes | None:
    given = _given_bytes(value)
    return None if given is None else _with_length(given)


_PLAIN: Final[Mapping[str, Callable[[Any], bytes | None]]] = {
    "null": lambda value: b"" if value is None else None,
    "boolean": lambda value: bytes((value,)) if isinstance(value, bool) else None,
    "int": _whole(32),
    "long": _whole(64),
    "float": _real("<f"),
    "double": _real("<d"),
    "bytes": _bytes,
    "string": _string,
}


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{text!r:.{_LONGEST_SHOWN}} has half of a surrogate pair, which is not a character") from None


def _with_length(content: bytes) -> bytes:
    return _long(len(content)) + content


_long = varint
"""Avro's longs are zigzag varints as Kafka's are."""


# -- logical types: what Python or JSON has for them, as the type beneath ---------------------------------------------


def _decimal(schema: Node, value: Any) -> Any:
    if isinstance(value, str | int) and not isinstance(value, bool):
        value = Decimal(value)
    if not isinstance(value, Decimal):
        return value
    unscaled = value.scaleb(scale_of(schema), EXACT)
    whole = int(unscaled)
    if whole != unscaled:
        raise ValueError("digits would be lost")
    size = schema.size if isinstance(schema, Fixed) else (whole if whole >= 0 else ~whole).bit_length() // 8 + 1
    return whole.to_bytes(size, "big", signed=True)


def _date(schema: Node, value: Any) -> Any:
    if isinstance(value, str):
        value = date.fromisoformat(value)
    if isinstance(value, datetime):
        value = value.date()
    return (value - _DAY_ONE).days if isinstance(value, date) else value


def _time(unit: timedelta) -> Callable[[Node, Any], Any]:
    def prepare(schema: Node, value: Any) -> Any:
        if isinstance(value, str):
            value = time.fromisoformat(value)
        if not isinstance(value, time):
            return value
        since = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond)
        return since // unit

    return prepare


def _moment(unit: timedelta) -> Callable[[Node, Any], Any]:
    def prepare(schema: Node, value: Any) -> Any:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if not isinstance(value, datetime):
            return value
        local = str(schema.props.get("logicalType")).startswith("local-")
        moment = value.replace(tzinfo=UTC) if local or value.tzinfo is None else value
        return (moment - _EPOCH) // unit

    return prepare


_MILLIS: Final = timedelta(milliseconds=1)
_MICROS: Final = timedelta(microseconds=1)
_LOGICAL: Final[Mapping[tuple[str, str], Callable[[Node, Any], Any]]] = {
    ("bytes", "decimal"): _decimal,
    ("fixed", "decimal"): _decimal,
    ("string", "uuid"): lambda schema, value: str(value) if isinstance(value, UUID) else value,
    ("int", "date"): _date,
    ("int", "time-millis"): _time(_MILLIS),
    ("long", "time-micros"): _time(_MICROS),
    ("long", "timestamp-millis"): _moment(_MILLIS),
    ("long", "timestamp-micros"): _moment(_MICROS),
    ("long", "local-timestamp-millis"): _moment(_MILLIS),
    ("long", "local-timestamp-micros"): _moment(_MICROS),
}


# -- for people -------------------------------------------------------------------------------------------------------


def describe_schema(schema: Node) -> str:
    """What a schema wants, in words."""
    if isinstance(schema, Union):
        return " or ".join(describe_schema(one) for one in schema.branches[:10]) or "nothing: a union without branches"
    if isinstance(schema, Enum):
        return f"one of {', '.join(schema.symbols[:20])}"
    if isinstance(schema, Fixed):
        return f"{schema.full_name} of {schema.size} bytes"
    if isinstance(schema, Named):
        return f"a record {schema.full_name}"
    meant = schema.props.get("logicalType")
    kind = f"{schema.type} ({meant})" if isinstance(meant, str) and len(meant) < _LONGEST_SHOWN else schema.type
    return kind if schema.type in ("null", "bytes") else f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def describe_value(value: Any) -> str:
    """A value that somebody has given, and what Python calls it."""
    if value is None:
        return "null"
    if isinstance(value, int) and value.bit_length() > 8 * _LONGEST_SHOWN:  # Python takes long for its digits
        return f"a number of {value.bit_length()} bits"
    if isinstance(value, Mapping):
        return f"an object with {', '.join(map(repr, list(value)[:5])) or 'nothing'}"[:_LONGEST_SHOWN]
    if isinstance(value, list | tuple):
        return f"an array of {len(value)}"
    text = repr(value[:_LONGEST_SHOWN] if isinstance(value, str | bytes) else value)
    return f"{text[:_LONGEST_SHOWN]} ({type(value).__name__})"


def _names(schema: Node) -> tuple[str, ...]:
    return (schema.full_name, schema.name) if isinstance(schema, Named) else (schema.type,)

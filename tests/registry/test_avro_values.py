"""Avro values are written and read as fastavro does it; what does not fit is told by field, expected and given."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub.registry.values.avro import Codec
from tests.registry.bench import field, record

LINE = record(field("what", "string"), field("count", "int", default=1), name="Line")
ORDER = record(
    field("id", "long"),
    field("lines", {"type": "array", "items": LINE}, default=[]),
    field("gift", ["null", "Line"], default=None),
    field("kind", {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}, default="B"),
    field("sum", {"type": "fixed", "name": "Sum", "size": 2}, default="\u00ff\u0001"),
    field("by_name", {"type": "map", "values": "double"}, default={}),
    field("any", ["null", "int", "string", "boolean", "double", "bytes"], default=None),
)
LINE_A = {"what": "a"}
LOGICAL = record(
    field("day", {"type": "int", "logicalType": "date"}),
    field("at", {"type": "long", "logicalType": "timestamp-millis"}),
    field("micros", {"type": "long", "logicalType": "timestamp-micros"}),
    field("local", {"type": "long", "logicalType": "local-timestamp-millis"}),
    field("of_day", {"type": "int", "logicalType": "time-millis"}),
    field("price", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}),
    field("fixed", {"type": "fixed", "name": "D", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2}),
    field("uuid", {"type": "string", "logicalType": "uuid"}),
)
OF_LOGICAL: dict[str, Any] = {
    "day": date(2026, 3, 1),
    "at": datetime(2026, 3, 1, 12, 0, 0, 5000, UTC),
    "micros": datetime(1969, 3, 1, 12, 0, 0, 5, UTC),
    "local": datetime(2026, 3, 1, 12, 0, 0, 5000),
    "of_day": time(23, 59, 59, 999000),
    "price": Decimal("-12.34"),
    "fixed": Decimal("0.05"),
    "uuid": UUID(int=7),
}
AS_JSON = {
    "day": "2026-03-01", "at": "2026-03-01T12:00:00.005000+00:00", "micros": "1969-03-01T12:00:00.000005+00:00",
    "local": "2026-03-01T12:00:00.005000", "of_day": "23:59:59.999000", "price": "-12.34", "fixed": "0.05",
    "uuid": "00000000-0000-0000-0000-000000000007",
}  # fmt: skip


def codec(schema: Any) -> Codec:
    return Codec(json.dumps(schema), [])


def by_fastavro(schema: Any, value: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return out.getvalue()


_LINES = st.fixed_dictionaries({"what": st.text()}, optional={"count": st.integers(-(2**31), 2**31 - 1)})
_ORDERS = st.fixed_dictionaries(
    {"id": st.integers(-(2**63), 2**63 - 1)},
    optional={
        "lines": st.lists(_LINES, max_size=3),
        "gift": st.none() | _LINES,
        "kind": st.sampled_from(["A", "B"]),
        "sum": st.binary(min_size=2, max_size=2),
        "by_name": st.dictionaries(st.text(), st.floats(allow_nan=False), max_size=3),
        "any": st.none() | st.integers(-(2**31), 2**31 - 1) | st.text() | st.booleans() | st.binary(),
    },
)


@given(_ORDERS)
def test_any_value_is_written_and_read_as_fastavro_does_it(value: dict[str, Any]) -> None:
    given = value | {"sum": value.get("sum", b"\xff\x01")}  # fastavro takes a text for no bytes, as defaults have them
    written = codec(ORDER).encode(value, None)
    assert written == by_fastavro(ORDER, given)
    read = fastavro.schemaless_reader(io.BytesIO(written), fastavro.parse_schema(ORDER), None)
    assert codec(ORDER).decode(written) == read


@pytest.mark.parametrize("value", [OF_LOGICAL, AS_JSON])
def test_logical_types_are_pythons_and_texts_are_taken_for_them(value: dict[str, Any]) -> None:
    written = codec(LOGICAL).encode(value, None)
    assert written == by_fastavro(LOGICAL, OF_LOGICAL)
    assert codec(LOGICAL).decode(written) == OF_LOGICAL


def test_a_number_without_a_calendar_day_stays_a_number() -> None:
    schema = {"type": "int", "logicalType": "date"}
    assert codec(schema).decode(by_fastavro("int", 2**31 - 1)) == 2**31 - 1


def test_a_branch_can_be_named() -> None:
    schema = ["null", "string", LINE | {"namespace": "shop"}]
    assert codec(schema).encode(("shop.Line", {"what": "tea"}), None) == by_fastavro(
        schema, {"what": "tea", "count": 1}
    )


@pytest.mark.parametrize(
    ("schema", "value", "sentence"),
    [
        (ORDER, {"id": "7"}, "Order.id: a long is expected, not '7' (str)"),
        (ORDER, {"id": True}, "Order.id: a long is expected, not True (bool)"),
        (ORDER, {"id": 2**63}, "Order.id: a long is expected, not 9223372036854775808 (int)"),
        (ORDER, {}, "Order.id: it is missing; a long is expected"),
        (ORDER, 7, "Order: a record Order is expected, not 7 (int)"),
        (
            ORDER,
            {"id": 1, "colour": "red"},
            "Order: there is no field 'colour'; the fields are id, lines, gift, kind, sum, by_name, any",
        ),
        (ORDER, {"id": 1, "lines": [LINE_A, {"what": 5}]}, "Order.lines[1].what: a string is expected, not 5 (int)"),
        (ORDER, {"id": 1, "lines": {}}, "Order.lines: an array is expected, not an object with nothing"),
        (ORDER, {"id": 1, "gift": {"what": 5}}, "Order.gift.what: a string is expected, not 5 (int)"),
        (ORDER, {"id": 1, "gift": {}}, "Order.gift.what: it is missing; a string is expected"),
        (ORDER, {"id": 1, "gift": 5}, "Order.gift: null or a record Line is expected, not 5 (int)"),
        (ORDER, {"id": 1, "kind": "C"}, "Order.kind: one of A, B is expected, not 'C' (str)"),
        (ORDER, {"id": 1, "sum": b"abc"}, "Order.sum: Sum of 2 bytes is expected, not b'abc' (bytes)"),
        (ORDER, {"id": 1, "by_name": {"x": None}}, "Order.by_name['x']: a double is expected, not null"),
        (
            LOGICAL,
            OF_LOGICAL | {"price": Decimal("0.001")},
            "Order.price: bytes (decimal) is expected, not Decimal('0.001') (Decimal)",
        ),
        (LOGICAL, OF_LOGICAL | {"day": "1 March"}, "Order.day: an int (date) is expected, not '1 March' (str)"),
        ("int", 10**1000, "the value: an int is expected, not a number of 3322 bits"),
        ("string", "\ud800", "the value: a string is expected, not '\\ud800' (str)"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_by_field_expected_and_given(schema: Any, value: Any, sentence: str) -> None:
    with pytest.raises(ValueError) as refused:
        codec(schema).encode(value, None)
    assert str(refused.value) == sentence


def test_unions_in_unions_are_not_tried_for_ever() -> None:
    """Each level doubled the ways in which nothing fits."""
    schema: Any = "int"
    for depth in range(40):
        names = (f"A{depth}", f"B{depth}")
        known = schema if depth else [schema]
        schema = [record(field("x", known), name=names[0]), record(field("x", _names(known)), name=names[1])]
    value: Any = "no number"
    for _ in range(40):
        value = {"x": value}
    with pytest.raises(ValueError, match="too many branches of unions had to be tried"):
        codec(schema).encode(value, None)


def _names(union: list[Any]) -> list[Any]:
    return [one["name"] if isinstance(one, dict) else one for one in union]

"""Hypothesis strategies for messages: one draw holds the fields of all versions, `at_version` cuts it to one."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from kafkawire.codec.layout import FieldLayout, StructLayout
from kafkawire.schema import Struct
from tests.wire.catalogue import MessageClass, layout, versions

Strategy = st.SearchStrategy[Any]
Narrow = Callable[[type[Struct], FieldLayout], Strategy | None]
"""A narrower strategy for a single value of a field, or None for any value of its type."""

few = settings(
    max_examples=4,
    deadline=None,
    database=None,
    phases=[Phase.generate],  # an example is a whole message at all versions: making it smaller takes minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
"""A few examples of each message: there are hundreds of messages."""

_EDGE_SIZES = st.sampled_from([126, 127, 128, 300])


def _integers(bits: int, signed: bool) -> Strategy:
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return st.one_of(st.sampled_from([0, 1, least, most, -1 if signed else most - 1]), st.integers(least, most))


SINGLE: dict[str, Strategy] = {
    "bool": st.booleans(),
    "int8": _integers(8, True),
    "int16": _integers(16, True),
    "uint16": _integers(16, False),
    "int32": _integers(32, True),
    "uint32": _integers(32, False),
    "int64": _integers(64, True),
    "float64": st.floats(allow_nan=False, allow_infinity=False),
    "uuid": st.one_of(st.just(bytes(16)), st.binary(min_size=16, max_size=16)),
    "string": st.one_of(st.text(max_size=6), _EDGE_SIZES.map("é".__mul__), _EDGE_SIZES.map("x".__mul__)),
    "bytes": st.one_of(st.binary(max_size=6), _EDGE_SIZES.map(b"x".__mul__)),
    "records": st.one_of(st.binary(max_size=6), _EDGE_SIZES.map(b"x".__mul__)),
}


@cache
def arbitrary(cls: MessageClass, narrow: Narrow) -> Strategy:
    """Messages of all shapes; arrays of flat structures are sometimes long enough for the native reader."""
    known: dict[type[Struct], dict[str, FieldLayout]] = {}
    nullable: set[tuple[type[Struct], str]] = set()
    for version in versions(cls):
        _gather(layout(cls, version), known, nullable)
    made: dict[type[Struct], Strategy] = {}

    def of_struct(struct: type[Struct]) -> Strategy:
        if struct not in made:
            fields = {name: of_field(struct, field) for name, field in known.get(struct, {}).items()}
            made[struct] = st.builds(struct, **fields)
        return made[struct]

    def of_field(struct: type[Struct], field: FieldLayout) -> Strategy:
        if field.struct is not None:
            inner = of_struct(field.struct.cls)
        else:
            narrowed = narrow(struct, field)
            inner = SINGLE[field.kind] if narrowed is None else narrowed
        if field.array:
            inner = _arrays(inner, field)
        return st.one_of(st.none(), inner) if (struct, field.name) in nullable else inner

    return of_struct(cls)


def _arrays(items: Strategy, field: FieldLayout) -> Strategy:
    few = st.lists(items, max_size=2).map(tuple)
    if field.struct is not None and not all(f.kind != "struct" and not f.array for f in field.struct.fields):
        return few
    many = st.builds(lambda some, n: tuple((some * n)[:n]), st.lists(items, min_size=1, max_size=3), _LONG)
    return st.one_of(few, many)


_LONG = st.sampled_from([8, 9, 130])


def _gather(
    of: StructLayout, known: dict[type[Struct], dict[str, FieldLayout]], nullable: set[tuple[type[Struct], str]]
) -> None:
    fields = known.setdefault(of.cls, {})
    for field in (*of.fields, *of.tagged):
        fields[field.name] = field
        if field.nullable:
            nullable.add((of.cls, field.name))
        if field.struct is not None:
            _gather(field.struct, known, nullable)


def encodable(struct: Struct, of: StructLayout) -> Struct:
    """A copy without the nulls that the version cannot carry; fields that it lacks keep their values."""
    made = copy.copy(struct)
    for field in (*of.fields, *of.tagged):
        setattr(made, field.name, _encodable(getattr(struct, field.name), field))
    return made


def _encodable(value: Any, field: FieldLayout) -> Any:
    if value is None:
        if field.nullable:
            return None
        if field.array:
            return ()
        value = {"string": "", "bytes": b"", "records": b""}.get(field.kind, value)
    if field.struct is None:
        return value
    if field.array:
        return tuple(encodable(item, field.struct) for item in value)
    return encodable(value or field.struct.cls(), field.struct)


def at_version(struct: Struct, of: StructLayout) -> Struct:
    """What a reader makes of `struct` after a trip over the wire: fields that the version lacks have their default."""
    made = of.cls()
    for field in (*of.fields, *of.tagged):
        value = getattr(struct, field.name)
        if field.struct is not None and value is not None:
            inner = field.struct
            value = tuple(at_version(item, inner) for item in value) if field.array else at_version(value, inner)
        setattr(made, field.name, value)
    return made

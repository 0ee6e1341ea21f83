"""Spark's columns as Arrow has them. PySpark's own translation is private, and its arguments differ by release."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType, StructType


def arrow_schema_of(columns: StructType) -> pa.Schema:
    """Return the schema of these columns; times are in UTC, to the microsecond.

    Raises KeyError for a type that no column of the pipeline has.
    """
    import pyarrow as pa

    return pa.schema(list(_fields(columns)))


def _fields(struct: StructType) -> Iterator[pa.Field]:
    import pyarrow as pa

    for field in struct.fields:
        yield pa.field(field.name, _type(field.dataType), field.nullable)


def _type(of: DataType) -> pa.DataType:
    import pyarrow as pa
    from pyspark.sql import types

    if isinstance(of, types.StructType):
        return pa.struct(list(_fields(of)))
    if isinstance(of, types.ArrayType):
        return pa.list_(pa.field("element", _type(of.elementType), of.containsNull))
    return {
        "boolean": pa.bool_(),
        "smallint": pa.int16(),
        "int": pa.int32(),
        "bigint": pa.int64(),
        "double": pa.float64(),
        "string": pa.string(),
        "binary": pa.binary(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", "UTC"),
    }[of.simpleString()]

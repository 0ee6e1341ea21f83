"""Messages from the JSON that Kafka's own JsonConverter classes write."""

from __future__ import annotations

import base64
from typing import Any

from kafkawire.codec.layout import FieldLayout, StructLayout
from kafkawire.schema import Struct


def from_json(node: dict[str, Any], layout: StructLayout) -> Struct:
    """The structure that `node` tells of. Raises ValueError for a field too many or too few."""
    left = {_plain(key): value for key, value in node.items()}
    made = layout.cls()
    for field in layout.fields:
        try:
            value = left.pop(_plain(field.name))
        except KeyError:
            raise ValueError(f"{layout.cls.__name__}.{field.name} is missing in {sorted(node)}") from None
        setattr(made, field.name, _value(value, field))
    for field in layout.tagged:  # left out of the JSON where they have their default
        if _plain(field.name) in left:
            setattr(made, field.name, _value(left.pop(_plain(field.name)), field))
    if left:
        raise ValueError(f"{layout.cls.__name__} has no {sorted(left)}")
    return made


def without_records(struct: Struct, layout: StructLayout) -> Struct:
    """`struct`, changed in place: the JSON says nothing about records but that there are some."""
    for field in (*layout.fields, *layout.tagged):
        value = getattr(struct, field.name)
        if field.kind == "records":
            setattr(struct, field.name, None if value is None else b"")
        elif field.struct is not None and value is not None:
            for item in value if field.array else (value,):
                without_records(item, field.struct)
    return struct


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _value(value: Any, field: FieldLayout) -> Any:
    if field.array:
        return None if value is None else tuple(_item(item, field) for item in value)
    return _item(value, field)


def _item(value: Any, field: FieldLayout) -> Any:
    if value is None:
        return None
    if field.kind == "struct":
        assert field.struct is not None
        return from_json(value, field.struct)
    if field.kind in ("bytes", "records"):
        return base64.b64decode(value)
    if field.kind == "uuid":
        return base64.urlsafe_b64decode(value + "==")
    return float(value) if field.kind == "float64" else value

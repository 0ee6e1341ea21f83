"""A message field by field, as JSON has it."""

from __future__ import annotations

import base64
from math import isfinite
from typing import Any

from kafkawire.schema import Struct


def as_values(struct: Struct, version: int) -> dict[str, Any]:
    """Field to value, of the fields that the version has. Names are those of `kafkawire`: `group_id`.

    Bytes are in base64, uuids as Kafka prints them; what is no number is "NaN", "inf" or "-inf".
    """
    found = {}
    for name, kind, versions, *_ in struct.FIELDS:
        if versions is not None and versions[0] <= version <= versions[1]:
            value = getattr(struct, name)
            found[name] = _list(kind[2:], value, version) if kind.startswith("[]") else _one(kind, value, version)
    return found


def _list(kind: str, values: Any, version: int) -> list[Any] | None:
    return None if values is None else [_one(kind, value, version) for value in values]


def _one(kind: str, value: Any, version: int) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Struct):
        return as_values(value, version)
    if kind == "uuid":
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
    if isinstance(value, float):
        return value if isfinite(value) else "NaN" if value != value else str(value)
    return base64.b64encode(b"".join(value) if isinstance(value, list | tuple) else value).decode()

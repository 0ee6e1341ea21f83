"""The records of `_schemas`, as Confluent's registry writes and reads them: JSON in key and value.

Keys have a type (`keytype`) and a `magic` number, which belongs to the type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from kafkastub.registry.entities import Schema

TOPIC: Final = "_schemas"

Record = tuple[bytes, bytes | None]
"""Key and value; None for a tombstone."""

_MAGIC: Final = {"SCHEMA": 1}


def as_json(value: Any) -> bytes:
    """As Jackson writes it: without spaces; characters beyond ASCII as they are, halves of surrogate pairs escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def _key(keytype: str, **parts: Any) -> bytes:
    given = {name: value for name, value in parts.items() if value is not None}
    return as_json({"keytype": keytype, **given, "magic": _MAGIC.get(keytype, 0)})


def schema_key(subject: str, version: int) -> bytes:
    return _key("SCHEMA", subject=subject, version=version)


def schema_record(schema: Schema, *, deleted: bool) -> Record:
    """A version of a subject."""
    value: dict[str, Any] = {"subject": schema.subject, "version": schema.version, "id": schema.id}
    value["schemaType"] = schema.type
    if schema.references:
        value["references"] = [one.told() for one in schema.references]
    if schema.metadata is not None:
        value["metadata"] = dict(schema.metadata)
    if schema.rules is not None:
        value["ruleSet"] = dict(schema.rules)
    value |= {"schema": schema.text, "deleted": deleted}
    return schema_key(schema.subject, schema.version), as_json(value)


def schema_tombstone(subject: str, version: int) -> Record:
    """A version that is gone for good."""
    return schema_key(subject, version), None


def delete_subject_record(subject: str, version: int) -> Record:
    """All versions up to this one are deleted softly."""
    return _key("DELETE_SUBJECT", subject=subject), as_json({"subject": subject, "version": version})


def clear_subject_record(subject: str | None) -> Record:
    """A subject, a context or all is forgotten: what is imported begins anew."""
    return _key("CLEAR_SUBJECT", subject=subject), as_json({} if subject is None else {"subject": subject})


def config_record(subject: str | None, config: Mapping[str, Any] | None) -> Record:
    """Settings of a subject, of a context, or (None) of all; None for none any more."""
    key = _key("CONFIG", subject=subject)
    if config is None:
        return key, None
    return key, as_json({**({} if subject is None else {"subject": subject}), **config})


def mode_record(subject: str | None, mode: str | None) -> Record:
    """The mode of a subject, of a context, or of all."""
    key = _key("MODE", subject=subject)
    if mode is None:
        return key, None
    return key, as_json({**({} if subject is None else {"subject": subject}), "mode": mode})


def context_record(context: str) -> Record:
    """A context that has a schema."""
    place = {"tenant": "default", "context": context}
    return _key("CONTEXT", **place), as_json(place)


def noop_record() -> Record:
    """Means nothing: Confluent's registry finds the end of the topic by it."""
    return _key("NOOP"), None

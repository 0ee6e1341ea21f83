"""A registry without a broker: its records in a list."""

from __future__ import annotations

import json
from typing import Any

from kafkastub.registry.entities import Reference, Schema
from kafkastub.registry.records import Record
from kafkastub.registry.registry import Registry
from kafkastub.registry.store import Store


class Bench:
    """Attributes: registry, store; records, what was written, oldest first."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.store = Store()
        self.registry = Registry(self.store, self._write)

    def _write(self, records: list[Record]) -> None:
        for key, value in records:
            self.records.append((key, value))
            self.store.apply(key, value, len(self.records))

    def read_again(self) -> Registry:
        """A registry that has read the same records, compacted as Kafka compacts them."""
        last = {key: at for at, (key, _) in enumerate(self.records)}
        store = Store()
        for at, (key, value) in enumerate(self.records):
            if last[key] == at:
                store.apply(key, value, at + 1)
        return Registry(store, lambda records: None)

    def register(self, subject: str, schema: Any, **more: Any) -> Schema:
        """Of what JSON makes one, or of a text."""
        text = schema if isinstance(schema, str) else json.dumps(schema)
        how = {name: more.pop(name) for name in ("normalize", "force") if name in more}
        return self.registry.register(Schema(subject, text, **more), **how)


def record(*fields: dict[str, Any], name: str = "Order") -> dict[str, Any]:
    """A record of Avro."""
    return {"type": "record", "name": name, "fields": list(fields)}


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def refers(name: str, subject: str, version: int = 1) -> tuple[Reference, ...]:
    return (Reference(name, subject, version),)

"""/schemas: schemas by their ids and guids, and all of them."""

from __future__ import annotations

from typing import Any

from kafkastub.registry.entities import TYPES
from kafkastub.registry.store import Entry
from kafkastub.registry.subjects import context_of
from kafkastub.registry_port.requests import id_of
from kafkastub.registry_port.routes.tables import Raw, Registry, RegistryRequest, Table

table = Table()


@table.at("GET", "/schemas/types")
def types(registry: Registry, asked: RegistryRequest) -> list[str]:
    return list(TYPES)


@table.at("GET", "/schemas", is_long=True)
def every(registry: Registry, asked: RegistryRequest) -> list[dict[str, Any]]:
    prefix = asked.text("subjectPrefix", asked.context or ":*:")
    deleted = asked.flag("deleted")
    rule_type = asked.text("ruleType")
    found: list[Entry] = []
    for subject in registry.subjects(prefix, deleted=deleted):
        entries = registry.versions(subject, deleted=deleted)
        found += entries[-1:] if asked.flag("latestOnly") else entries
    if rule_type:
        found = [one for one in found if _has_rule(one, rule_type)]
    return [one.schema.told() for one in asked.part(found)]


def _has_rule(entry: Entry, kind: str) -> bool:
    rules = entry.schema.rules or {}
    return any(rule.get("type") == kind for each in rules.values() if isinstance(each, list) for rule in each)


@table.at("GET", "/schemas/ids/*")
def by_id(registry: Registry, asked: RegistryRequest, schema_id: str) -> dict[str, Any]:
    within = asked.within()
    entry = registry.of_id(id_of(schema_id), within)[0]
    told = _told(registry, asked, entry, named=within is not None)
    if asked.flag("fetchMaxId"):
        told["maxId"] = registry.store.max_id(context_of(entry.subject))
    return told


@table.at("GET", "/schemas/ids/*/schema")
def text_by_id(registry: Registry, asked: RegistryRequest, schema_id: str) -> Raw:
    entry = registry.of_id(id_of(schema_id), asked.within())[0]
    return Raw(registry.formatted(entry, asked.text("format")))


@table.at("GET", "/schemas/ids/*/subjects")
def subjects_of_id(registry: Registry, asked: RegistryRequest, schema_id: str) -> list[str]:
    return asked.part(list(dict.fromkeys(one.subject for one in _with_id(registry, asked, schema_id))))


@table.at("GET", "/schemas/ids/*/versions")
def versions_of_id(registry: Registry, asked: RegistryRequest, schema_id: str) -> list[dict[str, Any]]:
    found = [{"subject": one.subject, "version": one.version} for one in _with_id(registry, asked, schema_id)]
    return asked.part(found)


def _with_id(registry: Registry, asked: RegistryRequest, schema_id: str) -> list[Entry]:
    found = registry.of_id(id_of(schema_id), asked.within())
    return [one for one in found if asked.flag("deleted") or not one.deleted]


@table.at("GET", "/schemas/guids/*", is_long=True)
def by_guid(registry: Registry, asked: RegistryRequest, guid: str) -> dict[str, Any]:
    return _told(registry, asked, registry.of_guid(guid)[0], named=False)


@table.at("GET", "/schemas/guids/*/ids", is_long=True)
def ids_of_guid(registry: Registry, asked: RegistryRequest, guid: str) -> list[dict[str, Any]]:
    places = {(context_of(one.subject), one.id) for one in registry.store.of_guid(guid)}
    return [{"context": context, "id": each} for context, each in sorted(places)]


def _told(registry: Registry, asked: RegistryRequest, entry: Entry, *, named: bool) -> dict[str, Any]:
    """A schema without its id; with its subject and version where one was asked for."""
    told = entry.schema.told()
    del told["id"]
    if not named:
        del told["subject"], told["version"]
    if asked.text("format"):
        told["schema"] = registry.formatted(entry, asked.text("format"))
    return told

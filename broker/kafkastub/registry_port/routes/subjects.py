"""/subjects: subjects, their versions, and what is registered."""

from __future__ import annotations

from typing import Any

from kafkastub.registry.entities import PROTOBUF, Schema, is_descriptor
from kafkastub.registry.store import Entry
from kafkastub.registry.subjects import beside, context_of
from kafkastub.registry_port.requests import version_of
from kafkastub.registry_port.routes.tables import Raw, Registry, RegistryRequest, Table

table = Table()


@table.at("GET", "/subjects", is_long=True)
def every(registry: Registry, asked: RegistryRequest) -> list[str]:
    prefix = asked.text("subjectPrefix", asked.context or ":*:")
    found = registry.subjects(prefix, deleted=asked.flag("deleted"), deleted_only=asked.flag("deletedOnly"))
    return asked.part(found)


@table.at("POST", "/subjects/*")
def look_up(registry: Registry, asked: RegistryRequest, subject: str) -> dict[str, Any]:
    schema = asked.schema(asked.subject(subject))
    entry = registry.lookup(schema, normalize=asked.flag("normalize"), deleted=asked.flag("deleted"))
    return _told(registry, asked, entry)


@table.at("DELETE", "/subjects/*")
def delete(registry: Registry, asked: RegistryRequest, subject: str) -> list[int]:
    return registry.delete_subject(asked.subject(subject), permanent=asked.flag("permanent"))


@table.at("GET", "/subjects/*/metadata", is_long=True)
def latest_with(registry: Registry, asked: RegistryRequest, subject: str) -> dict[str, Any]:
    properties = dict(zip(asked.texts("key"), asked.texts("value"), strict=False))
    entry = registry.latest_with(asked.subject(subject), properties, deleted=asked.flag("deleted"))
    return _told(registry, asked, entry)


@table.at("GET", "/subjects/*/versions")
def versions(registry: Registry, asked: RegistryRequest, subject: str) -> list[int]:
    only, negative = asked.flag("deletedOnly"), asked.flag("deletedAsNegative")
    entries = registry.versions(asked.subject(subject), deleted=asked.flag("deleted") or only)
    if negative:
        entries = registry.versions(asked.subject(subject), deleted=True)
        return asked.part([-one.version if one.deleted else one.version for one in entries])
    return asked.part([one.version for one in entries if one.deleted or not only])


@table.at("POST", "/subjects/*/versions")
def register(registry: Registry, asked: RegistryRequest, subject: str) -> dict[str, Any]:
    schema = asked.schema(asked.subject(subject))
    found = registry.register(schema, normalize=asked.flag("normalize"), force=asked.flag("force"))
    told = found.told()
    if form := asked.text("format"):
        told["schema"] = _formatted(registry, found, form)
    elif schema.type == PROTOBUF and is_descriptor(schema.text):
        told["schema"] = schema.text  # the client takes it for what its id is, and does not read .proto files
    del told["subject"]
    return {"id": told.pop("id"), **told}


def _formatted(registry: Registry, schema: Schema, form: str) -> str:
    return registry.formatted(registry.version(schema.subject, schema.version), form)


@table.at("GET", "/subjects/*/versions/*")
def version(registry: Registry, asked: RegistryRequest, subject: str, version: str) -> dict[str, Any]:
    return _told(registry, asked, _version(registry, asked, subject, version))


@table.at("GET", "/subjects/*/versions/*/schema")
def text(registry: Registry, asked: RegistryRequest, subject: str, version: str) -> Raw:
    return Raw(registry.formatted(_version(registry, asked, subject, version), asked.text("format")))


@table.at("GET", "/subjects/*/versions/*/referencedby", is_long=True)
def referenced_by(registry: Registry, asked: RegistryRequest, subject: str, version: str) -> list[int]:
    return asked.part(registry.referenced_by(asked.subject(subject), version_of(version)))


@table.at("DELETE", "/subjects/*/versions/*")
def delete_version(registry: Registry, asked: RegistryRequest, subject: str, version: str) -> int:
    return registry.delete_version(asked.subject(subject), version_of(version), permanent=asked.flag("permanent"))


def _version(registry: Registry, asked: RegistryRequest, subject: str, version: str) -> Entry:
    return registry.version(asked.subject(subject), version_of(version), deleted=asked.flag("deleted"))


def _told(registry: Registry, asked: RegistryRequest, entry: Entry) -> dict[str, Any]:
    told = entry.schema.told()
    if form := asked.text("format"):
        told["schema"] = registry.formatted(entry, form)
    if asked.text("referenceFormat") == "qualified" and context_of(entry.subject) != ".":
        for one in told.get("references", ()):
            one["subject"] = beside(entry.subject, one["subject"])
    return told

"""/config, /mode, /compatibility, /contexts, and what the registry says of itself."""

from __future__ import annotations

from typing import Any, Final

from kafkastub.registry.errors import RegistryError, invalid_mode
from kafkastub.registry.settings import requested_config
from kafkastub.registry_port.requests import version_of
from kafkastub.registry_port.routes.tables import Registry, RegistryRequest, Table

table = Table()

FOLLOWS: Final = "8.4.0"
"""The release of Confluent's registry whose rules are followed."""


@table.at("GET", "/config")
def config_of_all(registry: Registry, asked: RegistryRequest) -> dict[str, Any]:
    return config(registry, asked, "")


@table.at("GET", "/config/*")
def config(registry: Registry, asked: RegistryRequest, subject: str) -> dict[str, Any]:
    place = asked.subject(subject) or None
    if asked.flag("defaultToGlobal"):
        return registry.config(None if place is None else registry.named(place))
    return registry.own_config(place)


@table.at("PUT", "/config")
def set_config_of_all(registry: Registry, asked: RegistryRequest) -> dict[str, Any]:
    return set_config(registry, asked, "")


@table.at("PUT", "/config/*")
def set_config(registry: Registry, asked: RegistryRequest, subject: str) -> dict[str, Any]:
    change = requested_config(asked.object())
    found = registry.set_config(asked.subject(subject) or None, change)
    return {("compatibility" if name == "compatibilityLevel" else name): each for name, each in found.items()}


@table.at("DELETE", "/config")
def delete_config_of_all(registry: Registry, asked: RegistryRequest) -> dict[str, Any]:
    return delete_config(registry, asked, "")


@table.at("DELETE", "/config/*")
def delete_config(registry: Registry, asked: RegistryRequest, subject: str) -> dict[str, Any]:
    return registry.delete_config(asked.subject(subject) or None)


@table.at("GET", "/mode")
def mode_of_all(registry: Registry, asked: RegistryRequest) -> dict[str, Any]:
    return mode(registry, asked, "")


@table.at("GET", "/mode/*")
def mode(registry: Registry, asked: RegistryRequest, subject: str) -> dict[str, Any]:
    place = asked.subject(subject) or None
    if asked.flag("defaultToGlobal"):
        return {"mode": registry.mode(None if place is None else registry.named(place))}
    return {"mode": registry.own_mode(place)}


@table.at("PUT", "/mode")
def set_mode_of_all(registry: Registry, asked: RegistryRequest) -> dict[str, Any]:
    return set_mode(registry, asked, "")


@table.at("PUT", "/mode/*")
def set_mode(registry: Registry, asked: RegistryRequest, subject: str) -> dict[str, Any]:
    given = asked.object().get("mode")
    if not isinstance(given, str):
        raise invalid_mode()
    return {"mode": registry.set_mode(asked.subject(subject) or None, given, force=asked.flag("force"))}


@table.at("DELETE", "/mode")
def delete_mode_of_all(registry: Registry, asked: RegistryRequest) -> dict[str, Any]:
    return delete_mode(registry, asked, "")


@table.at("DELETE", "/mode/*")
def delete_mode(registry: Registry, asked: RegistryRequest, subject: str) -> dict[str, Any]:
    found = registry.delete_mode(asked.subject(subject) or None, recursive=asked.flag("recursive"))
    return {} if found is None else {"mode": found}


@table.at("POST", "/compatibility/subjects/*/versions")
def compatibility(registry: Registry, asked: RegistryRequest, subject: str) -> dict[str, Any]:
    return _compatibility(registry, asked, subject, None)


@table.at("POST", "/compatibility/subjects/*/versions/*")
def compatibility_with(registry: Registry, asked: RegistryRequest, subject: str, version: str) -> dict[str, Any]:
    return _compatibility(registry, asked, subject, version_of(version))


def _compatibility(registry: Registry, asked: RegistryRequest, subject: str, version: int | None) -> dict[str, Any]:
    schema, verbose = asked.schema(asked.subject(subject)), asked.flag("verbose")
    try:
        why = registry.why_incompatible(schema, version, normalize=asked.flag("normalize"))
    except RegistryError as error:
        if not verbose or error.code != 42201:
            raise
        why = [error.message]
    return {"is_compatible": not why, **({"messages": why} if verbose else {})}


@table.at("GET", "/contexts")
def contexts(registry: Registry, asked: RegistryRequest) -> list[str]:
    prefix = asked.text("contextPrefix")
    return asked.part([one for one in (".", *registry.store.contexts) if one.startswith(prefix)])


@table.at("GET", "/v1/metadata/version")
def version(registry: Registry, asked: RegistryRequest) -> dict[str, Any]:
    return {"version": FOLLOWS, "commitId": "kafkastub"}


@table.at("GET", "/")
def root(registry: Registry, asked: RegistryRequest) -> dict[str, Any]:
    return {}


@table.at("POST", "/")
def asked_root(registry: Registry, asked: RegistryRequest) -> dict[str, Any]:
    return {}

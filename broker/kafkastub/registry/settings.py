"""Compatibility and mode: of a subject, of a context, of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kafkastub.registry.entities import normalized_metadata, normalized_rules
from kafkastub.registry.errors import RegistryError, invalid_compatibility
from kafkastub.registry.subjects import DEFAULT_CONTEXT, GLOBAL_CONTEXT, Subject, parsed

LEVELS: Final = (
    "NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE",
)  # fmt: skip
DEFAULT_LEVEL: Final = "BACKWARD"
POLICIES: Final = ("STRICT", "LENIENT")
MODES: Final = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD")
DEFAULT_MODE: Final = "READWRITE"
IMPORTING: Final = frozenset(("IMPORT", "FORWARD"))
READ_ONLY: Final = frozenset(("READONLY", "READONLY_OVERRIDE"))

_TEXTS: Final = ("alias", "aliasForDeks")
_FLAGS: Final = ("normalize", "validateFields", "validateNewSchemas", "validateRules")
_METADATA: Final = ("defaultMetadata", "overrideMetadata")
_RULES: Final = ("defaultRuleSet", "overrideRuleSet")
_NAMES: Final = (
    *_TEXTS, *_FLAGS, "compatibilityLevel", "compatibilityPolicy", "compatibilityGroup", *_METADATA, *_RULES,
)  # fmt: skip
_OF_ALL: Final = (*_FLAGS, "compatibilityPolicy", "compatibilityGroup")
"""What a subject that has settings takes of those of all, where its own do not say it."""


def requested_config(request: Mapping[str, Any]) -> dict[str, Any]:
    """What a request to change settings says; a name with null is to be taken away. Raises RegistryError 422."""
    found: dict[str, Any] = {}
    for name in _NAMES:
        given = request.get("compatibility" if name == "compatibilityLevel" else name)
        if name == "compatibilityLevel" and given is None:
            given = request.get(name)
        if name in request or given is not None:
            found[name] = None if given is None else _checked(name, given)
    return found


def _checked(name: str, given: Any) -> Any:
    if name in _METADATA:
        return normalized_metadata(given)
    if name in _RULES:
        return normalized_rules(given)
    if name in _FLAGS:
        if not isinstance(given, bool):
            raise RegistryError(422, 422, f"{name} has to be true or false")
        return given
    if not isinstance(given, str):
        raise RegistryError(422, 422, f"{name} has to be a text")
    if name == "compatibilityLevel":
        if given.upper() not in LEVELS:
            raise invalid_compatibility()
        return given.upper()
    if name == "compatibilityPolicy":
        if given.upper() not in POLICIES:
            raise invalid_compatibility(f"Invalid compatibility policy. Valid values are {' and '.join(POLICIES)}")
        return given.upper()
    return given


def updated(old: Mapping[str, Any] | None, change: Mapping[str, Any]) -> dict[str, Any]:
    """Settings after a change, in their order."""
    merged = {**(old or {}), **change}
    return {name: merged[name] for name in _NAMES if merged.get(name) is not None}


def _places(subject: str | None) -> list[str | None]:
    """Where to look for what counts for a subject, the nearest first."""
    if subject is None:
        return [None, f":{GLOBAL_CONTEXT}:"]
    found = parsed(subject)
    of_context = None if found.context == DEFAULT_CONTEXT else Subject(found.context, "").qualified
    return [subject, of_context, f":{GLOBAL_CONTEXT}:"]


def own_config(configs: Mapping[str | None, dict[str, Any]], subject: str | None) -> dict[str, Any] | None:
    """The settings that a subject has itself; of all, and of the global context, the default ones at least."""
    found = configs.get(subject)
    if found is not None:
        return with_level(found)
    if subject is None or parsed(subject).context == GLOBAL_CONTEXT:
        return with_level({})
    return None


def config_in_scope(configs: Mapping[str | None, dict[str, Any]], subject: str | None) -> dict[str, Any]:
    """The settings that count for a subject."""
    found = next((configs[place] for place in _places(subject) if place in configs), {})
    if subject is not None and subject in configs:
        of_all = configs.get(None, {})
        found = updated({name: of_all[name] for name in _OF_ALL if name in of_all}, found)
    return with_level(found)


def with_level(config: Mapping[str, Any]) -> dict[str, Any]:
    """With a level, as Confluent's registry tells it."""
    return updated({"compatibilityLevel": DEFAULT_LEVEL}, config)


def own_mode(modes: Mapping[str | None, str], subject: str | None) -> str | None:
    """The mode that a subject has itself; of all, and of the global context, the default one at least."""
    found = modes.get(subject)
    if found is None and (subject is None or parsed(subject).context == GLOBAL_CONTEXT):
        return DEFAULT_MODE
    return found


def mode_in_scope(modes: Mapping[str | None, str], subject: str | None) -> str:
    """The mode that counts for a subject."""
    return next((modes[place] for place in _places(subject) if place in modes), DEFAULT_MODE)

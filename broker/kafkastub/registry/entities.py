"""A schema as the registry keeps it, with its references, metadata and rules."""

from __future__ import annotations

import hashlib
import struct
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from kafkastub.registry.errors import RegistryError, invalid_rules

AVRO, JSON, PROTOBUF = "AVRO", "JSON", "PROTOBUF"
TYPES: Final = (JSON, PROTOBUF, AVRO)
"""In the order in which `/schemas/types` has them."""

_OF_TEXT: Final = frozenset("{;= \n\t")
"""Characters of which each `.proto` file has one, and base64 none but at its end."""
_MIGRATION: Final = ("UPGRADE", "DOWNGRADE", "UPDOWN")
_DOMAIN: Final = ("WRITE", "READ", "WRITEREAD")
_RULES: Final = {"migrationRules": _MIGRATION, "domainRules": _DOMAIN, "encodingRules": _DOMAIN}
_LONGEST_RULE_NAME: Final = 256


class Reference(NamedTuple):
    """A reference to another schema. `name` is the name that the referring schema uses for it."""

    name: str
    subject: str
    version: int

    def told(self) -> dict[str, Any]:
        return {"name": self.name, "subject": self.subject, "version": self.version}


@dataclass(frozen=True)
class Schema:
    """A schema that is registered, or that a client registers.

    Attributes:
        version: 0 before it has a version, -1 for the latest.
        id: -1 before it has an id.
        metadata, rules: the results of `normalized_metadata` and `normalized_rules`.
        ts: the time of its record in Unix milliseconds, None without one.
        deleted: None before it is registered.
    """

    subject: str
    text: str
    type: str = AVRO
    references: tuple[Reference, ...] = ()
    metadata: Mapping[str, Any] | None = None
    rules: Mapping[str, Any] | None = None
    version: int = 0
    id: int = -1
    ts: int | None = None
    deleted: bool | None = None
    known_guid: str | None = field(default=None, compare=False)

    @property
    def guid(self) -> str:
        """The GUID, which is the same for the same schema in every registry (Confluent: MD5.ofSchema)."""
        if self.known_guid is not None:
            return self.known_guid
        found = guid_of(self.text, self.references, self.metadata, self.rules)
        object.__setattr__(self, "known_guid", found)
        return found

    def told(self) -> dict[str, Any]:
        """Return the schema as clients get it, without empty fields."""
        found: dict[str, Any] = {"subject": self.subject}
        if self.version > 0:
            found["version"] = self.version
        found |= {"id": self.id, "guid": self.guid, "schemaType": self.type}
        if self.references:
            found["references"] = [one.told() for one in self.references]
        if self.metadata is not None:
            found["metadata"] = dict(self.metadata)
        if self.rules is not None:
            found["ruleSet"] = dict(self.rules)
        found["schema"] = self.text
        if self.ts is not None:
            found["ts"] = self.ts
        if self.deleted is not None:
            found["deleted"] = self.deleted
        return found


def is_descriptor(text: str) -> bool:
    """Whether a Protobuf schema is a descriptor in base64 instead of the text of a file."""
    return _OF_TEXT.isdisjoint(text.strip().rstrip("="))


def guid_of(
    text: str, references: tuple[Reference, ...], metadata: Mapping[str, Any] | None, rules: Mapping[str, Any] | None
) -> str:
    """Return the UUID of the MD5 of everything that distinguishes a schema."""
    found = hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False)
    for one in references:
        found.update(one.name.encode() + one.subject.encode() + struct.pack(">i", one.version))
    if metadata is not None:
        found.update(b"\x01" + "".join(_texts_of_metadata(metadata)).encode())
    if rules is not None:
        found.update(b"\x01")
        for kind in _RULES:
            for rule in rules.get(kind, ()):
                found.update("".join(_texts_of_rule(rule)).encode() + (b"\x01" if rule.get("disabled") else b""))
    return str(uuid.UUID(bytes=found.digest()))


def _texts_of_metadata(metadata: Mapping[str, Any]) -> list[str]:
    texts: list[str] = []
    for name, tags in metadata.get("tags", {}).items():
        texts += [name, *tags]
    for name, value in metadata.get("properties", {}).items():
        texts += [name, value]
    return [*texts, *metadata.get("sensitive", ())]


def _texts_of_rule(rule: Mapping[str, Any]) -> list[str]:
    texts = [rule[name] for name in ("name", "doc", "kind", "mode", "type") if rule.get(name) is not None]
    texts += rule.get("tags", ())
    for name, value in rule.get("params", {}).items():
        texts += [name, value]
    return texts + [rule[name] for name in ("expr", "onSuccess", "onFailure") if rule.get(name) is not None]


def normalized_metadata(given: Any) -> dict[str, Any] | None:
    """Return the metadata in the order of the registry. Raises RegistryError 422."""
    if given is None:
        return None
    if not isinstance(given, dict):
        raise _unprocessable("metadata has to be an object")
    found: dict[str, Any] = {}
    if tags := given.get("tags"):
        if not isinstance(tags, dict) or not all(_is_texts(each) for each in tags.values()):
            raise _unprocessable("metadata.tags has to be an object of lists of texts")
        found["tags"] = {name: sorted(set(tags[name])) for name in sorted(tags)}
    if properties := given.get("properties"):
        if not isinstance(properties, dict):
            raise _unprocessable("metadata.properties has to be an object of texts")
        found["properties"] = {name: _text(properties[name]) for name in sorted(properties)}
    if sensitive := given.get("sensitive"):
        if not _is_texts(sensitive):
            raise _unprocessable("metadata.sensitive has to be a list of texts")
        found["sensitive"] = sorted(set(sensitive))
    return found


def normalized_rules(given: Any) -> dict[str, Any] | None:
    """Return the rules in the order of the registry. Raises RegistryError 422."""
    if given is None:
        return None
    if not isinstance(given, dict):
        raise _unprocessable("ruleSet has to be an object")
    found: dict[str, Any] = {}
    names: set[str] = set()
    for kind, modes in _RULES.items():
        rules = given.get(kind)
        if rules is not None and not isinstance(rules, list):
            raise _unprocessable(f"ruleSet.{kind} has to be a list")
        if rules:
            found[kind] = [_rule(kind, rule, modes, names) for rule in rules]
    if given.get("enableAt") is not None:
        found["enableAt"] = _text(given["enableAt"])
    return found


def _rule(kind: str, given: Any, modes: tuple[str, ...], names: set[str]) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise _unprocessable(f"each of ruleSet.{kind} has to be an object")
    name = _checked_rule_name(given.get("name"))
    if name in names:
        raise invalid_rules(f"Found rule with duplicate name '{name}'")
    names.add(name)
    if given.get("type") is None:
        raise invalid_rules(f"Missing rule type: rule '{name}'")
    mode = given.get("mode") or "WRITEREAD"
    if mode not in modes:
        what = kind.removesuffix("Rules").capitalize()
        raise invalid_rules(f"{what} rules can only be {', '.join(modes)}: rule '{name}' is {mode}")
    for action in ("onSuccess", "onFailure"):
        if "," in str(given.get(action) or "") and mode not in ("WRITEREAD", "UPDOWN"):
            raise invalid_rules(f"Multiple actions only valid with WRITEREAD and UPDOWN: rule '{name}'")
    found: dict[str, Any] = {"name": name}
    if given.get("doc"):
        found["doc"] = _text(given["doc"])
    found |= {"kind": given.get("kind") or "TRANSFORM", "mode": mode, "type": _text(given["type"])}
    if found["kind"] not in ("TRANSFORM", "CONDITION"):
        raise _unprocessable(f"kind of rule '{name}' has to be TRANSFORM or CONDITION")
    if tags := given.get("tags"):
        if not _is_texts(tags):
            raise _unprocessable(f"tags of rule '{name}' have to be a list of texts")
        found["tags"] = sorted(set(tags))
    if params := given.get("params"):
        if not isinstance(params, dict):
            raise _unprocessable(f"params of rule '{name}' have to be an object of texts")
        found["params"] = {each: _text(params[each]) for each in sorted(params)}
    for each in ("expr", "onSuccess", "onFailure"):
        if given.get(each):
            found[each] = _text(given[each])
    found["disabled"] = bool(given.get("disabled", False))
    return found


def _checked_rule_name(name: Any) -> str:
    if not isinstance(name, str):
        raise invalid_rules("Missing rule name")
    if not name:
        raise invalid_rules("Empty rule name")
    if len(name) > _LONGEST_RULE_NAME:
        raise invalid_rules("Rule name too long")
    if not (name[0].isalpha() or name[0] == "_"):
        raise invalid_rules(f"Illegal initial character in rule name: {name}")
    if not all(each.isalnum() or each in "_-" for each in name[1:]):
        raise invalid_rules(f"Illegal character in rule name: {name}")
    return name


def references_of(given: Any) -> tuple[Reference, ...]:
    """Return the references of a request or a record. Raises RegistryError 422."""
    if given is None:
        return ()
    if not isinstance(given, list):
        raise _unprocessable("references has to be a list")
    found = []
    for one in given:
        if not isinstance(one, dict) or not isinstance(one.get("name"), str) or not isinstance(one.get("subject"), str):
            raise _unprocessable("each of references needs a name, a subject and a version")
        version = one.get("version")
        if not isinstance(version, int) or isinstance(version, bool):
            raise _unprocessable(f"the version of reference {one['name']!r} has to be a number, -1 for the latest")
        found.append(Reference(one["name"], one["subject"], version))
    return tuple(found)


def _is_texts(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(each, str) for each in given)


def _text(given: Any) -> str:
    """Numbers and the like are taken for the text that they are written as, which is what clients of Jackson expect."""
    if isinstance(given, str):
        return given
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, int | float):
        return str(given)
    raise _unprocessable(f"expected a string, not {type(given).__name__}")


def _unprocessable(why: str) -> RegistryError:
    return RegistryError(422, 422, why)

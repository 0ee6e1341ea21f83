"""Kafka's message definitions, read into plain objects. Versions are inclusive ranges."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass, field
from typing import Any

FOREVER = 32767
"""The upper end of an open version range ("3+")."""

PRIMITIVES = {
    "bool", "int8", "int16", "uint16", "int32", "uint32", "int64", "float64", "string", "uuid", "bytes", "records",
}  # fmt: skip


@dataclass(frozen=True)
class Versions:
    first: int
    last: int

    @classmethod
    def parse(cls, text: str | None) -> Versions | None:
        if text is None or text == "none":
            return None
        if text.endswith("+"):
            return cls(int(text[:-1]), FOREVER)
        first, _, last = text.partition("-")
        return cls(int(first), int(last or first))

    def clip(self, to: Versions) -> Versions | None:
        first, last = max(self.first, to.first), min(self.last, to.last)
        return Versions(first, last) if first <= last else None


@dataclass(frozen=True)
class FieldDef:
    name: str
    """snake_case"""
    type: str
    """A primitive, a struct's name, or either behind `[]`."""
    versions: Versions
    nullable: Versions | None
    tag: int | None
    tagged: Versions | None
    default: Any
    flexible_never: bool
    """The field keeps its old encoding in flexible versions (the client id of a request header)."""


@dataclass(frozen=True)
class StructDef:
    name: str
    fields: tuple[FieldDef, ...]


@dataclass
class Message:
    name: str
    kind: str
    """request, response, header, data, coordinator-key, coordinator-value."""
    api_key: int | None
    valid: Versions
    flexible: Versions | None
    structs: list[StructDef] = field(default_factory=list)
    """Inner structs first, the message itself last."""

    @property
    def module(self) -> str:
        return snake(self.name)


def snake(name: str) -> str:
    """`ThrottleTimeMs` -> `throttle_time_ms`, `LSO` -> `lso`, `TransactionStartTimeMs2` keeps its digit."""
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name).lower()


def load_messages(archive: zipfile.ZipFile) -> list[Message]:
    found = []
    for entry in sorted(archive.namelist()):
        if not re.fullmatch(r"common/message/\w+\.json", entry):
            continue
        text = re.sub(r"(?m)^\s*//.*$", "", archive.read(entry).decode())
        message = _message(json.loads(text))
        if message is not None:
            found.append(message)
    return found


def _message(raw: dict[str, Any]) -> Message | None:
    valid = Versions.parse(raw["validVersions"])
    if valid is None or raw["type"] in ("metadata",):
        return None
    message = Message(raw["name"], raw["type"], raw.get("apiKey"), valid, Versions.parse(raw.get("flexibleVersions")))
    common = {struct["name"]: struct for struct in raw.get("commonStructs", [])}
    done: dict[str, StructDef] = {}
    _struct(raw["name"], raw["fields"], valid, common, done, message)
    return message


def _struct(
    name: str,
    fields: list[dict[str, Any]],
    valid: Versions,
    common: dict[str, Any],
    done: dict[str, StructDef],
    message: Message,
) -> None:
    if name in done:
        return
    made = []
    for raw in fields:
        given = raw.get("versions", raw.get("taggedVersions", "0+"))
        versions = (Versions.parse(given) or Versions(0, -1)).clip(valid)
        if versions is None:
            continue
        inner = raw["type"].removeprefix("[]")
        if inner not in PRIMITIVES and inner not in done:
            if "fields" in raw:
                _struct(inner, raw["fields"], valid, common, done, message)
            else:
                _struct(inner, common[inner]["fields"], valid, common, done, message)
        nullable = Versions.parse(raw.get("nullableVersions"))
        tagged = Versions.parse(raw.get("taggedVersions"))
        made.append(
            FieldDef(
                name=snake(raw["name"]),
                type=raw["type"],
                versions=versions,
                nullable=nullable.clip(versions) if nullable else None,
                tag=raw.get("tag"),
                tagged=tagged.clip(versions) if tagged else None,
                default=raw.get("default"),
                flexible_never=raw.get("flexibleVersions") == "none",
            )
        )
    struct = StructDef(name, tuple(made))
    done[name] = struct
    message.structs.append(struct)

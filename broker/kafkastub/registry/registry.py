"""A registry that clients change: schemas registered and deleted, compatibility and mode set.

Everything that changes it is written as records of `_schemas`, which the store is told of by whoever reads the topic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from kafkastub.registry import errors, records
from kafkastub.registry.compatibility import why_incompatible
from kafkastub.registry.entities import Schema, normalized_metadata, normalized_rules
from kafkastub.registry.errors import InvalidSchema
from kafkastub.registry.reading import LATEST, VERSION_PROPERTY, Reading
from kafkastub.registry.records import Record
from kafkastub.registry.settings import (
    IMPORTING,
    MODES,
    READ_ONLY,
    own_config,
    own_mode,
    updated,
)
from kafkastub.registry.store import Entry, Store
from kafkastub.registry.subjects import (
    DEFAULT_CONTEXT,
    GLOBAL_CONTEXT,
    context_of,
    is_valid,
    normalized,
    parsed,
)
from kafkastub.registry.types import Parsed

Write = Callable[[list[Record]], None]
"""Appends records to the topic; when it returns, the store knows them. Raises RegistryError."""

_LARGEST_ID = 2**31 - 1


class Registry(Reading):
    """A registry over a store. Every method raises RegistryError with Confluent's codes."""

    def __init__(self, store: Store, write: Write) -> None:
        super().__init__(store)
        self._write = write

    # -- registering -------------------------------------------------------------------------------------------------

    def register(self, schema: Schema, *, normalize: bool = False, force: bool = False) -> Schema:
        """Register a schema under its subject, once: what is there already is given back as it is.

        `normalize` takes it in an order that does not hang on how it was written; `force` asks for no compatibility.
        """
        if not is_valid(schema.subject):
            raise errors.invalid_subject(schema.subject)
        schema = replace(schema, subject=self.named(schema.subject))
        if schema.id > _LARGEST_ID:
            raise errors.invalid_schema(f"id {schema.id} is larger than {_LARGEST_ID}")
        config = self.config(schema.subject)
        normalize = normalize or bool(config.get("normalize"))
        if schema.text.strip() and not any(name.startswith(("default", "override")) for name in config):
            there = self._already(schema, normalize)
            if there is not None:
                return there
        self._check_mode(schema)
        return self._registered(schema, config, normalize, force)

    def _already(self, schema: Schema, normalize: bool) -> Schema | None:
        """The same schema, where it is there under that subject."""
        wanted, _ = self.prepared(schema, normalize=normalize, as_new=False)
        found = self.same(wanted, latest_only=schema.version == LATEST)
        if found is None or (schema.id >= 0 and schema.id != found.id):
            return None
        if schema.version > 0 and schema.version != found.version:
            return None
        return found.schema

    def _check_mode(self, schema: Schema) -> None:
        mode, context = self.mode(schema.subject), parsed(schema.subject).prefix
        place = f"Subject {schema.subject} in context {context}"
        if mode in READ_ONLY:
            raise errors.not_permitted(f"{place} is in read-only mode")
        if schema.id >= 0 and mode not in IMPORTING:
            raise errors.not_permitted(f"{place} is not in import mode")
        if schema.id < 0 and mode != "READWRITE":
            raise errors.not_permitted(f"{place} is not in read-write mode")

    def _registered(self, schema: Schema, config: Mapping[str, Any], normalize: bool, force: bool) -> Schema:
        versions = self.store.versions(schema.subject)
        there = [one for one in versions if not one.deleted]
        next_version = versions[-1].version + 1 if versions else 1
        importing = self.mode(schema.subject) in IMPORTING
        if not importing:
            schema = _completed(schema, config, there[-1].schema if there else None, next_version)
        as_new = schema.id < 0 and config.get("validateNewSchemas") is not False
        schema, new = self.prepared(schema, normalize=normalize and not importing, as_new=as_new)
        schema_id = self._id_of_same(schema)
        if schema.version == 0:
            found = self.same(schema)
            if found is not None and schema_id in (-1, found.id):
                return found.schema
        if not importing and not force:
            why = self._why_not(config, new, there, schema.metadata)
            if why:
                raise errors.incompatible(schema.subject, f"[{', '.join(why)}]")
        if schema.version > 0 and schema.version != next_version and not importing:
            raise errors.invalid_schema("Version is not one more than previous version")
        schema = replace(schema, version=schema.version if schema.version > 0 else next_version)
        self._check_id(schema, schema_id)
        context = context_of(schema.subject)
        schema = replace(schema, id=schema_id if schema_id >= 0 else self.store.max_id(context) + 1)
        written = [] if context == DEFAULT_CONTEXT or context in self.store.contexts else [context]
        self._write(
            [
                *map(records.context_record, written),
                *(
                    records.schema_tombstone(one.subject, one.version)
                    for one in versions
                    if one.deleted and one.id == schema.id and one.version < schema.version
                    if not self.store.referring(one.subject, one.version)
                ),
                records.schema_record(schema, deleted=False),
            ]
        )
        return schema

    def _id_of_same(self, schema: Schema) -> int:
        """The id to register it with: that of the same schema in the context, or the one that is asked for."""
        for one in self.store.same_text(context_of(schema.subject), schema.text):
            if schema.id in (-1, one.id) and one.schema.guid == schema.guid and one.schema.type == schema.type:
                return one.id
        return schema.id

    def _check_id(self, schema: Schema, schema_id: int) -> None:
        """Of two schemas that are not the same only one may have an id."""
        there = self.store.of_id(context_of(schema.subject), schema_id) if schema_id >= 0 else []
        if there and there[0].schema.guid != schema.guid:
            context = parsed(schema.subject).prefix
            raise errors.not_permitted(
                f"Overwrite new schema with id {schema_id} in context {context} is not permitted."
            )

    # -- compatibility -----------------------------------------------------------------------------------------------

    def why_incompatible(self, schema: Schema, version: int | None = None, *, normalize: bool = False) -> list[str]:
        """What keeps a schema from being registered, at the level that counts for its subject; empty if nothing does.

        `version` is the one that it is compared with alone; without it all are, as far as the level asks for it.
        """
        subject = self.named(schema.subject)
        config = self.config(subject)
        if version is None:
            there = [one for one in self.store.versions(subject) if not one.deleted]
        else:
            found = self._version(subject, version, False)
            if found is None and version != LATEST:
                raise errors.version_not_found(version)
            there = [] if found is None else [found]
        normalize = normalize or bool(config.get("normalize"))
        as_new = config.get("validateNewSchemas") is not False
        _, new = self.prepared(replace(schema, subject=subject), normalize=normalize, as_new=as_new)
        return self._why_not(config, new, there, schema.metadata)

    def _why_not(
        self,
        config: Mapping[str, Any],
        new: Parsed,
        there: list[Entry],
        metadata: Mapping[str, Any] | None = None,
    ) -> list[str]:
        group = config.get("compatibilityGroup")
        if group is not None:
            mine = _property(metadata, group)
            there = [one for one in there if _property(one.schema.metadata, group) == mine]
        level, policy = config["compatibilityLevel"], config.get("compatibilityPolicy", "STRICT")
        try:
            found = why_incompatible(level, policy, new, [partial(self.parsed, one) for one in there])
        except InvalidSchema as error:  # TooComplex, or a version that cannot be read any more
            raise errors.invalid_schema(str(error)) from None
        if found:
            fields = str(bool(config.get("validateFields"))).lower()
            found.append(f"{{validateFields: '{fields}', compatibility: '{level}'}}")
        return found

    # -- deleting ----------------------------------------------------------------------------------------------------

    def delete_version(self, subject: str, version: int, *, permanent: bool = False) -> int:
        """Delete a version, LATEST for the latest: softly, or for good what was deleted softly before."""
        name = self.named(subject)
        entry = self._version(name, version, True)
        if entry is not None and entry.deleted and not permanent:
            if version != LATEST:
                raise errors.version_soft_deleted(name, version)
            entry = self.store.latest(name)
        if entry is None:
            raise (
                errors.version_not_found(version)
                if self.has_subject(name, deleted=True)
                else errors.subject_not_found(name)
            )
        self._check_writable(name)
        referring = self.store.referring(name, entry.version)
        if any(permanent or not one.deleted for one in referring):
            raise errors.reference_exists(name, entry.version)
        if not permanent:
            self._write([records.schema_record(entry.schema, deleted=True)])
            return entry.version
        if not entry.deleted:
            raise errors.version_not_soft_deleted(name, entry.version)
        gone = [records.schema_tombstone(name, entry.version)]
        if len(self.store.versions(name)) == 1:
            gone += self._settings_gone(name)
        self._write(gone)
        return entry.version

    def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """Delete all versions of a subject: softly, or for good what was deleted softly before."""
        name = self.named(subject)
        if not self.has_subject(name, deleted=True):
            raise errors.subject_not_found(name)
        if not permanent and not self.has_subject(name, deleted=False):
            raise errors.subject_soft_deleted(name)
        self._check_writable(name)
        entries = [one for one in self.store.versions(name) if permanent or not one.deleted]
        for one in entries:
            referring = self.store.referring(name, one.version)
            if any(each.subject != name and (permanent or not each.deleted) for each in referring):
                raise errors.reference_exists(name, one.version)
            if permanent and not one.deleted:
                raise errors.subject_not_soft_deleted(name)
        if permanent:
            gone = [records.schema_tombstone(name, one.version) for one in reversed(entries)]
            self._write([*gone, *self._settings_gone(name)])
        else:
            self._write([records.delete_subject_record(name, entries[-1].version)])
        return [one.version for one in entries]

    def _settings_gone(self, subject: str) -> list[Record]:
        gone = [records.mode_record(subject, None)] if subject in self.store.modes else []
        return gone + ([records.config_record(subject, None)] if subject in self.store.configs else [])

    def _check_writable(self, subject: str | None) -> None:
        if self.mode(subject) in READ_ONLY:
            context = "" if subject is None else parsed(subject).prefix
            raise errors.not_permitted(f"Subject {subject or 'null'} in context {context} is in read-only mode")

    # -- settings ----------------------------------------------------------------------------------------------------

    def own_config(self, subject: str | None) -> dict[str, Any]:
        """The settings of a subject itself, of all with None. 40408 where it has none."""
        place = _place(subject)
        found = own_config(self.store.configs, place)
        if found is None:
            raise errors.compatibility_not_configured(place or "")
        return found

    def set_config(self, subject: str | None, change: Mapping[str, Any]) -> dict[str, Any]:
        """Change settings, as `requested_config` gives them. Says what they are."""
        place = self._settable(subject)
        self._check_writable(place)
        found = updated(self.store.configs.get(place), change)
        self._write([records.config_record(place, found)])
        return found

    def delete_config(self, subject: str | None) -> dict[str, Any]:
        """Take a subject's settings away, or set those of all back. Says what they were; 40401 where it has none."""
        place = _place(subject)
        found = own_config(self.store.configs, place)
        if found is None:
            raise errors.subject_not_found(place or "")
        self._check_writable(place)
        self._write([records.config_record(place, None)])
        return found

    def own_mode(self, subject: str | None) -> str:
        """The mode of a subject itself, of all with None. 40409 where it has none."""
        place = _place(subject)
        found = own_mode(self.store.modes, place)
        if found is None:
            raise errors.mode_not_configured(place or "")
        return found

    def set_mode(self, subject: str | None, mode: str, *, force: bool = False) -> str:
        """Set a mode. IMPORT needs an empty place, unless `force`: what is deleted softly there is forgotten then."""
        place = self._settable(subject)
        mode = mode.upper()
        if mode not in MODES:
            raise errors.invalid_mode()
        if mode == "FORWARD" and place != f":{GLOBAL_CONTEXT}:":
            raise errors.invalid_mode("Forward mode only supported on global level")
        written: list[Record] = []
        if mode == "IMPORT" and self.mode(place) != "IMPORT" and not force:
            written = self._cleared(place)
        self._write([*written, records.mode_record(place, mode)])
        return mode

    def _cleared(self, place: str | None) -> list[Record]:
        """What makes a place empty in which everything is deleted."""
        wanted = parsed(place or "")
        names = [place] if place and wanted.name else self.subjects(wanted.prefix, deleted=True)
        entries = [one for name in names if name is not None for one in self.store.versions(name)]
        if any(not one.deleted for one in entries):
            raise errors.not_permitted("Cannot import since found existing subjects")
        for one in entries:
            if self.store.referring(one.subject, one.version):
                raise errors.reference_exists(one.subject, one.version)
        gone = [records.schema_tombstone(one.subject, one.version) for one in entries]
        return [*gone, records.clear_subject_record(place)]

    def delete_mode(self, subject: str | None, *, recursive: bool = False) -> str | None:
        """Take a mode away. Says what it was; 40401 where there is none. `recursive`: those of all subjects below."""
        place = _place(subject)
        found = own_mode(self.store.modes, place)
        if found is None and not recursive:
            raise errors.subject_not_found(place or "")
        places: list[str | None] = [place] if place in self.store.modes or not recursive else []
        if recursive:
            context = context_of(place or "")
            places += [
                one for one in self.store.modes if one is not None and context_of(one) == context and one != place
            ]
        self._write([records.mode_record(one, None) for one in places])
        return found

    def _settable(self, subject: str | None) -> str | None:
        if subject is not None and not is_valid(subject, of_settings=True):
            raise errors.invalid_subject(subject)
        return _place(subject)


def _place(subject: str | None) -> str | None:
    """Where settings are kept: None for those of all."""
    return None if subject is None or not (name := normalized(subject)) else name


def _property(metadata: Mapping[str, Any] | None, name: str) -> Any:
    return (metadata or {}).get("properties", {}).get(name)


def _completed(schema: Schema, config: Mapping[str, Any], previous: Schema | None, next_version: int) -> Schema:
    """With what a request leaves out: of the version before, and of the settings (Confluent: data contracts)."""
    if not schema.text.strip():
        if previous is None:
            raise errors.invalid_schema("Empty schema")
        schema = replace(schema, text=previous.text, type=previous.type, references=previous.references)
    metadata = schema.metadata if schema.metadata is not None or previous is None else previous.metadata
    rules = schema.rules if schema.rules is not None or previous is None else previous.rules
    metadata = _merged_metadata(config.get("defaultMetadata"), metadata, config.get("overrideMetadata"))
    rules = _merged_rules(config.get("defaultRuleSet"), rules, config.get("overrideRuleSet"))
    if schema.version != 0 or _property(metadata, VERSION_PROPERTY) is not None:
        properties = {**(metadata or {}).get("properties", {}), VERSION_PROPERTY: str(next_version)}
        metadata = {**(metadata or {}), "properties": properties}
    return replace(schema, metadata=normalized_metadata(metadata), rules=normalized_rules(rules))


def _merged_metadata(*given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Of two that say something of the same the later one counts."""
    there = [one for one in given if one is not None]
    if not there:
        return None
    merged: dict[str, Any] = {}
    for one in there:
        for name in ("tags", "properties"):
            merged[name] = {**merged.get(name, {}), **one.get(name, {})}
        merged["sensitive"] = [*merged.get("sensitive", ()), *one.get("sensitive", ())]
    return {name: value for name, value in merged.items() if value}


def _merged_rules(*given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Rules by their names: of two with the same the later one counts."""
    there = [one for one in given if one is not None]
    if not there:
        return None
    merged: dict[str, Any] = {}
    for one in there:
        for kind in ("migrationRules", "domainRules", "encodingRules"):
            rules = {rule["name"]: rule for rule in merged.get(kind, ())}
            for rule in one.get(kind, ()):
                rules.pop(rule["name"], None)
                rules[rule["name"]] = rule
            merged[kind] = list(rules.values())
        if "enableAt" in one:
            merged["enableAt"] = one["enableAt"]
    return {name: value for name, value in merged.items() if value}

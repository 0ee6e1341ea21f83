"""What clients look up: subjects, versions, schemas by their ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from kafkastub.registry import errors
from kafkastub.registry.entities import Reference, Schema
from kafkastub.registry.errors import InvalidSchema
from kafkastub.registry.settings import config_in_scope, mode_in_scope
from kafkastub.registry.store import Entry, Store
from kafkastub.registry.subjects import DEFAULT_CONTEXT, beside, context_of, normalized, parsed
from kafkastub.registry.types import Parsed, parse

LATEST: Final = -1
VERSION_PROPERTY: Final = "confluent:version"
"""A property of metadata that says which version it is of: two schemas that differ in it alone are the same."""
_MOST_REFERENCES: Final = 1000


class Reading:
    """A registry that is only looked at."""

    def __init__(self, store: Store) -> None:
        self.store = store

    # -- subjects and versions ---------------------------------------------------------------------------------------

    def named(self, subject: str) -> str:
        """The subject that is meant: another one where it has an alias."""
        name = normalized(subject)
        alias = self.store.configs.get(name, {}).get("alias")
        return normalized(alias) if isinstance(alias, str) and alias else name

    def subjects(self, prefix: str = "", *, deleted: bool = False, deleted_only: bool = False) -> list[str]:
        """Names that begin with a prefix, those of a context, or (":*:") of all."""
        wanted = parsed(prefix)
        return [
            name
            for name in self.store.subjects()
            if wanted.context in ("*", context_of(name))
            and parsed(name).name.startswith(wanted.name)
            and _is_listed(self.store.versions(name), deleted, deleted_only)
        ]

    def has_subject(self, subject: str, *, deleted: bool) -> bool:
        versions = self.store.versions(subject)
        return any(deleted or not one.deleted for one in versions)

    def versions(self, subject: str, *, deleted: bool = False) -> list[Entry]:
        """Raises RegistryError 40401."""
        name = self.named(subject)
        found = [one for one in self.store.versions(name) if deleted or not one.deleted]
        if not found:
            raise errors.subject_not_found(name)
        return found

    def version(self, subject: str, version: int, *, deleted: bool = False) -> Entry:
        """A version, LATEST for the latest; of the default context's name, that of any context that has it.

        Raises RegistryError 40401, 40402.
        """
        name = self.named(subject)
        for each in self._in_contexts(name):
            found = self._version(each, version, deleted)
            if found is not None:
                return found
        if not self.has_subject(name, deleted=deleted):
            raise errors.subject_not_found(name)
        raise errors.version_not_found(version)

    def _version(self, subject: str, version: int, deleted: bool) -> Entry | None:
        if version == LATEST:
            return self.store.latest(subject, deleted=deleted)
        found = self.store.entry(subject, version)
        return None if found is None or (found.deleted and not deleted) else found

    def _in_contexts(self, subject: str) -> Iterator[str]:
        yield subject
        if context_of(subject) == DEFAULT_CONTEXT:
            yield from (f":{context}:{subject}" for context in self.store.contexts)

    def latest_with(self, subject: str, properties: Mapping[str, str], *, deleted: bool = False) -> Entry:
        """The latest version whose metadata has these properties. Raises RegistryError 40401, 40403."""
        name = self.named(subject)
        for one in reversed(self.store.versions(name)):
            has = (one.schema.metadata or {}).get("properties", {})
            if (deleted or not one.deleted) and properties.items() <= has.items():
                return one
        if not self.has_subject(name, deleted=deleted):
            raise errors.subject_not_found(name)
        raise errors.schema_not_found()

    # -- ids ---------------------------------------------------------------------------------------------------------

    def of_id(self, schema_id: int, subject: str | None = None) -> list[Entry]:
        """The versions with an id, in the context of `subject` or, where it names none, in the first that has it.

        Raises RegistryError 40403.
        """
        wanted = parsed("" if subject is None else normalized(subject))
        contexts = [wanted.context]
        if wanted.context == DEFAULT_CONTEXT and wanted.name:
            contexts += self.store.contexts
        for context in contexts:
            found = self.store.of_id(context, schema_id)
            own = [one for one in found if parsed(one.subject).name == wanted.name] if wanted.name else []
            if own and context != DEFAULT_CONTEXT:
                return [*own, *(one for one in found if one not in own)]
            if found and (context == wanted.context):
                return [*own, *(one for one in found if one not in own)]
        raise errors.schema_not_found(schema_id)

    def of_guid(self, guid: str) -> list[Entry]:
        """Raises RegistryError 40403."""
        found = self.store.of_guid(guid)
        if not found:
            raise errors.schema_not_found(guid)
        return found

    def referenced_by(self, subject: str, version: int) -> list[int]:
        """Ids of the schemas that refer to a version and are not deleted. Raises RegistryError 40401, 40402."""
        entry = self.version(subject, version, deleted=True)
        return sorted({one.id for one in self.store.referring(entry.subject, entry.version) if not one.deleted})

    # -- settings ----------------------------------------------------------------------------------------------------

    def config(self, subject: str | None) -> dict[str, Any]:
        """The settings that count for a subject."""
        return config_in_scope(self.store.configs, subject)

    def mode(self, subject: str | None) -> str:
        """The mode that counts for a subject."""
        return mode_in_scope(self.store.modes, subject)

    # -- schemas, parsed ---------------------------------------------------------------------------------------------

    def parsed(self, entry: Entry) -> Parsed:
        """A version, parsed; that is kept with it. Raises InvalidSchema."""
        if entry.parsed is None:
            schema = entry.schema
            entry.parsed = parse(schema.type, schema.text, self.resolved(schema), as_new=False)
        found: Parsed = entry.parsed
        return found

    def formatted(self, entry: Entry, form: str) -> str:
        """The text of a version in a form that its type knows. Raises RegistryError 42201."""
        if not form.strip():
            return entry.schema.text
        try:
            return self.parsed(entry).formatted(form)
        except InvalidSchema as error:
            raise errors.invalid_schema(str(error)) from None

    def resolved(self, schema: Schema) -> list[tuple[str, str]]:
        """What a schema refers to, by names with texts; each before those that refer to it. Raises InvalidSchema."""
        found: dict[str, str] = {}
        under_way: set[str] = set()

        def add(subject: str, references: tuple[Reference, ...]) -> None:
            for one in references:
                if one.name in found or one.name in under_way:
                    continue
                if len(found) + len(under_way) >= _MOST_REFERENCES:
                    raise InvalidSchema(f"it refers to more than {_MOST_REFERENCES} schemas")
                entry = self._version(beside(subject, one.subject), one.version, True)
                if entry is None:
                    raise InvalidSchema(
                        f'No schema reference found for subject "{one.subject}" and version {one.version}'
                    )
                under_way.add(one.name)
                add(entry.subject, entry.schema.references)
                under_way.discard(one.name)
                found[one.name] = entry.schema.text

        try:
            add(schema.subject, schema.references)
        except RecursionError:
            raise InvalidSchema("its references lie too deep in each other") from None
        return list(found.items())

    def prepared(self, schema: Schema, *, normalize: bool, as_new: bool = True) -> tuple[Schema, Parsed]:
        """A schema of a request with its canonical text, and parsed. Raises RegistryError 42201."""
        if not schema.text.strip():
            raise errors.invalid_schema("Empty schema")
        try:
            found = parse(schema.type, schema.text, self.resolved(schema), as_new=as_new)
            text = found.text
            references = schema.references
            if normalize:
                text, references = found.normalized(), tuple(sorted(set(references)))
        except InvalidSchema as error:
            raise errors.invalid_schema(f"Invalid schema of type {schema.type}, details: {error}") from None
        return replace(schema, text=text, references=references), found

    def same(self, schema: Schema, *, deleted: bool = False, latest_only: bool = False) -> Entry | None:
        """The version of the schema's subject that is that schema."""
        versions = [one for one in self.store.versions(schema.subject) if deleted or not one.deleted]
        for one in reversed(versions[-1:] if latest_only else versions):
            if self._is_same(schema, one.schema):
                return one
        return None

    def _is_same(self, schema: Schema, kept: Schema) -> bool:
        if schema.text != kept.text or schema.type != kept.type:
            return False
        if schema.metadata is not None and _without_version(schema.metadata) != _without_version(kept.metadata):
            return False
        if schema.rules is not None and schema.rules != kept.rules:
            return False
        if not schema.references and kept.references:
            return True
        return self._pinned(schema) == self._pinned(kept)

    def _pinned(self, schema: Schema) -> list[Reference]:
        """The references, with the latest version as it is now."""
        pinned = []
        for one in schema.references:
            entry = self.store.latest(beside(schema.subject, one.subject)) if one.version == LATEST else None
            pinned.append(one if entry is None else one._replace(version=entry.version))
        return pinned

    def lookup(self, schema: Schema, *, normalize: bool = False, deleted: bool = False) -> Entry:
        """The version that a schema is. Raises RegistryError 40401, 40403, 42201."""
        name = self.named(schema.subject)
        normalize = normalize or bool(self.config(name).get("normalize"))
        refused = None
        for each in self._in_contexts(name):
            try:
                wanted, _ = self.prepared(replace(schema, subject=each), normalize=normalize, as_new=False)
            except errors.RegistryError as error:
                refused = refused or error
                continue
            found = self.same(wanted, deleted=deleted)
            if found is not None:
                return found
        if refused is not None:
            raise refused
        if not self.has_subject(name, deleted=deleted):
            raise errors.subject_not_found(name)
        raise errors.schema_not_found()


def _is_listed(versions: list[Entry], deleted: bool, deleted_only: bool) -> bool:
    there = any(not one.deleted for one in versions)
    return not there if deleted_only else deleted or there


def _without_version(metadata: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if metadata is None or VERSION_PROPERTY not in metadata.get("properties", {}):
        return None if not metadata else dict(metadata)
    properties = {name: value for name, value in metadata["properties"].items() if name != VERSION_PROPERTY}
    rest = {name: value for name, value in metadata.items() if name != "properties"}
    return {**rest, **({"properties": properties} if properties else {})} or None

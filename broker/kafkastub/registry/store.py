"""What the records of `_schemas` say. It changes by records alone, whoever has written them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from kafkastub.registry.entities import (
    AVRO,
    TYPES,
    Schema,
    normalized_metadata,
    normalized_rules,
    references_of,
)
from kafkastub.registry.errors import RegistryError
from kafkastub.registry.records import as_json
from kafkastub.registry.settings import LEVELS, MODES
from kafkastub.registry.subjects import DEFAULT_CONTEXT, context_of, normalized

_KEY: Final = re.compile(rb'\{"keytype":"SCHEMA","subject":"([^"\\]*)","version":(\d{1,9}),"magic":1\}')
_TEXT: Final = b'"schema":"'
_ENDS: Final = {b'","deleted":false}': False, b'","deleted":true}': True}
"""How values end that this registry, or Confluent's, has written: they are not read until somebody asks for them."""
_LONGEST_ID: Final = 10
_LARGEST: Final = 2**31 - 1


class Entry:
    """A version of a subject, as its record has it.

    Attributes:
        ts: Unix milliseconds of the record.
        parsed: where what is made of its text is kept, by those who make it.
    """

    __slots__ = ("_quick", "_raw", "_schema", "deleted", "id", "parsed", "subject", "ts", "version")

    def __init__(
        self, subject: str, version: int, schema_id: int, deleted: bool, ts: int, raw: bytes, quick: bool
    ) -> None:
        """`quick`: whether the value ends with the schema and whether it is deleted, as this registry writes it."""
        self.subject = subject
        self.version = version
        self.id = schema_id
        self.deleted = deleted
        self.ts = ts
        self._raw = raw
        self._quick = quick
        self._schema: Schema | None = None
        self.parsed: Any = None

    @property
    def content(self) -> bytes:
        """What has the same schema text has the same here: the text as JSON, without its quotation marks."""
        if self._quick:
            begin = self._raw.rfind(_TEXT) + len(_TEXT)
            content = self._raw[begin : self._raw.rfind(b'","deleted":')]
            if begin >= len(_TEXT) and b'","' not in content:
                return content  # within a text each quotation mark is escaped: there are no other fields between
        return _content(self.schema.text)

    @property
    def refers(self) -> bool:
        """Whether it may have references."""
        return b'"references"' in self._raw

    @property
    def schema(self) -> Schema:
        """As clients see it."""
        found = self._schema
        if found is None or found.deleted != self.deleted:
            found = self._schema = _schema(json.loads(self._raw), self)
        return found


def _schema(value: Mapping[str, Any], entry: Entry) -> Schema:
    return Schema(
        entry.subject,
        value["schema"],
        value.get("schemaType") or AVRO,
        references_of(value.get("references")),
        normalized_metadata(value.get("metadata")),
        normalized_rules(value.get("ruleSet")),
        entry.version,
        entry.id,
        entry.ts,
        entry.deleted,
    )


class Store:
    """Subjects, versions, ids and settings.

    Attributes:
        configs, modes: by subject, by context (its prefix) and, with the key None, of all.
        contexts: those that have had a schema, but for the default one.
        ignored: records that say nothing a registry understands, counted.
    """

    def __init__(self) -> None:
        self._subjects: dict[str, dict[int, Entry]] = {}
        self._ids: dict[str, dict[int, list[Entry]]] = {}
        self._contents: dict[str, dict[bytes, list[Entry]]] | None = None
        self._max_ids: dict[str, int] = {}
        self._references: dict[tuple[str, int], set[Entry]] | None = None
        self._guids: dict[str, list[Entry]] | None = None
        self.configs: dict[str | None, dict[str, Any]] = {}
        self.modes: dict[str | None, str] = {}
        self.contexts: dict[str, None] = {}
        self.ignored = 0

    # -- what it says ----------------------------------------------------------------------------------------------

    def subjects(self) -> Iterator[str]:
        """Those that have a version, deleted or not, in the order of their names."""
        return iter(sorted(self._subjects))

    def versions(self, subject: str) -> list[Entry]:
        """The versions of a subject, deleted ones too, from the first to the latest."""
        found = self._subjects.get(subject, {})
        return [found[version] for version in sorted(found)]

    def entry(self, subject: str, version: int) -> Entry | None:
        return self._subjects.get(subject, {}).get(version)

    def latest(self, subject: str, *, deleted: bool = False) -> Entry | None:
        """The latest version; of those that are not deleted unless `deleted`."""
        there = self._subjects.get(subject, {}).values()
        return max((one for one in there if deleted or not one.deleted), key=lambda one: one.version, default=None)

    def of_id(self, context: str, schema_id: int) -> list[Entry]:
        """The versions with an id in a context, in the order in which they were written."""
        return self._ids.get(context, {}).get(schema_id, [])

    def same_text(self, context: str, text: str) -> list[Entry]:
        """The versions whose schema has exactly this text."""
        if self._contents is None:
            self._contents = {}
            for one in self._every():
                self._note_content(self._contents, one)
        return self._contents.get(context, {}).get(_content(text), [])

    @staticmethod
    def _note_content(contents: dict[str, dict[bytes, list[Entry]]], entry: Entry) -> None:
        contents.setdefault(context_of(entry.subject), {}).setdefault(entry.content, []).append(entry)

    def max_id(self, context: str) -> int:
        """The largest id that was ever there; 0 where there was none."""
        return self._max_ids.get(context, 0)

    def referring(self, subject: str, version: int) -> set[Entry]:
        """The versions, deleted ones too, that refer to one."""
        if self._references is None:
            self._references = {}
            for one in self._every():
                self._refer(one)
        return self._references.get((subject, version), set())

    def of_guid(self, guid: str) -> list[Entry]:
        """The versions whose schema has this guid, in any context."""
        if self._guids is None:
            self._guids = {}
            for one in self._every():
                self._guids.setdefault(one.schema.guid, []).append(one)
        return self._guids.get(guid, [])

    def _every(self) -> Iterator[Entry]:
        for versions in self._subjects.values():
            yield from versions.values()

    # -- how it changes --------------------------------------------------------------------------------------------

    def apply(self, key: bytes | None, value: bytes | None, ts: int) -> None:
        """One record after the other. What is no record of a registry is counted and left alone."""
        schema_key = None if key is None else _KEY.fullmatch(key)
        if schema_key is not None:
            subject, version = schema_key[1].decode(errors="replace"), int(schema_key[2])
            if value is None:
                self._forget(subject, version)
            else:
                entry = _quickly(subject, version, schema_key, value, ts)
                self._take(entry or _carefully(subject, version, value, ts))
            return
        try:
            parts = json.loads(key or b"")
            found = None if value is None else json.loads(value)
            self._apply_other(parts, found, value, ts)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, RegistryError):
            self.ignored += 1

    def take(self, subject: str, version: int, schema_id: int, deleted: bool, ts: int, raw: bytes) -> None:
        """A version of a subject whose record ends as this registry writes it, with whether it is deleted."""
        if version <= 0 or schema_id > _LARGEST:
            self.ignored += 1
            return
        entry = Entry(subject, version, schema_id, deleted, ts, raw, True)
        ids = self._ids.get(DEFAULT_CONTEXT)
        if ids is None or subject[0] == ":" or subject in self._subjects or schema_id in ids or self._is_indexed:
            self._take(entry)
            return
        self._subjects[subject] = {version: entry}
        ids[schema_id] = [entry]
        if schema_id > self._max_ids[DEFAULT_CONTEXT]:
            self._max_ids[DEFAULT_CONTEXT] = schema_id

    def _apply_other(self, key: dict[str, Any], value: Any, raw: bytes | None, ts: int) -> None:
        """Raises what reading it may raise."""
        keytype, subject = key["keytype"], key.get("subject")
        if subject is not None and not isinstance(subject, str):
            raise TypeError
        if keytype == "SCHEMA":
            version = int(key["version"])
            if raw is None:
                self._forget(str(subject), version)
            else:
                self._take(_carefully(str(subject), version, raw, ts))
        elif keytype == "CONFIG":
            self._set_config(subject, value)
        elif keytype == "MODE":
            if value is None:
                self.modes.pop(subject, None)
            elif value["mode"] in MODES:
                self.modes[subject] = value["mode"]
        elif keytype == "CONTEXT":
            if value is None:
                self.contexts.pop(key["context"], None)
            else:
                self.contexts[str(key["context"])] = None
        elif value is None:
            return
        elif keytype == "DELETE_SUBJECT":
            self._delete_up_to(value["subject"], int(value["version"]))
        elif keytype == "CLEAR_SUBJECT":
            self._clear(value.get("subject"))

    def _set_config(self, subject: str | None, value: Any) -> None:
        if value is None:
            self.configs.pop(subject, None)
            return
        config = {name: each for name, each in value.items() if name != "subject"}
        if config.get("compatibilityLevel", LEVELS[0]) in LEVELS:
            self.configs[subject] = config

    def _take(self, entry: Entry | None) -> None:
        """A version of a subject; None where its record could not be read."""
        if entry is None:
            self.ignored += 1
            return
        subject, version, schema_id = entry.subject, entry.version, entry.id
        context = context_of(subject)
        ids = self._ids.get(context)
        if ids is None:
            ids = self._ids[context] = {}
        there = self._subjects.get(subject)
        same_id = ids.get(schema_id)
        if same_id and same_id[0].content != entry.content and (there is None or same_id != [there.get(version)]):
            self.ignored += 1  # another schema has that id: Confluent's registry does not believe it either
            return
        if there is not None and version in there:
            self._forget(subject, version)
        if there is None or subject not in self._subjects:
            self._subjects[subject] = {version: entry}
        else:
            there[version] = entry
        if schema_id in ids:
            ids[schema_id].append(entry)
        else:
            ids[schema_id] = [entry]
        if schema_id > self._max_ids.get(context, 0):
            self._max_ids[context] = schema_id
        if self._contents is not None:
            self._note_content(self._contents, entry)
        if self._references is not None:
            self._refer(entry)
        if self._guids is not None:
            self._guids.setdefault(entry.schema.guid, []).append(entry)

    @property
    def _is_indexed(self) -> bool:
        return self._contents is not None or self._references is not None or self._guids is not None

    def _refer(self, entry: Entry) -> None:
        if entry.refers and self._references is not None:
            from kafkastub.registry.subjects import beside

            for one in entry.schema.references:
                place = beside(entry.subject, one.subject), one.version
                self._references.setdefault(place, set()).add(entry)

    def _forget(self, subject: str, version: int) -> None:
        versions = self._subjects.get(subject)
        entry = None if versions is None else versions.pop(version, None)
        if entry is None or versions is None:
            return
        if not versions:
            del self._subjects[subject]
        context = context_of(subject)
        _remove(self._ids[context], entry.id, entry)
        if self._contents is not None:
            _remove(self._contents[context], entry.content, entry)
        if self._guids is not None:
            _remove(self._guids, entry.schema.guid, entry)
        if self._references is not None and entry.refers:
            for referring in self._references.values():
                referring.discard(entry)

    def _delete_up_to(self, subject: str, last: int) -> None:
        for version, entry in self._subjects.get(subject, {}).items():
            if version <= last:
                entry.deleted = True

    def _clear(self, subject: str | None) -> None:
        """Forget a subject, all of a context, or all of the default one."""
        named = normalized(subject or "")
        if named and not named.endswith(":"):
            gone = [named]
        else:
            context = context_of(named) if named else DEFAULT_CONTEXT
            gone = [one for one in self._subjects if context_of(one) == context]
        for one in gone:
            for version in list(self._subjects.get(one, ())):
                self._forget(one, version)


def _remove(index: dict[Any, list[Entry]], key: Any, entry: Entry) -> None:
    there = index[key]
    there.remove(entry)
    if not there:
        del index[key]


def _content(text: str) -> bytes:
    """The text as JSON, without its quotation marks: as it stands in a record."""
    return as_json(text)[1:-1]


def _quickly(subject: str, version: int, key: re.Match[bytes], raw: bytes, ts: int) -> Entry | None:
    """Where it is written as this registry writes it: without reading all of it."""
    begin = b'{"subject":"%b","version":%b,"id":' % key.groups()
    if not raw.startswith(begin):
        return None
    at = len(begin)
    digits = raw[at : raw.find(b",", at, at + _LONGEST_ID + 1)]
    for end, deleted in _ENDS.items():
        if raw.endswith(end) and digits.isdigit() and int(digits) <= _LARGEST:
            return Entry(subject, version, int(digits), deleted, ts, raw, True)
    return None


def _carefully(subject: str, version: int, raw: bytes, ts: int) -> Entry | None:
    try:
        value = json.loads(raw)
        schema_id, text = value["id"], value["schema"]
        if type(schema_id) is not int or not 0 <= schema_id <= _LARGEST or not isinstance(text, str):
            return None
        if (value.get("schemaType") or AVRO) not in TYPES or not 0 < version <= _LARGEST:
            return None
        entry = Entry(subject, version, schema_id, bool(value.get("deleted")), ts, raw, False)
        assert entry.schema  # references, metadata and rules can be read
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, RegistryError):
        return None
    return entry

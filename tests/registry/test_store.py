"""What the records of `_schemas` say, whoever has written them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kafkastub.registry.entities import Schema
from kafkastub.registry.errors import RegistryError
from kafkastub.registry.records import schema_key, schema_record
from kafkastub.registry.registry import Registry
from kafkastub.registry.store import Store
from tests.registry.bench import Bench

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def value(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def read(*records: tuple[bytes | None, bytes | None]) -> Store:
    store = Store()
    for at, record in enumerate(records):
        store.apply(*record, at)
    return store


@given(subject=TEXTS.filter(bool), text=TEXTS, deleted=st.booleans(), names=st.dictionaries(TEXTS, TEXTS, max_size=2))
def test_what_is_written_is_read_as_it_was(subject: str, text: str, deleted: bool, names: dict[str, str]):
    metadata = {"properties": dict(sorted(names.items()))} if names else None
    schema = Schema(subject, text, metadata=metadata, version=3, id=7)
    entry = read(schema_record(schema, deleted=deleted)).entry(subject, 3)
    assert entry is not None
    assert (entry.id, entry.deleted) == (7, deleted)
    assert (entry.schema.text, entry.schema.metadata) == (text, metadata)
    assert [one.id for one in read(schema_record(schema, deleted=deleted)).same_text(_context(subject), text)] == [7]


def _context(subject: str) -> str:
    from kafkastub.registry.subjects import context_of

    return context_of(subject)


@given(text=TEXTS, spaces=st.booleans(), first=st.booleans())
def test_another_writer_may_write_it_otherwise(text: str, spaces: bool, first: bool):
    """With spaces, escapes, another order: what is the same schema is found as the same."""
    fields = {"id": 7, "schema": text, "subject": "a", "version": 1}
    if first:
        fields = {"subject": "a", "version": 1, "id": 7, "deleted": False, "schema": text, "ts": 1}
    theirs = json.dumps(fields, separators=(", ", ": ") if spaces else (",", ":")).encode()
    store = read((b'{"magic":1,"keytype":"SCHEMA","subject":"a","version":1}', theirs))
    entry = store.entry("a", 1)
    assert entry is not None
    assert (entry.id, entry.schema.text, entry.schema.type) == (7, text, "AVRO")
    assert store.same_text(".", text) == [entry]


def test_what_is_no_record_of_a_registry_is_counted_and_left_alone():
    key = schema_key("a", 1)
    bad: list[tuple[bytes | None, bytes | None]] = [
        (None, b"x"),
        (b"x", b"x"),
        (b"[]", b"{}"),
        (b'{"keytype":"SCHEMA"}', b"{}"),
        (b'{"keytype":"SCHEMA","subject":5,"version":1}', b"{}"),
        (b'{"keytype":"CONFIG","magic":0}', b"5"),
        (key, b"{"),
        (key, b"[" * 100_000),
        (key, value(id="x", schema="y")),
        (key, value(id=-1, schema="y")),
        (key, value(id=1, schema=5)),
        (key, value(id=1, schema="y", references=5)),
        (key, value(id=1, schema="y", schemaType="XML")),
    ]
    store = read(*bad)
    assert store.ignored == len(bad)
    assert list(store.subjects()) == []
    assert read((b'{"keytype":"NOOP","magic":0}', None)).ignored == 0


def test_a_second_schema_with_an_id_is_not_believed():
    one, other = (Schema("a", text, version=version, id=1) for version, text in ((1, '"int"'), (2, '"long"')))
    store = read(schema_record(one, deleted=False), schema_record(other, deleted=False))
    assert (store.entry("a", 2), store.ignored) == (None, 1)


STEP = st.tuples(
    st.sampled_from(["register", "delete subject", "delete version", "config", "mode", "remove config"]),
    st.sampled_from(["a", "b", ":.c:a"]),
    st.sampled_from(['"int"', '"long"', '["null","int"]', '{"type":"record","name":"R","fields":[]}']),
    st.booleans(),
    st.integers(1, 3),
)


@given(st.lists(STEP, max_size=15))
def test_who_reads_the_compacted_topic_knows_the_same(steps: list[tuple[str, str, str, bool, int]]):
    bench = Bench()
    bench.registry.set_config(None, {"compatibilityLevel": "NONE"})
    for step in steps:
        try:
            _play(bench.registry, *step)
        except RegistryError as error:
            refused = error.code
        else:
            refused = None
        assert refused in (None, 40401, 40402, 40404, 40405, 40406, 40407, 40408, 40901, 42205)
        assert _told(bench.registry) == _told(bench.read_again())


def _play(registry: Registry, what: str, subject: str, text: str, flag: bool, version: int) -> None:
    if what == "register":
        registry.register(Schema(subject, text))
    elif what == "delete subject":
        registry.delete_subject(subject, permanent=flag)
    elif what == "delete version":
        registry.delete_version(subject, version, permanent=flag)
    elif what == "config":
        registry.set_config(subject, {"compatibilityLevel": "FULL" if flag else "NONE"})
    elif what == "mode":
        registry.set_mode(subject, "READONLY" if flag else "READWRITE")
    else:
        registry.delete_config(subject)


def _told(registry: Registry) -> Any:
    """All that one can see."""
    store = registry.store
    subjects = list(store.subjects())
    entries = [one for subject in subjects for one in store.versions(subject)]
    told = [(one.subject, one.version, one.id, one.deleted, one.schema.guid) for one in entries]
    ids = {(one.id, found.subject, found.version) for one in entries for found in registry.of_id(one.id, one.subject)}
    return told, ids, store.configs, store.modes, list(store.contexts)

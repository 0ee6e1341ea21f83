"""What a registry does with what clients ask of it, and the records that it writes."""

from __future__ import annotations

import json

import pytest

from kafkastub.registry.entities import JSON, PROTOBUF, Schema
from kafkastub.registry.errors import RegistryError
from kafkastub.registry.settings import LEVELS
from tests.registry.bench import Bench, field, record, refers

ID = record(field("id", "long"))
TEXT = record(field("id", "string"))
WITH_NOTE = record(field("id", "long"), field("note", ["null", "string"], default=None))
NEEDS_NOTE = record(field("id", "long"), field("note", "string"))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def raises(code: int) -> pytest.RaisesExc[RegistryError]:
    return pytest.raises(RegistryError, check=lambda error: error.code == code)


def test_ids_are_of_schemas_and_versions_of_subjects(bench: Bench):
    found = [bench.register(*each) for each in (("a", ID), ("b", ID), ("a", WITH_NOTE), ("a", ID), ("b", WITH_NOTE))]
    assert [(one.subject, one.version, one.id) for one in found] == [
        ("a", 1, 1), ("b", 1, 1), ("a", 2, 2), ("a", 1, 1), ("b", 2, 2),
    ]  # fmt: skip


def test_the_records_are_those_of_confluents_registry(bench: Bench):
    bench.register("a", "string")
    bench.registry.set_config("a", {"compatibilityLevel": "FULL"})
    bench.registry.set_config(None, {"compatibilityLevel": "NONE"})
    bench.registry.set_mode("a", "READONLY")
    bench.registry.set_mode("a", "READWRITE")
    bench.registry.delete_subject("a")
    bench.registry.delete_subject("a", permanent=True)
    assert bench.records == [
        (
            b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}',
            b'{"subject":"a","version":1,"id":1,"schemaType":"AVRO","schema":"\\"string\\"","deleted":false}',
        ),
        (b'{"keytype":"CONFIG","subject":"a","magic":0}', b'{"subject":"a","compatibilityLevel":"FULL"}'),
        (b'{"keytype":"CONFIG","magic":0}', b'{"compatibilityLevel":"NONE"}'),
        (b'{"keytype":"MODE","subject":"a","magic":0}', b'{"subject":"a","mode":"READONLY"}'),
        (b'{"keytype":"MODE","subject":"a","magic":0}', b'{"subject":"a","mode":"READWRITE"}'),
        (b'{"keytype":"DELETE_SUBJECT","subject":"a","magic":0}', b'{"subject":"a","version":1}'),
        (b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}', None),
        (b'{"keytype":"MODE","subject":"a","magic":0}', None),
        (b'{"keytype":"CONFIG","subject":"a","magic":0}', None),
    ]


@pytest.mark.parametrize("level", LEVELS)
def test_a_field_with_a_default_may_come_and_go_at_any_level(bench: Bench, level: str):
    bench.registry.set_config(None, {"compatibilityLevel": level})
    assert bench.register("a", ID).version == 1
    assert bench.register("a", WITH_NOTE).version == 2


@pytest.mark.parametrize(
    ("level", "first", "then", "good"),
    [
        ("BACKWARD", ID, NEEDS_NOTE, False),  # the reader needs what was not written
        ("FORWARD", ID, NEEDS_NOTE, True),
        ("FULL", ID, NEEDS_NOTE, False),
        ("BACKWARD", NEEDS_NOTE, ID, True),
        ("FORWARD", NEEDS_NOTE, ID, False),
        ("FULL", NEEDS_NOTE, ID, False),
        ("NONE", ID, TEXT, True),
        ("BACKWARD", ID, TEXT, False),
    ],
)
def test_the_direction_is_the_levels(bench: Bench, level: str, first: object, then: object, good: bool):
    bench.registry.set_config("a", {"compatibilityLevel": level})
    bench.register("a", first)
    if good:
        assert bench.register("a", then).version == 2
    else:
        with raises(40901):
            bench.register("a", then)


@pytest.mark.parametrize(("level", "good"), [("BACKWARD", True), ("BACKWARD_TRANSITIVE", False)])
def test_a_transitive_level_looks_at_all_versions(bench: Bench, level: str, good: bool):
    bench.registry.set_config("a", {"compatibilityLevel": level})
    bench.register("a", ID)
    bench.register("a", record(field("id", "long"), field("count", "int", default=0)))
    wide = record(field("id", "long"), field("count", "long"))  # has no default, which only the first one needs
    if good:
        assert bench.register("a", wide).version == 3
    else:
        with raises(40901):
            bench.register("a", wide)


def test_what_is_deleted_softly_is_there_for_who_asks_for_it(bench: Bench):
    bench.register("a", ID)
    assert bench.registry.delete_version("a", -1) == 1
    with raises(40401):
        bench.registry.version("a", 1)
    assert bench.registry.version("a", 1, deleted=True).deleted
    assert bench.registry.of_id(1)[0].schema.text == json.dumps(ID, separators=(",", ":"))
    assert bench.register("a", ID).told()["version"] == 2
    assert bench.registry.store.entry("a", 1) is None  # of two versions with an id one is enough


def test_deleting_is_done_softly_first(bench: Bench):
    bench.register("a", ID)
    for work, code in (
        (lambda: bench.registry.delete_version("a", 1, permanent=True), 40407),
        (lambda: bench.registry.delete_subject("a", permanent=True), 40405),
        (lambda: bench.registry.delete_subject("b"), 40401),
        (lambda: bench.registry.delete_version("a", 9), 40402),
    ):
        with raises(code):
            work()
    bench.registry.delete_subject("a")
    with raises(40404):
        bench.registry.delete_subject("a")
    with raises(40406):
        bench.registry.delete_version("a", 1)
    assert bench.registry.delete_subject("a", permanent=True) == [1]
    assert bench.registry.subjects(deleted=True) == []
    with raises(40403):
        bench.registry.of_id(1)


def test_an_id_is_never_given_twice(bench: Bench):
    bench.register("a", ID)
    bench.registry.delete_subject("a")
    bench.registry.delete_subject("a", permanent=True)
    assert bench.register("a", TEXT).id == 2


def test_a_schema_that_is_referred_to_stays(bench: Bench):
    bench.register("item", record(name="Item"))
    order = record(field("item", "Item"))
    bench.register("order", order, references=refers("Item", "item"))
    assert bench.registry.referenced_by("item", 1) == [2]
    for work in (lambda: bench.registry.delete_version("item", 1), lambda: bench.registry.delete_subject("item")):
        with raises(42206):
            work()
    bench.registry.delete_subject("order")
    assert bench.registry.delete_subject("item") == [1]
    with raises(42206):
        bench.registry.delete_subject("item", permanent=True)


def test_a_reference_to_nothing_is_refused(bench: Bench):
    with raises(42201):
        bench.register("order", record(field("item", "Item")), references=refers("Item", "item"))


def test_a_schema_is_found_by_what_it_is(bench: Bench):
    bench.register("a", ID)
    spaced = json.dumps(ID, indent=2)
    assert bench.registry.lookup(Schema("a", spaced)).version == 1
    with raises(40403):
        bench.registry.lookup(Schema("a", json.dumps(TEXT)))
    with raises(40401):
        bench.registry.lookup(Schema("b", spaced))


def test_normalizing_takes_the_order_away(bench: Bench):
    bench.register("a", {"type": "string", "b": 1, "a": 2}, normalize=True)
    assert bench.register("a", {"type": "string", "a": 2, "b": 1}, normalize=True).version == 1
    assert bench.register("a", {"type": "string", "b": 1, "a": 2}).version == 2
    bench.registry.set_config("b", {"normalize": True})
    assert bench.register("b", '{"b":1,"a":2}', type=JSON).text == '{"a":2,"b":1}'


def test_the_three_types_do_not_follow_on_each_other(bench: Bench):
    bench.register("a", ID)
    with raises(40901):
        bench.register("a", {"type": "object"}, type=JSON)
    bench.registry.set_config("a", {"compatibilityLevel": "NONE"})
    assert bench.register("a", {"type": "object"}, type=JSON).version == 2
    assert bench.register("a", 'syntax = "proto3"; message A {}', type=PROTOBUF).version == 3
    with raises(42201):
        bench.register("a", "x", type="XML")


def test_a_mode_says_what_may_be_done(bench: Bench):
    bench.register("a", ID)
    bench.registry.set_mode("a", "READONLY")
    for work in (lambda: bench.register("a", WITH_NOTE), lambda: bench.registry.delete_subject("a")):
        with raises(42205):
            work()
    assert bench.register("a", ID).version == 1  # it is there: nothing is written
    bench.registry.delete_mode("a")
    with raises(42205):
        bench.register("b", ID, id=7)
    with raises(42204):
        bench.registry.set_mode(None, "SLOW")
    with raises(40409):
        bench.registry.own_mode("a")


def test_who_imports_brings_ids_and_versions(bench: Bench):
    bench.registry.set_mode("a", "IMPORT")
    found = bench.register("a", ID, id=100, version=3)
    assert (found.version, found.id) == (3, 100)
    assert bench.register("a", TEXT, id=101, version=4).id == 101  # nobody compares
    with raises(42205):
        bench.register("a", WITH_NOTE, id=100)
    bench.registry.set_mode("a", "READWRITE")
    assert bench.register("b", WITH_NOTE).id == 102
    with raises(42205):
        bench.registry.set_mode(None, "IMPORT")


def test_contexts_have_ids_of_their_own(bench: Bench):
    bench.register("a", ID)
    bench.register(":.staging:a", TEXT)
    assert [bench.registry.of_id(1, within)[0].subject for within in (None, ":.staging:")] == ["a", ":.staging:a"]
    assert bench.registry.subjects(":.staging:") == [":.staging:a"]
    assert bench.registry.subjects() == ["a"]
    assert bench.registry.subjects(":*:") == [":.staging:a", "a"]
    assert list(bench.store.contexts) == [".staging"]
    bench.register(":.staging:only", ID)
    assert bench.registry.version("only", 1).subject == ":.staging:only"  # where the default one has none
    bench.registry.set_config(":.staging:", {"compatibilityLevel": "NONE"})
    assert bench.registry.config(":.staging:a")["compatibilityLevel"] == "NONE"
    assert bench.registry.config("a")["compatibilityLevel"] == "BACKWARD"


def test_settings_of_a_subject_win_over_those_of_all(bench: Bench):
    bench.registry.set_config(None, {"compatibilityLevel": "NONE", "normalize": True})
    bench.registry.set_config("a", {"compatibilityLevel": "FULL"})
    assert bench.registry.config("a") == {"normalize": True, "compatibilityLevel": "FULL"}
    assert bench.registry.config("b") == {"normalize": True, "compatibilityLevel": "NONE"}
    assert bench.registry.delete_config("a") == {"compatibilityLevel": "FULL"}
    with raises(40408):
        bench.registry.own_config("a")


def test_an_alias_stands_for_another_subject(bench: Bench):
    bench.register("orders-v1", ID)
    bench.registry.set_config("orders", {"alias": "orders-v1"})
    assert bench.registry.version("orders", -1).subject == "orders-v1"


def test_metadata_and_rules_are_kept_and_handed_down(bench: Bench):
    rules = {"domainRules": [{"name": "ok", "type": "CEL", "kind": "CONDITION", "mode": "WRITE", "disabled": False}]}
    first = bench.register("a", ID, metadata={"properties": {"owner": "shop"}}, rules=rules)
    again = bench.register("a", WITH_NOTE)
    assert (again.metadata, again.rules) == (first.metadata, first.rules) == ({"properties": {"owner": "shop"}}, rules)
    assert bench.registry.latest_with("a", {"owner": "shop"}).version == 2
    assert bench.register("a", WITH_NOTE, metadata={"properties": {"owner": "other"}}).version == 3


def test_metadata_of_the_settings_is_added(bench: Bench):
    bench.registry.set_config("a", {"defaultMetadata": {"properties": {"a": "1", "b": "1"}}})
    found = bench.register("a", ID, metadata={"properties": {"b": "2"}})
    assert found.metadata == {"properties": {"a": "1", "b": "2"}}


def test_a_compatibility_group_is_compared_within_itself(bench: Bench):
    bench.registry.set_config("a", {"compatibilityGroup": "major"})
    bench.register("a", ID, metadata={"properties": {"major": "1"}})
    with raises(40901):
        bench.register("a", TEXT, metadata={"properties": {"major": "1"}})
    assert bench.register("a", TEXT, metadata={"properties": {"major": "2"}}).version == 2


@pytest.mark.parametrize("subject", ["__EMPTY", "__GLOBAL", "a\x00", ":.__GLOBAL:a"])
def test_a_name_that_can_be_none_is_refused(bench: Bench, subject: str):
    with raises(42208):
        bench.register(subject, ID)


def test_a_default_that_the_field_cannot_have_is_refused_unless_it_is_said(bench: Bench):
    wrong = record(field("id", "int", default="x"))
    with raises(42201):
        bench.register("a", wrong)
    bench.registry.set_config("a", {"validateNewSchemas": False})
    assert bench.register("a", wrong).version == 1


def test_why_a_schema_would_be_refused(bench: Bench):
    bench.register("a", ID)
    assert bench.registry.why_incompatible(Schema("a", json.dumps(WITH_NOTE))) == []
    why = bench.registry.why_incompatible(Schema("a", json.dumps(NEEDS_NOTE)), 1)
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in why[0]
    assert why[-1] == "{validateFields: 'false', compatibility: 'BACKWARD'}"
    with raises(40402):
        bench.registry.why_incompatible(Schema("a", json.dumps(ID)), 9)

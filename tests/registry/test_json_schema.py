"""JSON Schemas: what may follow on what, and what is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub.registry.errors import InvalidSchema, TooComplex
from kafkastub.registry.json_schema import JsonSchema


def parsed(schema: Any, *references: tuple[str, Any]) -> JsonSchema:
    texts = [(name, json.dumps(each)) for name, each in references]
    return JsonSchema(json.dumps(schema), texts, as_new=True)


def kinds(before: Any, after: Any, policy: str = "STRICT") -> set[str]:
    """What keeps `after` from following on `before`."""
    found = parsed(after).why_not_after(parsed(before), policy)
    return {one.partition("'")[2].partition("'")[0] for one in found}


def an_object(closed: bool = False, required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    rest: dict[str, Any] = {"additionalProperties": False} if closed else {}
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {}), **rest}


TEXT, NUMBER, WHOLE = {"type": "string"}, {"type": "number"}, {"type": "integer"}


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (WHOLE, NUMBER, set()),
        (NUMBER, WHOLE, {"TYPE_NARROWED"}),
        (TEXT, NUMBER, {"TYPE_CHANGED"}),
        (TEXT, {}, set()),
        (TEXT, True, set()),
        (False, TEXT, set()),
        ({}, TEXT, {"TYPE_CHANGED"}),
        (TEXT, {"type": ["string", "null"]}, set()),
        ({"type": ["string", "null"]}, TEXT, {"TYPE_CHANGED"}),
        ({"type": "string", "maxLength": 5}, {"type": "string", "maxLength": 6}, set()),
        ({"type": "string", "maxLength": 5}, {"type": "string", "maxLength": 4}, {"MAX_LENGTH_DECREASED"}),
        (TEXT, {"type": "string", "minLength": 1}, {"MIN_LENGTH_ADDED"}),
        ({"type": "string", "pattern": "a"}, {"type": "string", "pattern": "b"}, {"PATTERN_CHANGED"}),
        ({"type": "number", "multipleOf": 2}, {"type": "number", "multipleOf": 1}, set()),
        ({"type": "number", "multipleOf": 2}, {"type": "number", "multipleOf": 4}, {"MULTIPLE_OF_EXPANDED"}),
        ({"enum": ["a"]}, {"enum": ["b", "a"]}, set()),
        ({"enum": ["a", "b"]}, {"enum": ["a"]}, {"ENUM_ARRAY_NARROWED"}),
        ({"const": 1}, {"const": True}, {"ENUM_ARRAY_CHANGED"}),
        ({"not": TEXT}, {"not": {"type": "string", "maxLength": 5}}, set()),
        ({"not": {"type": "string", "maxLength": 5}}, {"not": TEXT}, {"NOT_TYPE_EXTENDED"}),
        ({"oneOf": [TEXT]}, {"oneOf": [NUMBER, TEXT]}, set()),
        ({"oneOf": [NUMBER, TEXT]}, {"oneOf": [TEXT]}, {"SUM_TYPE_NARROWED"}),
        ({"allOf": [TEXT, {"enum": ["a"]}]}, {"allOf": [TEXT]}, set()),
        ({"type": "array", "items": WHOLE}, {"type": "array", "items": NUMBER}, set()),
        ({"type": "array"}, {"type": "array", "uniqueItems": True}, {"UNIQUE_ITEMS_ADDED"}),
        ({"prefixItems": [TEXT], "items": False}, {"prefixItems": [TEXT, TEXT], "items": False}, set()),
        ({"prefixItems": [TEXT]}, {"prefixItems": [TEXT, TEXT]}, {"ITEM_ADDED_TO_OPEN_CONTENT_MODEL"}),
    ],
)
def test_what_may_follow(before: Any, after: Any, why: set[str]):
    assert kinds(before, after) == why


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (an_object(a=TEXT), an_object(a=TEXT, b=TEXT), {"OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"}),
        (an_object(a=TEXT), an_object(a=TEXT, b={}), set()),
        (an_object(a=TEXT, b=TEXT), an_object(a=TEXT), set()),
        (an_object(True, a=TEXT), an_object(True, a=TEXT, b=TEXT), set()),
        (an_object(True, a=TEXT, b=TEXT), an_object(True, a=TEXT), {"PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"}),
        (an_object(a=TEXT), an_object(required=("a",), a=TEXT), {"REQUIRED_ATTRIBUTE_ADDED"}),
        (an_object(a=TEXT), an_object(required=("a",), a=TEXT | {"default": "x"}), set()),
        (an_object(required=("a",), a=TEXT), an_object(a=TEXT), set()),
        (an_object(), an_object(True), {"ADDITIONAL_PROPERTIES_REMOVED"}),
        (an_object(True), an_object(), set()),
        (
            {"type": "object", "patternProperties": {"^x-": NUMBER}},
            {"type": "object", "patternProperties": {"^x-": NUMBER}, "properties": {"x-a": WHOLE}},
            {"TYPE_NARROWED", "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"},
        ),
        (
            {"type": "object", "dependencies": {"a": ["b"]}},
            {"type": "object", "dependentRequired": {"a": ["b", "c"]}},
            {"DEPENDENCY_ARRAY_EXTENDED"},
        ),
    ],
)
def test_properties_come_and_go_by_the_content_model(before: Any, after: Any, why: set[str]):
    assert kinds(before, after) == why


def test_a_lenient_policy_lets_properties_come_into_open_content_models():
    assert kinds(an_object(a=TEXT), an_object(a=TEXT, b=TEXT), "LENIENT") == set()


def test_a_schema_that_has_itself_in_it_is_compared_to_the_end():
    def tree(value: Any) -> dict[str, Any]:
        return an_object(True, value=value, left={"$ref": "#"}, right={"$ref": "#"})

    assert kinds(tree(WHOLE), tree(NUMBER)) == set()
    assert kinds(tree(NUMBER), tree(WHOLE)) == {"TYPE_NARROWED"}


def test_references_are_followed_by_name_and_by_place():
    item = {"$id": "http://example.com/item.json", "type": "string", "definitions": {"n": {"$anchor": "n", **NUMBER}}}
    found = parsed(
        an_object(
            a={"$ref": "item.json"},
            b={"$ref": "item.json#/definitions/n"},
            c={"$ref": "#/definitions/a~1b"},
            d={"$ref": "http://example.com/item.json#n"},
        )
        | {"definitions": {"a/b": WHOLE}},
        ("item.json", item),
    )
    shapes = {name: found.document.shape(each).kind for name, each in found.root["properties"].items()}
    assert shapes == {"a": "string", "b": "number", "c": "number", "d": "number"}


@pytest.mark.parametrize(
    "schema",
    [
        5,
        "string",
        [],
        {"type": "text"},
        {"type": []},
        {"properties": []},
        {"properties": {"a": 5}},
        {"allOf": []},
        {"items": "x"},
        {"minLength": -1},
        {"maximum": "1"},
        {"required": "a"},
        {"enum": {}},
        {"$ref": "#/definitions/none"},
        {"$ref": "other.json"},
        {"$ref": "#/properties/a", "properties": {"a": {"$ref": "#/properties/a"}}},
    ],
)
def test_what_is_no_schema_is_refused(schema: Any):
    with pytest.raises(InvalidSchema):
        parsed(schema)


def test_more_pairs_than_anybody_waits_for_are_not_compared():
    many = {"anyOf": [{"type": "string", "maxLength": at} for at in range(400)]}
    with pytest.raises(TooComplex):
        kinds(many, many | {"title": "x"})


def test_an_expression_that_takes_ages_elsewhere_is_looked_for_at_once():
    evil = {"type": "object", "patternProperties": {"(a+)+$": NUMBER}, "additionalProperties": False}
    assert kinds(evil | {"properties": {"a" * 60 + "b": NUMBER}}, evil) == {
        "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"
    }


SCHEMAS = st.recursive(
    st.sampled_from(
        [True, False, {}, TEXT, NUMBER, WHOLE, {"enum": [1, 2]}, {"const": 1}, {"type": ["null", "array"]}]
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from("abc"), inner)}
        ),
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"not": inner}),
    ),
    max_leaves=8,
)


@given(SCHEMAS)
def test_a_schema_may_follow_on_itself_and_everything_on_what_allows_nothing(schema: Any):
    assert kinds(schema, schema) == set()
    assert kinds(False, schema) == set()
    assert kinds(schema, True) == set()

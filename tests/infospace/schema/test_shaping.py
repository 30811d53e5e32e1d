"""Schemas made of others: they stand alone, and admit what they should."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import SearchResult
from infospace.schema.combine import MAX_INLINED_PARTS, any_of, closed_object, inline_refs, merged, nullable
from infospace.schema.shapes import NoSuchPath, schema_of, subschema_at, types_of

TREE: dict[str, Any] = {
    "$ref": "#/$defs/t",
    "$defs": {"t": {"properties": {"kid": {"$ref": "#/$defs/t"}, "$defs": {}}}},
}


def test_references_are_written_out_and_circles_are_not_known() -> None:
    """A property may be called as a keyword is."""
    assert inline_refs(TREE) == {"properties": {"kid": {}, "$defs": {}}}
    assert inline_refs({"const": {"$ref": "#"}}) == {"const": {"$ref": "#"}}
    assert inline_refs(None) == {}


def test_a_part_of_a_search_result_is_known_inside_of_something_else() -> None:
    """Its references do not lead into the whole that it was taken from."""
    part = subschema_at(schema_of(SearchResult), ("metadata",))
    assert not isinstance(part, NoSuchPath)
    made = closed_object({"m": part})
    assert types_of_place(made, ("m", "passage", "text")) == {"string"}
    assert isinstance(subschema_at(made, ("m", "passage", "txt")), NoSuchPath)


def types_of_place(schema: Any, parts: tuple[str, ...]) -> frozenset[str]:
    found = subschema_at(schema, parts)
    assert not isinstance(found, NoSuchPath)
    return types_of(found)


def test_a_schema_that_grows_too_large_keeps_its_types() -> None:
    """Each definition has the next one twice."""
    definitions = {f"d{i}": {"properties": {k: {"$ref": f"#/$defs/d{i + 1}"} for k in "ab"}} for i in range(20)}
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions}
    assert len(str(definitions)) < MAX_INLINED_PARTS
    assert inline_refs(schema) == {"type": ["object"]}


def test_what_may_be_null_admits_null_once() -> None:
    """And what is not known stays so."""
    assert nullable({"type": "integer"}) == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert nullable({"type": ["null", "string"]}) == {"type": ["null", "string"]}
    assert nullable(None) is None
    assert any_of({"type": "null"}, {"type": "null"}) == {"type": "null"}


def test_of_objects_merged_the_right_one_says_where_it_is_always_there() -> None:
    """Where one is not known, nothing that it may have is ruled out, nor what it may lay over."""
    left = closed_object({"a": {"type": "string"}, "b": {"type": "string"}})
    right = closed_object({"b": {"type": "integer"}})
    both = merged(left, right, always=(True, True))
    assert (both["properties"]["b"], sorted(both["required"])) == ({"type": "integer"}, ["a", "b"])
    outer = merged(left, right, always=(False, False))
    assert (types_of(outer["properties"]["b"]), outer["required"]) == ({"string", "integer"}, [])
    assert isinstance(subschema_at(outer, ("c",)), NoSuchPath)
    half = merged(left, None, always=(True, True))
    assert (half["properties"]["a"], half["required"]) == ({}, ["a", "b"])
    assert subschema_at(half, ("c",)) is None
    assert merged(None, right, always=(True, True))["properties"]["b"] == {"type": "integer"}


ALONE: list[Any] = [
    {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}, "required": ["a"]},
    {"const": {"$ref": "#"}},
    {"enum": [{"$id": "x"}], "default": {"$defs": 1}},
    {"properties": {"$ref": {"type": "string"}, "default": {"type": "string"}, "$id": {}}},
]
REFERRING: list[tuple[Any, Any]] = [
    ({"properties": {"default": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "null"}}}, {"type": "null"}),
    ({"properties": {"default": {"$id": "x", "type": "null"}}}, {"type": "null"}),
    ({"properties": {"default": {"$anchor": "x", "type": "null"}}}, {"type": "null"}),
    ({"properties": {"default": {"$dynamicRef": "#x"}}}, {}),
    ({"properties": {"default": {"properties": {"const": {"$ref": "https://x"}}}}}, {"properties": {"const": {}}}),
]


@pytest.mark.parametrize("schema", ALONE)
def test_a_schema_without_references_is_written_out_already(schema: Any) -> None:
    """What stands in its data, or is the name of a field, is none."""
    assert inline_refs(schema) is schema


@pytest.mark.parametrize(("schema", "inner"), REFERRING)
def test_a_field_with_the_name_of_a_keyword_is_looked_into(schema: Any, inner: Any) -> None:
    assert inline_refs(schema) == {"properties": {"default": inner}}

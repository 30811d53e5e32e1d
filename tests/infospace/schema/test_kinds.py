"""Shapes and schemas: what they rule out is really ruled out, and of the rest nothing is said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace import Collection, Note, Relation, Resource, SearchResult
from infospace.core.json_types import JSON
from infospace.data.paths import ABSENT, Path, find
from infospace.schema.shapes import (
    NO_METADATA,
    CollectionShape,
    NoSuchPath,
    NoteShape,
    RelationShape,
    Unknown,
    describe,
    disjoint,
    field_shape,
    format_types,
    is_result,
    place_in,
    same_as,
    schema_of,
    schema_of_value,
    shape_of,
    subschema_at,
    types_of,
)
from infospace.schema.value_text import describe_schema, shown

VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-2, 2) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abm"), inner, max_size=3),
    max_leaves=6,
)
PARTS = st.lists(st.sampled_from(["a", "b", "m", "metadata", "content", 0, -1, 1]), min_size=1, max_size=3)
TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}, "name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}


@given(content=VALUE, metadata=st.dictionaries(st.sampled_from("abm"), VALUE, max_size=2), parts=PARTS)
def test_a_place_that_exists_is_never_ruled_out(content: Any, metadata: Any, parts: list[str | int]) -> None:
    """Whatever the tightest schema of a value says, it agrees with the value; what is ruled out is absent."""
    shape = NoteShape(schema_of_value(content), schema_of_value(metadata))
    there = find(Note(id="Note_1", content=content, metadata=metadata), Path(tuple(parts)))
    place = place_in(shape, tuple(parts))
    if isinstance(place, NoSuchPath):
        assert there is ABSENT
    elif there is not ABSENT and place is not None:
        assert types_of(schema_of_value(there)) & types_of(place)


@given(value=VALUE)
def test_a_schema_of_a_value_admits_its_type(value: Any) -> None:
    """And words for it are never empty."""
    assert not disjoint(schema_of_value(value), schema_of_value(value))
    assert format_types(schema_of_value(value))


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        (None, "null boolean integer number string array object"),
        ({}, "null boolean integer number string array object"),
        ({"type": "number"}, "integer number"),
        ({"type": ["string", "null"]}, "string null"),
        ({"const": 1.0}, "integer number"),
        ({"enum": ["a", 3]}, "string integer"),
        ({"type": "integer", "enum": [1.0]}, "integer"),
        ({"anyOf": [{"type": "string"}, {"$ref": "#/$defs/n"}], "$defs": {"n": {"type": "null"}}}, "string null"),
        ({"allOf": [{"type": ["string", "null"]}, {"type": "string"}]}, "string"),
        ({"$ref": "#/nowhere"}, "null boolean integer number string array object"),
        ({"$ref": "https://example.org/schema"}, "null boolean integer number string array object"),
        ({"$ref": "#"}, "null boolean integer number string array object"),
        ({"anyOf": [{"$ref": "#"}]}, "null boolean integer number string array object"),
        ({"type": "string", "minLength": 3, "unheard": True}, "string"),
    ],
)
def test_types_are_those_that_a_schema_may_admit(schema: Any, types: str) -> None:
    """A superset where the schema is not understood, or goes round in circles."""
    assert types_of(schema) == set(types.split())


@pytest.mark.parametrize(
    ("schema", "parts", "types"),
    [
        (TREE, ("kids", 0, "name"), "string"),
        (TREE, ("kids", 0, "kids"), "array"),
        ({"$defs": {"t": TREE}, "$ref": "#/$defs/t"}, ("name",), "string"),
        ({"type": "array", "items": {"type": "number"}}, (-1,), "integer number"),
        ({"type": "array", "prefixItems": [{"type": "null"}], "items": {"type": "number"}}, (0,), None),
        ({"additionalProperties": {"type": "string"}}, ("any",), "string"),
        ({"additionalProperties": {"type": "string"}, "patternProperties": {"^n": {}}}, ("n1",), None),
        ({"additionalProperties": False, "patternProperties": {"^n": {}}}, ("n1",), None),
        ({"anyOf": [{"type": "null"}, TREE]}, ("name",), "string"),
        ({"properties": {"a": True}}, ("a",), None),
    ],
)
def test_a_path_is_followed_into_a_schema(schema: Any, parts: tuple[Any, ...], types: str | None) -> None:
    """Through references, alternatives and lists; what is not understood is not known."""
    place = subschema_at(schema, parts)
    assert not isinstance(place, NoSuchPath)
    assert types_of(place) == (types_of(None) if types is None else set(types.split()))


@pytest.mark.parametrize(
    ("schema", "parts", "key", "known"),
    [
        (TREE, ("nam",), "nam", ("kids", "name")),
        (TREE, (0,), 0, ()),
        ({"type": "string"}, ("a",), "a", ()),
        ({"anyOf": [{"type": "null"}, TREE]}, ("nam",), "nam", ("kids", "name")),
    ],
)
def test_what_a_closed_schema_rules_out_is_told_with_what_it_has(
    schema: Any, parts: tuple[Any, ...], key: Any, known: tuple[str, ...]
) -> None:
    """The key that failed, and the keys there."""
    assert subschema_at(schema, parts) == NoSuchPath(key, known)


def test_a_part_that_refers_to_the_whole_stays_right_on_its_own() -> None:
    """What is followed in two goes is never more than in one."""
    kids = subschema_at(TREE, ("kids",))
    assert types_of(kids) == {"array"}  # type: ignore[arg-type]
    assert not isinstance(subschema_at(kids, (0, "name")), NoSuchPath)  # type: ignore[arg-type]


def test_metadata_of_content_that_may_be_missing_rules_nothing_out() -> None:
    """Where the content need not have the key, the resource's own metadata may be meant."""
    inner = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    content = {"type": "object", "properties": {"metadata": inner}, "additionalProperties": False}
    assert place_in(NoteShape(content, None), ("metadata", "b")) is None
    assert isinstance(place_in(NoteShape(content, NO_METADATA), ("metadata", "b")), NoSuchPath)
    assert isinstance(place_in(NoteShape({**content, "required": ["metadata"]}, None), ("metadata", "b")), NoSuchPath)


def test_a_search_result_is_known_to_its_last_key() -> None:
    """Its `metadata` is its content's, and it has none of its own."""
    result = NoteShape(schema_of(SearchResult), NO_METADATA)
    assert is_result(result)
    assert types_of(place_in(result, ("metadata", "score"))) == {"integer", "number"}  # type: ignore[arg-type]
    assert types_of(place_in(result, ("metadata", "passage", "text"))) == {"string"}  # type: ignore[arg-type]
    assert place_in(result, ("metadata", "source", "anything")) is None or isinstance(
        place_in(result, ("metadata", "source", "anything")), dict
    )
    for missing in (
        ("score",),
        ("metadata", "scor"),
        ("title",),
        ("metadata", "passage", "txt"),
        ("@metadata", "score"),
    ):
        assert isinstance(place_in(result, missing), NoSuchPath)


def test_shapes_come_from_annotations() -> None:
    """As far as they say."""
    assert shape_of(Note[str]) == NoteShape({"type": "string"}, None)
    assert shape_of(Note[JSON]) == shape_of(Note) == NoteShape(None, None)
    assert shape_of(Collection[Note[int]]) == CollectionShape(NoteShape({"type": "integer"}, None), NO_METADATA)
    assert shape_of(Collection[SearchResult]) == CollectionShape(
        NoteShape(schema_of(SearchResult), NO_METADATA), NO_METADATA
    )
    assert shape_of(Collection) == shape_of(Collection[Resource]) == CollectionShape(Unknown(), NO_METADATA)
    assert (shape_of(Relation), shape_of(Resource), shape_of(Note | Collection)) == (RelationShape(), *[Unknown()] * 2)


def test_helpers_for_gives_follow_an_argument() -> None:
    """The same shape as an argument, or the schema at a path in the items."""
    list_ = CollectionShape(NoteShape(schema_of_value({"a": {"b": 1}})))
    assert same_as("target")({}, {"target": list_}) == CollectionShape(list_.item, NO_METADATA)
    assert same_as("target")({}, {}) == Unknown()
    assert field_shape({"field": Path.parse("a.b")}, {"target": list_}, "field") == {"type": "integer"}
    assert field_shape({"field": Path.parse("a.c")}, {"target": list_}, "field") is None
    assert field_shape({}, {"target": list_}, "field") is None


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (NoteShape(), "a Note"),
        (NoteShape({"type": ["string", "null"]}), "a Note (null or string)"),
        (CollectionShape(NoteShape()), "a Collection of Notes"),
        (CollectionShape(CollectionShape()), "a Collection of Collections"),
        (CollectionShape(), "a Collection"),
        (RelationShape(), "a Relation"),
        (Unknown(), "a resource of unknown kind"),
    ],
)
def test_a_shape_is_described_in_words(shape: Any, words: str) -> None:
    """For messages."""
    assert describe(shape) == words


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({}, ""),
        ({"anyOf": [{}, {"type": "null"}]}, ""),
        ({"type": "number", "minimum": 0, "maximum": 1}, "a number from 0 to 1"),
        ({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9}, "a whole number above 0 and below 9"),
        ({"type": "number", "maximum": 5}, "a number of at most 5"),
        ({"type": "number", "exclusiveMaximum": 5}, "a number below 5"),
        ({"enum": ["a", 1, None]}, '"a", 1 or null'),
        ({"type": ["string", "boolean"]}, "true or false or text"),
        ({"type": "array", "items": {"type": "string"}}, "a list of texts"),
        ({"type": "array", "items": {"type": ["string", "null"]}}, "a list"),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "number", "minimum": 2}}}, "a number from 2"),
    ],
)
def test_what_a_schema_wants_is_said_in_words(schema: Any, words: str) -> None:
    """The words that messages and contracts use."""
    assert describe_schema(schema) == words


def test_values_are_shown_as_a_plan_writes_them() -> None:
    """In JSON, cut where they are long; a resource by its id."""
    assert [shown(value) for value in (None, True, "é", [1, {"a": None}])] == [
        "null",
        "true",
        '"é"',
        '[1, {"a": null}]',
    ]
    assert shown("x" * 100) == '"' + "x" * 58 + "…"
    assert shown(Collection(id="Collection_3")) == "Collection_3, a Collection"


def layered(word: str, wide: int = 10, levels: int = 15) -> dict[str, Any]:
    """Return a schema of definitions that each name the next several times."""
    layers = {f"d{at}": {word: [{"$ref": f"#/$defs/d{at + 1}"} for _ in range(wide)]} for at in range(levels)}
    last = {"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": False}
    return {"$defs": {**layers, f"d{levels}": last}, "$ref": "#/$defs/d0"}


def test_a_schema_that_explodes_is_understood_at_once() -> None:
    """Each of its parts is looked at once, however many ways lead to it."""
    assert types_of(layered("allOf")) == types_of(layered("anyOf")) == {"object"}
    assert subschema_at(layered("anyOf"), ("x",)) == {"type": "string"}
    assert isinstance(subschema_at(layered("oneOf"), ("y",)), NoSuchPath)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "array", "items": {"$ref": "#"}}, "a list"),
        ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#"}}]}, "text or a list"),
        ({"anyOf": [{"type": "string"}, {"$ref": "#"}]}, ""),
        (layered("anyOf", levels=2), "an object"),
        (layered("anyOf"), ""),
    ],
)
def test_what_a_schema_wants_that_refers_to_itself_can_be_said(schema: dict[str, Any], message: str) -> None:
    """As far as it goes."""
    assert describe_schema(schema) == message

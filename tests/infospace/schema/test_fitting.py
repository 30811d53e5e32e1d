"""A schema is held against a value at once, whatever explodes in it; patterns that cannot be are faults."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from infospace.schema.validate import first_violation, schema_errors, validate, validate_ignoring
from infospace.tools.mcp.catalogue.schema_check import sound

EXPLODING = "^(a+)+$"
"""Python's own engine needs 2 to the power of the number of letters for a text that almost fits."""
NEARLY = "a" * 60 + "!"


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (NEARLY, {"pattern": EXPLODING}),
        ({NEARLY: 1}, {"propertyNames": {"pattern": EXPLODING}}),
        ({NEARLY: 1}, {"patternProperties": {EXPLODING: {"type": "string"}}}),
        ({NEARLY: 1}, {"patternProperties": {EXPLODING: True}, "additionalProperties": False}),
        ({NEARLY: 1}, {"patternProperties": {EXPLODING: True}, "additionalProperties": {"type": "string"}}),
    ],
)
def test_a_pattern_that_explodes_is_held_at_once(value: Any, schema: dict[str, Any]) -> None:
    """Whichever keyword has it, and also while something in the value is not known yet."""
    assert list(schema_errors(schema)) == []
    begun = time.process_time()
    validate(value, schema)
    list(validate_ignoring(value, schema, object()))
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("value", "schema", "message"),
    [
        ({"x_1": 1, "y": 2}, {"patternProperties": {"^x_": {"type": "string"}}}, ["1 is not text at `x_1`"]),
        (
            {"x_1": "", "y": 2, "k": 3},
            {"properties": {"k": True}, "patternProperties": {"^x_": True}, "additionalProperties": False},
            ['"y" is unknown (it takes k)'],
        ),
        (
            {"x_1": 1, "y": 2},
            {"patternProperties": {"^x_": True}, "additionalProperties": {"type": "string"}},
            ["2 is not text at `y`"],
        ),
        ({"größe": 1}, {"patternProperties": {r"^\p{L}+$": True}, "additionalProperties": False}, []),
        ([1], {"patternProperties": {"x": False}, "additionalProperties": False}, []),
    ],
)
def test_keys_are_held_against_patterns(value: Any, schema: dict[str, Any], message: list[str]) -> None:
    """Those that fit one by its schema, the others by `additionalProperties`; what is no object has no keys."""
    assert list(schema_errors(schema)) == []
    assert validate(value, schema) == message


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"pattern": "(?=x)"}, ("pattern",)),
        ({"patternProperties": {"(?=x)": True}}, ("patternProperties", "(?=x)")),
        ({"patternProperties": {"(": True}}, ("patternProperties", "(")),
    ],
)
def test_what_cannot_be_held_is_a_fault_in_its_place(schema: dict[str, Any], place: tuple[str, ...]) -> None:
    """So a server's schema loses that alone."""
    assert [fault.place for fault in schema_errors(schema)] == [place]
    assert list(schema_errors(sound({"type": "object", **schema}))) == []


def test_a_property_may_be_called_like_a_keyword() -> None:
    """Names under `properties` are no keywords."""
    names = {"unevaluatedProperties": {"type": "boolean"}}
    assert list(schema_errors({"properties": names, "patternProperties": {"^x": True}})) == []


def layered(levels: int) -> dict[str, Any]:
    """Return a schema of definitions that each refer twice to the next: 2 to the power of them are looked at in all."""
    layers = {f"d{at}": {"allOf": [{"$ref": f"#/$defs/d{at + 1}"} for _ in range(2)]} for at in range(levels)}
    last = {"type": "object", "required": ["x"]}
    return {"$defs": {**layers, f"d{levels}": last}, "$ref": "#/$defs/d0"}


def chained(depth: int) -> Any:
    """Return objects in objects, of which none has what a branch wants."""
    return {"next": chained(depth - 1)} if depth else {}


NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
BRANCHING = {
    "$defs": {"node": {"anyOf": [{**NODE, "required": [name]} for name in ("left", "right")]}},
    "$ref": "#/$defs/node",
}


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ({}, layered(60)),
        ({"x": 1}, layered(60)),
        (chained(60), BRANCHING),
        ([{"a": at} for at in range(30_000)], {"uniqueItems": True}),
    ],
)
def test_a_schema_that_explodes_is_held_at_once(value: Any, schema: dict[str, Any]) -> None:
    """Each reference is followed once for a part of the value, and items are not compared with each other."""
    assert list(schema_errors(schema)) == []
    begun = time.process_time()
    first_violation(value, schema)
    validate(value, schema)
    list(validate_ignoring(value, schema, object()))
    assert time.process_time() - begun < 15


def test_what_was_not_looked_at_is_not_asked_where_there_are_too_many_ways_to_look() -> None:
    """So a server's schema loses that alone, and is held at once; any other keeps it."""
    begun = time.process_time()
    large = {**layered(60), "unevaluatedProperties": False}
    (fault,) = schema_errors(large)
    assert fault.place == ("unevaluatedProperties",)
    assert validate({"x": 1, "y": 1}, sound(large)) == []
    assert time.process_time() - begun < 15
    small = {**layered(3), "unevaluatedProperties": False}
    assert list(schema_errors(small)) == list(schema_errors({"$ref": "#"})) == []
    assert sound(small) == small
    assert len(validate({"x": 1}, small)) == 1


def test_one_value_in_several_places_misfits_in_each() -> None:
    """Though it is looked at once."""
    short = {"$defs": {"short": {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "null"}]}}}
    texts = {**short, "items": {"$ref": "#/$defs/short"}}
    assert validate(["ab", "", "ab"], texts) == [
        f'"ab" has 2 characters, and at most 1 fit at `[{at}]`' for at in (0, 2)
    ]
    found = validate_ignoring(["ab", "ab"], texts, object())
    assert [(one.place, one.message) for one in found] == [
        ((at,), '"ab" has 2 characters, and at most 1 fit') for at in (0, 1)
    ]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from([0.0, 1.0, "", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)
TREE = {
    "$defs": {
        "tree": {
            "anyOf": [
                {"type": ["integer", "null"]},
                {"type": "array", "items": {"$ref": "#/$defs/tree"}, "uniqueItems": True},
                {"type": "object", "properties": {"a": {"$ref": "#/$defs/tree"}}, "required": ["a"]},
            ]
        }
    },
    "items": {"$ref": "#/$defs/tree"},
}


@given(st.lists(JSON_VALUES, max_size=4))
def test_what_fits_is_what_fits_by_the_standard(values: list[Any]) -> None:
    """In the same places."""
    for schema in (TREE, {"uniqueItems": True}):
        found = validate_ignoring(values, schema, object())
        plain = Draft202012Validator(schema).iter_errors(values)
        assert [one.place for one in found] == [tuple(error.absolute_path) for error in plain]

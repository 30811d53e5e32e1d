"""Schemas compared: what is told of two of them holds of every value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace.schema.compare import mismatches
from infospace.schema.validate import first_violation

PLAIN = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": "number"},
        {"type": ["string", "null"]},
        {"enum": ["a", 1]},
        {"const": "b"},
        {},
    ]
)


def _deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    needed = st.lists(st.sampled_from(["a", "b"]), unique=True, max_size=2)
    return st.one_of(
        st.builds(
            lambda items, least, most: {"type": "array", "items": items, "minItems": least, **most},
            inner,
            st.integers(1, 2),
            st.just({}) | st.builds(lambda most: {"maxItems": most}, st.integers(1, 2)),
        ),
        st.builds(
            lambda has, required, closed: {
                "type": "object",
                "properties": has,
                "required": required,
                **({"additionalProperties": False} if closed else {}),
            },
            keys,
            needed,
            st.booleans(),
        ),
        st.builds(lambda options: {"anyOf": options}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda options: {"allOf": options}, st.lists(inner, min_size=1, max_size=2)),
    )


SCHEMAS = st.recursive(PLAIN, _deeper, max_leaves=5)
SCALARS = st.sampled_from([None, True, 0, 1, 1.5, "a", "b", ""])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=2),
    max_leaves=5,
)


def fitting(schema: Any) -> st.SearchStrategy[Any]:
    """Values that fit a schema, or nearly do: of all that `allOf` names they are made by one."""
    if "enum" in schema or "const" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    options = schema.get("anyOf") or schema.get("allOf")
    if options:
        return st.one_of([fitting(option) for option in options])
    least, most = schema.get("minItems", 0), schema.get("maxItems", 2)
    if schema.get("type") == "array":
        return st.lists(fitting(schema["items"]), min_size=least, max_size=max(least, most))
    if schema.get("type") == "object":
        fields = {key: fitting(inner) for key, inner in schema["properties"].items()}
        needed = {key: fields.get(key, SCALARS) for key in schema["required"]}
        return st.fixed_dictionaries(needed, optional={key: fields[key] for key in fields.keys() - needed})
    return SCALARS.filter(lambda value: first_violation(value, schema) is None) if schema else VALUES


@settings(max_examples=600, deadline=None)
@given(one=SCHEMAS, other=SCHEMAS, data=st.data())
def test_where_something_is_told_no_value_fits_both(one: Any, other: Any, data: st.DataObject) -> None:
    """Of lists that are not empty: an empty one fits whatever its items are."""
    if not list(mismatches(one, other)):
        return
    for value in data.draw(st.lists(fitting(one) | fitting(other), min_size=4, max_size=8)):
        assert first_violation(value, one) is not None or first_violation(value, other) is not None, value


def _object(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {key: {"type": kind} for key, kind in fields.items()}}


@pytest.mark.parametrize(
    ("one", "other", "value"),
    [
        (_object(a="integer"), _object(a="string"), {}),
        (_object(a="integer"), {**_object(a="string"), "required": ["b"]}, {"b": 1}),
        (_object(a="integer"), {"type": "object", "additionalProperties": False}, {}),
        ({"type": "array", "maxItems": 2}, {"type": "array", "minItems": 2}, [1, 2]),
        ({"type": "array", "minItems": 2}, {"type": "array", "maxItems": 2}, [1, 2]),
        ({"type": "array", "prefixItems": [{}]}, {"type": "array", "maxItems": 0}, []),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, {"type": ["integer", "string"]}, 1),
    ],
)
def test_nothing_is_told_where_a_value_fits_both(one: Any, other: Any, value: Any) -> None:
    """At its bounds, and without what need not be there."""
    assert [first_violation(value, schema) for schema in (one, other)] == [None, None]
    assert list(mismatches(one, other)) == []


@settings(max_examples=300, deadline=None)
@given(schema=SCHEMAS)
def test_nothing_is_told_of_a_schema_and_itself(schema: Any) -> None:
    """But where no value fits it at all."""
    if list(mismatches(schema, schema)):
        for value in (None, 0, 1, "a", "b", [], {}, ["a"], {"a": 1}, {"a": "b", "b": "b"}):
            assert first_violation(value, schema) is not None


@pytest.mark.parametrize("wanted", [{"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}] * 4}}}])
def test_schemas_that_go_round_in_circles_come_to_an_end(wanted: Any) -> None:
    """What is left of them is taken to fit."""
    assert list(mismatches({"type": "string"}, wanted)) == []

"""The shape of JSON in one line: of values, and of what fits a schema."""

from __future__ import annotations

import doctest
from typing import Any

import pytest

from infospace.schema import outline
from infospace.schema.outline import DEEPEST, KEYS, LONG, SAMPLE, outline_schema, outline_value

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


def nested(depth: int, inside: Any) -> Any:
    """An object in objects, `inside` in the innermost."""
    return inside if depth == 0 else {"a": nested(depth - 1, inside)}


def test_the_examples_of_the_documentation_hold() -> None:
    ran = doctest.testmod(outline)
    assert (ran.failed, ran.attempted) == (0, 1)


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (None, "null"),
        (True, "boolean"),
        (2, "integer"),
        (2.0, "number"),
        ("", "text of 0 characters"),
        ("a", "text of 1 character"),
        ("ab\nc", "text of 4 characters in 2 lines"),
        ([], "list of 0"),
        ({}, "{}"),
        ([{"a": 1, "b": "x"}, {"a": 2.5}], "list of 2: {a: integer|number, b?: text}"),
        ([1, "a", None, 2, [True], {"a": []}], "list of 6: {a: list}|list: boolean|integer|text|null"),
        ({"due date": [[1]]}, '{"due date": list: list: integer}'),
        ({"a": "x" * (LONG - 1)}, "{a: text}"),
        ({"a": "x" * LONG}, f"{{a: text of {LONG} characters}}"),
        ([{"a": "x" * LONG}], "list of 1: {a: text}"),
        ("[1, 2]" + " " * LONG, "JSON text, list of 2: integer"),
        ("[1, 2]", "text of 6 characters"),
        ([*range(SAMPLE), "a"], f"list of {SAMPLE + 1}: integer"),
        (nested(DEEPEST, 1), "{a: {a: {a: {a: integer}}}}"),
        (nested(DEEPEST + 1, 1), "{a: {a: {a: {a: {…}}}}}"),
        (nested(DEEPEST, [1]), "{a: {a: {a: {a: list}}}}"),
    ],
)
def test_the_shape_of_a_value_is_told(value: Any, shape: str) -> None:
    """What only some of its objects have has a question mark; how long a list or a text is, is told of the whole."""
    assert outline_value(value) == shape


@pytest.mark.parametrize(
    ("schema", "shape"),
    [
        (None, ""),
        ({}, ""),
        (TEXT, "text"),
        ({"type": ["null", "number", "integer"]}, "number|null"),
        ({"type": "array"}, "list"),
        ({"type": "array", "items": TEXT}, "list: text"),
        ({"type": "array", "items": {}}, "list"),
        ({"type": "object"}, "object"),
        (
            {"type": "object", "properties": {"a": TEXT, "due date": WHOLE, "c": {}, "d": True}, "required": ["a"]},
            '{a: text, "due date"?: integer, c?, d?}',
        ),
        ({"anyOf": [TEXT, {"type": "null"}, TEXT]}, "text|null"),
        ({"oneOf": [WHOLE, {"type": "array", "items": WHOLE}]}, "integer|list: integer"),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/b"}}, "b": TEXT}},
            "list: text",
        ),
    ],
)
def test_the_shape_of_what_fits_a_schema_is_told(schema: Any, shape: str) -> None:
    """What need not be there has a question mark."""
    assert outline_schema(schema) == shape


@pytest.mark.parametrize(("more", "end"), [(0, "}"), (2, ", … 2 more}")])
def test_of_many_keys_the_first_are_named_and_the_rest_counted(more: int, end: str) -> None:
    """Of values and of schemas."""
    names = [f"k{number}" for number in range(KEYS + more)]
    shape = "{" + ", ".join(f"{name}: integer" for name in names[:KEYS]) + end
    assert outline_value(dict.fromkeys(names, 1)) == shape
    assert outline_schema({"type": "object", "properties": dict.fromkeys(names, WHOLE), "required": names}) == shape


def test_a_schema_is_told_as_deep_as_a_value() -> None:
    """What lies deeper is named by its type alone."""
    schema: Any = WHOLE
    for _ in range(DEEPEST + 1):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    assert outline_schema(schema) == "{a: {a: {a: {a: object}}}}"

"""A tool's schema as fields of a form: what each takes, and what was written in it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace.core.errors import InvalidJSON
from infospace.schema.validate import validate
from tui.widgets.details.form_fields import NOTHING, Field, field_errors, fields_of, value_of, written


def only(part: dict[str, Any], *, required: bool = False, **whole: Any) -> Field:
    """Return the field of a schema of one argument."""
    [field] = fields_of({"properties": {"x": part}, "required": ["x"] if required else [], **whole})
    return field


@pytest.mark.parametrize(
    ("part", "shape"),
    [
        ({"type": "string"}, "text"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "text"),
        ({"type": "integer"}, "scalar"),
        ({"type": ["number", "null"]}, "scalar"),
        ({"type": "boolean"}, "switch"),
        ({"type": ["boolean", "null"]}, "choice"),
        ({"enum": ["a", 1, None]}, "choice"),
        ({"const": "a"}, "choice"),
        ({"type": "array", "items": {"type": "string"}}, "json"),
        ({"type": "object"}, "json"),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, "json"),
        ({}, "json"),
        (True, "json"),
        ({"$ref": "#/$defs/colour"}, "choice"),
    ],
)
def test_each_schema_has_the_field_that_is_easiest_to_fill(part: Any, shape: str) -> None:
    """A reference is followed."""
    assert only(part, **{"$defs": {"colour": {"enum": ["red", "blue"]}}}).shape == shape


def test_required_fields_come_first_with_what_each_begins_with() -> None:
    """The default; else, where something is needed, an example; else nothing."""
    schema = {
        "properties": {
            "a": {"type": "string", "default": "x", "description": "What\n it is."},
            "b": {"type": "string", "examples": ["y"]},
            "c": {"type": "string", "examples": ["z"]},
            "d": {"type": ["string", "null"], "default": None},
        },
        "required": ["c"],
    }
    fields = {field.name: field for field in fields_of(schema)}
    assert list(fields) == ["c", "a", "b", "d"]
    begins = {name: field.begins for name, field in fields.items()}
    assert begins == {"a": "x", "b": NOTHING, "c": "z", "d": NOTHING}
    assert (fields["a"].about, fields["b"].hint, fields["a"].fits) == ("What it is.", "y", "text")


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"properties": []}, {"properties": {}}])
def test_a_schema_without_arguments_has_no_fields(schema: dict[str, Any]) -> None:
    assert fields_of(schema) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_what_is_written_as_json_is_read_again(value: Any) -> None:
    """Whatever it is, where anything fits."""
    assert value_of(only({}), json.dumps(value, ensure_ascii=False)) == value


@given(st.text(min_size=1))
def test_a_text_is_taken_as_it_is_written(text: str) -> None:
    """Also one that looks like JSON."""
    field = only({"type": "string"})
    assert value_of(field, written(text)) == text


def test_what_is_no_json_is_a_text_where_one_fits_and_else_is_told() -> None:
    """A number that is none is held against the schema."""
    assert value_of(only({}), "plain words") == "plain words"
    assert value_of(only({"type": "integer"}), "many") == "many"
    assert value_of(only({"type": "array"}), "  ") is NOTHING
    for field, text, message in (
        (only({}), '{"a"', "ends inside an object"),
        (only({"type": "array"}), "one, two", "it begins with 'one, two'"),
    ):
        with pytest.raises(InvalidJSON, match=message):
            value_of(field, text)


def test_every_fault_stands_with_its_argument() -> None:
    """As many as the schema itself finds; those of no argument by themselves."""
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 3},
            "b": {"type": "array", "items": {"type": "string"}},
            "c": {"type": "string"},
            "d": {"type": "string"},
        },
        "required": ["c", "d"],
        "additionalProperties": False,
    }
    arguments = {"a": 1, "b": ["x", 2, {"y": 3}], "e": 5}
    faults = field_errors(schema, arguments, ["a", "b", "c", "d"])
    assert {name: len(message) for name, message in faults.fields.items()} == {"a": 1, "b": 2, "c": 1, "d": 1}
    assert faults.fields["b"][0].endswith(" at `[1]`")
    assert faults.fields["c"] == ["this is needed"]
    assert len(faults.others) == 1
    assert '"e" is unknown' in faults.others[0]
    assert len(validate(arguments, schema)) == 6
    assert not field_errors(schema, {"a": 3, "c": "", "d": ""}, ["a", "b", "c", "d"])

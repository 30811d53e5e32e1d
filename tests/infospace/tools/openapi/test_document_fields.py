"""What of a document is kept: of its server, of its schemas, and what is said of one that cannot be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infospace.core.errors import Invalid
from infospace.tools.openapi.connection import _listing, _read
from infospace.tools.openapi.document import read_document
from infospace.tools.openapi.schemas import Direction, SchemaReader, _number


@pytest.mark.parametrize(
    ("info", "title", "version", "instructions"),
    [
        ({"title": "Books", "version": "2.1", "description": "Lends."}, "Books", "2.1", "Lends."),
        ({"title": 3, "version": 2, "description": ["x"]}, "", "2", ""),
        ({}, "", "", ""),
    ],
)
def test_a_document_says_what_its_server_is(info: dict[str, Any], title: str, version: str, instructions: str) -> None:
    """Texts alone; a version may be written as a number."""
    operations = {"get": {"operationId": "list_books", "responses": {"200": {"description": "Books."}}}}
    data = json.dumps({"openapi": "3.1.0", "info": info, "paths": {"/books": operations}}).encode()
    found = _listing(*_read(data))
    assert (found.title, found.version, found.instructions) == (title, version, instructions)
    assert [tool.name for tool in found.tools] == ["list_books"]


@pytest.mark.parametrize(
    ("text", "bound"),
    [("5", 5), ("5.0", 5), ("-0.5", -0.5), ("1e3", 1000), ("five", None), ("", None), ("inf", None), ("nan", None)],
)
def test_a_bound_that_is_written_as_a_text_is_a_number_or_nothing(text: str, bound: float | None) -> None:
    """What JSON cannot say is none."""
    found = _number("minimum", text)
    assert found == ({} if bound is None else {"minimum": bound})
    assert json.dumps(found, allow_nan=False)
    assert bound is None or type(found["minimum"]) is type(bound)


READ = "and 3.0 and 3.1 are read"
BEGINS = "an OpenAPI document begins with `openapi: 3.1.0`"
HAS = "an OpenAPI document has `openapi: 3.1.0`"


@pytest.mark.parametrize(
    ("data", "message", "hint"),
    [
        (b"\xef\xbb\xbf \n\t", "it is empty", None),
        (
            b'{"a": 1',
            "it is not JSON: it ends inside an object opened at line 1, column 1: it seems cut off",
            "send all of it",
        ),
        (
            b"a: 1\nb: [\n",
            "it is neither JSON nor YAML: expected the node content, but found '<stream end>' (line 3)",
            None,
        ),
        (b"a: *b", "it is neither JSON nor YAML: found undefined alias 'b' (line 1)", None),
        (
            b"a: \x00",
            "it is neither JSON nor YAML: unacceptable character #x0000: special characters are not allowed",
            None,
        ),
        (b"\xff", "it is not text in UTF-8", None),
        (b"[1]", "it is [1], not an object", BEGINS),
        (b"a", 'it is "a", not an object', BEGINS),
        (b'{"swagger": "2.0"}', f"it is of Swagger 2.0, {READ}", "a converter of OpenAPI 2.0 makes 3.0 of it"),
        (b'{"info": {}}', "it has no `openapi`, which says its version", HAS),
        (b'{"openapi": "3.2"}', f'it is of version "3.2", {READ}', None),
        (b'{"openapi": "3.1."}', f'it is of version "3.1.", {READ}', None),
        (b'{"openapi": "3.1.0"}', "it has no `info`", "an OpenAPI document has an object `info`"),
        (b'{"openapi": "3.0.0", "info": {}}', "it has no `paths`", "an OpenAPI document has an object `paths`"),
        (b'{"openapi": "3.1.0", "info": null}', "its `info` is null, not an object", None),
        (b'{"openapi": "3.1.0", "info": {}, "components": 3}', "its `components` is 3, not an object", None),
        (b"- " * 101 + b"a", "it is nested more than 100 deep", None),
        (b"a: &a [*a]", "it is nested more than 100 deep", None),
        (b"- " * 3_000 + b"a", "it is nested more than 100 deep", None),
    ],
)
def test_a_document_that_cannot_be_read_says_why(data: bytes, message: str, hint: str | None) -> None:
    with pytest.raises(Invalid) as refused:
        read_document(data)
    assert (refused.value.message, refused.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("data", "old"),
    [
        (b'{"openapi": "3.1.0", "info": {}}', False),
        (b'{"openapi": 3.1, "info": {}}', False),
        (b'{"openapi": "3.1.0-rc1", "info": {}}', False),
        (b'{"swagger": "2.0", "openapi": "3.0.1", "info": {}, "paths": {}}', True),
        (b'{"openapi": "3.1.0", "info": ' + b'{"a":' * 99 + b"1" + b"}" * 99 + b"}", False),
    ],
)
def test_a_document_is_of_one_of_two_versions(data: bytes, old: bool) -> None:
    """However deep it is, to a hundred."""
    assert read_document(data).old is old


def test_keys_of_yaml_are_texts() -> None:
    """And so is what JSON has no word for."""
    written = (
        b"\xef\xbb\xbfopenapi: 3.1.0\ninfo: {2: a, true: b, false: c, null: d, e: 2020-01-02, f: [1.5, null, true]}\n"
    )
    info = {"2": "a", "true": "b", "false": "c", "None": "d", "e": "2020-01-02", "f": [1.5, None, True]}
    assert read_document(written).root["info"] == info


def schema_of(schema: Any, version: str = "3.1.0", direction: Direction = "input", **schemas: Any) -> Any:
    """Return a schema of a document with these schemas as a tool has it."""
    document = {"openapi": version, "info": {}, "paths": {}, "components": {"schemas": schemas}}
    return SchemaReader(read_document(json.dumps(document).encode()), direction).read(schema)


def to(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


NULLABLE = {"type": "string", "nullable": True}
OR_NULL = {"type": ["string", "null"]}
ONE_WAY = {
    "properties": {"a": {"readOnly": True}, "b": {"writeOnly": True}, "c": {}, "d": 3},
    "required": ["a", "b", "c", "e"],
}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (3, {}),
        (None, {}),
        (True, {}),
        (False, {"not": {}}),
        (
            {"discriminator": {}, "xml": {}, "externalDocs": {}, "$schema": "x", "$id": "y", "x-a": 1, "title": "t"},
            {"title": "t"},
        ),
        ({"items": 3}, {"items": True}),
        ({"properties": 3, "title": "t"}, {"title": "t"}),
        (
            {"minimum": "1", "maximum": "x", "minLength": "2.0", "multipleOf": "0.5", "pattern": "1"},
            {"minimum": 1, "minLength": 2, "multipleOf": 0.5, "pattern": "1"},
        ),
        ({"deprecated": "yes", "uniqueItems": True, "readOnly": "x"}, {"uniqueItems": True}),
        ({"properties": {"a": {"readOnly": True}}, "required": ["a"]}, {"properties": {}}),
        ({"required": ["a"]}, {"required": ["a"]}),
        ({"example": 1}, {"examples": [1]}),
        ({"example": 1, "examples": [2]}, {"examples": [2]}),
        ({"type": "integer", "nullable": True}, {"type": "integer", "nullable": True}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"minimum": 1}),
    ],
)
def test_a_schema_keeps_what_can_be_checked(written: Any, expected: Any) -> None:
    assert schema_of(written) == expected


def test_a_property_that_goes_one_way_is_not_there_the_other_way() -> None:
    """What is required without being described stays."""
    assert schema_of(ONE_WAY) == {
        "properties": {"b": {"writeOnly": True}, "c": {}, "d": True},
        "required": ["b", "c", "e"],
    }
    assert schema_of(ONE_WAY, direction="output") == {
        "properties": {"a": {"readOnly": True}, "c": {}, "d": True},
        "required": ["a", "c", "e"],
    }


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        *(
            ({key: {"a": NULLABLE}}, {key: {"a": OR_NULL}})
            for key in ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
        ),
        *(
            ({key: NULLABLE}, {key: OR_NULL})
            for key in ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else")
        ),
        *(({key: NULLABLE}, {key: OR_NULL}) for key in ("unevaluatedItems", "unevaluatedProperties")),
        *(({key: [NULLABLE, 3]}, {key: [OR_NULL, True]}) for key in ("allOf", "anyOf", "oneOf", "prefixItems")),
        ({"type": "integer", "nullable": True, "enum": [1]}, {"type": ["integer", "null"], "enum": [1, None]}),
        ({"nullable": True, "enum": [1, None]}, {"enum": [1, None]}),
        ({"nullable": True}, {}),
        ({"type": "integer", "nullable": False}, {"type": "integer"}),
        ({"type": "integer", "nullable": "true"}, {"type": "integer"}),
        (
            {
                "anyOf": [{"type": "integer"}],
                "nullable": True,
                "title": "t",
                "description": "d",
                "default": 1,
                "examples": [1],
            },
            {
                "title": "t",
                "description": "d",
                "default": 1,
                "examples": [1],
                "anyOf": [{"anyOf": [{"type": "integer"}]}, {"type": "null"}],
            },
        ),
        (
            {"minimum": 1, "exclusiveMinimum": True, "maximum": 2, "exclusiveMaximum": True},
            {"exclusiveMinimum": 1, "exclusiveMaximum": 2},
        ),
        ({"minimum": 1, "exclusiveMinimum": False, "exclusiveMaximum": True}, {"minimum": 1}),
        ({"minimum": 1, "exclusiveMinimum": 0}, {"minimum": 1, "exclusiveMinimum": 0}),
        ({**to("A"), "title": "beside"}, {"type": "integer"}),
        (
            {**to("A"), "title": "beside", "nullable": True},
            {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "$defs": {"A": {"type": "integer"}}},
        ),
    ],
)
def test_a_schema_of_3_0_says_the_same_in_the_words_of_2020(written: Any, expected: Any) -> None:
    """At whatever place it stands; beside a reference only that it may be null counts."""
    assert schema_of(written, "3.0.0", A={"type": "integer"}) == expected


def test_what_a_schema_refers_to_stands_with_it_by_a_name_of_its_own() -> None:
    """What is nothing but a reference is what that leads to; one that leads nowhere allows anything."""
    assert schema_of(to("A"), A={"type": "integer"}) == {"type": "integer"}
    assert schema_of(to("A"), A=True) == {}
    assert schema_of({**to("A"), "title": "beside"}, A={"enum": [1]}) == {
        "title": "beside",
        "$ref": "#/$defs/A",
        "$defs": {"A": {"enum": [1]}},
    }
    around = schema_of(to("A"), A=to("B"), B=to("A"))
    assert around == {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}
    alike = [to("A b"), to("A"), {"$ref": "#/components/x/A"}, {"$ref": "other#/A"}, to("")]
    found = schema_of({"anyOf": alike}, **{"A": {"enum": [1]}, "A b": {"enum": [2]}, "": {"enum": [3]}})
    assert found["anyOf"] == [{"$ref": f"#/$defs/{name}"} for name in ("A_b", "A", "A_2", "A_3", "it")]
    assert found["$defs"] == {"A_b": {"enum": [2]}, "A": {"enum": [1]}, "A_2": True, "A_3": True, "it": {"enum": [3]}}


def test_five_hundred_schemas_stand_with_one_and_no_more() -> None:
    """What further ones lead to may be anything; the next schema has its own five hundred."""
    schemas = {f"S{number}": {"enum": [number]} for number in range(501)}
    document = {"openapi": "3.1.0", "info": {}, "components": {"schemas": schemas}}
    reader = SchemaReader(read_document(json.dumps(document).encode()), "input")
    whole = reader.read({"anyOf": [to(name) for name in schemas]})
    assert (len(whole["$defs"]), whole["anyOf"][499:]) == (500, [{"$ref": "#/$defs/S499"}, {}])
    assert reader.read({"items": to("S500")}) == {"items": {"$ref": "#/$defs/S500"}, "$defs": {"S500": {"enum": [500]}}}

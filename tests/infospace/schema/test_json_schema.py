"""JSON Schema (2020-12), keyword by keyword: what fits and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.schema.combine import inline_refs
from infospace.schema.infer import subschema_at, types_of
from infospace.schema.validate import first_violation, schema_errors

TREE = {
    "type": "object",
    "properties": {"value": {"type": "number"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["value"],
    "additionalProperties": False,
}
STRICT_TREE = {
    "$id": "https://example.org/strict",
    "$dynamicAnchor": "node",
    "$ref": "tree",
    "unevaluatedProperties": False,
    "$defs": {
        "tree": {
            "$id": "https://example.org/tree",
            "$dynamicAnchor": "node",
            "type": "object",
            "properties": {"data": True, "children": {"type": "array", "items": {"$dynamicRef": "#node"}}},
        }
    },
}

CASES: dict[str, tuple[Any, list[Any], list[Any]]] = {
    # schema, what fits, what does not
    "true": (True, [None, 1, "a", {}], []),
    "false": (False, [], [None, 1, "a", {}]),
    "empty": ({}, [None, 1, [], {"a": 1}], []),
    "type integer": ({"type": "integer"}, [1, 1.0, -3, 10**30], [1.5, "1", True, None, [], {}]),
    "type number": ({"type": "number"}, [1, 1.5, -0.0], ["1", True, None]),
    "type string": ({"type": "string"}, ["", "a"], [1, None, []]),
    "type boolean": ({"type": "boolean"}, [True, False], [0, 1, "", None]),
    "type null": ({"type": "null"}, [None], [0, "", False, []]),
    "type array": ({"type": "array"}, [[], [1]], [{}, "ab"]),
    "type object": ({"type": "object"}, [{}, {"a": 1}], [[], "{}"]),
    "types": ({"type": ["integer", "string"]}, [1, "a"], [1.5, None, True]),
    "enum": (
        {"enum": [6, "a", [], True, {"b": 12}]},
        [6, 6.0, "a", [], True, {"b": 12}],
        [1, "6", [1], False, {"b": 13}, None],
    ),
    "enum false and zero": ({"enum": [False]}, [False], [0, 0.0, None, ""]),
    "enum one and true": ({"enum": [1]}, [1, 1.0], [True, "1"]),
    "enum nested": ({"enum": [[0], {"a": False}]}, [[0], [0.0], {"a": False}], [[False], {"a": 0}]),
    "const null": ({"const": None}, [None], [0, False, ""]),
    "const object": (
        {"const": {"a": 1, "b": [2]}},
        [{"b": [2.0], "a": 1}],
        [{"a": 1}, {"a": 1, "b": [2], "c": 3}, {"a": True, "b": [2]}],
    ),
    "const true": ({"const": True}, [True], [1, 1.0, "true"]),
    "const -0": ({"const": 0}, [0, 0.0, -0.0], [False, "0"]),
    "const large": ({"const": 9007199254740992}, [9007199254740992, 9007199254740992.0], [9007199254740991]),
    "minimum": ({"minimum": 1.1}, [1.1, 2, "x"], [1, 0.6]),
    "maximum": ({"maximum": 3.0}, [3, 3.0, 2.9, None], [3.01]),
    "exclusive": ({"exclusiveMinimum": 1, "exclusiveMaximum": 3}, [1.1, 2], [1, 3, 1.0]),
    "multipleOf": ({"multipleOf": 2}, [0, 4, -6, "a"], [7, 3.5]),
    "multipleOf small": ({"multipleOf": 0.0001}, [0.0075, 1, 0], [0.00751]),
    "multipleOf of cents": ({"multipleOf": 0.01}, [19.99, 0.07, 1.1, 4.35, 1e10, -8.41], [19.995, 0.001]),
    "multipleOf 1.5": ({"multipleOf": 1.5}, [0, 4.5], [35]),
    "multipleOf of something huge": ({"type": "number", "multipleOf": 0.123456789}, [], [1e308]),
    "multipleOf of a huge whole number": ({"multipleOf": 0.5}, [1e308, 10**400], []),
    "minLength": ({"minLength": 2}, ["ab", "\U0001f4a9\U0001f4a9", 1], ["a", "\U0001f4a9"]),
    "maxLength": ({"maxLength": 2}, ["ab", "\U0001f4a9\U0001f4a9", [1, 2, 3]], ["abc"]),
    "length with a point": ({"minLength": 2.0, "maxLength": 2.0}, ["ab"], ["a", "abc"]),
    "pattern": ({"pattern": "a+"}, ["xxaayy", "a", 3, None], ["b", ""]),
    "pattern anchored": ({"pattern": "^a*$"}, ["", "aaa", True], ["ab"]),
    "minItems": ({"minItems": 1}, [[1], "", {}], [[]]),
    "maxItems": ({"maxItems": 1.0}, [[], [1], "ab"], [[1, 2]]),
    "items": ({"items": {"type": "integer"}}, [[], [1, 2], {"0": "a", "length": 1}], [[1, "a"]]),
    "items false": ({"items": False}, [[]], [[1]]),
    "prefixItems": (
        {"prefixItems": [{"type": "integer"}, {"type": "string"}]},
        [[], [1], [1, "a"], [1, "a", None]],
        [["a"], [1, 2]],
    ),
    "prefixItems and items": (
        {"prefixItems": [{}, {}], "items": {"type": "integer"}},
        [["a", None], [None, None, 3]],
        [[1, 2, "a"]],
    ),
    "prefixItems and no more": ({"prefixItems": [{}], "items": False}, [[], [1]], [[1, 2]]),
    "uniqueItems": (
        {"uniqueItems": True},
        [[1, 2], [1, True], [0, False], [[1], [True]], [{"a": 1}, {"a": True}], ["1", 1], "aa"],
        [
            [1, 1.0],
            [{"a": 1, "b": 2}, {"b": 2, "a": 1}],
            [[1, [2]], [1, [2]]],
            [None, None],
            [{"a": [0]}, {"a": [0.0]}],
        ],
    ),
    "uniqueItems false": ({"uniqueItems": False}, [[1, 1]], []),
    "contains": ({"contains": {"minimum": 5}}, [[3, 5], [5], {}], [[], [1]]),
    "contains const": ({"contains": {"const": 5}}, [[3, 5], [5, 5.0]], [[True], ["5"]]),
    "contains false": ({"contains": False}, ["x"], [[], [1]]),
    "minContains": ({"contains": {"const": 1}, "minContains": 2}, [[1, 1], [1, 2, 1]], [[1], [1, 2], []]),
    "minContains 0": ({"contains": {"const": 1}, "minContains": 0}, [[], [2]], []),
    "minContains 0 and maxContains": (
        {"contains": {"const": 1}, "minContains": 0, "maxContains": 1},
        [[], [1]],
        [[1, 1]],
    ),
    "maxContains": ({"contains": {"const": 1}, "maxContains": 1}, [[1], [1, 2]], [[], [1, 1]]),
    "minContains alone": ({"minContains": 1, "maxContains": 0}, [[], [1, 2]], []),
    "required": ({"required": ["a", "__proto__"]}, [{"a": None, "__proto__": 1}, [], "a"], [{"a": 1}, {}]),
    "required odd": (
        {"required": ['a"b', "a\nb", "a'b", "a\\b"]},
        [{'a"b': 1, "a\nb": 1, "a'b": 1, "a\\b": 1}],
        [{"a'b": 1}],
    ),
    "properties": (
        {"properties": {"a": {"type": "integer"}, "b": False}},
        [{}, {"a": 1}, {"c": "x"}, []],
        [{"a": "x"}, {"b": None}],
    ),
    "minProperties": ({"minProperties": 1, "maxProperties": 2.0}, [{"a": 1}, [], "a"], [{}, {"a": 1, "b": 2, "c": 3}]),
    "patternProperties": (
        {"patternProperties": {"f.*o": {"type": "integer"}, "^x": False}},
        [{}, {"foo": 1, "floo": 2}, {"bar": "a"}, ["foo"]],
        [{"xfoo": 1}, {"afoob": "x"}, {"x": 1}],
    ),
    "additionalProperties": (
        {"properties": {"a": {}}, "patternProperties": {"^v": {}}, "additionalProperties": {"type": "boolean"}},
        [{"a": 1, "vv": 2, "x": True}, 12],
        [{"x": 1}],
    ),
    "additionalProperties false, not ascii": (
        {"patternProperties": {"^á": {}}, "additionalProperties": False},
        [{"ármányos": 2}],
        [{"élmény": 2}],
    ),
    "additionalProperties does not look into allOf": (
        {"allOf": [{"properties": {"a": {}}}], "additionalProperties": False},
        [{}],
        [{"a": 1}],
    ),
    "propertyNames": ({"propertyNames": {"maxLength": 3}}, [{"f": {}, "foo": {}}, {}, [], 12], [{"foobar": {}}]),
    "propertyNames pattern": ({"propertyNames": {"pattern": "^a+$"}}, [{"a": 1, "aa": 1}], [{"b": 1}]),
    "propertyNames enum": ({"propertyNames": {"enum": ["a", "b"]}}, [{"a": 1}], [{"c": 1}]),
    "dependentRequired": (
        {"dependentRequired": {"a": ["b", "c"], "d": []}},
        [{}, {"d": 1}, {"b": 1}, {"a": 1, "b": 2, "c": 3}, ["a"]],
        [{"a": 1}, {"a": 1, "b": 2}],
    ),
    "dependentSchemas": (
        {"dependentSchemas": {"a": {"properties": {"b": {"type": "integer"}}, "required": ["b"]}, "c": False}},
        [{}, {"b": "x"}, {"a": 1, "b": 2}],
        [{"a": 1, "b": "x"}, {"a": 1}, {"c": 1}],
    ),
    "allOf": ({"allOf": [{"minimum": 1}, {"maximum": 3}, True], "multipleOf": 1}, [1, 2], [0, 4, 1.5]),
    "anyOf": ({"type": "string", "anyOf": [{"maxLength": 2}, {"minLength": 4}]}, ["ab", "abcd"], ["abc", 3]),
    "oneOf": ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, [1, 2.5], [3, 1.5]),
    "oneOf required": (
        {"oneOf": [{"required": ["a", "b"]}, {"required": ["a", "c"]}]},
        [{"a": 1, "b": 2}],
        [{"b": 2}, {"a": 1, "b": 2, "c": 3}],
    ),
    "not": ({"not": {"type": ["integer", "boolean"]}}, ["a", 1.5, None], [1, True, 2.0]),
    "not not": ({"not": {"not": {"type": "null"}}}, [None], [1]),
    "if": (
        {"if": {"exclusiveMaximum": 0}, "then": {"minimum": -10}, "else": {"multipleOf": 2}},
        [-1, 4, -10],
        [-100, 3],
    ),
    "if alone": ({"if": {"const": 0}}, [0, "x"], []),
    "then without if": ({"then": {"const": 0}, "else": {"const": 1}}, ["x"], []),
    "if in allOf": ({"allOf": [{"if": {"const": 1}}, {"then": {"const": 2}}]}, [1, 5], []),
    "if false": ({"if": False, "then": {"const": "t"}, "else": {"const": "e"}}, ["e"], ["t"]),
    "$ref with siblings": (
        {"$ref": "#/$defs/a", "maxItems": 2, "$defs": {"a": {"type": "array"}}},
        [[], [1, 2]],
        ["x", [1, 2, 3]],
    ),
    "$ref to the whole": (
        TREE,
        [{"value": 1}, {"value": 1, "children": [{"value": 2, "children": []}]}],
        [{"value": 1, "children": [{"x": 2}]}, {"value": "a"}],
    ),
    "$ref with odd characters": (
        {
            "$defs": {
                "til~de": {"type": "integer"},
                "sla/sh": {"type": "string"},
                "per%cent": {"type": "null"},
                'quo"te': {"type": "boolean"},
            },
            "properties": {
                "t": {"$ref": "#/$defs/til~0de"},
                "s": {"$ref": "#/$defs/sla~1sh"},
                "p": {"$ref": "#/$defs/per%25cent"},
                "q": {"$ref": "#/$defs/quo%22te"},
            },
        },
        [{"t": 1, "s": "a", "p": None, "q": True}],
        [{"t": "a"}, {"s": 1}, {"p": 1}, {"q": 1}],
    ),
    "$ref into a list": ({"prefixItems": [{"type": "integer"}, {"$ref": "#/prefixItems/0"}]}, [[1, 2]], [[1, "a"]]),
    "$ref chained": (
        {
            "$defs": {"a": {"type": "integer"}, "b": {"$ref": "#/$defs/a"}, "c": {"$ref": "#/$defs/b"}},
            "$ref": "#/$defs/c",
        },
        [5],
        ["a"],
    ),
    "property named $ref": ({"properties": {"$ref": {"type": "string"}}}, [{"$ref": "a"}], [{"$ref": 2}]),
    "property named $ref that is a $ref": (
        {"properties": {"$ref": {"$ref": "#/$defs/s"}}, "$defs": {"s": {"type": "string"}}},
        [{"$ref": "a"}],
        [{"$ref": 2}],
    ),
    "no reference in an enum": ({"enum": [{"$ref": "#/nowhere"}]}, [{"$ref": "#/nowhere"}], [1]),
    "$ref to a boolean": ({"$ref": "#/$defs/no", "$defs": {"no": False}}, [], [1, {}]),
    "$anchor": ({"$ref": "#foo", "$defs": {"a": {"$anchor": "foo", "type": "integer"}}}, [1], ["a"]),
    "$id": (
        {
            "$id": "https://example.org/root",
            "properties": {"a": {"$ref": "item"}},
            "$defs": {"i": {"$id": "item", "type": "integer"}},
        },
        [{"a": 1}],
        [{"a": "x"}],
    ),
    "$ref is to its own resource": (
        {
            "$id": "https://example.org/r",
            "$defs": {
                "x": {"type": "string"},
                "inner": {
                    "$id": "inner",
                    "$defs": {"x": {"type": "integer"}},
                    "properties": {"v": {"$ref": "#/$defs/x"}},
                },
            },
            "$ref": "inner",
        },
        [{"v": 1}],
        [{"v": "a"}],
    ),
    "$ref in a part with its own $id that is used in place": (
        {
            "$id": "https://example.org/r",
            "$defs": {"x": {"type": "string"}},
            "properties": {
                "a": {
                    "$id": "inner",
                    "$defs": {"x": {"type": "integer"}},
                    "properties": {"v": {"$ref": "#/$defs/x"}},
                },
                "b": {"$ref": "#/properties/a/properties/v"},
                "c": {"$ref": "inner#/properties/v"},
                "d": {"$ref": "#/$defs/x"},
            },
        },
        [{"a": {"v": 1}, "b": 2, "c": 3, "d": "x"}],
        [{"a": {"v": "x"}}, {"b": "x"}, {"c": "x"}, {"d": 1}],
    ),
    "$anchor in a part with its own $id": (
        {
            "$defs": {
                "a": {"$anchor": "v", "type": "string"},
                "b": {"$id": "urn:example:b", "$ref": "#v", "$defs": {"v": {"$anchor": "v", "type": "integer"}}},
            },
            "properties": {"a": {"$ref": "#v"}, "b": {"$ref": "urn:example:b"}},
        },
        [{"a": "x", "b": 1}],
        [{"a": 1}, {"b": "x"}],
    ),
    "$ref to the meta-schema": (
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        [{"type": "integer"}, True, {"$defs": {"a": {"minLength": 1}}}],
        [{"type": "none"}, {"$defs": {"a": {"minLength": -1}}}, 3],
    ),
    "$dynamicRef": (
        STRICT_TREE,
        [{"children": [{"data": 1}]}, {"data": 1}],
        [{"children": [{"daat": 1}]}, {"daat": 1}],
    ),
    "$dynamicRef like $ref": (
        {"items": {"$dynamicRef": "#a"}, "$defs": {"x": {"$dynamicAnchor": "a", "type": "string"}}},
        [["x"]],
        [[1]],
    ),
    "unevaluatedProperties": ({"properties": {"a": {}}, "unevaluatedProperties": False}, [{}, {"a": 1}], [{"b": 1}]),
    "unevaluatedProperties schema": (
        {"properties": {"a": {}}, "unevaluatedProperties": {"type": "string"}},
        [{"a": 1, "b": "x"}],
        [{"b": 1}],
    ),
    "unevaluatedProperties, allOf": (
        {"properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}], "unevaluatedProperties": False},
        [{"a": 1, "b": 2}],
        [{"a": 1, "b": 2, "c": 3}],
    ),
    "unevaluatedProperties, anyOf": (
        {
            "anyOf": [
                {"properties": {"a": {"const": 1}}, "required": ["a"]},
                {"properties": {"b": {"const": 2}}, "required": ["b"]},
            ],
            "unevaluatedProperties": False,
        },
        [{"a": 1}, {"b": 2}, {"a": 1, "b": 2}],
        [{"a": 1, "b": 3}, {"a": 1, "c": 1}],
    ),
    "unevaluatedProperties, if": (
        {
            "if": {"properties": {"k": {"const": "t"}}, "required": ["k"]},
            "then": {"properties": {"t": {}}},
            "else": {"properties": {"e": {}}},
            "unevaluatedProperties": False,
        },
        [{"k": "t", "t": 1}, {"e": 1}],
        [{"k": "t", "e": 1}, {"t": 1}, {"k": "x"}],
    ),
    "unevaluatedProperties, $ref": (
        {
            "$ref": "#/$defs/a",
            "properties": {"b": {}},
            "unevaluatedProperties": False,
            "$defs": {"a": {"properties": {"a": {}}}},
        },
        [{"a": 1, "b": 2}],
        [{"c": 3}],
    ),
    "unevaluatedProperties, not": (
        {"not": {"not": {"properties": {"a": {}}}}, "unevaluatedProperties": False},
        [{}],
        [{"a": 1}],
    ),
    "unevaluatedProperties, dependentSchemas": (
        {"properties": {"a": {}}, "dependentSchemas": {"a": {"properties": {"b": {}}}}, "unevaluatedProperties": False},
        [{"a": 1, "b": 2}],
        [{"b": 2}],
    ),
    "unevaluatedProperties beside additionalProperties": (
        {"additionalProperties": True, "unevaluatedProperties": False},
        [{"a": 1}],
        [],
    ),
    "unevaluatedProperties in a cousin": (
        {"allOf": [{"properties": {"a": True}}, {"unevaluatedProperties": False}]},
        [{}],
        [{"a": 1}],
    ),
    "unevaluatedProperties nested": (
        {"properties": {"o": {"properties": {"a": {}}, "unevaluatedProperties": False}}},
        [{"o": {"a": 1}, "x": 1}],
        [{"o": {"b": 1}}],
    ),
    "unevaluatedProperties, patternProperties": (
        {"allOf": [{"patternProperties": {"^x": {"type": "integer"}}}], "unevaluatedProperties": False},
        [{"x1": 1}, {}, []],
        [{"x1": 1, "y": 2}, {"x1": "a"}, {"y": 2}],
    ),
    "unevaluatedProperties, patterns in a part with its own $id": (
        {
            "$ref": "inner",
            "unevaluatedProperties": {"type": "null"},
            "$defs": {
                "inner": {
                    "$id": "inner",
                    "anyOf": [{"$ref": "#/$defs/p"}],
                    "$defs": {"p": {"patternProperties": {"^a": {}}}},
                },
                "p": {"patternProperties": {"^b": {}}},
            },
        },
        [{"a1": 1}, {"a1": 1, "b": None}],
        [{"b1": 1}, {"a1": 1, "c": 2}],
    ),
    "unevaluatedItems": ({"prefixItems": [{}], "unevaluatedItems": False}, [[], [1], {}], [[1, 2]]),
    "unevaluatedItems, items": ({"items": {"type": "integer"}, "unevaluatedItems": False}, [[1, 2]], [["a"]]),
    "unevaluatedItems, allOf": (
        {"prefixItems": [{}], "allOf": [{"prefixItems": [True, {"type": "integer"}]}], "unevaluatedItems": False},
        [["a", 1]],
        [["a", 1, 2], ["a", "b"]],
    ),
    "unevaluatedItems, contains": (
        {"prefixItems": [{}], "contains": {"type": "string"}, "unevaluatedItems": False},
        [[1, "a"], ["a"]],
        [[1, 2, "a"], [1]],
    ),
    "unevaluatedItems schema": ({"unevaluatedItems": {"type": "string"}}, [["a"], []], [[1]]),
    "unevaluatedItems, if": (
        {
            "prefixItems": [{"const": "k"}],
            "if": {"prefixItems": [{}, {"const": 1}]},
            "then": {"prefixItems": [{}, {}, {}]},
            "unevaluatedItems": False,
        },
        [["k", 1, 2], ["k"]],
        [["k", 2], ["k", 1, 2, 3]],
    ),
    "unevaluatedItems, $ref": (
        {"$ref": "#/$defs/a", "unevaluatedItems": False, "$defs": {"a": {"prefixItems": [{}]}}},
        [[1]],
        [[1, 2]],
    ),
    "annotations": (
        {
            "title": "t",
            "description": "d",
            "default": "x",
            "examples": [1],
            "deprecated": True,
            "$comment": "c",
            "readOnly": True,
            "type": "integer",
        },
        [1],
        ["x"],
    ),
    "content": ({"contentMediaType": "application/json", "contentEncoding": "base64"}, ["{:}", "no base64", 1], []),
    "format says nothing": ({"format": "date"}, ["2020-13-45", 1], []),
    "unknown keyword": ({"x-anything": {"type": "string"}, "unknown": 5}, [1, "a"], []),
    "definitions of properties": (
        {"properties": {"constructor": {"type": "number"}, "toString": {"type": "string"}}},
        [{}, {"constructor": 1}],
        [{"constructor": "a"}],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_value_fits_a_schema_or_not(name: str) -> None:
    """And the schema is one."""
    schema, fits, others = CASES[name]
    assert list(schema_errors(schema)) == []
    for value in fits:
        assert first_violation(value, schema) is None, value
    for value in others:
        assert first_violation(value, schema) is not None, value


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if isinstance(case[0], dict)])
def test_what_the_check_knows_of_a_schema_admits_what_fits(name: str) -> None:
    """Its types, and the schema at each key and index of a value that fits."""
    schema, fits, _ = CASES[name]
    names = {
        type(None): "null",
        bool: "boolean",
        int: "integer",
        float: "number",
        str: "string",
        list: "array",
        dict: "object",
    }
    for value in fits:
        whole = isinstance(value, float) and value.is_integer()
        assert ("integer" if whole else names[type(value)]) in types_of(schema), value
        places = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for place, inner in places:
            found = subschema_at(schema, (place,))
            assert found is None or isinstance(found, dict | bool), (value, place, found)
            if isinstance(found, dict):
                assert first_violation(inner, found) is None, (value, place, found)


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"$ref": "#/$defs/none"}, ("$ref",)),
        ({"$ref": "https://example.org/elsewhere"}, ("$ref",)),
        ({"$dynamicRef": "#none"}, ("$dynamicRef",)),
        ({"prefixItems": [{}], "$ref": "#/prefixItems/x"}, ("$ref",)),
        ({"title": "t", "$ref": "#/title/x"}, ("$ref",)),
        ({"title": "t", "$ref": "#/title"}, ("$ref",)),
        ({"properties": {"default": {"$ref": "#none"}}}, ("properties", "default", "$ref")),
        ({"properties": {"enum": {"pattern": "(?=a)"}}}, ("properties", "enum", "pattern")),
        ({"dependentSchemas": {"const": {"$ref": "#none"}}}, ("dependentSchemas", "const", "$ref")),
        ({"$defs": {"i": {"$id": "i", "$ref": "#/$defs/i"}}}, ("$defs", "i", "$ref")),
        ({"type": "nothing"}, ("type",)),
        ({"minLength": -1}, ("minLength",)),
        ({"multipleOf": 0}, ("multipleOf",)),
        ({"items": [{}]}, ("items",)),
        (5, ()),
    ],
)
def test_what_no_value_can_be_held_against_is_told_with_its_place(schema: Any, place: Any) -> None:
    """References that lead nowhere, patterns that RE2 has not, keywords of another form."""
    assert [fault.place for fault in schema_errors(schema)] == [place]


def test_a_reference_in_a_part_with_its_own_id_leads_into_that_part() -> None:
    """And nowhere else."""
    inner = {"$id": "inner", "$defs": {"x": {"type": "integer"}}, "properties": {"v": {"$ref": "#/$defs/x"}}}
    schema = {"$id": "https://example.org/r", "$defs": {"inner": inner}, "$ref": "inner"}
    assert list(schema_errors(schema)) == []
    assert first_violation({"v": 1}, schema) is None
    assert first_violation({"v": "a"}, schema) is not None


def test_the_check_knows_what_a_reference_in_a_part_with_its_own_id_leads_to() -> None:
    """At a place in it, and of a part that is taken out of its schema, which then stands alone."""
    schema = CASES["$ref in a part with its own $id that is used in place"][0]
    for place in (("a", "v"), ("b",), ("c",)):
        found = subschema_at(schema, place)
        assert isinstance(found, dict)
        assert types_of(found) == {"integer"}, place
    part = subschema_at(schema, ("a",))
    assert isinstance(part, dict)
    assert first_violation({"v": "x"}, part) == '"x" is not a whole number at `v`'
    assert types_of(subschema_at(inline_refs(schema), ("a", "v"))) == {"integer"}


def test_what_is_in_an_enum_or_a_default_is_no_schema() -> None:
    """Whatever it looks like."""
    schema = {"enum": [{"$ref": "#none"}], "default": {"pattern": "("}, "properties": {"a": {"const": {"$ref": 1}}}}
    assert list(schema_errors(schema)) == []

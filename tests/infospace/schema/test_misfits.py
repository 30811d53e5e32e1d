"""In which a value does not fit a schema is said as its author writes values, with the place."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.schema.validate import first_violation, validate

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 2}, "tags": {"type": "array", "uniqueItems": True}},
    "required": ["name"],
    "additionalProperties": False,
}
INNER = {"type": "object", "properties": {"b": {"type": "string"}}}


@pytest.mark.parametrize(
    ("value", "schema", "message"),
    [
        (None, {"type": "boolean"}, "null is not true or false"),
        (True, {"type": ["integer", "null"]}, "true is not null or a whole number"),
        ("y", {"enum": ["x", None]}, '"y" is not "x" or null'),
        (False, {"const": 0}, "false is not 0"),
        ({}, PERSON, '"name" is missing'),
        ({"it's": 1}, {"required": ["it's so"]}, '"it\'s so" is missing'),
        ({"name": "Ada", "nam": 1}, PERSON, '"nam" is unknown (did you mean "name"?)'),
        ({"name": "A"}, PERSON, '"A" has 1 character, and at least 2 fit at `name`'),
        ({"name": "Ada", "tags": [1, 1]}, PERSON, "[1, 1] has an item twice at `tags`"),
        ([[1, "x"]], {"items": {"items": {"type": "number"}}}, '"x" is not a number at `[0][1]`'),
        ("abc", {"maxLength": 2}, '"abc" has 3 characters, and at most 2 fit'),
        ([1], {"minItems": 2}, "[1] has 1 item, and at least 2 fit"),
        ([1, 2], {"maxItems": 1}, "[1, 2] has 2 items, and at most 1 fit"),
        ({}, {"minProperties": 1}, "{} has 0 keys, and at least 1 fit"),
        ({"a": 1, "b": 2}, {"maxProperties": 1}, '{"a": 1, "b": 2} has 2 keys, and at most 1 fit'),
        (9, {"minimum": 10}, "9 is less than 10"),
        (10, {"exclusiveMinimum": 10}, "10 is not more than 10"),
        (11, {"maximum": 10}, "11 is more than 10"),
        (10, {"exclusiveMaximum": 10}, "10 is not less than 10"),
        (3, {"multipleOf": 2}, "3 is no multiple of 2"),
        ("a1", {"pattern": "^[a-z]+$"}, '"a1" does not match "^[a-z]+$"'),
        (None, {"oneOf": [{"const": "repeat"}, {"type": "object"}]}, 'null is not "repeat" or an object'),
        ("b", {"oneOf": [{"type": "integer"}, {"pattern": "^a$", "type": "string"}]}, '"b" does not match "^a$"'),
        ({"x": {"name": 1}}, {"properties": {"x": {"anyOf": [PERSON, {"type": "null"}]}}}, "1 is not text at `x.name`"),
        (
            3,
            {"oneOf": [{"type": "integer"}, {"minimum": 2}]},
            "3 fits more than one of what may be here, and it has to be one",
        ),
        (1, False, "1 may not be here"),
        ({"a": 1}, {"properties": {"a": False}}, "1 may not be here"),
        (1, {"anyOf": [False, False]}, "1 fits none of what may be here"),
        (1, {"oneOf": [False, False]}, "1 fits none of what may be here"),
        ("x", {"anyOf": [False, {"type": "string", "minLength": 2}]}, '"x" has 1 character, and at least 2 fit'),
        (
            {"v": 1},
            {"anyOf": [{"type": "object", "required": [key]} for key in "abba"]},
            '{"v": 1} fits none of what may be here ("a" is missing; "b" is missing)',
        ),
        (
            {"v": 1},
            {"oneOf": [{"type": "null"}, *({"type": "object", "required": [key]} for key in "abcd")]},
            '{"v": 1} fits none of what may be here ("a" is missing; "b" is missing; "c" is missing; …)',
        ),
        (
            {"o": {"kind": "c"}},
            {"properties": {"o": {"oneOf": [{"properties": {"kind": {"const": one}}} for one in "ab"]}}},
            '{"kind": "c"} fits none of what may be here ("c" is not "a" at `kind`; "c" is not "b" at `kind`) at `o`',
        ),
        (
            [1, 1],
            {"anyOf": [{"items": {"anyOf": [{"minimum": 2}, {"maximum": 0}]}}, {"uniqueItems": True}]},
            "[1, 1] fits none of what may be here (1 fits none of what may be here at `[0]`; [1, 1] has an item twice)",
        ),
        (
            {"a": {"b": 1}},
            {"anyOf": [{"properties": {"a": {"anyOf": [{"type": "null"}, INNER]}}}, {"required": ["c"]}]},
            '{"a": {"b": 1}} fits none of what may be here (1 is not text at `a.b`; "c" is missing)',
        ),
        (3, {"anyOf": [{"type": "object"}, {"type": "null"}]}, "3 is not an object or null"),
        ("x" * 58, {"const": 0}, f'"{"x" * 58}" is not 0'),
        ("x" * 59, {"const": 0}, f'"{"x" * 58}… is not 0'),
        (-1, {"enum": list(range(22))}, f"-1 is not {', '.join(map(str, range(20)))} or one of 2 more"),
    ],
)
def test_a_misfit_is_a_sentence_in_json(value: Any, schema: dict[str, Any], message: str) -> None:
    """Never as Python writes values."""
    assert validate(value, schema) == [message]


@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
def test_the_best_misfit_of_alternatives_that_are_false_is_a_sentence(word: str) -> None:
    """An alternative that nothing fits has no path of its own."""
    assert first_violation(1, {word: [False, False]}) == "1 fits none of what may be here"


def test_the_best_of_several_misfits_is_told() -> None:
    """The one that is nearest to what was meant."""
    schema = {"anyOf": [{"type": "object", "properties": {"a": {"type": "null"}}}, {"type": "boolean"}]}
    assert first_violation({"a": True}, schema) == "true is not null at `a`"

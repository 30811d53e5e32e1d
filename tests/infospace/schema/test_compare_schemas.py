"""Schemas compared: what is told of two of them holds of every value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace.schema.compare import VALUES as MOST_VALUES
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


TEXT, WHOLE, TRUTH, NOTHING = ({"type": name} for name in ("string", "integer", "boolean", "null"))


def _object(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {key: {"type": kind} for key, kind in fields.items()}}


def _having(**fields: Any) -> dict[str, Any]:
    """An object that always has these fields, of these schemas."""
    return {"type": "object", "properties": fields, "required": [*fields]}


def _list(items: Any = True, *first: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **({"prefixItems": [*first]} if first else {}), **more}


def _kind(name: str, v: Any) -> dict[str, Any]:
    return _having(kind={"const": name}, v=v)


CLOSED = {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (TEXT, WHOLE, ["it is text, and a whole number is wanted"]),
        (
            {"type": ["string", "null"]},
            {"anyOf": [WHOLE, TRUTH]},
            ["it is null or text, and a whole number or true or false is wanted"],
        ),
        ({"enum": []}, TEXT, ["it is something else, and text is wanted"]),
        ({}, False, ["it may not be there"]),
        (_having(a=TEXT), {"type": "object", "properties": {"a": False}}, ["`a` of it may not be there"]),
        (_list(True, TEXT, WHOLE), _list(False, TEXT), ["[1] of it may not be there"]),
        # values that are named
        ({"const": "a"}, {"const": "b"}, ['it does not fit: "a" is not "b"']),
        ({"const": {"a": 1}}, {"required": ["b"]}, ['it does not fit: "b" is missing']),
        ({"enum": ["a", "b", "c"]}, {"enum": ["d"]}, ['it is "a" or "b" or "c", and "d" is wanted']),
        ({"enum": ["a", "b", "c", "d"]}, {"enum": ["e"]}, ['it is "a" or "b" or "c" or another, and "e" is wanted']),
        (
            {"enum": ["a", "b"]},
            {"type": "string", "minLength": 2},
            ['it is "a" or "b", and does not fit: "a" has 1 character, and at least 2 fit'],
        ),
        ({"enum": [*range(MOST_VALUES)]}, {"const": -1}, ["it is 0 or 1 or 2 or another, and -1 is wanted"]),
        ({"enum": [*range(MOST_VALUES + 1)]}, {"const": -1}, []),
        (
            _list({"const": "a"}),
            {"$defs": {"d": {"enum": ["b"]}}, **_list({"anyOf": [{"$ref": "#/$defs/d"}]})},
            ['each item of it does not fit: "a" is not "b"'],
        ),
        # all of several, and one of several
        (TEXT, {"allOf": [{}, WHOLE]}, ["it is text, and a whole number is wanted"]),
        (
            _having(a=TEXT),
            {"type": "object", "allOf": [{}, _object(a="integer")]},
            ["`a` of it is text, and a whole number is wanted"],
        ),
        ({"oneOf": [WHOLE, NOTHING]}, TEXT, ["it is a whole number or null, and text is wanted"]),
        (
            {"anyOf": [_list(WHOLE), _list(WHOLE, maxItems=3)]},
            _list(TEXT),
            ["each item of it is a whole number, and text is wanted"],
        ),
        (
            {"anyOf": [_list(WHOLE), _list(TRUTH)]},
            _list(TEXT),
            [
                (
                    "it fits in none of its alternatives: each item of it is a whole number, and text is wanted; "
                    "each item of it is true or false, and text is wanted"
                )
            ],
        ),
        (
            {"oneOf": [WHOLE, _list(WHOLE)]},
            {"anyOf": [TEXT, _list(TEXT)]},
            [
                (
                    "it fits in none of its alternatives: it is a whole number, and text or a list of texts is wanted; "
                    "each item of it is a whole number, and text is wanted"
                )
            ],
        ),
        (
            _having(a=TEXT),
            {"anyOf": [WHOLE, _object(a="integer")]},
            ["`a` of it is text, and a whole number is wanted"],
        ),
        (_list(TEXT), {"oneOf": [_list(WHOLE), NOTHING]}, ["each item of it is text, and a whole number is wanted"]),
        (
            _list(TEXT),
            {"oneOf": [_list(WHOLE), _list(TRUTH)]},
            [
                (
                    "it fits none of what may be here: each item of it is text, and a whole number is wanted; "
                    "each item of it is text, and true or false is wanted"
                )
            ],
        ),
        (
            _list(maxItems=1),
            {"oneOf": [_list(minItems=2), NOTHING]},
            ["it has at most 1 item, and 2 are needed"],
        ),
        (
            _having(o=CLOSED),
            _having(o={"anyOf": [{"required": [key]} for key in "abca"]}),
            [
                (
                    '`o` of it fits none of what may be here: it has no "a", which is needed; '
                    'it has no "b", which is needed; it has no "c", which is needed'
                )
            ],
        ),
        (
            CLOSED,
            {"anyOf": [{"required": [key]} for key in "abcd"]},
            [
                (
                    'it fits none of what may be here: it has no "a", which is needed; '
                    'it has no "b", which is needed; it has no "c", which is needed; …'
                )
            ],
        ),
        (
            CLOSED,
            {"anyOf": [{"required": ["k" * 200]}, {"required": ["b"]}]},
            [f'it fits none of what may be here: it has no "{"k" * 148}…; it has no "b", which is needed'],
        ),
        (
            _kind("c", TEXT),
            {"oneOf": [_kind("a", TEXT), _kind("b", TEXT)]},
            [
                (
                    'it fits none of what may be here: `kind` of it does not fit: "c" is not "a"; '
                    '`kind` of it does not fit: "c" is not "b"'
                )
            ],
        ),
        (
            _kind("a", TEXT),
            {"oneOf": [_kind("b", TEXT), _kind("a", WHOLE), _kind("a", NOTHING)]},
            [
                (
                    "it fits none of what may be here: `v` of it is text, and a whole number is wanted; "
                    "`v` of it is text, and null is wanted"
                )
            ],
        ),
        ({"anyOf": [{"anyOf": [{"anyOf": [WHOLE]}]}]}, TEXT, ["it is a whole number, and text is wanted"]),
        (
            _kind("a", TEXT),
            {"oneOf": [_kind("a", WHOLE), _kind("b", WHOLE)]},
            ["`v` of it is text, and a whole number is wanted"],
        ),
        # items
        (_list(WHOLE), _list(TEXT), ["each item of it is a whole number, and text is wanted"]),
        (
            _list(_list(WHOLE)),
            _list(_list(TEXT)),
            ["each item of each item of it is a whole number, and text is wanted"],
        ),
        (_list(True, TEXT, WHOLE), _list(True, TEXT, TEXT), ["[1] of it is a whole number, and text is wanted"]),
        (_list(True, TEXT, WHOLE), _list(TEXT), ["[1] of it is a whole number, and text is wanted"]),
        (_list(True, TEXT, WHOLE), _list(TEXT, TEXT), ["[1] of it is a whole number, and text is wanted"]),
        (_list(WHOLE, TEXT), _list(TEXT), ["each item of it is a whole number, and text is wanted"]),
        (_list(maxItems=1), _list(minItems=1_000), ["it has at most 1 item, and 1,000 are needed"]),
        (_list(minItems=2_000), _list(maxItems=1_000), ["it has 2,000 items or more, and at most 1,000 fit"]),
        # fields
        (CLOSED, {"type": "object", "required": ["a"]}, ['it has no "a", which is needed']),
        (_having(x=TEXT), CLOSED, ['it has "x", which is not taken']),
        (
            _having(x=TEXT),
            {"type": "object", "additionalProperties": WHOLE},
            ["`x` of it is text, and a whole number is wanted"],
        ),
        (
            _having(a=TEXT, b=TEXT, c=TEXT),
            _having(a=WHOLE, b=TEXT, c=WHOLE),
            ["`a` of it is text, and a whole number is wanted", "`c` of it is text, and a whole number is wanted"],
        ),
        (
            {"type": "object", "properties": {"x": TEXT}, "required": ["y", "x"]},
            _having(x=WHOLE),
            ["`x` of it is text, and a whole number is wanted"],
        ),
        (
            _having(o=_having(l=_list(True, WHOLE))),
            _having(o=_having(l=_list(TEXT))),
            ["[0] of `l` of `o` of it is a whole number, and text is wanted"],
        ),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": _list({"$ref": "#/$defs/b"}), "b": WHOLE}},
            {"$ref": "#/$defs/a", "$defs": {"a": _list({"$ref": "#/$defs/b"}), "b": TEXT}},
            ["each item of it is a whole number, and text is wanted"],
        ),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(one: Any, other: Any, said: list[str]) -> None:
    """The outermost of each, and in words that name the place from the inside out."""
    assert [mismatch.sentence("it") for mismatch in mismatches(one, other)] == said


@pytest.mark.parametrize(
    ("one", "other", "value"),
    [
        (_object(a="integer"), _object(a="string"), {}),
        (_object(a="integer"), {**_object(a="string"), "required": ["b"]}, {"b": 1}),
        (_object(a="integer"), {"type": "object", "additionalProperties": False}, {}),
        ({"type": "array", "maxItems": 2}, {"type": "array", "minItems": 2}, [1, 2]),
        ({"type": "array", "minItems": 2}, {"type": "array", "maxItems": 2}, [1, 2]),
        ({"type": "array", "prefixItems": [{}]}, {"type": "array", "maxItems": 0}, []),
        (_list(WHOLE), _list(TEXT, WHOLE), [1]),
        (_list(True), _list(TEXT), ["a"]),
        (_list(True, False), _list(False), []),
        ({**CLOSED, "patternProperties": {"^a": {}}}, {"type": "object", "required": ["a"]}, {"a": 1}),
        (_having(x=TEXT), {**CLOSED, "patternProperties": {"^x": {}}}, {"x": "a"}),
        ({"type": "object", "required": ["x"]}, _object(x="string"), {"x": "a"}),
        ({"type": ["array", "null"], "items": WHOLE}, {"type": ["array", "null"], "items": TEXT}, None),
        ({**CLOSED, "type": ["object", "null"]}, {"required": ["a"]}, None),
        ({"enum": ["a", "b"]}, {"enum": ["b", "c"]}, "b"),
        (_kind("a", TEXT), {"oneOf": [_kind("a", TEXT), _kind("b", WHOLE)]}, {"kind": "a", "v": "x"}),
        (WHOLE, {"type": "number"}, 1),
        ({"type": "number"}, WHOLE, 1.0),
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

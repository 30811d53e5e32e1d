"""Whether what one schema admits fits another: the judge is a validator of JSON Schema."""

import copy
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from infospace.schema.compatibility import compatibility
from infospace.schema.normal_form import normal_form

EXAMPLES = 500 if os.environ.get("INFOSPACE_PROVE") else 25
TEXT, NUMBER, WHOLE, NOTHING = {"type": "string"}, {"type": "number"}, {"type": "integer"}, {"type": "null"}
PERSON = {"type": "object", "properties": {"name": TEXT, "age": WHOLE}, "required": ["name"]}
CLOSED = {**PERSON, "additionalProperties": False}
CHAIN = {
    "$ref": "#/$defs/link",
    "$defs": {
        "link": {
            "type": "object",
            "properties": {"value": WHOLE, "next": {"anyOf": [NOTHING, {"$ref": "#/$defs/link"}]}},
            "required": ["value"],
            "additionalProperties": False,
        }
    },
}
TREE = {
    "$id": "https://example.org/tree",
    "$dynamicAnchor": "node",
    "type": "object",
    "properties": {"data": True, "children": {"type": "array", "items": {"$dynamicRef": "#node"}}},
}
STRICT_TREE = {
    "$id": "https://example.org/strict-tree",
    "$dynamicAnchor": "node",
    "$ref": "tree",
    "unevaluatedProperties": False,
    "$defs": {"tree": TREE},
}

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.sampled_from([0.5, 2.0, 7.25])
    | st.sampled_from(["", "a", "b", "abc"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcx"), inner, max_size=3),
    max_leaves=5,
)


def _objects(inner: st.SearchStrategy) -> st.SearchStrategy:
    return st.fixed_dictionaries(
        {"type": st.just("object")},
        optional={
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "x"]), inner, max_size=1),
            "minProperties": st.integers(0, 2),
            "maxProperties": st.integers(1, 3),
        },
    )


def _lists(inner: st.SearchStrategy) -> st.SearchStrategy:
    return st.fixed_dictionaries(
        {"type": st.just("array")},
        optional={
            "items": st.booleans() | inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(0, 3),
            "uniqueItems": st.booleans(),
            "contains": inner,
        },
    )


PLAIN = st.one_of(
    st.sampled_from([True, {}, TEXT, NUMBER, WHOLE, NOTHING, {"type": "boolean"}, {"type": ["string", "null"]}]),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["number", "integer"])},
        optional={
            "minimum": st.integers(-2, 5),
            "exclusiveMinimum": st.integers(-2, 5),
            "maximum": st.integers(0, 8),
            "exclusiveMaximum": st.integers(0, 8),
            "multipleOf": st.sampled_from([1, 2, 0.5]),
        },
    ),
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "minLength": st.integers(0, 2),
            "maxLength": st.integers(0, 3),
            "pattern": st.sampled_from(["^a", "b"]),
            "format": st.sampled_from(["date", "uri"]),
        },
    ),
    st.builds(lambda values: {"enum": values}, st.lists(VALUES, min_size=1, max_size=3)),
    st.builds(lambda value: {"const": value}, VALUES),
    st.just({"$ref": "#/$defs/one"}),
    st.just({"$ref": "#/$defs/two"}),
)
PARTS = st.recursive(
    PLAIN,
    lambda inner: (
        _objects(inner)
        | _lists(inner)
        | st.builds(
            lambda w, some: {w: some},
            st.sampled_from(["anyOf", "oneOf", "allOf"]),
            st.lists(inner, min_size=1, max_size=3),
        )
        | st.builds(lambda one: {"not": one}, inner)
    ),
    max_leaves=5,
)


@st.composite
def schemas(draw: st.DrawFn) -> dict:
    """A schema with two definitions that may refer to themselves within an object or a list."""
    one = draw(st.just(TEXT) | _objects(PLAIN) | _lists(PLAIN))
    two = draw(st.just(WHOLE) | _objects(PLAIN))
    part = draw(PARTS)
    body = part if isinstance(part, dict) else {}
    return copy.deepcopy({**body, "$defs": {"one": one, "two": two}})


@st.composite
def pairs(draw: st.DrawFn) -> tuple[dict, dict]:
    """Two schemas: any, or one of them with less said, in other words, or beside another."""
    left = draw(schemas())
    others = copy.deepcopy(left)
    dropped = draw(st.sampled_from(["", *sorted(set(others) - {"$defs"})]))
    others.pop(dropped, None)
    inner = {key: value for key, value in others.items() if key != "$defs"}
    wider = {"anyOf": [inner, draw(PLAIN)], "$defs": others["$defs"]}
    both = {"allOf": [inner, draw(PLAIN)], "$defs": others["$defs"]}
    return draw(
        st.sampled_from([(left, draw(schemas())), (left, others), (left, wider), (both, others), (wider, left)])
    )


def made_for(schema: object, definitions: dict, depth: int = 0) -> st.SearchStrategy:
    """Values that mostly are valid under a part of such a schema: of `allOf` they are made for one."""
    if not isinstance(schema, dict) or depth > 4:
        return VALUES

    def inner(part: object) -> st.SearchStrategy:
        return made_for(part, definitions, depth + 1)

    if "$ref" in schema:
        return inner(definitions[schema["$ref"].rpartition("/")[2]])
    if "const" in schema or "enum" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    options = [one for word in ("anyOf", "oneOf", "allOf") for one in schema.get(word, ())]
    if options:
        return st.one_of([inner(one) for one in options])
    match schema.get("type"):
        case "object":
            fields = {key: inner(part) for key, part in schema.get("properties", {}).items()}
            others = {
                key: VALUES for key in "abcx" if key not in fields and schema.get("additionalProperties") is not False
            }
            needed = {key: fields.get(key, VALUES) for key in schema.get("required", ())}
            more = {key: part for key, part in {**fields, **others}.items() if key not in needed}
            return st.fixed_dictionaries(needed, optional=more)
        case "array":
            first = [inner(part) for part in schema.get("prefixItems", ())]
            rest = st.lists(inner(schema.get("contains", schema.get("items"))), max_size=2)
            return st.tuples(*first, rest).map(lambda parts: [*parts[:-1], *parts[-1]])
        case "number" | "integer":
            return st.integers(-3, 9)
        case "string":
            return st.sampled_from(["", "a", "b", "ab", "abc", "2026-01-31", "a:b"])
    return VALUES


def some_of(data: st.DataObject, *schemas: dict) -> list:
    """Draw values that are made for one of these, and any others."""
    parts = [made_for({**one, "$defs": None}, one.get("$defs", {})) for one in schemas]
    return data.draw(st.lists(st.one_of(*parts, *parts, VALUES), min_size=3, max_size=6))


def near(schema: dict) -> Iterator[dict]:
    """Schemas of which each says one thing otherwise: a keyword or a value less, or a number that is one more."""
    for key, value in schema.items():
        if key != "$defs":
            yield {one: inner for one, inner in schema.items() if one != key}
        if key not in ("$defs", "const"):
            yield from ({**schema, key: other} for other in _others(key, value))


def _others(key: str, value: object) -> Iterator[object]:
    if isinstance(value, int) and not isinstance(value, bool):
        yield value + 1
    elif value == "integer":
        yield "number"
    elif isinstance(value, dict) and key in ("properties", "patternProperties"):
        yield from (
            {**value, name: one} for name, part in value.items() if isinstance(part, dict) for one in near(part)
        )
    elif isinstance(value, dict):
        yield from near(value)
    elif isinstance(value, list):
        yield from (value[:at] + value[at + 1 :] for at in range(len(value)) if len(value) > 1)
        parts = [(at, part) for at, part in enumerate(value) if isinstance(part, dict) and key != "enum"]
        yield from ([*value[:at], one, *value[at + 1 :]] for at, part in parts for one in near(part))


def hold(left: dict, others: list[dict], values: list) -> None:
    """What always fits among a schema and others, the one way and the other, is valid of these values."""
    judged = [(one, [*map(Draft202012Validator(one).is_valid, values)]) for one in (left, *others)]
    for other in judged:
        for (one, fits), (wanted, fit) in ((judged[0], other), (other, judged[0])):
            found = compatibility(one, wanted)
            assert 0 <= found.score <= 1
            assert found.reason
            if found.always:
                wrong = [value for value, *of in zip(values, fits, fit, strict=True) if of == [True, False]]
                assert wrong == [], (one, wanted)


def hold_alone(schemas: list[dict], values: list) -> None:
    """A value of these that always fits one of these schemas is valid under it."""
    for wanted in schemas:
        judge = Draft202012Validator(wanted)
        for value in values:
            assert judge.is_valid(value) or not compatibility({"const": value}, wanted).always, (value, wanted)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(pairs(), st.data())
def test_what_always_fits_is_valid_wherever_it_is_given(pair: tuple[dict, dict], data: st.DataObject) -> None:
    """A value that is valid under the one schema is valid under the other where the first always fits it.

    So it is of the two, and of the first and those near it.
    """
    left, right = pair
    hold(left, [right, *near(left)], some_of(data, left, right))


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        (
            {"type": "integer", "minimum": 1, "exclusiveMaximum": 6, "multipleOf": 2},
            [-1, 0, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, None, "a"],
        ),
        ({"type": "number", "exclusiveMinimum": 1, "maximum": 6}, [0, 1, 1.5, 2, 6, 6.5, 7, 8, "a"]),
        (
            {"type": "string", "minLength": 1, "maxLength": 2, "pattern": "^a"},
            ["", "a", "b", "ab", "ba", "abc", "abcd", 1],
        ),
        ({"enum": ["a", 1, None, "b"]}, ["a", "b", "c", 1, 2, None]),
        (
            {"type": "array", "items": WHOLE, "minItems": 1, "maxItems": 2, "uniqueItems": True},
            [[], [1], [1, 1], [1, 2], ["a"], [1, 2, 3], [1, 1, 2], 1],
        ),
        (
            {"type": "array", "prefixItems": [TEXT, WHOLE], "items": False},
            [[], ["a"], ["a", 1], ["a", 1.5], [1, 1], ["a", 1, 2], ["a", "b"]],
        ),
        (
            {**CLOSED, "minProperties": 1, "maxProperties": 2},
            [{}, {"name": "a"}, {"name": 1}, {"age": 1}, {"name": "a", "age": 1.5}, {"name": "a", "x": 1, "y": 2}, 1],
        ),
        (
            {"type": "object", "additionalProperties": WHOLE, "patternProperties": {"^a": TEXT}},
            [{}, {"a": "b"}, {"a": 1}, {"b": 1}, {"b": 1.5}, {"b": "x"}],
        ),
        ({"anyOf": [TEXT, {"type": "integer", "minimum": 1}]}, ["a", 0, 0.5, 1, 1.5, None]),
    ],
    ids=["whole numbers", "numbers", "texts", "values", "lists", "places", "objects", "keys", "alternatives"],
)
def test_what_always_fits_a_schema_that_is_nearly_the_same_is_valid(schema: dict, values: list) -> None:
    """Each way, where one thing is said otherwise; and so is each of the values that always fits."""
    hold(schema, [*near(schema)], values)
    hold_alone([schema, *near(schema)], values)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(schemas(), st.data())
def test_a_value_has_an_alternative_of_its_type(schema: dict, data: st.DataObject) -> None:
    """Whatever a schema admits is of one of the types of its normal form; and it fits the schema itself."""
    names = {
        "NoneType": "null",
        "bool": "boolean",
        "int": "number",
        "float": "number",
        "str": "string",
        "list": "array",
    }
    types = {one.type for one in normal_form(schema).alternatives}
    judge = Draft202012Validator(schema)
    for value in some_of(data, schema):
        assert not judge.is_valid(value) or names.get(type(value).__name__, "object") in types
    assert compatibility(schema, copy.deepcopy(schema)).always


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(schemas(), st.data())
def test_one_value_fits_as_the_validator_says(schema: dict, data: st.DataObject) -> None:
    """A schema of one value never fits for certain what that value is not valid under."""
    hold_alone([schema, *near(schema)], some_of(data, schema))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (WHOLE, NUMBER),
        ({"const": 2.0}, WHOLE),
        ({"enum": ["a", "b"]}, {"enum": ["b", "a", "c"]}),
        ({"enum": [{"a": 1}, [1, 2]]}, {"anyOf": [{"type": "object"}, {"type": "array", "items": WHOLE}]}),
        ({"type": "boolean"}, {"enum": [True, False]}),
        (CLOSED, PERSON),
        (CLOSED, {"type": "object", "additionalProperties": {"type": ["string", "integer"]}}),
        ({"allOf": [PERSON, {"required": ["age"]}]}, {"type": "object", "required": ["age", "name"]}),
        (CHAIN, {**copy.deepcopy(CHAIN), "title": "the same, otherwise named"}),
        (STRICT_TREE, {"type": "object", "properties": {"children": {"type": "array", "items": {"type": "object"}}}}),
        ({"type": "integer", "minimum": 3}, {"type": "number", "exclusiveMinimum": 2}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "string", "nullable": True}),
        (
            {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]},
            {
                "oneOf": [
                    {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]},
                    {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
                ]
            },
        ),
    ],
)
def test_this_always_fits(one: dict, other: dict) -> None:
    """What is known to fit in every case is told as such."""
    found = compatibility(one, other)
    assert found.always, found.reason


@pytest.mark.parametrize(
    ("one", "other", "low", "high", "reason"),
    [
        (TEXT, NUMBER, 0, 0, "what is given is text, and a number is wanted"),
        (NUMBER, WHOLE, 0.5, 0.99, "what is given is any number, and a whole one is wanted"),
        (None, TEXT, 0.1, 0.5, "what is given is not described, and text is wanted"),
        ({"enum": ["a", "b"]}, {"enum": ["b"]}, 0.5, 0.5, 'what is given is "a", and "b" is wanted'),
        (TEXT, {"enum": ["b"]}, 0.3, 0.9, 'what is given is text, and "b" is wanted'),
        (
            TEXT,
            {"type": "string", "format": "date"},
            0.5,
            0.9,
            "what is given is any text, and the format 'date' is wanted",
        ),
        ({"type": ["string", "null"]}, TEXT, 0.5, 0.5, "what is given is null, and text is wanted"),
        (
            {"type": "object", "properties": {"name": NUMBER}, "required": ["name"]},
            PERSON,
            0,
            0,
            "`name` of what is given is a number, and text is wanted",
        ),
        (
            {"type": "object", "properties": {"age": WHOLE}, "additionalProperties": False},
            PERSON,
            0,
            0,
            'what is given has no "name", which is needed',
        ),
        (
            {"type": "object", "properties": {"name": TEXT}, "additionalProperties": False},
            PERSON,
            0.5,
            0.9,
            'what is given need not have "name", which is needed',
        ),
        (
            {"type": "array", "items": TEXT},
            {"type": "array", "items": NUMBER},
            0,
            0,
            "each item of what is given is text, and a number is wanted",
        ),
        (TEXT, {"type": "string", "not": {"const": "a"}}, 0.5, 0.95, "what is given may break `not` of what is wanted"),
        (
            {"type": "integer", "minimum": 5},
            {"type": "integer", "maximum": 4},
            0,
            0,
            "what is given is at least 5, and 4 or less is wanted",
        ),
        (CHAIN, {"type": "object", "properties": {"next": TEXT}, "additionalProperties": False}, 0, 0, None),
    ],
)
def test_the_reason_names_what_does_not_fit(
    one: dict, other: dict, low: float, high: float, reason: str | None
) -> None:
    """The score is within bounds, and one sentence says why, with the place."""
    found = compatibility(one, other)
    assert low <= found.score <= high, found
    assert reason is None or found.reason == reason


def listed(items: object = True, **more: object) -> dict:
    return {"type": "array", "items": items, **more}


def closed(*required: str, **fields: object) -> dict:
    return {"type": "object", "properties": fields, "required": [*required], "additionalProperties": False}


def number(**bounds: object) -> dict:
    return {"type": "number", **bounds}


OPEN = {"type": "object"}
FITS = "every value that is given fits what is wanted"


@pytest.mark.parametrize(
    ("one", "other", "score", "reason"),
    [
        (TEXT, {}, 1, "anything is taken"),
        (TEXT, {**TEXT}, 1, "both schemas are the same"),
        ({"type": "null"}, {"const": None}, 1, FITS),
        # values that are named
        ({"enum": [*"abcd"]}, {"enum": ["x"]}, 0, 'what is given is "a", "b", "c" or "d", and "x" is wanted'),
        (
            {"enum": [*"abcde"]},
            {"enum": ["x"]},
            0,
            'what is given is "a", "b", "c" or one of 2 more, and "x" is wanted',
        ),
        ({"enum": ["a", "bb"]}, {**TEXT, "maxLength": 1}, 0.5, 'what is given is "bb", and other text is wanted'),
        ({"const": "a"}, {**TEXT, "minLength": 2}, 0, 'what is given is "a", and other text is wanted'),
        ({"const": "b"}, {**TEXT, "pattern": "^a"}, 0, 'what is given is "b", and other text is wanted'),
        ({"const": 3}, {**WHOLE, "multipleOf": 2}, 0, "what is given is 3, and another whole number is wanted"),
        ({"const": 3}, number(exclusiveMinimum=3), 0, "what is given is 3, and another number is wanted"),
        ({"const": 1.5}, WHOLE, 0, "what is given is 1.5, and a whole number is wanted"),
        ({"type": "boolean"}, {"const": True}, 0.6, "what is given is true or false, and true is wanted"),
        # numbers
        ({**WHOLE, "maximum": 4}, {**WHOLE, "minimum": 5}, 0, "what is given is at most 4, and 5 or more is wanted"),
        (
            number(exclusiveMaximum=4),
            number(exclusiveMinimum=5),
            0,
            "what is given is at most 4, and 5 or more is wanted",
        ),
        (
            number(exclusiveMinimum=5),
            number(exclusiveMaximum=4),
            0,
            "what is given is at least 5, and 4 or less is wanted",
        ),
        (NUMBER, number(minimum=1), 0.9, "what is given may be beyond the bounds of what is wanted"),
        (
            number(minimum=1),
            number(exclusiveMinimum=1),
            0.9,
            "what is given may be beyond the bounds of what is wanted",
        ),
        (
            number(maximum=1),
            number(exclusiveMaximum=1),
            0.9,
            "what is given may be beyond the bounds of what is wanted",
        ),
        (number(exclusiveMinimum=1), number(exclusiveMinimum=1, title="x"), 1, FITS),
        (number(exclusiveMaximum=1), number(exclusiveMaximum=1, title="x"), 1, FITS),
        (NUMBER, WHOLE, 0.8, "what is given is any number, and a whole one is wanted"),
        (WHOLE, {**WHOLE, "multipleOf": 2}, 0.8, "what is given may be no multiple of 2"),
        (WHOLE, number(multipleOf=0.5), 1, FITS),
        ({**WHOLE, "multipleOf": 4}, {**WHOLE, "multipleOf": 2}, 1, FITS),
        (number(multipleOf=0.5), number(multipleOf=0.25), 1, FITS),
        # texts
        (
            {**TEXT, "maxLength": 1},
            {**TEXT, "minLength": 2},
            0,
            "what is given has at most 1 character, and 2 are needed",
        ),
        (TEXT, {**TEXT, "pattern": "^a"}, 0.8, "what is given may not match the pattern '^a'"),
        ({**TEXT, "pattern": "^a"}, {**TEXT, "pattern": "^a", "minLength": 0}, 1, FITS),
        (
            {**TEXT, "format": "uri"},
            {**TEXT, "format": "date"},
            0.3,
            "what is given is text of the format 'uri', and 'date' is wanted",
        ),
        # lists
        (
            listed(minItems=1_000),
            listed(maxItems=1),
            0,
            "what is given has 1,000 items or more, and at most 1 are taken",
        ),
        (listed(), listed(minItems=2), 0.9, "what is given may have fewer than 2 items"),
        (listed(maxItems=3), listed(maxItems=2), 0.9, "what is given may have more than 2 items"),
        (listed(maxItems=2), listed(maxItems=2, minItems=0), 1, FITS),
        (listed(), listed(uniqueItems=True), 0.9, "what is given may have an item twice"),
        (listed(maxItems=1), listed(uniqueItems=True), 1, FITS),
        (listed(uniqueItems=True), listed(uniqueItems=True, minItems=0), 1, FITS),
        (listed(TEXT, maxItems=1), listed(NUMBER, prefixItems=[TEXT, NUMBER]), 1, FITS),
        (
            listed(TEXT),
            listed(True, prefixItems=[TEXT, NUMBER]),
            0,
            "item 2 of what is given is text, and a number is wanted",
        ),
        (
            listed(False, prefixItems=[TEXT, WHOLE]),
            listed(False, prefixItems=[TEXT, TEXT]),
            0,
            "item 2 of what is given is a whole number, and text is wanted",
        ),
        (listed(TEXT, maxItems=1), listed(NUMBER, prefixItems=[TEXT]), 1, FITS),
        # objects
        (closed(a=TEXT), {**OPEN, "minProperties": 1}, 0.9, "what is given may have fewer than 1 key"),
        (closed(a=NUMBER), closed(a=TEXT), 0.6, "`a` of what is given is a number, and text is wanted"),
        (closed(a=NUMBER), closed("a", a=TEXT), 0, "`a` of what is given is a number, and text is wanted"),
        (closed(b=TEXT), closed("a", a=TEXT), 0, 'what is given has no "a", which is needed'),
        (closed(a=TEXT), closed("a", a=TEXT), 0.6, 'what is given need not have "a", which is needed'),
        (OPEN, {**OPEN, "required": ["a"]}, 0.3, 'what is given need not have "a", which is needed'),
        ({**OPEN, "required": ["a"]}, closed(), 0, "`a` of what is given may not be there"),
        (
            closed("a", a=TEXT),
            {"anyOf": [{**OPEN, "required": ["b"]}, closed("a", a=NUMBER)]},
            0,
            "`a` of what is given is text, and a number is wanted",
        ),
        (
            {"$ref": "https://example.org/a"},
            {"$ref": "https://example.org/a", "title": "x"},
            0.9,
            "what is given may break `$ref` of what is wanted",
        ),
        ({**TEXT, "not": {"const": "a"}}, {**TEXT, "not": {"const": "a"}, "title": "x"}, 1, FITS),
        (OPEN, closed(), 0.6, "what is given may have other keys, one of which may not be there"),
        (
            {**OPEN, "properties": {"a": TEXT}},
            closed(a=TEXT),
            0.95,
            "what is given may have other keys, one of which may not be there",
        ),
        (
            {**closed(a=TEXT), "patternProperties": {"^b": TEXT}},
            closed(a=TEXT),
            0.95,
            "what is given may have other keys, one of which may be of a pattern and not fit",
        ),
        (
            closed("o", o=closed("l", l=listed(TEXT))),
            {**OPEN, "properties": {"o": {**OPEN, "properties": {"l": listed(NUMBER)}}}},
            0,
            "each item of `l` of `o` of what is given is text, and a number is wanted",
        ),
    ],
)
def test_what_fits_less_than_always_has_its_score_and_reason(one: dict, other: dict, score: float, reason: str) -> None:
    """Each rule by itself: the score says how much of what is wanted surely fits."""
    found = compatibility(one, other)
    assert (found.score, found.reason) == (score, reason)


def test_a_schema_that_is_nothing_but_itself_admits_what_nobody_knows() -> None:
    """References in a circle, and ones that lead nowhere, end, and fit nothing for certain."""
    for schema in (
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}, TEXT]},
        {"$ref": "#/$defs/none"},
        {"$ref": "https://a.example/b"},
    ):
        assert not compatibility(TEXT, schema).always
        # Whatever a circle admits, `allOf` with a text admits texts alone.
        assert compatibility(schema, TEXT).always is ("allOf" in schema)
        assert normal_form(schema).alternatives


def test_alternatives_without_end_are_not_multiplied_out() -> None:
    """A product of many alternatives admits anything, perhaps, and is told in time."""
    either = {"anyOf": [{"required": [str(number)]} for number in range(9)]}
    schema = {"type": "object", "allOf": [either] * 9}
    assert len(normal_form(schema).alternatives) <= 64
    assert not compatibility({"type": "object"}, schema).always

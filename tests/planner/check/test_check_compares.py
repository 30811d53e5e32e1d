"""What references mean is held against tools' schemas all the way down, also inside lists and objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from infospace import Space
from infospace.core.tool import Tool
from infospace.tools.local import LocalTools
from planner.execute.start import check_plan
from planner.language.problems import Problem
from planner.parse.saved_plans import save_plan

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}
INPUT = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "text": {"type": "string"},
        "texts": {"type": "array", "items": {"type": "string"}},
        "unit": {"enum": ["km", "mi"]},
        "person": PERSON,
        "people": {"type": "array", "items": PERSON},
        "note": {"type": ["string", "null"]},
        "most": {"type": ["integer", "null"]},
        "one": {"type": "array", "minItems": 1},
        "two": {"type": "array", "minItems": 2},
        "single": {"type": "array", "maxItems": 1},
        "pair": {"type": "array", "maxItems": 2},
        "couple": {"type": "array", "minItems": 2, "maxItems": 3},
        "couple_or_none": {"anyOf": [{"type": "array", "minItems": 2}, {"type": "null"}]},
        "several": {"type": "object", "minProperties": 2},
        "either": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
        "tagged": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": "a"}, "v": {"type": "string"}},
                    "required": ["kind"],
                },
                {"type": "object", "properties": {"kind": {"const": "b"}, "v": {"type": "integer"}}, "required": ["v"]},
            ]
        },
    },
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {
        "total": {"type": "string"},
        "n": {"type": "integer"},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}},
        "unit": {"enum": ["ft", "in"]},
        "ok_unit": {"enum": ["ft", "km"]},
        "someone": {
            "type": "object",
            "properties": {"age": {"type": "integer"}},
            "required": ["age"],
            "additionalProperties": False,
        },
        "person": {**PERSON, "properties": {"name": {"type": "integer"}}},
        "open": {"type": "object", "properties": {"name": {"type": "string"}}},
        "wide": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "x": {"type": "integer"}},
            "required": ["name", "x"],
            "additionalProperties": False,
        },
        "few": {"type": "array", "maxItems": 1},
        "many": {"type": "array", "minItems": 2},
        "any": {},
    },
    "required": ["total", "n", "rows", "unit", "someone", "person", "open", "wide"],
}


class Schemas(LocalTools):
    """Tools with these schemas, which are not called."""

    def tools(self) -> Sequence[Tool]:
        return [
            Tool(self.server, "read", "Read.", {"type": "object"}, OUTPUT, read_only=True),
            Tool(self.server, "take", "Take.", INPUT, None, read_only=True),
        ]


READ = {"type": "far/read", "arguments": {}, "out": "$r"}


@pytest.fixture
def found(space: Space) -> Callable[..., list[Problem]]:
    """Return the problems of a call of `take` after one of `read`, but for what nothing reads."""
    space.tools.add(Schemas("far"))

    def check(arguments: Any, *before: Any) -> list[Problem]:
        steps = [READ, *before, {"type": "far/take", "arguments": arguments}]
        return [problem for problem in check_plan(space, steps)[1].found if problem.code != "never-read"]

    return check


@pytest.mark.parametrize(
    ("arguments", "place", "message", "hint"),
    [
        ({"n": ["$r.total"]}, "/n", "`n` in far/take: this is a list, and a whole number is wanted", None),
        (
            {"n": "$r.total"},
            "/n",
            "`n` in far/take: `$r.total` is text, and a whole number is wanted",
            '`coerce` makes a number of a text: {"type": "coerce", "target": "$r.total", "coercion": "int"}',
        ),
        (
            {"text": "$r.n"},
            "/text",
            "`text` in far/take: `$r.n` is a whole number, and text is wanted",
            '"${r.n}" is its text',
        ),
        (
            {"note": "$r.n"},
            "/note",
            "`note` in far/take: `$r.n` is a whole number, and null or text is wanted",
            '"${r.n}" is its text',
        ),
        (
            {"most": "$r.total"},
            "/most",
            "`most` in far/take: `$r.total` is text, and null or a whole number is wanted",
            '`coerce` makes a number of a text: {"type": "coerce", "target": "$r.total", "coercion": "int"}',
        ),
        (
            {"n": "${r.n}"},
            "/n",
            "`n` in far/take: `${r.n}` is text, and a whole number is wanted",
            '"$r.n" is the value, this is its text',
        ),
        (
            {"texts": ["a", "$r.n"]},
            "/texts/1",
            "`texts[1]` in far/take: `$r.n` is a whole number, and text is wanted",
            '"${r.n}" is its text',
        ),
        (
            {"texts": "$r.rows"},
            "/texts",
            "`texts` in far/take: each item of `$r.rows` is an object, and text is wanted",
            None,
        ),
        (
            {"people": "$r.rows"},
            "/people",
            '`people` in far/take: each item of `$r.rows` has no "name", which is needed',
            None,
        ),
        (
            {"unit": "$r.unit"},
            "/unit",
            '`unit` in far/take: `$r.unit` is "ft" or "in", and "km" or "mi" is wanted',
            None,
        ),
        (
            {"person": "$r.someone"},
            "/person",
            '`person` in far/take: `$r.someone` has no "name", which is needed',
            None,
        ),
        (
            {"person": "$r.person"},
            "/person",
            "`person` in far/take: `name` of `$r.person` is a whole number, and text is wanted",
            None,
        ),
        (
            {"people": [{"name": "a"}, {"name": "$r.n"}]},
            "/people/1/name",
            "`people[1].name` in far/take: `$r.n` is a whole number, and text is wanted",
            '"${r.n}" is its text',
        ),
        (
            {"people": ["$r.person"]},
            "/people/0",
            "`people[0]` in far/take: `name` of `$r.person` is a whole number, and text is wanted",
            None,
        ),
        ({"person": "$r.wide"}, "/person", '`person` in far/take: `$r.wide` has "x", which is not taken', None),
        ({"two": "$r.few"}, "/two", "`two` in far/take: `$r.few` has at most 1 item, and 2 are needed", None),
        (
            {"single": "$r.many"},
            "/single",
            "`single` in far/take: `$r.many` has 2 items or more, and at most 1 fit",
            None,
        ),
        ({"one": "$r.few", "pair": "$r.many"}, None, None, None),
        ({"couple": ["$r.n"]}, "/couple", 'far/take: ["$r.n"] has 1 item, and at least 2 fit', None),
        (
            {"couple": ["$r.n", 2, 3, {"a": "${r.n}"}]},
            "/couple",
            'far/take: ["$r.n", 2, 3, {"a": "${r.n}"}] has 4 items, and at most 3 fit',
            None,
        ),
        ({"couple": ["$r.n", 2]}, None, None, None),
        (
            {"couple_or_none": ["$r.n"]},
            "/couple_or_none",
            "`couple_or_none` in far/take: this has at most 1 item, and 2 are needed",
            None,
        ),
        ({"several": {"a": "$r.n"}}, "/several", 'far/take: {"a": "$r.n"} has 1 key, and at least 2 fit', None),
        ({"either": "$r.n"}, None, None, None),
        ({"either": ["$r.n"]}, None, None, None),
        (
            {"either": ["$r.total"]},
            "/either/0",
            "`either[0]` in far/take: `$r.total` is text, and a whole number is wanted",
            ...,
        ),
        (
            {"tagged": {"kind": "a", "v": "$r.n"}},
            "/tagged/v",
            "`tagged.v` in far/take: `$r.n` is a whole number, and text is wanted",
            ...,
        ),
        ({"tagged": {"kind": "b", "v": "$r.n"}}, None, None, None),
        ({"unit": "$r.ok_unit", "person": "$r.open", "n": "$r.any"}, None, None, None),
        ({"n": "$r.n", "texts": ["$r.total"], "person": {"name": "$r.total", "age": "$r.n"}}, None, None, None),
    ],
)
def test_what_a_reference_means_is_compared_all_the_way_down(
    found: Any, arguments: Any, place: str | None, message: str | None, hint: Any
) -> None:
    """One problem at the parameter, which names it and the reference; what may fit is none."""
    problems = found(arguments)
    if place is None:
        assert problems == []
        return
    [problem] = problems
    assert (problem.code, problem.severity, problem.pointer) == ("bad-argument", "error", f"/1/arguments{place}")
    assert problem.message == message
    assert hint is ... or problem.hint == hint


def test_what_the_plan_puts_into_a_note_is_held_against_the_schema_too(found: Any) -> None:
    """A text outside an enum; a warning where the failure is handled."""
    note = {"type": "create-note", "value": {"unit": "ft", "ok": "km"}, "out": "$own"}
    [problem] = found({"unit": "$own.unit"}, note)
    assert (problem.severity, problem.pointer) == ("error", "/2/arguments/unit")
    assert problem.message == '`unit` in far/take: `$own.unit` does not fit: "ft" is not "km" or "mi"'
    assert found({"unit": "$own.ok"}, note) == []


@pytest.mark.parametrize(
    ("value", "place", "message"),
    [
        ({"b": "$n"}, "", "the input 'x' does not fit: \"a\" is missing"),
        ({"a": "$n", "b": 1}, "", "the input 'x' does not fit: \"b\" is unknown (it takes a)"),
        ({"a": ["$n"]}, "/a", "the input 'x' does not fit: [\"$n\"] has 1 item, and at least 2 fit"),
        ({"a": ["$n", "$n"]}, "/a/0", "`a[0]` in the input 'x': `$n` is a whole number, and text is wanted"),
    ],
)
def test_an_input_of_a_saved_plan_is_held_against_its_schema_as_it_is_written(
    space: Space, value: Any, place: str, message: str
) -> None:
    """Its keys and its length, whatever the references in it mean; then what they mean."""
    texts = {"type": "array", "items": {"type": "string"}, "minItems": 2}
    given = {"type": "object", "properties": {"a": texts}, "required": ["a"], "additionalProperties": False}
    save_plan(space, "saved", {"inputs": {"x": given}, "steps": [{"type": "say", "value": "$x"}]})
    steps = [
        {"type": "create-note", "value": 1, "out": "$n"},
        {"type": "plan:saved", "arguments": {"x": value}},
    ]
    problem = check_plan(space, steps)[1].found[0]
    assert (problem.code, problem.severity, problem.pointer) == ("bad-argument", "error", f"/1/arguments/x{place}")
    assert problem.message == message


def test_each_thing_that_does_not_fit_is_told(found: Any) -> None:
    """At its own place."""
    problems = found(
        {"n": "$r.total", "texts": ["$r.n", "$r.total", "$r.rows"], "person": {"name": 3, "age": "$r.total"}}
    )
    assert [problem.pointer.removeprefix("/1/arguments") for problem in problems] == [
        "/n",
        "/texts/0",
        "/texts/2",
        "/person/name",
        "/person/age",
    ]


def test_a_primitive_is_given_what_fits_inside_lists(found: Any, space: Space) -> None:
    """`fields` takes paths, and no numbers."""
    rows = {"type": "create-collection", "value": [{"a": 1}], "out": "$rows"}
    project = {"type": "project", "target": "$rows", "fields": ["a", "$r.n"], "out": "$p"}
    [problem] = [one for one in check_plan(space, [READ, rows, project])[1].found if one.severity == "error"]
    assert (problem.code, problem.pointer) == ("bad-argument", "/2/fields/1")
    assert problem.message == "`[1]` in `fields`: `$r.n` is a whole number, and a path is wanted"

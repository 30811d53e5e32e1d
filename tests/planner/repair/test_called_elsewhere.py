"""Words of other systems for conditions, for their fields and those of forms, and for what is done on a failure."""

from __future__ import annotations

from typing import Any

import pytest

from planner.language.plan import All, AnyOf, Condition, Not, TypedCondition
from planner.language.problems import Problems
from planner.parse.conditions import JOINS, TESTS, parse_condition
from planner.parse.steps import parse_step

FIELDS: dict[str, Any] = {"target": "$x", "value": 1, "pattern": "a", "schema": {}, "tool": "s/t"}


def fields_of(type_: str) -> dict[str, Any]:
    """The fields that a condition needs."""
    if type_ in JOINS:
        return {"of": ["$x = 1"]}
    return {field: FIELDS[field] for field in TESTS[type_] if field in FIELDS}


def type_of(condition: Condition | None) -> str | None:
    joins: dict[type, str] = {All: "and", AnyOf: "or", Not: "not"}
    return condition.type if isinstance(condition, TypedCondition) else joins.get(type(condition))


@pytest.mark.parametrize(
    ("type_", "words"),
    [
        ("equals", "eq equal equal_to equalTo is_equal = == ==="),
        ("not_equals", "ne neq not_equal not_equal_to != <>"),
        ("greater_than", "gt greater more_than above > GT"),
        ("less_than", "lt less below <"),
        ("gte", "ge greater_than_or_equal greater-or-equal at_least >="),
        ("lte", "le less_than_or_equal less_or_equal at_most <="),
        ("empty", "is_empty isempty isEmpty"),
        ("has_value", "not_empty is_not_empty non_empty nonempty has_items"),
        ("bound", "exists is_bound defined is_defined is_set"),
        ("notbound", "not_exists not_bound unbound undefined not_defined is_unbound"),
        ("contains", "includes contains_text"),
        ("not_contains", "not_includes excludes"),
        ("matches_pattern", "matches regex regexp match pattern matches_regex"),
        ("and", "all all_of every &&"),
        ("or", "any any_of some ||"),
        ("not", "negate !"),
        ("validates", "matches_schema valid is_valid validate schema"),
    ],
)
def test_a_condition_of_another_name_is_read_as_what_it_means(type_: str, words: str) -> None:
    """It is told, with the fix; what it says is checked on."""
    for word in words.split():
        problems = Problems()
        condition = parse_condition({"type": word, **fields_of(type_)}, "/if", problems)
        [problem] = problems.found
        assert (problem.code, type_of(condition)) == ("unknown-condition", type_), word
        assert problem.fix == [{"op": "replace", "path": "/if/type", "value": type_}], word


@pytest.mark.parametrize(
    ("words", "meant"),
    [("is_null isnull null isNull", "$x.a IS NULL"), ("not_null is_not_null", "$x.a IS NOT NULL")],
)
def test_a_condition_on_null_is_a_text(words: str, meant: str) -> None:
    """Of a variable or a place in it, under whatever word; of a text there is none."""
    for word in words.split():
        for field, target, fix in (("target", "$x.a", meant), ("field", "$x.a", meant), ("target", "${x}", None)):
            problems = Problems()
            parse_condition({"type": word, field: target}, "/if", problems)
            wanted = None if fix is None else [{"op": "replace", "path": "/if", "value": fix}]
            assert [problem.fix for problem in problems.found if problem.code == "unknown-condition"] == [wanted], word


@pytest.mark.parametrize(
    ("words", "field", "others"),
    [
        ("left variable subject var field a lhs key input", "target", {"value": 1}),
        ("right expected than b rhs other to threshold compare_to", "value", {"target": "$x"}),
        ("value", "target", {}),
    ],
)
def test_a_field_of_a_condition_of_another_name_is_moved(words: str, field: str, others: dict[str, Any]) -> None:
    """To the one that is free."""
    type_ = "equals" if others else "empty"
    for word in words.split():
        problems = Problems()
        parse_condition({"type": type_, word: "$y", **others}, "/if", problems)
        [problem] = problems.found
        assert problem.fix == [{"op": "move", "from": f"/if/{word}", "path": f"/if/{field}"}], word


STEPS: list[Any] = [{"type": "say", "value": "x"}]
FORMS: dict[str, dict[str, Any]] = {
    "if": {"condition": "$x = 1", "then": STEPS, "else": STEPS},
    "while": {"condition": "$x = 1", "body": STEPS},
    "for-each": {"target": "$x", "do": STEPS, "as": "$y"},
    "map": {"target": "$x", "operation": {"type": "load"}},
    "pages": {"tool": "s/t", "arguments": {}, "next": "n", "first": 1, "max_pages": 3},
    "parallel": {"branches": [STEPS]},
    "wait": {"seconds": 1},
    "ask": {"value": "which?"},
}


@pytest.mark.parametrize(
    ("form", "words", "field"),
    [
        ("if", "otherwise if_false", "else"),
        ("if", "if_true steps actions body do", "then"),
        ("if", "when where test", "condition"),
        ("while", "steps do actions loop", "body"),
        ("for-each", "items collection over in source list input", "target"),
        ("for-each", "steps body actions loop", "do"),
        ("for-each", "item variable", "as"),
        ("map", "function op func fn", "operation"),
        ("pages", "function op operation", "tool"),
        ("pages", "args argument parameters params inputs kwargs input", "arguments"),
        ("pages", "cursor next_cursor", "next"),
        ("pages", "start", "first"),
        ("pages", "max max_iterations", "max_pages"),
        ("parallel", "tasks steps", "branches"),
        ("wait", "duration", "seconds"),
        ("ask", "question prompt message text", "value"),
    ],
)
def test_a_field_of_a_form_of_another_name_is_moved(form: str, words: str, field: str) -> None:
    """Where the form has it not under its own."""
    for word in words.split():
        step = {"type": form, **{word if key == field else key: value for key, value in FORMS[form].items()}}
        problems = Problems()
        parse_step(step, "/0", "1", problems)
        told = [problem for problem in problems.found if problem.pointer == f"/0/{word}"]
        assert [(one.code, one.fix) for one in told] == [
            ("unknown-argument", [{"op": "move", "from": f"/0/{word}", "path": f"/0/{field}"}])
        ], (word, problems.found)


@pytest.mark.parametrize(
    ("meant", "words"),
    [
        ("continue", "skip|ignore|go on|proceed|resume|next|warn| Skip |contineu"),
        ("stop", "abort|fail|raise|halt|exit|error|ABORT|stpo"),
    ],
)
def test_what_is_done_on_a_failure_is_read_in_other_words(meant: str, words: str) -> None:
    for word in words.split("|"):
        problems = Problems()
        step = parse_step({"type": "load", "target": "a", "on_fail": word}, "/0", "1", problems)
        [problem] = problems.found
        assert step is not None
        assert (step.on_fail, problem.fix) == (meant, [{"op": "replace", "path": "/0/on_fail", "value": meant}]), word

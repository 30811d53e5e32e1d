"""The check of expressions: what they read, what in them can have no result, and the fixes of other dialects' words."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from planner.execute.start import check_plan
from planner.language.json_patch import apply_patch


@pytest.mark.parametrize(
    ("expression", "code", "message"),
    [
        ("$a.name * 2", "bad-expression", "`$a.name * 2` computes with numbers, and `$a.name` is text"),
        ("$a.totl + 1", "unknown-field", "there is no `totl`"),
        ("total + 1", "bad-expression", "`total` is a name, and there are no items here to have it"),
        ("$b + 1", "unbound-variable", "$b is not bound"),
        ("1 +", "bad-expression", "ends where a value was expected, after '+' (character 2)"),
        ("sum($a.total)", "bad-expression", "'sum' (character 0), which is made of many items"),
        ("${a.total} * 2", "bad-expression", "text is never pasted into it"),
        ("matches($a.name, '(')", "bad-expression", "takes a pattern of RE2"),
        ("complete(*)", "bad-expression", "`complete(*)` asks for the fields of an item, and there are no items here"),
        ("CASE WHEN $a.total + 1 THEN 1 END", "bad-expression", "has a value (character 10) where a condition was"),
    ],
)
def test_what_can_have_no_result_is_refused_before_anything_runs(
    space: Space, expression: str, code: str, message: str
) -> None:
    note = {"type": "create-note", "value": {"total": 100, "name": "Ada"}, "out": "$a"}
    problems = check_plan(space, [note, {"type": "compute", "expression": expression, "out": "$x"}])[1].found
    [problem] = [problem for problem in problems if problem.severity == "error"]
    assert (problem.code, problem.pointer) == (code, "/1/expression")
    assert message in problem.message


@pytest.mark.parametrize(
    ("expression", "fix"),
    [
        ("ceiling($a.total)", "ceil($a.total)"),
        ("CURRENT_DATE", "today()"),
        ("CAST($a.name AS varchar)", "CAST($a.name AS text)"),
        ("lenght($a.name)", "length($a.name)"),
        ("$a.name ILIKE 'a%'", "$a.name LIKE 'a%'"),
        ("ltrim($a.name)", None),
    ],
)
def test_other_dialects_words_have_a_fix_where_they_mean_the_same(
    space: Space, expression: str, fix: str | None
) -> None:
    note = {"type": "create-note", "value": {"total": 100, "name": "Ada"}, "out": "$a"}
    problems = check_plan(space, [note, {"type": "compute", "expression": expression, "out": "$x"}])[1].found
    [problem] = [problem for problem in problems if problem.severity == "error"]
    patch = None if fix is None else [{"op": "replace", "path": "/1/expression", "value": fix}]
    assert problem.fix == patch


def test_the_check_knows_what_an_expression_gives(space: Space) -> None:
    """A number is no text in the next one."""
    steps = [{"type": "compute", "expression": "1 + 1"}, {"type": "compute", "expression": "upper($x)"}]
    problems = check_plan(space, [{**steps[0], "out": "$x"}, {**steps[1], "out": "$y"}])[1].found
    [problem] = [problem for problem in problems if problem.severity == "error"]
    assert problem.message == "upper takes text, and `$x` is a number"


ROWS = {
    "kind": "Collection",
    "items": {
        "type": "object",
        "properties": {
            "status": {"enum": ["open", "done", None]},
            "size": {"anyOf": [{"const": 1}, {"enum": [2, 3]}, {"type": "null"}]},
            "any": {"type": "string"},
            "price": {"type": "number"},
            "cost": {"type": "number"},
            "due-date": {"type": "string"},
        },
        "required": ["status"],
        "additionalProperties": False,
    },
    "default": [],
}


def told(space: Space, *steps: Any) -> list[Any]:
    """The problems of steps over `$rows`, but for what is never read."""
    problems = check_plan(space, {"inputs": {"rows": ROWS}, "steps": list(steps)})[1].found
    return [problem for problem in problems if problem.code != "never-read"]


@pytest.mark.parametrize(
    ("where", "messages"),
    [
        ("status = 'opne'", ['`status` is never "opne" here: it is "open" or "done"']),
        ("'Open' != status", ['`status` is never "Open" here: it is "open" or "done"']),
        ("status IN ('open', 'late') OR size = 4", ['"late" here', "`size` is never 4 here: it is 1, 2 or 3"]),
        ("status = 'open' AND size = 2.0 AND any = 'x' AND lower(status) = 'x' AND status = NULL", []),
    ],
)
def test_a_literal_outside_of_what_a_schema_lists_is_a_warning(space: Space, where: str, messages: list[str]) -> None:
    """It names the values that there are; nothing is replaced."""
    found = told(space, {"type": "filter-structured", "target": "$rows", "where": where, "out": "$r"})
    assert [(one.code, one.severity, one.fix) for one in found] == [("unknown-value", "warning", None)] * len(messages)
    assert all(message in one.message for one, message in zip(found, messages, strict=True))


@pytest.mark.parametrize(
    ("step", "pointer", "fix"),
    [
        ({"type": "project", "fields": {"x": "price-cost"}}, "/steps/0/fields/x", "price - cost"),
        ({"type": "project", "fields": {"x": "2 * price-2 + cost"}}, "/steps/0/fields/x", "2 * price - 2 + cost"),
        ({"type": "sort", "by": "price-cost"}, "/steps/0/by", "price - cost"),
        ({"type": "sort", "by": ["any", "price-cost desc"]}, "/steps/0/by/1", "price - cost desc"),
        ({"type": "group", "aggregates": {"x": "sum(price-cost)"}}, "/steps/0/aggregates/x", "sum(price - cost)"),
        ({"type": "filter-structured", "where": "price-cost > 1"}, "/steps/0/where", "price - cost > 1"),
        ({"type": "project", "fields": {"x": "due-dat"}}, "/steps/0/fields/x", "`due-date`"),
    ],
)
def test_a_minus_without_blanks_has_a_fix_where_only_the_parts_are_known(
    space: Space, step: dict[str, Any], pointer: str, fix: str
) -> None:
    """`due-date` is a name where items have it."""
    [problem] = told(space, {**step, "target": "$rows", "out": "$r"})
    assert (problem.code, problem.pointer) == ("unknown-field", pointer)
    assert problem.fix == [{"op": "replace", "path": pointer, "value": fix.strip("`")}]
    assert told(space, {"type": "project", "fields": {"x": "substr(`due-date`, 1, 4) || due-date"}, "target": "$rows",
                        "out": "$r"}) == []  # fmt: skip


@pytest.mark.parametrize(
    ("step", "mended"),
    [
        ({"type": "derive", "fields": {"x": "price * 2"}}, {"fields": {"x": "price * 2"}, "keep": True}),
        (
            {"type": "with-columns", "columns": {"x": "price", "n": 3}},
            {"fields": {"x": "price", "n": "3"}, "keep": True},
        ),
        ({"type": "mutate", "field": "x", "expression": "price + 1"}, {"fields": {"x": "price + 1"}, "keep": True}),
        ({"type": "assign", "values": {"x": "price"}, "keep": True}, {"fields": {"x": "price"}, "keep": True}),
        ({"type": "add_fields", "fields": ["x"]}, None),
        ({"type": "derive", "x": "price * 2"}, None),
        ({"type": "derive", "fields": {"x": "price"}, "keep": False}, None),
        ({"type": "derive", "fields": {"x": "price"}, "axis": 1}, None),
    ],
)
def test_verbs_that_add_fields_elsewhere_are_project_with_keep(
    space: Space, step: dict[str, Any], mended: dict[str, Any] | None
) -> None:
    """Where the arguments say plainly which field has which expression; else a hint alone."""
    raw = {**step, "target": "$rows", "out": "$r"}
    document = {"inputs": {"rows": ROWS}, "steps": [raw]}
    [problem] = told(space, raw)
    assert (problem.code, problem.pointer) == ("unknown-type", "/steps/0/type")
    assert '`project` with `"keep": true`' in str(problem.hint)
    if mended is None:
        assert problem.fix is None
        return
    assert problem.fix is not None
    [step] = apply_patch(document, problem.fix)["steps"]
    assert step == {"type": "project", "target": "$rows", "out": "$r", **mended}
    assert told(space, step) == []


def test_what_is_computed_is_followed_into_the_next_steps(space: Space) -> None:
    """Names and types; with `keep` the item's own too; a name that nothing can have, nowhere."""
    project = {"type": "project", "target": "$rows", "fields": {"sum": "price + cost", "price": "CAST(price AS text)"}}
    after: dict[str, Any] = {"type": "sort", "target": "$p", "by": "status", "out": "$s"}
    [gone] = told(space, {**project, "out": "$p"}, after)
    assert (gone.code, gone.pointer) == ("unknown-field", "/steps/1/by")
    assert told(space, {**project, "keep": True, "out": "$p"}, after) == []
    after["by"] = "sum * 2 || price * 2"
    [typed] = told(space, {**project, "keep": True, "out": "$p"}, after)
    assert (typed.code, typed.pointer) == ("bad-expression", "/steps/1/by")
    assert "`price * 2` computes with numbers, and `price` is text" in typed.message
    group = {"type": "group", "target": "$rows", "by": {"m": "upper(any)"}, "aggregates": {"n": "count", "t": "m || 1"}}
    assert [one.code for one in told(space, {**group, "out": "$p"})] == ["bad-argument"]
    group["aggregates"] = {"n": "count", "t": "m || sum(price)"}
    after["by"] = ["n + 1", "t || m"]
    assert told(space, {**group, "out": "$p"}, after) == []
    after["by"] = "t + 1"
    assert "`t` is text" in told(space, {**group, "out": "$p"}, after)[0].message

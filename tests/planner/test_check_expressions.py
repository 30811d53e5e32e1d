"""The check of expressions: what they read, what in them can have no result, and the fixes of other dialects' words."""

from __future__ import annotations

import pytest

from infospace import Space
from planner.execute.start import check_plan


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

"""Which fix of a problem is offered: what is tried, in which order, and when it makes the plan better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from planner.language.problems import Problem
from planner.repair.fixes import LEAST, TRIED, with_fixes

PLAN: dict[str, Any] = {"steps": [{"type": "a"}, {"type": "b", "x": "$n"}, {"type": "c"}]}
FIX = [{"op": "replace", "path": "/steps/1/x", "value": "mended"}]


def error(pointer: str = "/steps/1/x", code: str = "odd", **fields: Any) -> Problem:
    return Problem(code, pointer, fields.pop("message", "it is odd"), **fields)


def mended(problem: Problem, after: Sequence[Problem], *others: Problem) -> bool:
    """Whether the fix of a problem is taken where the plan has those problems after it."""
    [found, *_] = with_fixes(PLAN, [problem, *others], 1, lambda _document: list(after))
    return found.fix is not None


def tried(problem: Problem, *others: Problem, document: Any = None) -> list[Any]:
    """All that is tried of a plan that nothing mends, in order."""
    documents: list[Any] = []

    def recheck(after: Any) -> list[Problem]:
        documents.append(after)
        return [error("/elsewhere", message=str(number)) for number in range(99)]

    [found, *_] = with_fixes(document or PLAN, [problem, *others], 1, recheck)
    assert found.fix is None
    return documents


def test_a_fix_is_one_that_leaves_fewer_problems_and_not_this_one() -> None:
    """By its code, its place and its message."""
    problem, other = error(fix=FIX), error("/steps/0", "other")
    assert mended(problem, [])
    assert not mended(problem, [problem])
    assert not mended(problem, [problem], other)
    assert mended(problem, [other], other)
    assert not mended(problem, [other])
    assert not mended(problem, [other, error("/steps/2")], other)
    assert mended(problem, [error(message="another")], other)


def test_a_fix_that_does_not_fit_the_document_is_none() -> None:
    """Nothing breaks where it leads nowhere."""
    for path in ("/steps/9/x", "/nothing/at/all", "/steps/1/x/y"):
        assert not mended(error(fix=[{"op": "replace", "path": path, "value": 1}]), [])


def test_a_warning_keeps_its_fix_and_is_not_tried() -> None:
    """Whatever is wrong besides."""
    warning = error(severity="warning", fix=FIX)
    documents: list[Any] = []
    [found] = with_fixes(PLAN, [warning], 1, lambda document: documents.append(document) or [error()])  # type: ignore[func-returns-value]
    assert (found.fix, documents) == (FIX, [])


def test_a_bare_variable_is_mended_where_the_problems_that_come_stand_where_others_stood() -> None:
    """One that was hidden by it may stand there then, and nowhere else."""
    other = error("/steps/0", "other")
    assert mended(error(code="bare-variable", fix=FIX), [error("/steps/0", "other", message="more"), other], other)
    assert not mended(error(code="bare-variable", fix=FIX), [error("/steps/2", "other"), other], other)
    assert not mended(error(code="plain", fix=FIX), [error("/steps/0", "other", message="more"), other], other)


def test_a_tool_is_the_one_that_was_meant_where_its_arguments_fit() -> None:
    """A step of it without problems; those of other steps do not matter."""
    unknown, other = error("/steps/1/type", "unknown-tool", fix=FIX), error("/steps/10/x", "other")
    assert mended(unknown, [other], other, error("/steps/2"))
    assert not mended(unknown, [error("/steps/1/arguments")], other, error("/steps/2"))
    assert mended(error("/steps/1/type", fix=FIX), [error("/steps/1/arguments")], other, error("/steps/2"))


@pytest.mark.parametrize(("steps", "most"), [(0, TRIED), (1, TRIED), (400, 10), (TRIED, LEAST), (10 * TRIED, LEAST)])
def test_of_a_plan_of_many_steps_few_fixes_are_tried(steps: int, most: int) -> None:
    """The first ones; a try that did not help counts as well."""
    problems = [error(message=str(number), fix=FIX) for number in range(12)]
    found = with_fixes(PLAN, problems, steps, lambda _document: [])
    assert [one.fix is not None for one in found] == [number < most for number in range(12)]
    count = 0

    def in_vain(_document: Any) -> Sequence[Problem]:
        nonlocal count
        count += 1
        return problems

    assert all(one.fix is None for one in with_fixes(PLAN, problems, steps, in_vain))
    assert count == min(most, 12)


def test_a_step_without_a_variable_is_given_one_that_others_read() -> None:
    """Each that is read and not bound, in their order; then what the check itself proposes."""
    missing = error("/steps/0", "missing-out", fix=[{"op": "add", "path": "/steps/0/out", "value": "$made"}])
    unbound = [error(code="unbound-variable", about=name) for name in ("n", "m")]
    plain = [error(about="other"), error(code="unbound-variable")]
    outs = [document["steps"][0]["out"] for document in tried(missing, *unbound, *plain)]
    assert outs[:3] == ["$n", "$m", "$made"]
    assert tried(error("/steps/0", "missing-out"), *unbound) == tried(*unbound)


def test_a_variable_that_is_not_bound_is_another_or_is_bound_before() -> None:
    """The one that was meant; by a later step that moves; by an earlier one that binds none, the nearest first."""
    steps = [{"type": "a"}, {"type": "b", "out": "$b"}, {"type": "c"}, {"type": "d", "x": "$n $$n US$n $${n}"}]
    steps += [{"type": "e"}, {"type": "f", "out": "$n"}]
    unbound = error("/steps/3/x", "unbound-variable", about="n", hint="did you mean $num?")
    first, moved, *given = tried(unbound, document={"steps": steps})
    assert first["steps"][3]["x"] == "$num $$n US$n $${num}"
    assert [step["type"] for step in moved["steps"]] == ["a", "b", "c", "f", "d", "e"]
    assert [[step.get("out") for step in one["steps"][:3]] for one in given] == [[None, "$b", "$n"], ["$n", "$b", None]]
    assert len(tried(error("/steps/3/x", "unbound-variable", about="n"), document={"steps": steps})) == 3
    assert tried(error("/steps/3/x", "unbound-variable"), document={"steps": steps}) == []


@pytest.mark.parametrize("argument", ["target", "source", "value", "count"])
def test_an_argument_that_is_missing_is_one_of_the_three_variables_bound_last(argument: str) -> None:
    """Each once, the latest first, also of the blocks around; only where a resource is taken."""
    inner = [{"type": "x", "out": "$d"}, {"type": "y"}]
    steps = [{"type": "x", "out": f"${name}"} for name in "abcd"] + [{"type": "for-each", "do": inner}]
    missing = error("/steps/4/do/1", "missing-argument", message=f"y needs '{argument}'")
    found = [document["steps"][4]["do"][1].get(argument) for document in tried(missing, document={"steps": steps})]
    assert found == ([] if argument == "count" else ["$d", "$c", "$b"])
    assert tried(error("/steps/4/do/1", "odd", message=f"y needs '{argument}'"), document={"steps": steps}) == []


def test_an_id_that_is_not_there_is_one_of_the_variables_bound_before() -> None:
    """Unless the check proposes another id."""
    steps = [{"type": "x", "out": "$a"}, {"type": "y", "x": "Note_9"}, {"type": "z", "out": "$later"}]
    assert [one["steps"][1]["x"] for one in tried(error(code="unknown-id"), document={"steps": steps})] == ["$a"]
    assert [one["steps"][1]["x"] for one in tried(error(code="unknown-id", fix=FIX), document={"steps": steps})] == [
        "mended"
    ]


def test_a_step_whose_variable_may_not_be_bound_is_guarded() -> None:
    """It, or the form that it stands in, runs only where the variable is bound; the inner one is tried first."""
    inner = {"type": "y", "x": "$n"}
    document = {"steps": [{"type": "a"}, {"type": "if", "then": [inner]}]}
    found = tried(error("/steps/1/then/0/x", "maybe-unbound", about="n"), document=document)
    condition = {"type": "bound", "target": "$n"}
    guarded = {"type": "if", "condition": condition, "then": [inner]}
    assert [one["steps"][1] for one in found] == [
        {"type": "if", "then": [guarded]},
        {"type": "if", "condition": condition, "then": [document["steps"][1]]},
    ]
    assert tried(error("/steps/1/then/0/x", "maybe-unbound"), document=document) == []

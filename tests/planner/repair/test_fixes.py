"""Which fix of a problem is offered: what is tried, in which order, and when it makes the plan better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from infospace import Space
from planner.execute.start import check_plan
from planner.language.problems import Problem
from planner.repair.fixes import MAX_RECHECKED_STEPS, MIN_ATTEMPTED_FIXES, with_fixes

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


def test_a_fix_of_a_warning_is_tried_like_that_of_an_error() -> None:
    """It is told where the warning is gone after it, and nothing else came."""
    warning, other = error(severity="warning", fix=FIX), error("/steps/0", "other")
    assert mended(warning, [])
    assert not mended(warning, [warning])
    assert mended(warning, [other], other)
    assert not mended(warning, [other])
    assert not mended(warning, [error("/steps/2", "new", severity="warning")])


def test_a_bare_variable_is_mended_where_the_problems_that_come_stand_where_others_stood() -> None:
    """One that was hidden by it may stand there then, and nowhere else."""
    other = error("/steps/0", "other")
    assert mended(error(code="bare-variable", fix=FIX), [error("/steps/0", "other", message="more"), other], other)
    assert not mended(error(code="bare-variable", fix=FIX), [error("/steps/2", "other"), other], other)
    assert not mended(error(code="plain", fix=FIX), [error("/steps/0", "other", message="more"), other], other)


@pytest.mark.parametrize(
    ("steps", "most"),
    [
        (0, MAX_RECHECKED_STEPS),
        (1, MAX_RECHECKED_STEPS),
        (400, 10),
        (MAX_RECHECKED_STEPS, MIN_ATTEMPTED_FIXES),
        (10 * MAX_RECHECKED_STEPS, MIN_ATTEMPTED_FIXES),
    ],
)
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


def test_a_step_without_a_variable_is_given_the_one_that_others_read() -> None:
    """Where there is but one that is read and not bound; then, and of several, what the check itself proposes."""
    missing = error("/steps/0", "missing-out", fix=[{"op": "add", "path": "/steps/0/out", "value": "$made"}])
    unbound = [error(code="unbound-variable", about=name) for name in ("n", "m")]
    plain = [error(about="other"), error(code="unbound-variable")]
    one, two = (tried(missing, *others, *plain) for others in (unbound[:1], unbound))
    assert [document["steps"][0]["out"] for document in one[:2]] == ["$n", "$made"]
    assert [document["steps"][0]["out"] for document in two[:1]] == ["$made"]


def test_a_variable_that_is_not_bound_is_another_or_is_bound_before() -> None:
    """The one that was plainly meant; by a later step that moves; by the one earlier step that does nothing else."""
    steps = [
        {"type": "a"},
        {"type": "b", "out": "$b"},
        {"type": "s/c"},
        {"type": "d", "x": "$nums $$nums US$nums $${nums}"},
    ]
    steps += [{"type": "e"}, {"type": "f", "out": "$nums"}]
    unbound = error("/steps/3/x", "unbound-variable", about="nums", suggestion="num")
    first, moved, given = tried(unbound, document={"steps": steps})
    assert first["steps"][3]["x"] == "$num $$nums US$nums $${num}"
    assert [step["type"] for step in moved["steps"]] == ["a", "b", "s/c", "f", "d", "e"]
    assert [step.get("out") for step in given["steps"][:3]] == ["$nums", "$b", None]
    steps[0]["output"] = "other"
    assert len(tried(error("/steps/3/x", "unbound-variable", about="nums"), document={"steps": steps})) == 1
    del steps[0]["output"]
    steps[2] = {"type": "c"}
    assert len(tried(error("/steps/3/x", "unbound-variable", about="nums"), document={"steps": steps})) == 1
    assert tried(error("/steps/3/x", "unbound-variable"), document={"steps": steps}) == []


def test_steps_that_read_each_other_are_not_merely_swapped(space: Space) -> None:
    """The one that reads too early would be the other, and the plan as wrong as before."""
    steps = [{"type": "create-note", "value": f"${one}", "out": f"${other}"} for one, other in ("xy", "yx")]
    (found,) = [one for one in check_plan(space, steps)[1].found if one.severity == "error"]
    assert (found.code, found.pointer, found.fix) == ("unbound-variable", "/0/value", None)


def test_a_variable_that_is_merely_near_is_no_fix() -> None:
    """Whoever reads another variable means something else."""
    steps = [{"type": "a", "out": "$levels"}, {"type": "b", "x": "$lists"}]
    unbound = error("/steps/1/x", "unbound-variable", about="lists", suggestion="levels")
    assert tried(unbound, document={"steps": steps}) == []


@pytest.mark.parametrize("argument", ["target", "source", "value", "count"])
def test_an_argument_that_is_missing_is_not_made_up(argument: str) -> None:
    """Nor is an id that is not there: which variable was meant is a guess."""
    steps = [{"type": "x", "out": "$a"}, {"type": "y", "x": "Note_9"}]
    missing = error("/steps/1", "missing-argument", message=f"y needs '{argument}'")
    assert tried(missing, document={"steps": steps}) == []
    assert tried(error("/steps/1/x", "unknown-id"), document={"steps": steps}) == []


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

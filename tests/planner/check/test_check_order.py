"""Problems stand in document order, one for one mistake; what is no JSON is a problem, too."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from planner.execute.start import check_plan, run_sync
from planner.language.problems import Problem, sort_problems
from planner.sessions.lines import check_lines


def told(space: Space, document: Any) -> list[tuple[str, str]]:
    return [(problem.code, problem.pointer) for problem in check_plan(space, document)[1].found]


def test_problems_stand_in_document_order(space: Space) -> None:
    """Whatever found them first: the reader, the check, or the look at what nothing reads."""
    plan = {
        "result": "$nothing",
        "steps": [
            {"type": "say", "value": "$b"},
            {"type": "if", "condition": {"type": "nope"}, "then": [{"type": "size", "target": "$c", "lim/it": 1}]},
            {"type": "nope"},
            {"type": "create-note", "value": 1, "out": "$q", "timeout_s": -1},
        ],
        "gaol": "g",
    }
    assert told(space, plan) == [
        ("unbound-variable", "/result"),
        ("unbound-variable", "/steps/0/value"),
        ("unknown-condition", "/steps/1/condition/type"),
        ("unbound-variable", "/steps/1/then/0/target"),
        ("unknown-argument", "/steps/1/then/0/lim~1it"),
        ("unknown-type", "/steps/2/type"),
        ("bad-value", "/steps/3/timeout_s"),
        ("unknown-key", "/gaol"),
    ]


def test_warnings_stand_among_each_other_in_document_order(space: Space) -> None:
    """What nothing reads is found last, and may stand first."""
    plan = [
        {"type": "create-note", "value": 1, "out": "$x"},
        {"type": "create-note", "value": 2, "out": "$y"},
        {"type": "create-note", "value": "$y", "out": "$y"},
        {"type": "say", "value": "$y"},
    ]
    assert told(space, plan) == [("never-read", "/0/out"), ("rebound", "/2/out")]


def test_eleven_steps_are_not_ordered_as_text() -> None:
    """Of one place errors come first; what is not there comes after what is."""
    places = ["/steps/10", "/steps/9", "/steps", "/budget", "/steps/9/out", "/steps/9/type"]
    found = [Problem("a", place, "", severity="warning") for place in places] + [Problem("b", "/steps/9", "")]
    document = {"steps": [{"type": "x"} for _ in range(11)]}
    assert [(one.pointer, one.severity) for one in sort_problems(document, found)] == [
        ("/steps", "warning"),
        ("/steps/9", "error"),
        ("/steps/9", "warning"),
        ("/steps/9/type", "warning"),
        ("/steps/9/out", "warning"),
        ("/steps/10", "warning"),
        ("/budget", "warning"),
    ]


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ([{"out": "$x", "value": 1}], ("missing-type", "/0")),
        ([{"type": 3, "out": "$x"}], ("missing-type", "/0/type")),
        ([{"type": "map", "target": [], "operation": 3, "out": "$x"}], ("bad-value", "/0/operation")),
        (
            [
                {"type": "for-each", "do": [{"type": "create-note", "value": 1, "out": "$x"}]},
                {"type": "create-note", "value": 1, "out": "$x"},
            ],
            ("missing-argument", "/0"),
        ),
        ([{"type": "create-note", "valu": 1}], ("unknown-argument", "/0/valu")),
        (
            [{"type": "if", "conditon": {"type": "bound", "target": "$x"}, "then": []}],
            ("unknown-argument", "/0/conditon"),
        ),
        ({"step": [{"type": "say", "value": "hello"}]}, ("unknown-key", "/step")),
    ],
)
def test_one_mistake_is_told_once(space: Space, plan: Any, problem: tuple[str, str]) -> None:
    """Nothing is said to be bound twice by a step that could not be read, nor missing that has another name."""
    assert told(space, plan) == [problem]


NONE: dict[str, tuple[Any, str]] = {
    "surrogate": ("a\ud800b", ""),
    "surrogate in a key": ({"\udfff": 1}, ""),
    "not a number": (float("nan"), ""),
    "infinite": ([1, {"a": float("-inf")}], "/1/a"),
    "5,000 digits": (10**5_000, ""),
    "negative, 5,000 digits": (-(10**5_000), ""),
    "a set": ({1, 2}, ""),
    "a key that is not text": ({1: 2}, ""),
    "bytes": (b"abc", ""),
}


@pytest.mark.parametrize("case", NONE)
@pytest.mark.parametrize("field", ["value", "timeout_s", "retry", "expect", "on_fail"])
def test_what_is_no_json_is_a_problem_at_its_place(space: Space, case: str, field: str) -> None:
    """Wherever it stands, in one sentence that can be printed; alone, since nothing else is known of the plan."""
    value, inside = NONE[case]
    plan = {"steps": [{"type": "create-note", field: value}, {"type": "nope"}]}
    for found in (check_plan(space, plan)[1].found, check_lines(space, plan["steps"])):
        [problem] = found
        assert problem.code == "not-json"
        assert problem.pointer.endswith(f"/0/{field}{inside}")
        assert f"{problem.message} {problem.hint}".encode()
    assert run_sync(space, plan).status == "refused"


def test_what_is_too_deep_is_a_problem() -> None:
    """Also a list that holds itself."""
    from planner.language.problems import Problems
    from planner.language.writable import check_writable

    deep: Any = []
    for _ in range(199):
        deep = [deep]
    assert check_writable(deep, Problems())
    endless: list[Any] = []
    endless.append(endless)
    for value in ([deep], endless):
        problems = Problems()
        assert not check_writable(value, problems)
        assert problems.found[0].pointer == "/0" * 200


def test_what_json_has_is_none() -> None:
    """4,300 digits, pairs of surrogates as one character, tuples for lists."""
    from planner.language.problems import Problems
    from planner.language.writable import check_writable

    assert check_writable({"a": [10**4_300 - 1, -(10**4_299), "\U0001f600", 1.5, None, True, (1, 2)]}, Problems())


HINTS: dict[str, tuple[Any, str, str | None]] = {
    "list for a Collection": ({"type": "add", "target": "$l", "value": "$o"}, "`split` makes one", None),
    "place of a list": ({"type": "add", "target": "$o.a", "value": "$o"}, "`split` makes one", None),
    "first word": ({"type": "discover", "query": "q", "out": "$h"}, "'discover-notes' or 'discover-tools'", None),
    "first word of tools": (
        {"type": "discover", "query": "q", "servers": ["s"], "out": "$h"},
        "did you mean 'discover-tools'?",
        "discover-tools",
    ),
    "arguments": (
        {"type": "call-tool", "tool": "$l[0]", "args": {"path": "a"}},
        "did you mean 'arguments'?",
        "/2/arguments",
    ),
    "arguments of a tool": ({"type": "files/read", "args": {"path": "a"}}, "did you mean 'arguments'?", "/2/arguments"),
}


@pytest.mark.parametrize("case", HINTS)
def test_the_hint_says_what_was_meant(space: Space, case: str) -> None:
    """And the fix does it, where it is plain."""
    step, hint, fix = HINTS[case]
    before = [
        {"type": "create-note", "value": ["a", "b"], "out": "$l"},
        {"type": "create-note", "value": {"a": [1]}, "out": "$o"},
    ]
    found = [
        p for p in check_plan(space, [*before, step])[1].found if p.severity == "error" and p.code != "unknown-tool"
    ]
    assert len(found) == 1, found
    assert hint in (found[0].hint or "")
    patch = found[0].fix
    assert (patch and (patch[0].get("value") or patch[0]["path"])) == fix

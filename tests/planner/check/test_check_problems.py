"""Every problem that the check tells: its code, its place, and a fix that mends the plan."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from planner.execute.start import check_plan, run_sync

sys.path.insert(0, str(Path(__file__).parents[1]))
from plangen.mistakes import HITS, HOPELESS, ITEMS, MENDED, NOTE, note, over, when

from planner.language.json_patch import apply_patch, at


@pytest.fixture
def taken(space: Space) -> Space:
    """A space in which the name `taken` is taken."""
    assert run_sync(space, [note("v", name="taken")]).status == "success"
    return space


@pytest.mark.parametrize("case", MENDED)
def test_a_problem_with_a_fix_is_the_only_one_and_the_fix_mends_the_plan(taken: Space, case: str) -> None:
    """The pointer leads into the document; after the patch there is no error left."""
    plan, code, pointer = MENDED[case]
    found = [p for p in check_plan(taken, plan)[1].found if p.severity == "error"]
    wanted = [p for p in found if (p.code, p.pointer) == (code, pointer)]
    assert wanted, found
    assert len({p.pointer for p in found}) == 1 or case in ("key", "argument"), found
    at(plan, pointer)
    assert wanted[0].hint
    assert wanted[0].fix
    mended = apply_patch(plan, wanted[0].fix)
    rest = [p for p in check_plan(taken, mended)[1].found if p.severity == "error"]
    assert not rest, (mended, rest)


@pytest.mark.parametrize("case", HOPELESS)
def test_a_problem_without_a_fix_says_what_and_where(taken: Space, case: str) -> None:
    """One error, at a pointer that leads into the document, in one sentence."""
    plan, code, pointer = HOPELESS[case]
    found = [p for p in check_plan(taken, plan)[1].found if p.severity == "error"]
    assert [(p.code, p.pointer) for p in found] == [(code, pointer)], found
    at(plan, pointer)
    assert found[0].message
    assert not found[0].message.endswith(".")


def test_all_problems_are_told_at_once(space: Space) -> None:
    """In every corner of one plan."""
    plan = {
        "gaol": "g",
        "inputs": {"a": {"type": "nothing"}},
        "steps": [
            HITS,
            {"type": "sya", "value": "$b"},
            {"type": "if", "then": [over("pluck", field="metadata.scor")]},
            {"type": "for-each", "target": "$hits", "do": [{"type": "size", "target": "$item", "limit": 3}]},
            {"type": "map", "target": "$hits", "operation": {"type": "create-note"}},
            over("filter-structured", where="a >> b", on_fail=[{"type": "load"}]),
        ],
        "result": "$nothing",
    }
    found = {(p.code, p.pointer) for p in check_plan(space, plan)[1].found if p.severity == "error"}
    assert found == {
        ("unknown-key", "/gaol"),
        ("bad-schema", "/inputs/a/type"),
        ("unknown-type", "/steps/1/type"),
        ("unbound-variable", "/steps/1/value"),
        ("missing-argument", "/steps/2"),
        ("wrong-kind", "/steps/3/do/0/target"),
        ("unknown-argument", "/steps/3/do/0/limit"),
        ("missing-argument", "/steps/4/operation"),
        ("bad-where", "/steps/5/where"),
        ("missing-argument", "/steps/5/on_fail/0"),
        ("unbound-variable", "/result"),
    }


def test_a_wrong_kind_names_the_variables_that_would_fit(errors: Any) -> None:
    """All of them, and no others."""
    other = {**ITEMS, "out": "$d"}
    [problem] = errors([NOTE, ITEMS, other, {**over("size", "$x")}])
    assert "$c, $d" in problem.hint
    assert "$x" not in problem.hint


def test_a_fix_of_where_changes_the_path_and_not_the_text(errors: Any) -> None:
    """A string that happens to hold the same word stays."""
    where = "titel = 'titel' AND NOT titel LIKE 'n%'"
    plan = [{**ITEMS, "value": [{"title": "a"}]}, over("filter-structured", "$c", where=where)]
    [problem] = errors(plan)
    assert problem.fix[0]["value"] == "title = 'titel' AND NOT title LIKE 'n%'"


@pytest.mark.parametrize(
    ("plan", "code", "pointer"),
    [
        ([NOTE, note(1)], "rebound", "/1/out"),
        ([NOTE, note(2, "$y")], "never-read", "/0/out"),
        ({"steps": [NOTE, note(2, "$y")], "result": "$x"}, "never-read", "/steps/1/out"),
        ({"inputs": {"a": {}}, "steps": [NOTE]}, "never-read", "/inputs/a"),
        ([note(1, on_fail="continue"), note("$x", "$y")], "maybe-unbound", "/1/value"),
        # bound on both paths, but neither is taken where the condition cannot be read
        (
            [
                note(1, on_fail="continue"),
                {**when({"type": "has_value", "target": "$x"}, note(1, "$y")), "else": [note(2, "$y")]},
                note("$y", "$z"),
            ],
            "maybe-unbound",
            "/2/value",
        ),
        # bound on both paths, on one of them by a step that may fail
        (
            [
                NOTE,
                {
                    **when({"type": "has_value", "target": "$x"}, note(1, "$y", on_fail="continue")),
                    "else": [note(2, "$y")],
                },
                note("$y", "$z"),
            ],
            "maybe-unbound",
            "/2/value",
        ),
        ({"steps": [note(1, on_fail="continue")], "result": "$x"}, "maybe-unbound", "/result"),
        ([when({"type": "bound", "target": "$q"}, NOTE)], "never-bound", "/0/condition/target"),
        ([ITEMS, {"type": "for-each", "target": "$c", "do": [note(1, name="n")]}], "name-taken", "/1/do/0/name"),
        (
            [NOTE, when({"type": "has_value", "target": "$x.titel"}, note(1, "$y"))],
            "unknown-field",
            "/1/condition/target",
        ),
        ([ITEMS, {"type": "for-each", "target": "$c", "do": [], "out": "$r"}], "nothing-collected", "/1/out"),
    ],
)
def test_what_may_go_wrong_is_a_warning(warnings: Any, plan: Any, code: str, pointer: str) -> None:
    """The plan may run all the same."""
    assert (code, pointer) in [(p.code, p.pointer) for p in warnings(plan)]


@pytest.mark.parametrize(
    "plan",
    [
        [NOTE, when({"type": "notbound", "target": "$late"}, note(1, "$late")), note("$late", "$y")],
        [
            NOTE,
            {**when({"type": "has_value", "target": "$x"}, note(1, "$y")), "else": [note(2, "$y")]},
            note("$y", "$z"),
        ],
        [
            NOTE,
            when({"type": "has_value", "target": "$x"}, note(1, "$y")),
            when({"type": "bound", "target": "$y"}, note("$y", "$z")),
        ],
        [ITEMS, {"type": "for-each", "target": "$c", "on_fail": [note("$item.title", "$x")], "do": [NOTE]}],
        [
            {"type": "create-collection", "value": [], "out": "$c"},
            {"type": "load", "target": "$c[0][0]", "out": "$y", "on_fail": "continue"},
        ],
        {"inputs": {"deep": {"kind": "Collection"}}, "steps": [over("size", "$deep[0]"), over("size", "$deep[0][1]")]},
        [HITS, note("$hits[0].metadata.source.anything.at.all", "$y")],
        [HITS, over("pluck", field="metadata.passage.text"), note("$hits.@id", "$i"), note("$hits.metadata", "$m")],
    ],
)
def test_a_correct_plan_raises_no_false_alarm(space: Space, plan: Any) -> None:
    """What is bound on every path, or not known, is no error."""
    assert [p for p in check_plan(space, plan)[1].found if p.severity == "error"] == []


LATER = ("editor", "metatools", "protocol", "server", "sessions")
"""Rooms that speak of errors, not of problems of a plan."""


def test_every_code_is_tested() -> None:
    """A code that is added is added to the tables, or to a test of its own: as a value, and not as a word of a text."""
    folder = Path(__file__).parents[3] / "planner"
    source = "".join(
        path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py")) if path.parent.name not in LATER
    )
    codes = set(re.findall(r'\b(?:error|warn|report|Problem)\(\s*"([a-z-]+)"', source))
    texts = (path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parents[1].rglob("*.py")))
    tested = {value for text in texts for value in re.findall(r'"([a-z-]+)"', text)}
    assert len(codes) > 50
    assert codes - tested == set()


def test_a_problem_as_json_has_the_documented_fields(errors: Any) -> None:
    """Code, severity, pointer, message, hint, fix."""
    [problem] = errors([{"type": "sya", "value": 1}])
    assert set(json.loads(json.dumps(problem.to_json()))) == {"code", "severity", "pointer", "message", "hint", "fix"}


@pytest.mark.parametrize(
    ("plan", "fix"),
    [
        (
            [{"type": "discover-notes", "query": "q"}, over("size", "$found")],
            {"op": "add", "path": "/0/out", "value": "$found"},
        ),
        (
            [note(1, "$count"), note("${coutn} of ${count}, $$coutn", "$y")],
            {"op": "replace", "path": "/1/value", "value": "${count} of ${count}, $$coutn"},
        ),
        (
            [note(1, "$count"), note({"a~1b": {"c/d": "$coutn"}, "a/b": 2}, "$y")],
            {"op": "replace", "path": "/1/value/a~01b/c~1d", "value": "$count"},
        ),
    ],
)
def test_a_fix_puts_in_what_a_later_step_reads_and_what_was_probably_meant(
    errors: Any, plan: list[Any], fix: dict[str, Any]
) -> None:
    """Just that: a missing `out` has the name that is read, and the rest of a text stays."""
    assert errors(plan)[0].fix == [fix]

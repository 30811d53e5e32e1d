"""Every problem that the check tells: its code, its place, and a fix that mends the plan."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from planner.start import check_plan, run_sync

sys.path.insert(0, str(Path(__file__).parent))
from patching import at, patched


def note(value: Any, out: str = "$x", **fields: Any) -> dict[str, Any]:
    return {"type": "create-note", "value": value, "out": out, **fields}


def over(type_: str, target: str = "$hits", **fields: Any) -> dict[str, Any]:
    return {"type": type_, "target": target, "out": "$o", **fields}


NOTE = note({"title": "T", "n": 1})
ITEMS = {"type": "create-collection", "value": [{"title": "T", "n": 1}], "out": "$c"}
HITS = {"type": "discover-notes", "query": "q", "out": "$hits"}
FEW = over("head", count=2)


def when(condition: Any, *then: Any) -> dict[str, Any]:
    return {"type": "if", "condition": condition, "then": list(then)}


MENDED: dict[str, tuple[Any, str, str]] = {
    # plan, code, pointer: each has a fix, and is right after it
    "type": ([{"type": "sya", "value": 1}], "unknown-type", "/0/type"),
    "type of form": ([ITEMS, {"type": "foreach", "target": "$c", "do": []}], "unknown-type", "/1/type"),
    "type of operation": ([ITEMS, over("map", "$c", operation="bnd")], "unknown-type", "/1/operation"),
    "type in operation": ([ITEMS, over("map", "$c", operation={"type": "bnd"})], "unknown-type", "/1/operation/type"),
    "key": ({"step": [NOTE], "goal": "g"}, "unknown-key", "/step"),
    "budget": ({"steps": [NOTE], "budget": {"second": 3}}, "unknown-key", "/budget/second"),
    "argument": ([ITEMS, over("head", "$c", cuont=2)], "unknown-argument", "/1/cuont"),
    "field": ([{"type": "create-note", "value": 1, "outt": "$x"}], "unknown-argument", "/0/outt"),
    "nested arguments": ([ITEMS, {"type": "size", "arguments": {"target": "$c"}}], "unknown-argument", "/1/arguments"),
    "form's field": (
        [ITEMS, {"type": "for-each", "target": "$c", "do": [], "colect": "$item"}],
        "unknown-argument",
        "/1/colect",
    ),
    "missing out": ([{"type": "discover-notes", "query": "q"}], "missing-out", "/0"),
    "unwanted out": ([{"type": "say", "value": 1, "out": "$x"}], "unwanted-out", "/0/out"),
    "bad out": ([note(1, "x")], "bad-variable", "/0/out"),
    "unbound": ([ITEMS, over("size", "$cc")], "unbound-variable", "/1/target"),
    "collect": (
        [ITEMS, {"type": "for-each", "target": "$c", "do": [note(1, "$one")], "collect": "$on"}],
        "unbound-variable",
        "/1/collect",
    ),
    "bare": ([NOTE, note("is $x.title so", "$y")], "bare-variable", "/1/value"),
    "kind": ([NOTE, ITEMS, over("size", "$x")], "wrong-kind", "/2/target"),
    "name": ([note(1, name="given"), {"type": "load", "target": "givn"}], "unknown-name", "/1/target"),
    "dollar forgotten": ([NOTE, {"type": "load", "target": "x"}], "unknown-name", "/1/target"),
    "taken": ([note(1, name="taken")], "name-taken", "/0/name"),
    "taken in the plan": ([note(1, name="mine"), note(2, "$y", name="mine")], "name-taken", "/1/name"),
    "condition": (
        [NOTE, when({"type": "equal", "target": "$x", "value": 1})],
        "unknown-condition",
        "/1/condition/type",
    ),
    "word": ([HITS, over("sort", by="metadata.score", order="dsc")], "bad-argument", "/1/order"),
    "result": ({"steps": [NOTE], "result": "x"}, "bad-value", "/result"),
    "type key": ([{"typ": "say", "value": 1}], "missing-type", "/0"),
    "note's key": (
        [NOTE, note("$x.titel", "$z")],
        "unknown-field",
        "/1/value",
    ),
    # fields of search results, followed
    "pluck": ([HITS, over("pluck", field="metadata.scor")], "unknown-field", "/1/field"),
    "pluck title": ([HITS, over("pluck", field="title")], "unknown-field", "/1/field"),
    "sort": ([HITS, over("sort", by=["metadata.score", "metadata.titel"])], "unknown-field", "/1/by/1"),
    "where": (
        [HITS, over("filter-structured", where="score > 0.5 AND text LIKE '%score%'")],
        "unknown-field",
        "/1/where",
    ),
    "through head": (
        [HITS, {**FEW, "out": "$few"}, over("pluck", "$few", field="metadata.scor")],
        "unknown-field",
        "/2/field",
    ),
    "through filter": (
        [
            HITS,
            {**over("filter-structured", where="metadata.score > 0"), "out": "$few"},
            over("sort", "$few", by="scor"),
        ],
        "unknown-field",
        "/2/by",
    ),
    "item": ([HITS, note("$hits[0].titel", "$t")], "unknown-field", "/1/value"),
    "item of a loop": (
        [HITS, {"type": "for-each", "target": "$hits", "do": [note("$item.metadata.scor", "$t")]}],
        "unknown-field",
        "/1/do/0/value",
    ),
    "item of a map": (
        [HITS, over("map", operation={"type": "create-note", "value": "$item.titel"})],
        "unknown-field",
        "/1/operation/value",
    ),
    "in a branch": (
        [HITS, when({"type": "has_value", "target": "$hits"}, over("pluck", field="metadata.scor"))],
        "unknown-field",
        "/1/then/0/field",
    ),
    "in on_fail": (
        [HITS, {**NOTE, "on_fail": [over("pluck", field="metadata.scor")]}],
        "unknown-field",
        "/1/on_fail/0/field",
    ),
    "passage": ([HITS, over("pluck", field="metadata.passage.strat")], "unknown-field", "/1/field"),
    "under steps": ({"steps": [HITS, over("pluck", field="metadata.scor")]}, "unknown-field", "/steps/1/field"),
    "under plan": ({"plan": [HITS, over("pluck", field="metadata.scor")]}, "unknown-field", "/plan/1/field"),
}

HOPELESS: dict[str, tuple[Any, str, str]] = {
    "no plan": ("text", "not-a-plan", ""),
    "no steps": ({"goal": "g"}, "not-a-plan", ""),
    "steps are no list": ({"steps": {}}, "not-a-plan", "/steps"),
    "both": ({"steps": [], "plan": []}, "unknown-key", "/plan"),
    "no step": ([3], "not-a-step", "/0"),
    "no type": ([{"value": 3}], "missing-type", "/0"),
    "type is no text": ([{"type": 3}], "missing-type", "/0/type"),
    "goal": ({"goal": 3, "steps": []}, "bad-value", "/goal"),
    "same id": ([note(1, id="a"), note(2, "$y", id="a")], "duplicate-id", "/1/id"),
    "id": ([note(1, id="4")], "bad-value", "/0/id"),
    "on_fail": ([note(1, on_fail="go on")], "bad-value", "/0/on_fail"),
    "replace alone": ([note(1, replace=True)], "bad-value", "/0/replace"),
    "budget": ({"steps": [], "budget": {"steps": -1}}, "bad-value", "/budget/steps"),
    "missing argument": ([{"type": "size"}], "missing-argument", "/0"),
    "missing field of a form": ([{"type": "if", "then": []}], "missing-argument", "/0"),
    "missing field of a condition": (
        [NOTE, when({"type": "equals", "target": "$x"})],
        "missing-argument",
        "/1/condition",
    ),
    "field of a condition": (
        [NOTE, when({"type": "empty", "target": "$x", "zzz": 1})],
        "unknown-argument",
        "/1/condition/zzz",
    ),
    "condition": ([when("yes")], "bad-condition", "/0/condition"),
    "empty and": ([when({"type": "and", "of": []})], "bad-condition", "/0/condition/of"),
    "nested condition": (
        [NOTE, when({"type": "not", "of": {"type": "and", "of": [{"type": "huh"}]}})],
        "unknown-condition",
        "/1/condition/of/of/0/type",
    ),
    "pattern": (
        [NOTE, when({"type": "matches_pattern", "target": "$x", "pattern": "("})],
        "bad-pattern",
        "/1/condition/pattern",
    ),
    "schema": (
        [NOTE, when({"type": "validates", "target": "$x", "schema": {"type": "text"}})],
        "bad-schema",
        "/1/condition/schema/type",
    ),
    "schema reference": (
        [NOTE, when({"type": "validates", "target": "$x", "schema": {"$ref": "#/$defs/a"}})],
        "bad-schema",
        "/1/condition/schema/$ref",
    ),
    "mixed comparison": (
        [NOTE, when({"type": "gte", "target": "$x.n", "value": "a"})],
        "bad-condition",
        "/1/condition",
    ),
    "no order": ([NOTE, when({"type": "gte", "target": "$x", "value": 1})], "bad-condition", "/1/condition/target"),
    "contains in a number": (
        [NOTE, when({"type": "contains", "target": "$x.n", "value": 1})],
        "bad-condition",
        "/1/condition/target",
    ),
    "contains no text": (
        [NOTE, when({"type": "contains", "target": "$x.title", "value": 1})],
        "bad-condition",
        "/1/condition/value",
    ),
    "bound of a text": ([when({"type": "bound", "target": "x"})], "bad-condition", "/0/condition/target"),
    "where syntax": ([HITS, over("filter-structured", where="metadata.score >")], "bad-where", "/1/where"),
    "where is no text": ([HITS, over("filter-structured", where=3)], "bad-where", "/1/where"),
    "where of a search": ([{**HITS, "where": "a = = b"}], "bad-where", "/0/where"),
    "where in a loop": (
        [
            HITS,
            {
                "type": "for-each",
                "target": "$hits",
                "do": [note([], "$l"), over("filter-structured", "$hits", where="(")],
            },
        ],
        "bad-where",
        "/1/do/1/where",
    ),
    "unknown id": ([{"type": "load", "target": "Note_999"}], "unknown-id", "/0/target"),
    "id in a list": ([{"type": "create-collection", "value": ["Note_999"]}], "unknown-id", "/0/value/0"),
    "argument's type": ([ITEMS, over("head", "$c", count="two")], "bad-argument", "/1/count"),
    "argument's range": ([ITEMS, over("head", "$c", count=-1)], "bad-argument", "/1/count"),
    "variable's type": ([NOTE, ITEMS, over("head", "$c", count="$x.title")], "bad-argument", "/2/count"),
    "slice": ([NOTE, over("load", "$x.title", slice="1-2")], "bad-argument", "/1/slice"),
    "path": ([HITS, over("pluck", field="a..b")], "bad-argument", "/1/field"),
    "name's type": ([NOTE, note(1, "$y", name="$x.n")], "bad-argument", "/1/name"),
    "bad name": ([note(1, name="Note_1")], "bad-name", "/0/name"),
    "reference": ([note("${x", "$y")], "bad-reference", "/0/value"),
    "branch only": (
        [NOTE, when({"type": "has_value", "target": "$x"}, note(1, "$y")), note("$y", "$z")],
        "maybe-unbound",
        "/2/value",
    ),
    "handler only": ([note(1, on_fail=[note(2, "$y")]), note("$y", "$z")], "maybe-unbound", "/1/value"),
    "input": ({"inputs": {"1": {}}, "steps": []}, "bad-input", "/inputs/1"),
    "input's kind": ({"inputs": {"a": {"kind": "Text"}}, "steps": []}, "bad-input", "/inputs/a/kind"),
    "input's default": (
        {"inputs": {"a": {"type": "integer", "default": "x"}}, "steps": []},
        "bad-input",
        "/inputs/a/default",
    ),
    "input's default name": (
        {"inputs": {"a": {"kind": "Note", "default": "nobody"}}, "steps": []},
        "unknown-name",
        "/inputs/a/default",
    ),
    "input's default kind": (
        {"inputs": {"a": {"kind": "Collection", "default": "taken"}}, "steps": []},
        "bad-input",
        "/inputs/a/default",
    ),
    "depth": (
        {"budget": {"depth": 1}, "steps": [when({"type": "notbound", "target": "$q"}, NOTE)]},
        "too-deep",
        "/steps/0/then/0",
    ),
    "map of a form": ([ITEMS, over("map", "$c", operation={"type": "if"})], "bad-value", "/1/operation/type"),
    "out in an operation": (
        [ITEMS, over("map", "$c", operation={"type": "bind", "out": "$y"})],
        "unwanted-out",
        "/1/operation/out",
    ),
    "map of a kind": ([ITEMS, over("map", "$c", operation="size")], "wrong-kind", "/1/target"),
    "no resource": ([over("size", 3)], "wrong-kind", "/0/target"),  # type: ignore[arg-type]
    "loop over a Note": ([NOTE, {"type": "for-each", "target": "$x", "do": []}], "wrong-kind", "/1/target"),
    "key of a Collection": ([HITS, note("$hits.title", "$t")], "unknown-field", "/1/value"),
    "hit as a list": ([HITS, note("$hits[0][1]", "$t")], "unknown-field", "/1/value"),
}

UNSUPPORTED: dict[str, tuple[Any, str]] = {
    "while": ([{"type": "while", "condition": {}, "body": []}], "/0/type"),
    "parallel": ([{"type": "parallel", "branches": []}], "/0/type"),
    "wait": ([{"type": "wait", "seconds": 1}], "/0/type"),
    "ask": ([{"type": "ask", "value": "?", "out": "$a"}, note("$a", "$b")], "/0/type"),
    "stop": ([{"type": "stop"}], "/0/type"),
    "retry": ([note(1, retry={"attempts": 3})], "/0/retry"),
    "timeout_s": ([note(1, timeout_s=3)], "/0/timeout_s"),
    "tool_condition": ([when({"type": "tool_condition", "tool": "a/b"})], "/0/condition/type"),
    "tool": ([{"type": "server/tool", "arguments": {"a": 1}, "out": "$a"}, note("$a", "$b")], "/0/type"),
    "call-tool": ([{"type": "call-tool", "tool": "a/b"}], "/0/type"),
    "saved plan": ([{"type": "plan:weekly-digest", "out": "$a"}], "/0/type"),
    "mapped tool": ([ITEMS, over("map", "$c", operation="server/tool")], "/1/operation"),
}


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
    mended = patched(plan, wanted[0].fix)
    rest = [p for p in check_plan(taken, mended)[1].found if p.severity == "error"]
    assert not rest, (mended, rest)


@pytest.mark.parametrize("case", HOPELESS)
def test_a_problem_without_a_fix_says_what_and_where(taken: Space, case: str) -> None:
    """One error, at a pointer that leads into the document, in one sentence."""
    plan, code, pointer = HOPELESS[case]
    found = [p for p in check_plan(taken, plan)[1].found if p.severity == "error"]
    assert [(p.code, p.pointer) for p in found] == [(code, pointer)], found
    at(plan, pointer)
    assert found[0].says
    assert not found[0].says.endswith(".")


@pytest.mark.parametrize("case", UNSUPPORTED)
def test_what_this_version_does_not_run_is_refused_as_unsupported(space: Space, case: str) -> None:
    """And nothing else is wrong for it: what it would have bound counts as bound."""
    plan, pointer = UNSUPPORTED[case]
    found = [p for p in check_plan(space, plan)[1].found if p.severity == "error"]
    assert [(p.code, p.pointer) for p in found] == [("unsupported", pointer)], found


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


def test_every_code_of_an_error_is_tested_here() -> None:
    """A code that is added is added to the tables."""
    folder = Path(__file__).parents[2] / "planner"
    source = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py")))
    codes = set(re.findall(r'\b(?:error|warn|report)\(\s*"([a-z-]+)"', source))
    tested = Path(__file__).read_text(encoding="utf-8") + "missing-input maybe-unnamed"  # tested elsewhere
    assert len(codes) > 25
    assert {code for code in codes if code not in tested} == set()


def test_a_problem_as_json_has_the_documented_fields(errors: Any) -> None:
    """Code, severity, pointer, says, hint, fix."""
    [problem] = errors([{"type": "sya", "value": 1}])
    assert set(json.loads(json.dumps(problem.to_json()))) == {"code", "severity", "pointer", "says", "hint", "fix"}

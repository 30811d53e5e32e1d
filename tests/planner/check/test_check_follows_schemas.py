"""The check follows schemas from step to step: a field that a later step cannot find is told before anything runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from planner.execute.start import check_plan

sys.path.insert(0, str(Path(__file__).parents[1]))
from planner.language.json_patch import apply_patch

HITS = {"type": "discover-notes", "query": "q", "out": "$hits"}
SALES = {
    "type": "create-collection",
    "value": [{"area": "n", "year": 2024, "m": {"sum": 3.5}}, {"area": "s", "year": 2025, "m": {"sum": 4.5}}],
    "out": "$sales",
}
GOALS = {"type": "create-collection", "value": [{"area": "n", "goal": 5, "year": "any"}], "out": "$goals"}
JOIN = {"type": "join", "target": "$sales", "value": "$goals", "on": "area", "out": "$x"}
LIST = {"type": "create-note", "value": {"list": [{"title": "a"}, {"title": "b"}], "n": "3"}, "out": "$note"}


def over(type_: str, target: str = "$x", **fields: Any) -> dict[str, Any]:
    return {"type": type_, "target": target, "out": "$out", **fields}


def made(type_: str, target: str, **fields: Any) -> dict[str, Any]:
    return {"type": type_, "target": target, "out": "$x", **fields}


PROJECT = made("project", "$hits", fields=["metadata.score", "metadata.title", "@id"])
GROUP = made("group", "$sales", by=["area", "m.sum"], aggregates={"n": "count", "who": "list(m)", "top": "max(m)"})
PLUCK = over("pluck", field="metadata.score")

MENDED: dict[str, tuple[list[Any], str, str]] = {
    # plan, pointer, the field that was meant: each is right with the fix
    "project": ([HITS, PROJECT, over("pluck", field="metadata.scor")], "/2/field", "metadata.score"),
    "project from under metadata": ([HITS, PROJECT, over("sort", by="score")], "/2/by", "metadata.score"),
    "project of an own field": ([HITS, PROJECT, over("pluck", field="ids")], "/2/field", "id"),
    "project's own": ([HITS, {**PROJECT, "fields": ["metadata.scor"]}, PLUCK], "/1/fields/0", "metadata.score"),
    "project twice": (
        [HITS, PROJECT, {**over("project", fields=["metadata.titl"]), "out": "$y"}],
        "/2/fields/0",
        "metadata.title",
    ),
    "join from the left": ([SALES, GOALS, JOIN, over("pluck", field="m.sm")], "/3/field", "m.sum"),
    "join from the right": ([SALES, GOALS, JOIN, over("pluck", field="gaol")], "/3/field", "goal"),
    "join's own key": ([SALES, GOALS, {**JOIN, "on": "yera"}], "/2/on", "year"),
    "join's left key": (
        [SALES, GOALS, {**JOIN, "on": None, "left_key": "aera", "right_key": "area"}],
        "/2/left_key",
        "area",
    ),
    "join's right key": (
        [SALES, GOALS, {**JOIN, "on": None, "left_key": "area", "right_key": "gaol"}],
        "/2/right_key",
        "goal",
    ),
    "outer join": ([SALES, GOALS, {**JOIN, "join_type": "outer"}, over("sort", by="gaol")], "/3/by", "goal"),
    "group": ([SALES, GROUP, over("pluck", field="whoo")], "/2/field", "who"),
    "group by": ([SALES, {**GROUP, "by": ["aera"]}], "/1/by/0", "area"),
    "group, inside an aggregate": ([SALES, GROUP, over("pluck", field="who[0].sm")], "/2/field", "who[0].sum"),
    "group, the path as written": ([SALES, GROUP, over("pluck", field="m.sum")], "/2/field", '["m.sum"]'),
    "group's aggregate": (
        [SALES, {**GROUP, "aggregates": {"x": " avg( m.sm )"}}],
        "/1/aggregates/x",
        " avg( m.sum )",
    ),
    "split": ([LIST, made("split", "$note"), over("pluck", field="titel")], "/2/field", "title"),
    "split of a field": ([LIST, made("split", "$note", field="lst")], "/1/field", "list"),
    "coerce": (
        [LIST, made("coerce", "$note", coercion="json"), {"type": "create-note", "value": "$x.lst", "out": "$out"}],
        "/2/value",
        "$x.list",
    ),
    "flatten": (
        [
            SALES,
            {"type": "create-collection", "value": ["$sales", "$sales"], "out": "$two"},
            made("flatten", "$two", separator=None),
            over("sort", by="m.sm"),
        ],
        "/3/by",
        "m.sum",
    ),
    "flatten of Notes": ([SALES, made("flatten", "$sales", separator=None), over("sort", by="yaer")], "/2/by", "year"),
    "where after group": ([SALES, GROUP, over("filter-structured", where="nn > 1")], "/2/where", "n > 1"),
    "in a loop": (
        [SALES, GROUP, {"type": "for-each", "target": "$x", "as": "$g", "do": [{"type": "say", "value": "$g.whoo"}]}],
        "/2/do/0/value",
        "$g.who",
    ),
}


@pytest.mark.parametrize("name", MENDED)
def test_a_field_that_cannot_be_there_is_told_and_mended(space: Space, name: str) -> None:
    """At its place, with the one that was meant; with the fix the plan is right."""
    plan, pointer, meant = MENDED[name]
    _, problems = check_plan(space, plan)
    [problem] = [problem for problem in problems.found if problem.severity == "error"]
    assert (problem.code, problem.pointer) == ("unknown-field", pointer)
    assert problem.fix == [{"op": "replace", "path": pointer, "value": meant}]
    assert check_plan(space, apply_patch(plan, problem.fix))[1].ok


RULED_OUT: dict[str, tuple[list[Any], str, str]] = {
    "metadata of what project made": (
        [HITS, PROJECT, over("pluck", field="@metadata.title")],
        "/2/field",
        "unknown-field",
    ),
    "metadata of what join made": (
        [SALES, GOALS, JOIN, over("pluck", field="metadata.k")],
        "/3/field",
        "unknown-field",
    ),
    "metadata of what group made": ([SALES, GROUP, over("pluck", field="metadata.k")], "/2/field", "unknown-field"),
    "a sum of texts": ([SALES, {**GROUP, "aggregates": {"x": "sum(area)"}}], "/1/aggregates/x", "bad-argument"),
    "a mean of what is counted": (
        [SALES, GROUP, over("group", by="n", aggregates={"x": "avg(who)"})],
        "/2/aggregates/x",
        "bad-argument",
    ),
    "a join of texts": (
        [SALES, {"type": "create-collection", "value": ["a", "b"], "out": "$texts"}, {**JOIN, "value": "$texts"}],
        "/2/value",
        "wrong-kind",
    ),
    "an object as a number": ([LIST, over("coerce", "$note", coercion="int")], "/1/target", "wrong-kind"),
    "an object cut into lines": ([LIST, over("split", "$note", delimiter="line")], "/1/target", "wrong-kind"),
    "items of a coerced number": (
        [LIST, made("coerce", "$note.n", coercion="int"), over("pluck", "$note", field="x")],
        "/2/target",
        "wrong-kind",
    ),
    "a number where text is": (
        [LIST, made("coerce", "$note.n", coercion="string"), over("head", "$hits", count="$x"), HITS],
        "/2/count",
        "bad-argument",
    ),
}


@pytest.mark.parametrize("name", RULED_OUT)
def test_what_a_shape_rules_out_is_told(space: Space, name: str) -> None:
    """At its place, with its code."""
    plan, pointer, code = RULED_OUT[name]
    _, problems = check_plan(space, plan)
    assert (code, pointer) in [(p.code, p.pointer) for p in problems.found if p.severity == "error"]


RIGHT: dict[str, list[Any]] = {
    "a key that the right one lays over": [SALES, GOALS, JOIN, over("pluck", field="year")],
    "a key of one side only": [
        SALES,
        GOALS,
        {**JOIN, "join_type": "left"},
        over("filter-structured", where="goal > 3"),
    ],
    "what a search may have": [HITS, over("group", "$hits", by="metadata.source.any.thing")],
    "a join with what is not known": [
        SALES,
        HITS,
        {"type": "map", "target": "$hits", "operation": "load", "out": "$all"},
        {**JOIN, "value": "$all", "on": "area"},
        over("pluck", field="anything"),
    ],
    "an aggregate of what is not known": [
        HITS,
        over("group", "$hits", by="@name", aggregates={"x": "sum(metadata.source.n)"}),
    ],
    "an argument from a variable": [
        SALES,
        {"type": "create-note", "value": ["area"], "out": "$fields"},
        made("project", "$sales", fields="$fields"),
        over("pluck", field="anything"),
    ],
    "elements of several kinds": [
        {"type": "create-note", "value": [{"a": 1}, {"b": 2}, 3], "out": "$note"},
        made("split", "$note"),
        over("pluck", field="b"),
    ],
    "text that may be JSON": [
        {"type": "create-note", "value": '[{"a": 1}]', "out": "$note"},
        made("split", "$note"),
        over("pluck", field="a"),
    ],
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_may_be_there_is_not_ruled_out(space: Space, name: str) -> None:
    """Only what is known is held against a plan."""
    _, problems = check_plan(space, RIGHT[name])
    assert problems.ok, problems.found


def test_all_mistakes_of_one_step_are_told_at_once(space: Space) -> None:
    """A bad aggregate does not hide the others, nor what comes after from being followed as far as it is known."""
    aggregates = {"a": "summ(year)", "b": "avg(yaer)", "c": "sum(area)", "d": "count"}
    plan = [SALES, {**GROUP, "by": "area", "aggregates": aggregates}, over("pluck", field="a")]
    _, problems = check_plan(space, plan)
    places = [(p.code, p.pointer) for p in problems.found if p.severity == "error"]
    assert places == [
        ("bad-argument", "/1/aggregates/a"),
        ("unknown-field", "/1/aggregates/b"),
        ("bad-argument", "/1/aggregates/c"),
    ]

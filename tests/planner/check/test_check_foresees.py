"""What fails for certain when a plan runs is an error of the check, with its place and a hint."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from planner.execute.start import check_plan, run_sync
from planner.parse.saved_plans import save_plan


def note(value: Any, out: str = "$x", **fields: Any) -> dict[str, Any]:
    return {"type": "create-note", "value": value, "out": out, **fields}


def many(value: Any, out: str = "$c", **fields: Any) -> dict[str, Any]:
    return {"type": "create-collection", "value": value, "out": out, **fields}


def each(*do: Any, target: str = "$c", **fields: Any) -> dict[str, Any]:
    return {"type": "for-each", "target": target, "do": list(do), **fields}


def mapped(type_: str, over: str = "$c", **fields: Any) -> dict[str, Any]:
    return {"type": "map", "target": over, "operation": {"type": type_, **fields}}


def size(target: str) -> dict[str, Any]:
    return {"type": "size", "target": target}


def only(where: str) -> dict[str, Any]:
    return {"type": "filter-structured", "target": "$c", "where": where}


def when(condition: Any, *then: Any) -> dict[str, Any]:
    return {"type": "if", "condition": condition, "then": list(then)}


def beside(*branches: list[Any]) -> dict[str, Any]:
    return {"type": "parallel", "branches": list(branches)}


GONE = {"type": "remove", "target": "$x"}
MOVED = {"type": "name", "target": "taken", "value": "other"}
ROW = many([{"n": 1, "t": "a", "l": ["a"], "b": True}])
HITS = {"type": "discover-notes", "query": "q", "mode": "keyword", "out": "$hits"}
COLLECTED = many([1], metadata={"kind": "list"})

WRONG: dict[str, tuple[list[Any], str, str]] = {
    # a text where a resource is wanted
    "template of a Collection": ([many([1]), size("${c}")], "unknown-name", "/1/target"),
    "template of text": ([note("abc"), {"type": "load", "target": "${x}"}], "unknown-name", "/1/target"),
    "template of a number": ([note(7), {"type": "load", "target": "${x}"}], "unknown-name", "/1/target"),
    "template of a hit": (
        [HITS, each({"type": "load", "target": "${item}"}, target="$hits")],
        "unknown-name",
        "/1/do/0/target",
    ),
    "template beside text": ([note("b"), {"type": "load", "target": "a ${x}"}], "unknown-name", "/1/target"),
    # comparisons in `where`
    "number with text": ([ROW, only('n >= "0.3"')], "bad-where", "/1/where"),
    "score with text": ([HITS, {**only('metadata.score >= "0.3"'), "target": "$hits"}], "bad-where", "/1/where"),
    "text with number": ([ROW, only("t = 3")], "bad-where", "/1/where"),
    "parameter of text": ([ROW, note("1"), only("n > $x")], "bad-where", "/2/where"),
    "list in IN": ([ROW, note([1, 2]), only("n IN ($x)")], "bad-where", "/2/where"),
    "list in IN of anything": (
        [HITS, note(["Note_1"]), {**HITS, "where": "id IN ($x)", "out": "$h"}],
        "bad-where",
        "/2/where",
    ),
    "text in IN": ([ROW, only("n IN (1, 'b')")], "bad-where", "/1/where"),
    "between texts": ([ROW, only("n BETWEEN 'a' AND 'b'")], "bad-where", "/1/where"),
    "order of lists": ([ROW, only("l > l")], "bad-where", "/1/where"),
    "like of a number": ([ROW, only("n LIKE '1%'")], "bad-where", "/1/where"),
    "lower of a number": ([ROW, only("lower(n) = 'a'")], "bad-where", "/1/where"),
    "has of a text": ([ROW, only("has(t, 'a')")], "bad-where", "/1/where"),
    "text as a condition": ([ROW, only("b AND t")], "bad-where", "/1/where"),
    "under OR and NOT": ([ROW, only("b OR NOT (length(t) = 'a')")], "bad-where", "/1/where"),
    "coalesce of numbers": ([ROW, only("coalesce(n, 0) = 'a'")], "bad-where", "/1/where"),
    # names
    "taken, by map": ([many([1]), mapped("name", value="taken")], "name-taken", "/1/operation/value"),
    "of two, by map": ([many([1, 2]), mapped("name", value="fresh")], "name-taken", "/1/operation/value"),
    "of two, in a loop": ([many([1, 2]), each(note("$item", "$n", name="fresh"))], "name-taken", "/1/do/0/name"),
    "of two, by the verb": (
        [many([1, 2]), each({"type": "name", "target": "$item", "value": "fresh"})],
        "name-taken",
        "/1/do/0/value",
    ),
    "no name, by map": ([many([1]), mapped("name", value="Note_1")], "bad-name", "/1/operation/value"),
    "moved to another": (
        [
            note(1, name="a"),
            note(2, "$y"),
            {"type": "name", "target": "$x", "value": "b"},
            {"type": "load", "target": "a"},
        ],
        "unknown-name",
        "/3/target",
    ),
    "moved, of the space": (
        [{"type": "name", "target": "taken", "value": "b"}, {"type": "load", "target": "taken"}],
        "unknown-name",
        "/1/target",
    ),
    "moved in a branch": (
        [
            note(1, name="a"),
            beside([{"type": "name", "target": "$x", "value": "b"}], [{"type": "say", "value": "s"}]),
            {"type": "load", "target": "a"},
        ],
        "unknown-name",
        "/2/target",
    ),
    "moved in a branch, beside one that may give another name": (
        [
            note(1, name="a"),
            beside(
                [{"type": "name", "target": "$x", "value": "b"}],
                [when("today() > '2030-01-01'", note(2, "$q", name="q"))],
            ),
            {"type": "load", "target": "a"},
        ],
        "unknown-name",
        "/2/target",
    ),
    "given in two branches where nothing has it": (
        [
            when(
                {"type": "notbound", "target": "nobody"},
                beside([note(1, name="nobody")], [note(2, "$y", name="nobody")]),
            )
        ],
        "name-taken",
        "/0/then/0/branches/1/0/name",
    ),
    "moved in a branch, of the space": (
        [beside([MOVED], [{"type": "say", "value": "s"}]), {"type": "load", "target": "taken"}],
        "unknown-name",
        "/1/target",
    ),
    "moved by a saved plan": (
        [{"type": "plan:move"}, {"type": "load", "target": "taken"}],
        "unknown-name",
        "/1/target",
    ),
    "moved before a saved plan": ([MOVED, {"type": "plan:forget"}], "unknown-name", "/1/type"),
    # metadata of Collections
    "metadata of a Collection": ([COLLECTED, note("$c.metadata.kin")], "unknown-field", "/1/value"),
    "metadata, read by the verb": (
        [COLLECTED, {"type": "get-metadata", "target": "$c", "field": "kin"}],
        "unknown-field",
        "/1/field",
    ),
    "own metadata": ([COLLECTED, note("${c.@metadata.kin}")], "unknown-field", "/1/value"),
    "metadata of what has none": ([many([1]), note("$c.metadata.kind")], "unknown-field", "/1/value"),
    "metadata of a part": (
        [COLLECTED, {"type": "head", "target": "$c", "out": "$h"}, note("$h.metadata.kind")],
        "unknown-field",
        "/2/value",
    ),
    "metadata of hits": ([HITS, note("$hits.metadata.score")], "unknown-field", "/1/value"),
    "metadata set anew": (
        [
            COLLECTED,
            {"type": "set-metadata", "target": "$c", "value": {"a": 1}, "merge": False},
            note("$c.metadata.kind"),
        ],
        "unknown-field",
        "/2/value",
    ),
    # kinds in loops that change things
    "add to an item": (
        [many([]), many([1], "$d"), each({"type": "add", "target": "$item", "value": "$c"}, target="$d")],
        "wrong-kind",
        "/2/do/0/target",
    ),
    "items that were added": (
        [
            many([]),
            many([{"a": 1}], "$d"),
            each({"type": "add", "target": "$c", "value": "$item"}, target="$d"),
            each(size("$item")),
        ],
        "wrong-kind",
        "/3/do/0/target",
    ),
    "items that map added": (
        [many([]), many([1], "$d"), mapped("add", "$d", target="$c", value="$item"), each(size("$item"))],
        "wrong-kind",
        "/3/do/0/target",
    ),
    # aliases
    "removed by name": (
        [note(1, name="m"), {"type": "remove", "target": "m"}, note("$x", "$y")],
        "deleted",
        "/2/value",
    ),
    "removed as a variable, loaded by name": (
        [note(1, name="m"), GONE, {"type": "load", "target": "m"}],
        "deleted",
        "/2/target",
    ),
    "removed by name, loaded by id": (
        [{"type": "remove", "target": "taken"}, {"type": "load", "target": "Note_1"}],
        "deleted",
        "/1/target",
    ),
    "removed by id, read as a variable": (
        [{"type": "load", "target": "taken", "out": "$x"}, {"type": "remove", "target": "Note_1"}, note("$x", "$y")],
        "deleted",
        "/2/value",
    ),
    "bound again": (
        [note(1), {"type": "bind", "target": "$x", "out": "$y"}, GONE, note("$y", "$z")],
        "deleted",
        "/3/value",
    ),
    "persisted": (
        [
            note(1),
            {"type": "persist", "target": "$x", "out": "$y"},
            {"type": "remove", "target": "$y"},
            note("$x", "$z"),
        ],
        "deleted",
        "/3/value",
    ),
    "updated": (
        [
            note(1),
            {"type": "update-note", "target": "$x", "value": 2, "out": "$y"},
            {"type": "remove", "target": "$y"},
            note("$x", "$z"),
        ],
        "deleted",
        "/3/value",
    ),
    "named": (
        [
            note(1),
            {"type": "name", "target": "$x", "value": "m", "out": "$y"},
            {"type": "remove", "target": "m"},
            note("$x", "$z"),
        ],
        "deleted",
        "/3/value",
    ),
    "written over, then removed by name": (
        [note(1, name="m"), note(2, "$y", name="m", replace=True), {"type": "remove", "target": "m"}, note("$x", "$z")],
        "deleted",
        "/3/value",
    ),
    "removed by a saved plan": ([{"type": "plan:forget"}, {"type": "load", "target": "taken"}], "deleted", "/1/target"),
    "removed before a saved plan": (
        [{"type": "remove", "target": "taken"}, {"type": "plan:forget"}],
        "deleted",
        "/1/type",
    ),
    # what stands in the plan
    "element": ([note([1, 2]), note("$x[5]", "$y")], "unknown-field", "/1/value"),
    "element from the end": ([note([1, 2]), note("$x[-3]", "$y")], "unknown-field", "/1/value"),
    "inner element": ([note({"a": [1]}), note("${x.a[1]}", "$y")], "unknown-field", "/1/value"),
    "element of references": ([note(1), note(["$x", "$x"], "$y"), note("$y[2]", "$z")], "unknown-field", "/2/value"),
    "item": ([many([1, 2]), note("$c[2]")], "unknown-field", "/1/value"),
    "item of none": ([many([]), note("$c[0]")], "unknown-field", "/1/value"),
    "item of one": ([many([1]), many("$c", "$d"), note("$d[1]")], "unknown-field", "/2/value"),
    "slice of a number": ([note(7), {"type": "load", "target": "$x", "slice": ":1"}], "wrong-kind", "/1/target"),
    "slice of a Relation": (
        [
            note(1),
            {"type": "create-relation", "source": "$x", "target": "$x", "relation": "r", "out": "$r"},
            {"type": "load", "target": "$r", "slice": ":1"},
        ],
        "wrong-kind",
        "/2/target",
    ),
    "text as int": ([note("abc"), {"type": "coerce", "target": "$x", "coercion": "int"}], "wrong-kind", "/1/target"),
    "place as float": (
        [note({"a": "b"}), {"type": "coerce", "target": "$x.a", "coercion": "float"}],
        "wrong-kind",
        "/1/target",
    ),
    "number as bool": ([note(2), {"type": "coerce", "target": "$x", "coercion": "bool"}], "wrong-kind", "/1/target"),
    "text as JSON": ([note("{"), {"type": "coerce", "target": "$x", "coercion": "json"}], "wrong-kind", "/1/target"),
    "filled text as int": (
        [note("a"), note("n${x}", "$y"), {"type": "coerce", "target": "$y", "coercion": "int"}],
        "wrong-kind",
        "/2/target",
    ),
    "coerced twice": (
        [
            note("3.5"),
            {"type": "coerce", "target": "$x", "coercion": "float", "out": "$y"},
            {"type": "coerce", "target": "$y", "coercion": "int"},
        ],
        "wrong-kind",
        "/2/target",
    ),
}


@pytest.fixture
def used(space: Space) -> Space:
    """A space in which the name `taken` is taken by Note_1, a plan deletes what has it, and one gives it another."""
    assert run_sync(space, [note("v", name="taken")]).bindings["x"].id == "Note_1"
    save_plan(space, "forget", {"steps": [{"type": "remove", "target": "taken"}]})
    save_plan(space, "move", {"steps": [MOVED]})
    return space


@pytest.mark.parametrize("case", WRONG)
def test_what_is_sure_to_fail_is_an_error_with_a_hint(used: Space, case: str) -> None:
    """It is the only error, and the run does not begin."""
    plan, code, pointer = WRONG[case]
    found = [problem for problem in check_plan(used, plan)[1].found if problem.severity == "error"]
    assert [(problem.code, problem.pointer) for problem in found] == [(code, pointer)], found
    assert found[0].hint


RIGHT: dict[str, list[Any]] = {
    "name by text": [note("taken"), {"type": "load", "target": "${x}"}],
    "name by filled text": [note("tak"), {"type": "load", "target": "${x}en"}],
    "name given before, by text": [note(1, name="made"), note("made", "$y"), {"type": "load", "target": "${y}"}],
    "id by text": [HITS, each({"type": "load", "target": "${item.metadata.source_id}"}, target="$hits")],
    "null and number": [many([{"n": 1}, {"n": None}]), only("n >= 0.3")],
    "mixed": [many([{"n": 1}, {"n": "a"}]), only("n >= 'a'")],
    "list as a list": [ROW, note(["a"]), only("l = $x AND has($x, t)")],
    "booleans": [ROW, only("b = TRUE AND b AND coalesce(b, FALSE)")],
    "own fields": [ROW, only("@id >= 'Note_1' AND @name IS NULL")],
    "name of one": [many([1]), mapped("name", value="fresh")],
    "name of one, then loaded": [many([1]), mapped("name", value="fresh"), {"type": "load", "target": "fresh"}],
    "name of each": [many([1, 2]), each(note("$item", "$n", name="fresh ${item}"))],
    "name of some": [
        many([1, 2]),
        each(when({"type": "equals", "target": "$item", "value": 1}, note(1, "$n", name="f"))),
    ],
    "name until stopped": [many([1, 2]), each(note("$item", "$n", name="fresh"), {"type": "stop"})],
    "name moved and taken again": [
        note(1, name="a"),
        {"type": "name", "target": "$x", "value": "b"},
        note(2, "$y", name="a"),
        {"type": "load", "target": "a"},
    ],
    "name of each, after one for all": [
        many(["a", "b"]),
        each(note(1, "$n", name="new"), {"type": "name", "target": "$n", "value": "x ${item}"}),
    ],
    "name of the last one, moved before it": [
        many(["a", "b"]),
        each(note(1, "$n", name="new"), when("$item = 'a'", {"type": "name", "target": "$n", "value": "old"})),
    ],
    "name moved in a branch and taken again": [
        note(1, name="a"),
        beside([{"type": "name", "target": "$x", "value": "b"}], []),
        note(2, "$y", name="a"),
        {"type": "load", "target": "b"},
    ],
    "removed in a branch, another of that name": [
        note(1, name="m"),
        beside([GONE, note(2, "$y", name="m")], [{"type": "say", "value": "s"}]),
        {"type": "load", "target": "m"},
    ],
    "name of the space, given the same": [
        {"type": "persist", "target": "taken", "name": "taken", "replace": True},
        {"type": "load", "target": "taken"},
    ],
    "metadata there": [COLLECTED, note("$c.metadata.kind")],
    "metadata added": [many([1]), {"type": "set-metadata", "target": "$c", "value": {"a": 1}}, note("$c.metadata.a")],
    "metadata added to any": [
        many([1]),
        many(["$c"], "$d"),
        each({"type": "set-metadata", "target": "$item", "value": {"a": 1}}, target="$d"),
        note("$c.metadata.a"),
    ],
    "metadata of aliases": [COLLECTED, {"type": "bind", "target": "$c", "out": "$d"}, note("$d.metadata.kind")],
    "add in a loop": [
        many([]),
        many([1], "$d"),
        each({"type": "add", "target": "$c", "value": "$item"}, target="$d"),
        note("$c[0]"),
    ],
    "add Collections": [
        many([]),
        many([1], "$d"),
        many([2], "$e"),
        {"type": "add", "target": "$c", "value": "$d"},
        {"type": "add", "target": "$c", "value": "$e"},
        note("$c[1]"),
    ],
    "removed, another of that name": [
        note(1, name="m"),
        GONE,
        note(2, "$y", name="m"),
        {"type": "load", "target": "m"},
    ],
    "rebound after removing": [note(1), GONE, note(2), note("$x", "$y")],
    "copied": [note(1), note("$x", "$y"), GONE, note("$y", "$z")],
    "element there": [note([1, 2]), note("$x[1]", "$y"), note("$x[-2]", "$z")],
    "item there": [many([1, 2]), note("$c[-1]")],
    "item added": [
        many([1]),
        {"type": "add", "target": "$c", "value": "$c[0]"},
        note(2),
        {"type": "add", "target": "$c", "value": "$x"},
        note("$c[1]", "$y"),
    ],
    "item of another version": [many([]), note(1), {"type": "add", "target": "$c", "value": "$x"}, note("$c[0]", "$y")],
    "element after an update": [
        note([1]),
        {"type": "update-note", "target": "$x", "value": [1, 2]},
        note("$x[1]", "$y"),
    ],
    "element after an update of an alias": [
        note([1]),
        {"type": "bind", "target": "$x", "out": "$a"},
        {"type": "update-note", "target": "$a", "value": [1, 2]},
        note("$x[1]", "$y"),
    ],
    "slice of text": [note("abc"), {"type": "load", "target": "$x", "slice": ":1"}],
    "text as int": [note("12"), {"type": "coerce", "target": "$x", "coercion": "int"}],
    "text as int after an update": [
        note("abc"),
        {"type": "update-note", "target": "$x", "value": "12"},
        {"type": "coerce", "target": "$x", "coercion": "int"},
    ],
    "text of a branch": [
        note("abc"),
        when({"type": "empty", "target": "$x"}, note("abc")),
        {"type": "say", "value": "${x}"},
    ],
}


@pytest.mark.parametrize("case", RIGHT)
def test_what_may_go_well_is_no_error_and_goes_well(used: Space, case: str) -> None:
    """The check passes, and the run has no failure."""
    result = run_sync(used, RIGHT[case])
    assert [p for p in result.problems if p.severity == "error"] == []
    assert result.status == ("stopped" if case == "name until stopped" else "success"), result.reason
    assert [row for row in result.steps if row.status != "success"] == []


HANDLED: dict[str, tuple[list[Any], str]] = {
    "item": ([many([1]), note("$c[2]", on_fail="continue")], "unknown-field"),
    "element": (
        [note([1]), {"type": "say", "value": "$x[2]", "on_fail": [{"type": "say", "value": "no"}]}],
        "unknown-field",
    ),
    "slice": ([note(7), {"type": "load", "target": "$x", "slice": ":1", "on_fail": "continue"}], "wrong-kind"),
    "coerce": (
        [note("abc"), {"type": "coerce", "target": "$x", "coercion": "int", "on_fail": "continue"}],
        "wrong-kind",
    ),
    "in a loop": (
        [many(["abc"]), note("abc"), each({"type": "coerce", "target": "$x", "coercion": "int"}, on_fail="continue")],
        "wrong-kind",
    ),
    "in a condition": ([many([1]), when({"type": "equals", "target": "$c[2]", "value": 1})], "unknown-field"),
    "template": ([note("abc"), {"type": "load", "target": "${x}", "on_fail": "continue"}], "unknown-name"),
    "two of a name": ([many([1, 2]), each(note(1, "$n", name="fresh"), on_fail="continue")], "name-taken"),
}


@pytest.mark.parametrize("case", HANDLED)
def test_what_data_does_wrong_is_a_warning_where_it_is_handled(space: Space, case: str) -> None:
    """The plan may mean it."""
    plan, code = HANDLED[case]
    result = run_sync(space, plan)
    assert result.status == "success"
    assert (code, "warning") in [(problem.code, problem.severity) for problem in result.problems]


def test_a_comparison_of_types_is_mended_where_that_is_plain(space: Space) -> None:
    """A number written as text, a text as a number, a list in IN; else there is no fix."""
    for where, fix in (
        ('n >= "0.3"', "n >= 0.3"),
        ("0 < n AND t = 3", "0 < n AND t = '3'"),
        ("n = '1' OR n = '1'", None),
        ("n IN ($x)", "n IN $x"),
        ("n IN ($x) AND b", None),
        ("n = 'a'", None),
    ):
        found = check_plan(space, [ROW, note([1]), only(where)])[1].found
        told = [problem for problem in found if problem.code == "bad-where"]
        assert told, where
        assert (told[0].fix and told[0].fix[0]["value"]) == fix


def test_a_saved_plan_may_not_come_to_run_itself(space: Space) -> None:
    """Neither by its first version nor by a later one, directly or through others, in a loop or mapped; another may."""
    save_plan(space, "a", {"steps": [{"type": "say", "value": "x"}]})
    save_plan(space, "b", {"steps": [{"type": "plan:a"}]})
    again = {"steps": [many([1]), mapped("plan:b"), each({"type": "plan:b"})]}
    found = [(p.code, p.pointer) for p in check_plan(space, again, saved_as="a")[1].found if p.severity == "error"]
    assert found == [("plan-cycle", "/steps/1/operation/type"), ("plan-cycle", "/steps/2/do/0/type")]
    assert [p.code for p in check_plan(space, {"steps": [{"type": "plan:new"}]}, saved_as="new")[1].found] == [
        "plan-cycle"
    ]
    for name, plan in (("a", again), ("new", {"steps": [{"type": "plan:new"}]}), ("b", [{"type": "plan:b"}])):
        with pytest.raises(Exception, match="saved plans that run one another never end: "):
            save_plan(space, name, plan, replace=True)
    steps = [note({"a": 1}), {"type": "plan:d", "arguments": {"n": "$x"}}, {"type": "say", "value": "${x.b}"}]
    writes = {"type": "update-note", "target": "$n", "value": {"b": 1}}
    save_plan(space, "d", {"inputs": {"n": {"kind": "Note"}}, "steps": [writes]})
    assert [p.code for p in check_plan(space, {"steps": steps}, saved_as="d")[1].found] == ["plan-cycle"]
    assert check_plan(space, again, saved_as="c")[1].ok
    save_plan(space, "c", again)


def test_what_a_saved_plan_that_stops_gives_is_not_known(space: Space) -> None:
    """Its `stop` may give something else than its result, and before a name is given."""
    plan = {
        "inputs": {"n": {"type": "number"}},
        "steps": [
            when({"type": "greater_than", "target": "$n", "value": 2}, {"type": "stop", "value": "$n"}),
            many([1], name="list of one"),
        ],
        "result": "$c",
    }
    save_plan(space, "perhaps", plan)
    call = {"type": "plan:perhaps", "arguments": {"n": 3}, "out": "$r"}
    assert check_plan(space, [call, {"type": "coerce", "target": "$r", "coercion": "string"}])[1].ok
    found = check_plan(space, [call, {"type": "load", "target": "list of one"}])[1].found
    assert "maybe-unnamed" in [problem.code for problem in found]

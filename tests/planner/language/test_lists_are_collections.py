"""A JSON list is taken for a Collection where one is wanted: one that stands there, a place, a Note's content."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infospace import Space
from planner.execute.start import check_plan, prepare, run_sync
from planner.journal.result import RunResult
from planner.lifecycle.dry_run import dry_run
from planner.lifecycle.replay import replay
from planner.lifecycle.resume import answer, resume
from planner.parse.saved_plans import save_plan

TEAM = {
    "type": "create-note",
    "value": {"members": [{"name": "Bo", "age": 30}, {"name": "Al", "age": 20}], "tags": ["b", "a", "b"], "size": 3},
    "out": "$t",
}


def ran(space: Space, *steps: Any, result: str = "$r") -> Any:
    """Run steps that end well; return what the result is as a value."""
    done = run_sync(space, {"steps": list(steps), "result": result})
    assert done.status == "success", done.reason or done.problems
    assert done.result is not None
    return done.result.data


def problems(space: Space, *steps: Any) -> list[tuple[str, str]]:
    """Return the errors of a plan: code and pointer."""
    found = check_plan(space, list(steps))[1].found
    return [(one.code, one.pointer) for one in found if one.severity == "error"]


@pytest.mark.parametrize(
    ("step", "given"),
    [
        ({"type": "sort", "target": "$t.members", "by": "age"}, [{"name": "Al", "age": 20}, {"name": "Bo", "age": 30}]),
        ({"type": "pluck", "target": "$t.members", "field": "name"}, ["Bo", "Al"]),
        ({"type": "size", "target": "$t.tags"}, 3),
        ({"type": "size", "target": []}, 0),
        ({"type": "head", "target": ["a", "b"]}, ["a"]),
        (
            {"type": "tail", "target": ["$t.tags[1]", "${t.size}", "Note_999", "t"], "count": 4},
            ["a", "3", "Note_999", "t"],
        ),
        ({"type": "sort", "target": [3, 1, 2], "by": "content", "order": "desc"}, [3, 2, 1]),
        ({"type": "filter-structured", "target": [3, 1, 2], "where": "content > 1"}, [3, 2]),
        ({"type": "filter-structured", "target": ["x", "y"], "where": "content = 'y'"}, ["y"]),
        (
            {"type": "group", "target": "$t.tags", "by": "content", "aggregates": {"n": "count"}},
            [{"content": "b", "n": 2}, {"content": "a", "n": 1}],
        ),
        ({"type": "flatten", "target": "$t.tags", "separator": ","}, "b,a,b"),
        (
            {"type": "join", "target": "$t.members", "value": [{"name": "Al", "x": 1}], "on": "name"},
            [{"name": "Al", "age": 20, "x": 1}],
        ),
        ({"type": "map", "target": [1, "2"], "operation": {"type": "coerce", "coercion": "string"}}, ["1", "2"]),
        (
            {
                "type": "for-each",
                "target": "$t.members",
                "as": "$m",
                "do": [{"type": "create-note", "value": "${m.name}!", "out": "$n"}],
            },
            ["Bo!", "Al!"],
        ),
    ],
)
def test_a_list_is_taken_where_a_collection_is_wanted(space: Space, step: dict[str, Any], given: Any) -> None:
    """Inside of one that stands there `$x` is content, and what looks like an id or a name is text."""
    assert ran(space, TEAM, {**step, "out": "$r"}) == given


@pytest.mark.parametrize(
    ("step", "given"),
    [
        ({"type": "distinct", "target": "$t.tags"}, ["b", "a"]),
        ({"type": "intersection", "target": ["x", "y", "y"], "value": ["y"]}, ["y"]),
        ({"type": "difference", "target": ["x", "y"], "value": "$t.tags"}, ["x", "y"]),
        ({"type": "union", "target": ["a"], "value": "$t.tags"}, ["a", "b"]),
        ({"type": "union", "target": ["a"], "value": "$t.tags", "by": "@id"}, ["a", "b", "a", "b"]),
    ],
)
def test_items_of_lists_are_equal_by_their_content(space: Space, step: dict[str, Any], given: list[str]) -> None:
    """They have no identity to go by, unless it is asked for."""
    assert ran(space, TEAM, {**step, "out": "$r"}) == given


def test_of_two_collections_items_are_equal_by_what_they_are(space: Space) -> None:
    """Nothing was a list."""
    steps = [{"type": "create-collection", "value": ["a", "a"], "out": "$c"}, {"type": "distinct", "target": "$c"}]
    assert ran(space, steps[0], {**steps[1], "out": "$r"}) == ["a", "a"]


def test_a_note_whose_content_is_a_list_is_taken_too(space: Space) -> None:
    """By its variable and by its name."""
    kept = {"type": "create-note", "value": [1, 2], "name": "numbers", "out": "$n"}
    assert ran(space, kept, {"type": "size", "target": "$n", "out": "$r"}) == 2
    assert ran(space, {"type": "size", "target": "numbers", "out": "$r"}) == 2


@pytest.mark.parametrize(
    "step",
    [
        {"type": "add", "target": ["a"], "value": "$t"},
        {"type": "add", "target": "$t.tags", "value": "$t"},
        {"type": "size", "target": "$t.size"},
        {"type": "size", "target": "$t"},
        {"type": "size", "target": 3},
        {"type": "size", "target": {"a": 1}},
        {"type": "for-each", "target": "$t.size", "as": "$m", "do": [{"type": "say", "value": "$m"}]},
    ],
)
def test_what_is_no_list_or_is_changed_in_place_is_refused(space: Space, step: dict[str, Any]) -> None:
    """A list that was changed would be forgotten."""
    assert problems(space, TEAM, step) == [("wrong-kind", "/1/target")]


def test_the_check_knows_the_items(space: Space) -> None:
    """Of a place, of one that stands there, and that nothing has a field that no item can have."""
    sort = {"type": "sort", "by": "agee", "out": "$r"}
    for target in ("$t.members", [{"age": 1}, {"age": 2}]):
        found = check_plan(space, [TEAM, {**sort, "target": target}])[1].found
        [error] = [one for one in found if one.severity == "error"]
        assert (error.code, error.pointer) == ("unknown-field", "/1/by")
        assert error.hint == "did you mean `age`?"
    assert problems(space, TEAM, {"type": "pluck", "target": ["$nobody"], "field": "a", "out": "$r"}) == [
        ("unbound-variable", "/1/target/0")
    ]


def test_what_is_not_known_is_looked_at_when_the_step_starts(space: Space) -> None:
    """The reason says that the check could not know it."""
    ask = {"type": "ask", "value": "which?", "out": "$a"}
    size = {"type": "size", "target": "$a", "out": "$r"}
    for said, status in (([1, 2], "success"), ("two", "failed")):
        first = run_sync(space, [ask, size])
        assert first.status == "suspended"
        answer(space, str(first.run), "1", said)
        done = asyncio.run(resume(space, str(first.run)))
        assert done.status == status
        if status == "failed":
            assert 'unchecked: $a is "two", and a Collection or a list is wanted' in str(done.reason)


def test_a_step_waits_for_what_its_list_reads(space: Space) -> None:
    """A list is no literal: what is inside is bound first."""
    steps = [{"type": "create-note", "value": 7, "out": "$n"}, {"type": "head", "target": ["$n", 8], "out": "$r"}]
    assert ran(space, *steps) == [7]


def test_a_loop_over_a_list_goes_on_after_a_question_where_it_was(space: Space) -> None:
    """The Collection that the list was taken for is found again by its id; nothing is done twice."""
    steps = [
        TEAM,
        {
            "type": "for-each",
            "target": "$t.members",
            "as": "$m",
            "do": [
                {"type": "create-note", "value": "${m.name}", "name": "seen ${m.name}"},
                {"type": "ask", "value": "and ${m.name}?", "out": "$a"},
            ],
            "out": "$r",
        },
    ]
    done: RunResult = run_sync(space, {"steps": steps, "result": "$r"})
    for said in ("one", "two"):
        assert done.status == "suspended"
        [pending] = done.pending
        answer(space, str(done.run), pending.step, said)
        done = asyncio.run(resume(space, str(done.run)))
    assert done.status == "success"
    assert done.result is not None
    assert done.result.data == ["one", "two"]
    again = asyncio.run(replay(space, str(done.run)))
    assert again.result.status == "success"
    assert list(again.difference.steps) == []


def test_a_saved_plan_that_takes_a_collection_takes_a_list(space: Space) -> None:
    """As a primitive does."""
    plan = {
        "inputs": {"rows": {"kind": "Collection"}},
        "steps": [{"type": "size", "target": "$rows", "out": "$n"}],
        "result": "$n",
    }
    save_plan(space, "count", plan)
    call = {"type": "plan:count", "arguments": {"rows": "$t.members"}, "out": "$r"}
    assert ran(space, TEAM, call) == 2
    assert ran(space, {**call, "arguments": {"rows": ["a", "b", "c"]}}) == 3
    assert problems(space, {**call, "arguments": {"rows": 3}}) == [("wrong-kind", "/0/arguments/rows")]


def test_a_dry_run_takes_lists_and_leaves_nothing(space: Space) -> None:
    """Nothing that was made of the list is in the space afterwards."""
    prepared: Any = prepare(
        space,
        [
            TEAM,
            {
                "type": "for-each",
                "target": "$t.tags",
                "as": "$g",
                "do": [{"type": "create-note", "value": "$g", "out": "$n"}],
                "out": "$r",
            },
        ],
    )
    dry = asyncio.run(dry_run(space, prepared))
    assert dry.result.status == "success"
    with space.store.reading() as snapshot:
        assert snapshot.run_heads() == []


def test_so_many_items_as_a_step_may_make_and_no_more(space: Space) -> None:
    """The items of a list count for the step that takes it."""
    plan = {"budget": {"items": 3}, "steps": [{"type": "size", "target": [1, 2, 3, 4], "out": "$r"}]}
    done = run_sync(space, plan)
    assert done.status == "failed"
    assert "items" in str(done.reason)

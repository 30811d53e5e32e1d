"""What the check knows after something was changed in place: no plan that would run is refused, none waved through."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from planner.execute.start import check_plan
from planner.parse.saved_plans import save_plan

N = {"type": "create-note", "value": {"a": 1}, "out": "$n"}
LIST = {"type": "create-collection", "value": ["$n"], "out": "$c"}
UPDATE = {"type": "update-note", "target": "$n", "value": {"b": 2}}
MERGE = UPDATE | {"merge": True}
TRUE = {"type": "bound", "target": "$n"}


def say(text: str) -> dict[str, Any]:
    """A step that reads."""
    return {"type": "say", "value": text}


RUNS: dict[str, list[dict[str, Any]]] = {
    "updated": [N, UPDATE, say("${n.b}")],
    "merged": [N, MERGE, say("${n.a} ${n.b}")],
    "alias": [N, {"type": "bind", "target": "$n", "out": "$m"}, UPDATE, say("${m.b}")],
    "out": [N, UPDATE | {"out": "$m"}, say("${m.b}")],
    "item": [N, LIST, UPDATE, {"type": "pluck", "target": "$c", "field": "b", "out": "$bs"}, say("${bs[0]}")],
    "through item": [N, LIST, UPDATE | {"target": "$c[0]"}, say("${n.b}")],
    "metadata": [N, {"type": "set-metadata", "target": "$n", "value": {"k": 1}}, say("${n.metadata.k}")],
    "metadata by update": [N, UPDATE | {"metadata": {"k": 1}}, say("${n.metadata.k}")],
    "metadata of all": [N, {"type": "set-metadata", "target": "$n", "value": {"k": 1}, "out": "$m"}, say("${m.k}")],
    "added": [
        N,
        LIST,
        {"type": "create-note", "value": {"b": 2}, "out": "$m"},
        {"type": "add", "target": "$c", "value": "$m"},
        say("${c[1].b}"),
    ],
    "in a branch": [N, {"type": "if", "condition": TRUE, "then": [UPDATE]}, say("${n.b}")],
    "in for-each": [N, LIST, {"type": "for-each", "target": "$c", "do": [UPDATE | {"target": "$item"}]}, say("${n.b}")],
    "in map": [N, LIST, {"type": "map", "target": "$c", "operation": UPDATE}, say("${n.b}")],
    "second round": [
        N,
        {"type": "create-collection", "value": [1, 2], "out": "$c"},
        {
            "type": "for-each",
            "target": "$c",
            "do": [
                {
                    "type": "if",
                    "condition": {"type": "equals", "target": "$item", "value": 2},
                    "then": [say("${n.b}")],
                },
                UPDATE,
            ],
        },
    ],
    "on_fail": [
        N,
        {"type": "if", "condition": TRUE, "then": [UPDATE, say("${c}")], "on_fail": [say("${n.b}")]},
    ],
    "by name": [N | {"name": "x"}, UPDATE, {"type": "load", "target": "x", "out": "$m"}, say("${m.b}")],
    "what was kept": [
        UPDATE | {"target": "kept"},
        {"type": "load", "target": "kept", "out": "$m"},
        say("${m.b}"),
    ],
    "freed by remove": [{"type": "remove", "target": "kept"}, {"type": "create-note", "value": 1, "name": "kept"}],
    "freed by name": [N | {"name": "x"}, {"type": "name", "target": "$n", "value": "y"}, N | {"name": "x"}],
}
"""Plans that would be refused if the check took what it first knew for all time."""
RUNS["on_fail"][1]["then"][1] = {"type": "load", "target": "${n.b}", "out": "$gone"}
RUNS["in map"][2]["operation"] = {"type": "update-note", "value": {"b": 2}}

REFUSED: dict[str, tuple[list[dict[str, Any]], str]] = {
    "updated": ([N, UPDATE, say("${n.a}")], "/2/value"),
    "merged": ([N, MERGE, say("${n.c}")], "/2/value"),
    "alias": ([N, {"type": "bind", "target": "$n", "out": "$m"}, UPDATE, say("${m.c}")], "/3/value"),
    "out": ([N, UPDATE | {"out": "$m"}, say("${m.a}")], "/2/value"),
    "metadata": ([N, {"type": "set-metadata", "target": "$n", "value": {"k": 1}}, say("${n.metadata.j}")], "/2/value"),
    "another": (
        [N, {"type": "create-note", "value": "text", "out": "$m"}, UPDATE | {"target": "$m"}, say("${n.b}")],
        "/3/value",
    ),
    "search result": (
        [
            {"type": "discover-notes", "query": "x", "out": "$hits"},
            UPDATE | {"target": "$hits[0]"},
            say("${hits[0].metadata.scor}"),
        ],
        "/2/value",
    ),
    "union": (
        [
            N,
            LIST,
            {"type": "create-collection", "value": [{"b": 2}], "out": "$d"},
            {"type": "union", "target": "$c", "value": "$d", "out": "$e"},
            {"type": "pluck", "target": "$e", "field": "c", "out": "$cs"},
        ],
        "/4/field",
    ),
    "tail": ([N, LIST, {"type": "tail", "target": "$c", "out": "$d"}, say("${d[0].b}")], "/3/value"),
    "another of another size": (
        [
            {"type": "create-collection", "value": [1], "out": "$c"},
            {"type": "create-collection", "value": [1, 2], "out": "$d"},
            {"type": "add", "target": "$c", "value": "$d[0]"},
            say("${d[2]}"),
        ],
        "/3/value",
    ),
    "field of metadata": (
        [N | {"metadata": {"k": 1}}, {"type": "get-metadata", "target": "$n", "field": "j", "out": "$m"}],
        "/1/field",
    ),
    "inside a field": (
        [
            N | {"metadata": {"k": {"x": 1}}},
            {"type": "get-metadata", "target": "$n", "field": "k", "out": "$m"},
            say("${m.y}"),
        ],
        "/2/value",
    ),
}
"""Plans of which enough is known, in spite of a change, to refuse them; and the place of the error."""


@pytest.fixture(autouse=True)
def _kept(run: Any) -> None:
    """A Note in the space, known to the check as it is."""
    assert run({"type": "create-note", "value": {"a": 1}, "name": "kept"}).status == "success"


@pytest.mark.parametrize("name", RUNS)
def test_a_plan_that_runs_is_not_refused(run: Any, name: str) -> None:
    """Whatever way the change and the reading of it take."""
    result = run(RUNS[name])
    assert (result.status, result.reason) == ("success", None), result.problems


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_known_in_spite_of_a_change_is_checked(errors: Any, name: str) -> None:
    """By the schema before, after, or either; a search result never changes."""
    steps, pointer = REFUSED[name]
    assert [(problem.code, problem.pointer) for problem in errors(steps)] == [("unknown-field", pointer)]


def test_a_union_of_search_results_is_loaded_as_their_sources(run: Any) -> None:
    """What results of two kinds of search stand for is no search result."""
    result = run(
        {"type": "create-collection", "value": [1], "out": "$c"},
        {"type": "search-within-collection", "target": "$c", "query": "1", "threshold": -1, "out": "$a"},
        {"type": "search-within-collection", "target": "$c", "query": "1", "mode": "hybrid", "out": "$b"},
        {"type": "union", "target": "$a", "value": "$b", "out": "$all"},
        {"type": "load", "target": "$all[0]", "out": "$one"},
        say("${one.metadata}"),
    )
    assert result.status == "success", result.problems


def test_collecting_what_the_body_only_changes_is_still_an_error(errors: Any) -> None:
    """A variable that is changed in a loop is not bound by it."""
    add = {"type": "add", "target": "$c", "value": "$item"}
    loop = {"type": "for-each", "target": "$c", "do": [add], "collect": "$c", "out": "$d"}
    assert [problem.code for problem in errors([N, LIST, loop])] == ["unbound-variable"]


OF_SAVED: dict[str, tuple[dict[str, Any], bool]] = {
    "writes": ({"type": "update-note", "target": "$n", "value": {"a": 2}}, True),
    "calls a plan that writes": ({"type": "plan:writes", "arguments": {"n": "$n"}}, True),
    "writes each": (
        {"type": "map", "target": ["$n"], "operation": {"type": "update-note", "target": "$n", "value": {"a": 2}}},
        True,
    ),
    "reads": ({"type": "load", "target": "$n", "out": "$again"}, False),
}


@pytest.mark.parametrize("name", OF_SAVED)
def test_what_a_saved_plan_changes_is_not_known_after_it(space: Space, name: str) -> None:
    """At whatever depth of it; after one that only reads, all is as it was."""
    for saved in ("writes", name):
        document = {"inputs": {"n": {"kind": "Note"}}, "steps": [OF_SAVED[saved][0]]}
        save_plan(space, saved.replace(" ", "-"), document, replace=True)
    steps = [
        {"type": "create-note", "value": {"a": 1}, "out": "$d"},
        {"type": f"plan:{name.replace(' ', '-')}", "arguments": {"n": "$d"}},
        {"type": "load", "target": "$d.b", "out": "$b"},
    ]
    errors = [problem.code for problem in check_plan(space, steps)[1].found if problem.severity == "error"]
    assert errors == ([] if OF_SAVED[name][1] else ["unknown-field"])


CALLED: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "freed by remove": ({"type": "remove", "target": "kept"}, [N | {"name": "kept"}]),
    "freed by name": ({"type": "name", "target": "kept", "value": "other"}, [N | {"name": "kept"}]),
    "updated": (
        UPDATE | {"target": "kept"},
        [{"type": "load", "target": "kept", "out": "$m"}, say("${m.b}")],
    ),
}
"""What is done in a plan, and the steps of a saved plan that is called after it."""


@pytest.mark.parametrize("name", CALLED)
def test_a_saved_plan_is_checked_in_the_space_as_it_is_where_it_is_called(space: Space, run: Any, name: str) -> None:
    """With what was changed before it; a plan that runs is not refused."""
    before, steps = CALLED[name]
    save_plan(space, "called", {"steps": steps})
    result = run([before, {"type": "plan:called"}])
    assert (result.status, result.reason) == ("success", None), result.problems


def test_a_saved_plan_that_is_called_is_checked_by_its_own_changes_as_they_come(space: Space, errors: Any) -> None:
    """What it changes later is known as it was before."""
    read = [{"type": "load", "target": "kept", "out": "$m"}, say("${m.b}")]
    save_plan(space, "called", {"steps": [*read, UPDATE | {"target": "kept"}]})
    assert [problem.code for problem in errors([{"type": "plan:called"}])] == ["unknown-field"]
    assert errors([UPDATE | {"target": "kept"}, {"type": "plan:called"}]) == []


@pytest.mark.parametrize("name", ["over", "calls over"])
def test_a_saved_plan_may_write_over_what_has_a_name(space: Space, run: Any, name: str) -> None:
    """Whatever variable that is bound to."""
    save_plan(space, "over", {"steps": [{"type": "create-note", "value": {"b": 1}, "name": "n", "replace": True}]})
    save_plan(space, "calls-over", {"steps": [{"type": "plan:over"}]})
    result = run([N | {"name": "n"}, {"type": f"plan:{name.replace(' ', '-')}"}, say("${n.b}")])
    assert (result.status, result.reason) == ("success", None), result.problems


def test_a_computed_name_may_be_that_of_anything_that_is_written_over(run: Any) -> None:
    """The run alone knows whose."""
    steps = [
        N | {"name": "n"},
        {"type": "create-note", "value": {"b": 1}, "name": "${who}", "replace": True},
        say("${n.b}"),
    ]
    result = run({"inputs": {"who": {"type": "string", "default": "n"}}, "steps": steps})
    assert (result.status, result.reason) == ("success", None), result.problems

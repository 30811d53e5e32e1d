"""`name`: what a resource is called, by a step of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MAKE = {"type": "create-note", "value": {"title": "Weekly"}, "out": "$x"}


def name(value: Any, **arguments: Any) -> dict[str, Any]:
    """A step that names `$x`."""
    return {"type": "name", "target": "$x", "value": value, **arguments}


def test_a_name_keeps_and_is_found_by_later_steps(run: Any) -> None:
    """In the same plan and after it; an earlier name of the resource is free then."""
    ran = run(MAKE | {"name": "one"}, name("two"), {"type": "load", "target": "two", "out": "$y"})
    assert (ran.resource("y").id, ran.resource("y").kept) == (ran.resource("x").id, True)
    run({"type": "load", "target": "one", "out": "$y"}, status="refused")


def test_a_name_may_be_put_together(run: Any) -> None:
    """The same name again is no conflict with itself."""
    ran = run(MAKE, name("${x.title} report"), name("Weekly report"))
    assert ran.resource("x").name == "Weekly report"


def test_a_taken_name_is_refused_and_taken_over_by_replace(run: Any) -> None:
    """No fix: which was meant is not known. The holder is what the step gives, with the content of what was named."""
    run(MAKE | {"name": "taken"})
    ran = run(MAKE, name("taken"), status="refused")
    problem = ran.result.problems[0]
    assert (problem.code, problem.pointer) == ("name-taken", "/steps/1/value")
    assert problem.fix is None
    assert '`"replace": true` takes it over' in str(problem.hint)
    over = name("taken", replace=True, out="$new")
    ran = run({"type": "load", "target": "taken", "out": "$old"}, MAKE | {"value": {"title": "Daily"}}, over)
    assert ran.resource("new").id == ran.resource("old").id != ran.resource("x").id
    assert (ran.resource("new").name, ran.content("new")) == ("taken", {"title": "Daily"})
    assert (ran.resource("x").name, ran.resource("x").kept) == (None, False)


def test_a_name_that_another_took_meanwhile_fails_the_step(run: Any) -> None:
    """What the check could not know, the space says."""
    run(MAKE | {"name": "taken"})
    put = {"type": "create-note", "value": "taken", "out": "$name"}
    ran = run(MAKE, put, name("$name"), status="failed")
    assert "the name 'taken' belongs to Note_1" in ran.reason


@pytest.mark.parametrize("value", ["", "Note_3", "run_1", "x" * 201])
def test_what_cannot_be_a_name_is_refused(run: Any, value: str) -> None:
    """Before anything runs, with one problem at the name."""
    ran = run(MAKE, name(value), status="refused")
    assert [(p.code, p.pointer) for p in ran.result.problems] == [("bad-name", "/steps/1/value")]


def test_of_a_search_result_the_source_is_named_and_given(search: Any) -> None:
    """The result stays nameless."""
    ran = search(
        {"type": "discover-notes", "query": "bake bread", "limit": 1, "out": "$hits"},
        {"type": "name", "target": "$hits[0]", "value": "a recipe", "out": "$recipe"},
    )
    assert ran.resource("recipe").id == ran.content("hits")[0]["metadata"]["source_id"]
    assert (ran.resource("recipe").name, ran.items("hits")[0].name) == ("a recipe", None)


def test_replace_is_an_argument_where_there_is_no_step(call: Callable[..., Any], run: Any) -> None:
    """At the doors that call a primitive directly."""
    ran = run(MAKE)
    answer = call("name", target=ran.resource("x"), value="n", replace=True)
    assert (answer.status, answer.resource_id) == ("success", ran.resource("x").id)


def test_replace_without_a_name_is_refused_as_before(run: Any) -> None:
    """Only `name` takes it of its own."""
    ran = run(MAKE | {"replace": True}, status="refused")
    assert [p.pointer for p in ran.result.problems if p.severity == "error"] == ["/steps/0/replace"]

"""Saved plans: kept by name, checked where they are called, run in a scope of their own."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Conflict, Invalid, NotFound, Space
from infospace.editing.undo import undo
from planner.parse.saved_plans import load_plan, remove_plan, save_plan, saved_plans

GREET: dict[str, Any] = {
    "inputs": {"who": {"type": "string"}, "times": {"type": "integer", "default": 1}},
    "steps": [{"type": "create-note", "value": "hello ${who} ${times}", "out": "$greeting"}],
    "result": "$greeting",
}


def call(name: str, out: str | None = "$r", **arguments: Any) -> dict[str, Any]:
    step = {"type": f"plan:{name}", "arguments": arguments}
    return step if out is None else {**step, "out": out}


def save(space: Space, name: str, *steps: Any, **head: Any) -> None:
    save_plan(space, name, {**head, "steps": list(steps)})


def test_a_saved_plan_answers_with_its_result(space: Space, run: Any) -> None:
    """Its inputs come from `arguments`; its steps have positions inside the call's."""
    save_plan(space, "greet", GREET)
    result = run(call("greet", who="Ada"))
    assert result.result.data == "hello Ada 1"
    assert [row.position for row in result.steps] == ["1", "1/1"]
    assert sorted(result.bindings) == ["r"]


def test_an_argument_may_be_a_reference(space: Space, run: Any) -> None:
    """As a value; for an input with a kind the resource itself."""
    save_plan(space, "greet", GREET)
    save(space, "count", {"type": "size", "target": "$things", "out": "$n"}, inputs={"things": {"kind": "Collection"}})
    two = {"type": "create-collection", "value": [1, 2], "out": "$c"}
    name = {"type": "create-note", "value": {"name": "Bob"}, "out": "$n"}
    assert run(name, call("greet", who="$n.name", times=2)).result.data == "hello Bob 2"
    assert run(two, call("count", things="$c")).result.data == 2


def test_wrong_arguments_are_refused_at_their_places(space: Space, errors: Any) -> None:
    """Unknown, missing, ill-typed, of the wrong kind."""
    save_plan(space, "greet", GREET)
    save(space, "count", {"type": "size", "target": "$things", "out": "$n"}, inputs={"things": {"kind": "Collection"}})
    note = {"type": "create-note", "value": 1, "out": "$n"}
    found = errors([note, call("greet", whom="x"), call("greet", "$s", who=3), call("count", "$t", things="$n")])
    assert [(problem.code, problem.pointer) for problem in found] == [
        ("unknown-argument", "/1/arguments/whom"),
        ("bad-argument", "/2/arguments/who"),
        ("wrong-kind", "/3/arguments/things"),
    ]
    assert found[0].fix == [{"op": "move", "from": "/1/arguments/whom", "path": "/1/arguments/who"}]


def test_arguments_beside_the_step_are_moved_by_the_fix(space: Space, errors: Any) -> None:
    """They stand nested, so that none collides with the language."""
    save_plan(space, "greet", GREET)
    found = errors([{"type": "plan:greet", "who": "Ada"}])
    assert ("unknown-argument", "/0/who") in [(problem.code, problem.pointer) for problem in found]


def test_an_unknown_plan_is_refused_with_the_nearest(space: Space, errors: Any) -> None:
    """And a fix."""
    save_plan(space, "greet", GREET)
    [problem] = errors([call("gret", who="x")])
    assert (problem.code, problem.pointer) == ("unknown-plan", "/0/type")
    assert problem.fix == [{"op": "replace", "path": "/0/type", "value": "plan:greet"}]


def test_its_variables_are_its_own(space: Space, errors: Any, run: Any) -> None:
    """It sees none of the caller's, and the caller none of its."""
    save_plan(space, "greet", GREET)
    [problem] = errors([call("greet", who="x"), {"type": "say", "value": "${greeting}"}])
    assert problem.code == "unbound-variable"
    keep = {"type": "create-note", "value": "mine", "out": "$greeting"}
    result = run({"steps": [keep, call("greet", who="x")], "result": "$greeting"})
    assert result.result.data == "mine"


def test_plans_that_run_one_another_are_refused(space: Space, errors: Any) -> None:
    """With the chain: where one is saved, and where one that an undo brought back is run."""
    save(space, "a", call("b", None))
    with pytest.raises(Invalid, match="b → a → b"):
        save(space, "b", call("a", None))
    save_plan(space, "a", {"steps": [{"type": "say", "value": "x"}]}, replace=True)
    with space.store.reading() as snapshot:
        replaced = snapshot.runs(limit=1)[0].run
    save(space, "b", call("a", None))
    undo(space.store, replaced)
    [problem] = errors([call("a", None)])
    assert problem.code == "plan-cycle"
    assert "a → b → a" in problem.message


def test_a_stop_ends_the_saved_plan_alone(space: Space, run: Any) -> None:
    """Its value is the answer; a failed one fails the step."""
    save(space, "early", {"type": "stop", "value": "done"}, {"type": "say", "value": "never"})
    save(space, "bad", {"type": "stop", "status": "failed"})
    result = run(call("early"), {"type": "create-note", "value": "${r}!", "out": "$x"})
    assert (result.status, result.result.data) == ("success", "done!")
    assert run(call("bad", None)).status == "failed"
    assert run({**call("bad", None), "on_fail": "continue"}).status == "success"


def test_a_plan_without_an_answer_gives_null(space: Space, run: Any) -> None:
    """Not what came before the call."""
    save(space, "talk", {"type": "say", "value": "hi"})
    result = run({"type": "create-note", "value": 1, "out": "$n"}, call("talk"))
    assert result.result.data is None


def test_what_it_names_is_taken_afterwards(space: Space, errors: Any) -> None:
    """And there to be loaded by name."""
    save(space, "keep", {"type": "create-note", "value": 1, "name": "kept"})
    assert errors([call("keep", None), {"type": "load", "target": "kept", "out": "$k"}]) == []
    found = errors([call("keep", None), call("keep", None)])
    assert [(problem.code, problem.pointer) for problem in found] == [("name-taken", "/1/type")]


def test_the_shape_of_its_answer_is_known(space: Space, errors: Any) -> None:
    """From its `result`."""
    save_plan(space, "greet", GREET)
    [problem] = errors([call("greet", who="x"), {"type": "size", "target": "$r", "out": "$n"}])
    assert problem.code == "wrong-kind"


def test_a_run_keeps_the_plans_as_they_were(space: Space, run: Any) -> None:
    """Replacing one later changes no record."""
    save_plan(space, "greet", GREET)
    result = run(call("greet", who="x"))
    save_plan(space, "greet", {"steps": []}, replace=True)
    with space.store.reading() as snapshot:
        assert snapshot.run(result.run).plans == {"greet": GREET}


def test_saving_replacing_and_removing(space: Space) -> None:
    """A taken name wants `replace`; what is gone is said with the nearest."""
    save_plan(space, "greet", GREET)
    with pytest.raises(Conflict, match="already"):
        save_plan(space, "greet", {"steps": []})
    save_plan(space, "greet", {"steps": []}, replace=True)
    assert load_plan(space, "greet") == {"steps": []}
    with space.store.reading() as snapshot:
        assert saved_plans(snapshot) == ["greet"]
    with pytest.raises(NotFound, match="greet"):
        load_plan(space, "greeting")
    remove_plan(space, "greet")
    with pytest.raises(NotFound, match="there is no saved plan"):
        load_plan(space, "greet")

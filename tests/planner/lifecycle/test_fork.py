"""Forking a run: what came before a step is taken as it was then, and the rest is run anew with a change."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infospace import Conflict, Invalid, NotFound, Space
from infospace.core.clock import now
from infospace.store.changes import Revise
from infospace.tools.local import LocalTools
from infospace.tools.scoped_space import within
from planner.execute.start import run_sync
from planner.journal.commit_order import SuspendRequest
from planner.journal.result import RunResult
from planner.lifecycle.fork import fork
from planner.lifecycle.resume import answer, resume
from planner.parse.saved_plans import save_plan

STEPS = [
    {"type": "create-note", "value": {"n": 1}, "name": "counter", "replace": True, "out": "$c"},
    {"type": "create-collection", "value": ["$c", "x"], "out": "$all"},
    {"type": "create-note", "value": "n is ${c.n}", "out": "$said"},
    {"type": "update-note", "target": "$c", "value": {"n": 2}},
]


def forked(space: Space, result: RunResult, step: str, *patch: Any) -> RunResult:
    return asyncio.run(fork(space, str(result.run), step, list(patch)))


def test_a_fork_runs_from_the_step_on_with_the_change(space: Space) -> None:
    """Earlier steps are not run again; what changed since is as it was when the step began."""
    result = run_sync(space, {"steps": STEPS, "result": "$said"})
    change = {"op": "replace", "path": "/steps/2/value", "value": "n was ${c.n} of ${all[1]}"}
    again = forked(space, result, "3", change)
    assert again.status == "success", again.reason
    assert again.result is not None
    assert again.result.data == "n was 1 of x"
    assert again.run != result.run
    assert again.bindings["c"].id != result.bindings["c"].id
    items = [[item.id for item in space.context().items(run.bindings["all"])] for run in (result, again)]
    assert items[1] == [again.bindings["c"].id, items[0][1]]
    assert space.context().get("counter").content == {"n": 2}
    assert space.store.check() == []


def test_earlier_steps_may_not_be_changed(space: Space) -> None:
    """And the step has to be one of the plan."""
    result = run_sync(space, STEPS)
    with pytest.raises(Invalid, match="step 1 is changed"):
        forked(space, result, "3", {"op": "replace", "path": "/0/value", "value": 5})
    with pytest.raises(NotFound, match="no step '9'"):
        forked(space, result, "9")
    with pytest.raises(Invalid, match="does not have"):
        forked(space, result, "3", {"op": "replace", "path": "/7/value", "value": 5})


def test_a_change_that_the_check_refuses_is_refused(space: Space) -> None:
    """Nothing is run."""
    result = run_sync(space, STEPS)
    again = forked(space, result, "3", {"op": "replace", "path": "/2/value", "value": "${nothing}"})
    assert (again.status, again.run) == ("refused", None)


def test_a_failed_run_is_forked_where_it_failed(space: Space) -> None:
    """Which mends it."""
    steps = [{"type": "create-note", "value": "x", "out": "$t"}, {"type": "coerce", "target": "$t", "coercion": "${t}"}]
    result = run_sync(space, steps)
    assert result.status == "failed"
    again = forked(space, result, "2", {"op": "replace", "path": "/1/coercion", "value": "list"})
    assert again.status == "success"
    assert again.result is not None
    assert again.result.data == ["x"]


@pytest.mark.parametrize(
    "ending",
    [
        {"type": "coerce", "target": "$t", "coercion": "${t}"},
        {"type": "coerce", "target": "$t", "coercion": "${t}", "retry": {"attempts": 2, "wait_s": 0}},
        {"type": "if", "condition": {"type": "bound", "target": "$t"}, "then": [{"type": "stop"}]},
    ],
)
def test_a_run_is_not_forked_behind_its_end(space: Space, ending: Any) -> None:
    """It would end there again; where a failure was handled it did not end."""
    first, last = {"type": "create-note", "value": "x", "out": "$t"}, {"type": "say", "value": "${t}"}
    result = run_sync(space, [first, ending, last])
    with pytest.raises(Conflict, match=r"a fork at step 3 would end there too \(fork it at step 2\)"):
        forked(space, result, "3")
    assert forked(space, result, "2", {"op": "remove", "path": "/1"}).status == "success"
    if ending["type"] != "if":
        handled = run_sync(space, [first, {**ending, "on_fail": "continue"}, last])
        assert forked(space, handled, "3").status == "success"


def test_names_go_over_to_the_fork(space: Space) -> None:
    """Those of what the run had made, which no step has to say; those of others stay taken."""
    steps = [
        {"type": "create-note", "value": 1, "name": "a", "out": "$a"},
        {"type": "create-note", "value": "${a} 2", "name": "b", "out": "$b"},
    ]
    result = run_sync(space, steps)
    again = forked(space, result, "2")
    assert again.status == "success", again.reason or again.problems
    assert space.context().get("b").created_by.run == again.run
    assert space.context().get("a").created_by.run == result.run
    third = forked(space, result, "2")
    assert third.status == "success", third.reason or third.problems
    last = forked(space, again, "2")
    assert last.status == "success", last.reason or last.problems
    assert space.context().get("b").created_by.run == last.run
    run_sync(space, [{"type": "create-note", "value": 3, "name": "b", "replace": True}])
    refused = forked(space, result, "2")
    assert [problem.code for problem in refused.problems] == ["name-taken"]


@pytest.mark.parametrize("of_a_run", [True, False])
def test_a_name_that_only_the_run_says_stays_taken_too(space: Space, of_a_run: bool) -> None:
    """The check cannot know it: what another run made, or a person, keeps its name."""
    steps = [
        {"type": "create-note", "value": "mine", "out": "$said"},
        {"type": "create-note", "value": 1, "name": "${said}"},
    ]
    result = run_sync(space, steps)
    if of_a_run:
        run_sync(space, [{"type": "create-note", "value": 2, "name": "theirs"}])
    else:
        context = space.context()
        context.name(context.note(2), "theirs")
        space.store.commit(context.changes)
    assert forked(space, result, "1").status == "success"
    taken = forked(space, result, "1", {"op": "replace", "path": "/0/value", "value": "theirs"})
    assert taken.status == "failed"
    assert "the name 'theirs' belongs to " in str(taken.reason)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"op": "relpace", "path": "/steps/1/value", "value": 1}, '`op` is "relpace", not "add", "remove"'),
        ({"op": "test", "path": "/steps/1/value", "value": 1}, '`op` is "test"'),
        ({"op": "add", "path": "/steps/1/value"}, '"add" needs `value`'),
        ({"op": "move", "path": "/steps/1/value"}, '"move" needs `from`'),
        ({"op": "replace", "path": 5, "value": 1}, "`path` is 5, not a JSON pointer"),
        ({"op": "replace", "path": "steps", "value": 1}, '`path` is "steps", not a JSON pointer'),
        ({"op": "replace", "path": "/steps/9/value", "value": 1}, "does not have: /steps/9/value"),
        ({"op": "replace", "path": "/steps/x/value", "value": 1}, "does not have: /steps/x/value"),
        ({"op": "replace", "path": "/steps/0/type/x", "value": 1}, "does not have: /steps/0/type/x"),
        ({"op": "remove", "path": "/steps/0/type/x"}, "does not have: /steps/0/type/x"),
        ({"op": "add", "path": "/steps/0/type/x", "value": 1}, "does not have: /steps/0/type/x"),
        ({"op": "remove", "path": "/steps/-1"}, "does not have: /steps/-1"),
        ({"op": "remove", "path": "/steps/²"}, "does not have: /steps/²"),
        ({"op": "add", "path": "/steps/99", "value": {"type": "stop"}}, "does not have: /steps/99"),
        ("replace", 'it is an object, not "replace"'),
    ],
)
def test_a_patch_that_is_none_changes_nothing(space: Space, operation: Any, message: str) -> None:
    """The operation is told by its number, and no other plan is run."""
    steps = [{"type": "create-note", "value": "one", "out": "$a"}, {"type": "create-note", "value": "two"}]
    result = run_sync(space, {"steps": steps})
    fine = {"op": "replace", "path": "/steps/1/value", "value": "three"}
    with pytest.raises(Invalid, match="operation 1 of the patch") as raised:
        asyncio.run(fork(space, str(result.run), "2", [fine, operation]))
    assert message in str(raised.value)
    with space.store.reading() as snapshot:
        assert len(snapshot.runs()) == 1


def test_an_input_that_a_later_step_changed_is_as_it_was_given(space: Space) -> None:
    """Though no step before has read it."""
    steps = [
        {"type": "create-note", "value": "apart", "out": "$a"},
        {"type": "create-note", "value": "it is ${x}", "out": "$said"},
        {"type": "update-note", "target": "$x", "value": "changed"},
    ]
    plan = {"inputs": {"x": {"default": "given"}}, "steps": steps, "result": "$said"}
    result = run_sync(space, plan)
    again = forked(space, result, "2")
    assert again.result is not None
    assert again.result.data == "it is given"


@pytest.mark.parametrize("side_by_side", [True, False])
def test_what_others_change_while_a_loop_runs_is_not_seen_by_its_fork(space: Space, side_by_side: bool) -> None:
    """The fork begins where the loop began, not where it ended, nor where a later item began."""
    outside = LocalTools("outside")

    @outside.tool(read_only=side_by_side)
    def meddle() -> str:
        """Change the Note by another's hand, later than the loop began."""
        began = now()
        while now() <= began:
            pass
        found = space.context().get("plain")
        if found.version == 1:
            space.store.commit([Revise(found.id, "meddled with")])
        return "done"

    space.tools.add(outside)
    run_sync(space, [{"type": "create-note", "value": "plain", "name": "plain"}])
    steps = [
        {"type": "load", "target": "plain", "out": "$p"},
        {"type": "create-collection", "value": [1, 2], "out": "$c"},
        {"type": "for-each", "target": "$c", "do": [{"type": "outside/meddle", "out": "$m"}], "out": "$all"},
        {"type": "create-note", "value": "it is ${p}", "out": "$said"},
    ]
    result = run_sync(space, {"steps": steps, "result": "$said"})
    assert result.result is not None
    assert result.result.data == "it is meddled with"
    again = forked(space, result, "3")
    assert again.result is not None
    assert again.result.data == "it is plain"


@pytest.mark.parametrize("gone", ["$n", "$c"])
def test_what_a_later_step_deleted_is_there_as_it_was(space: Space, gone: str) -> None:
    """A Note of one version, in its Collection too; and the Collection."""
    steps = [
        {"type": "create-note", "value": "here", "out": "$n"},
        {"type": "create-collection", "value": ["$n", "too"], "out": "$c"},
        {"type": "flatten", "target": "$c", "separator": " ", "out": "$said"},
        {"type": "create-note", "value": "${n}: ${said}", "out": "$both"},
        {"type": "remove", "target": gone},
    ]
    result = run_sync(space, {"steps": steps, "result": "$both"})
    again = forked(space, result, "3")
    assert again.status == "success", again.reason
    assert again.result is not None
    assert again.result.data == "here: here too"


def test_a_stop_of_a_saved_plan_is_no_end_of_the_run(space: Space) -> None:
    """What comes after it can be forked."""
    save_plan(space, "stops", {"steps": [{"type": "stop", "status": "success", "value": "enough"}]})
    last = {"type": "create-note", "value": "then ${s}", "out": "$t"}
    result = run_sync(space, [{"type": "plan:stops", "out": "$s"}, last])
    again = forked(space, result, "2")
    assert again.result is not None
    assert again.result.data == "then enough"


def test_versions_of_other_notes_say_nothing_of_one(space: Space) -> None:
    """One that was changed often before the step, beside one that the step was the first to change."""
    change = {"type": "update-note", "target": "$b"}
    steps = [
        {"type": "create-note", "value": "a1", "out": "$a"},
        {"type": "create-note", "value": "b1", "out": "$b"},
        *({**change, "value": f"b{number}"} for number in (2, 3, 4)),
        {"type": "create-note", "value": "${a} ${b}", "out": "$said"},
        *({**change, "target": "$a", "value": f"a{number}"} for number in (2, 3)),
        {**change, "value": "b5"},
    ]
    result = run_sync(space, {"steps": steps, "result": "$said"})
    again = forked(space, result, "6")
    assert again.result is not None
    assert again.result.data == "a1 b4"
    assert {name: one.content for name, one in again.bindings.items()} == {"a": "a3", "b": "b5", "said": "a1 b4"}


def test_the_metadata_of_a_collection_is_what_it_was_at_the_step(space: Space) -> None:
    """In each of its versions, whatever was said of it later."""

    def say(value: int) -> dict[str, Any]:
        return {"type": "set-metadata", "target": "$all", "value": {"rank": value}}

    plan = [
        {"type": "create-collection", "value": ["a", "b"], "out": "$all", "metadata": {"rank": 0}},
        {"type": "add", "target": "$all", "value": "$all[0]"},
        say(1),
        {"type": "get-metadata", "target": "$all", "field": "rank", "out": "$rank"},
        {"type": "size", "target": "$all", "out": "$size"},
        {"type": "remove", "target": "$all", "value": "$all[1]"},
        say(2),
    ]
    result = run_sync(space, plan)
    assert result.status == "success", (result.reason, result.problems)
    for step in ("4", "3", "2"):
        again = forked(space, result, step)
        assert again.status == "success", again.reason
        assert (again.bindings["rank"].content, again.bindings["size"].content) == (1, 2)
    removed = {"op": "remove", "path": "/2"}
    again = forked(space, result, "3", removed)
    assert (again.status, again.bindings["rank"].content) == ("success", 0)
    assert space.store.check() == []


def test_what_is_approved_for_a_fork_is_approved_in_it_alone(space: Space) -> None:
    """Not in the space, nor in the run that it is forked from."""
    outside = LocalTools("outside")

    @outside.tool()
    def send() -> str:
        """Send something."""
        return "sent"

    space.tools.add(outside)
    result = run_sync(space, [{"type": "outside/send"}])
    again = asyncio.run(fork(space, str(result.run), "1", [], approve=["outside/send"]))
    assert again.status == "success", again.reason
    with space.store.reading() as snapshot:
        approved = [[one.tool for one in snapshot.approvals(run)] for run in (None, result.run, again.run)]
    assert approved == [[], [], ["outside/send"]]


def test_a_step_that_was_never_reached_is_forked_as_of_the_end_of_the_run(space: Space) -> None:
    """What others changed since is as it was then."""
    run_sync(space, [{"type": "create-note", "value": "plain", "name": "plain"}])
    steps = [
        {"type": "load", "target": "plain", "out": "$p"},
        {"type": "say", "value": "${p}"},
        {"type": "create-note", "value": "it is ${p}", "out": "$said"},
    ]
    result = run_sync(space, {"steps": steps, "result": "$said", "budget": {"steps": 2}})
    assert (result.status, [row.position for row in result.steps]) == ("failed", ["1", "2"])
    ended = now()
    while now() <= ended:
        pass
    space.store.commit([Revise(space.context().get("plain").id, "changed")])
    again = forked(space, result, "3", {"op": "remove", "path": "/budget"})
    assert again.result is not None, again.reason
    assert again.result.data == "it is plain"
    assert space.context().get("plain").content == "changed"


def test_a_fork_that_rests_goes_on_as_any_run(space: Space) -> None:
    """With the saved plans as they were, in the scope in which it was made; what it took over says from where."""
    ask = {"type": "ask", "value": "which?", "out": "$y"}
    save_plan(space, "asks", [ask])
    note = {"type": "create-note", "value": "x", "out": "$x"}
    narrow = within(space, {"exclude_names": ["outside/look"]})
    result = run_sync(narrow, [note, {"type": "plan:asks", "out": "$y"}, {"type": "create-note", "value": "${x}${y}"}])
    again = forked(narrow, result, "2")
    assert (again.status, [one.step for one in again.pending]) == ("suspended", ["2/1"])
    save_plan(space, "asks", [{"type": "say", "value": "no more"}], replace=True)
    with space.store.reading() as snapshot:
        first, *_ = snapshot.steps(str(again.run))
        row, of = snapshot.run(str(again.run)), snapshot.run(str(result.run))
    assert (first.extra["forked"], row.forked) == (result.run, result.run)
    assert of.scope is not None
    assert row.scope == of.scope
    answer(space, str(again.run), "2/1", 7)
    ended = asyncio.run(resume(space, str(again.run)))
    assert ended.result is not None, ended.reason
    assert (ended.status, ended.result.data) == ("success", "x7")


def test_the_metadata_of_a_note_is_what_it_was_at_the_step(space: Space) -> None:
    """Also that of its first version."""
    steps = [
        {"type": "create-note", "value": "x", "metadata": {"rank": 1}, "out": "$n"},
        {"type": "get-metadata", "target": "$n", "field": "rank", "out": "$rank"},
        {"type": "set-metadata", "target": "$n", "value": {"rank": 2}},
        {"type": "get-metadata", "target": "$n", "field": "rank", "out": "$later"},
        {"type": "set-metadata", "target": "$n", "value": {"rank": 3}},
    ]
    result = run_sync(space, steps)
    for step in ("2", "4"):
        again = forked(space, result, step)
        assert (again.bindings["rank"].content, again.bindings["later"].content) == (1, 2)


def test_a_fork_is_put_to_rest_as_a_run_is(space: Space) -> None:
    """Before the first step that it would run."""
    result = run_sync(space, STEPS)
    halt = SuspendRequest()
    halt.set()
    again = asyncio.run(fork(space, str(result.run), "3", [], halt=halt))
    assert (again.status, [row.position for row in again.steps]) == ("suspended", ["1", "2"])
    assert asyncio.run(resume(space, str(again.run))).status == "success"


def test_a_collection_in_a_collection_has_the_items_that_it_had(space: Space) -> None:
    """Though it was not changed itself, and only its item was."""
    steps = [
        {"type": "create-note", "value": {"n": 1}, "out": "$c"},
        {"type": "create-collection", "value": ["$c"], "out": "$inner"},
        {"type": "create-collection", "value": ["$inner"], "out": "$outer"},
        {"type": "pluck", "target": "$outer[0]", "field": "n", "out": "$ns"},
        {"type": "update-note", "target": "$c", "value": {"n": 2}},
    ]
    result = run_sync(space, {"steps": steps, "result": "$ns"})
    again = forked(space, result, "4", {"op": "remove", "path": "/steps/4"})
    assert again.result is not None, again.reason
    assert again.result.data == [1]


def test_an_earlier_version_of_a_collection_has_what_was_deleted_since_the_step(space: Space) -> None:
    """The fork has a copy of it, in each version."""
    steps = [
        {"type": "create-note", "value": "x", "out": "$x"},
        {"type": "create-collection", "value": ["$x", "y"], "out": "$c"},
        {"type": "create-note", "value": "z", "out": "$z"},
        {"type": "add", "target": "$c", "value": "$z"},
        {"type": "flatten", "target": "$c", "separator": " ", "out": "$text"},
        {"type": "remove", "target": "$x"},
    ]
    result = run_sync(space, {"steps": steps, "result": "$text"})
    again = forked(space, result, "5", {"op": "remove", "path": "/steps/5"})
    assert again.result is not None, again.reason
    assert again.result.data == "x y z"
    with space.store.reading() as snapshot:
        rows = [snapshot.get(str(row.resource), row.version) for row in (again.steps[1], again.steps[3])]
    assert [len(getattr(group, "members", ())) for group in rows] == [2, 3]

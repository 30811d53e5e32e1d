"""What happens when a step fails, is cancelled, has a bug, or the budget runs out."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from types import ModuleType
from typing import Any

import pytest

from infospace import Args, Context, Note, Space, primitive
from infospace.contract.catalogue import Catalogue, PackageProvider, installed
from planner.execute.start import prepare, run_sync, stream
from planner.journal.events import RunFinished, StepStarted

NUMBER = {"type": "create-note", "value": 7, "out": "$n"}
FAILS = {"type": "coerce", "target": "$n", "coercion": "${n}", "out": "$x"}


class Nothing(Args):
    """No arguments."""


@primitive(effect="pure")
async def break_down(args: Nothing, context: Context) -> Note[int]:
    """Divide by nought."""
    return context.note(1 // 0)


@primitive(effect="writes")
async def linger(args: Nothing, context: Context) -> Note[str]:
    """Make a Note, keep it, and never end."""
    made = context.note("half written")
    context.keep(made)
    await asyncio.Event().wait()
    return made


@pytest.fixture
def workshop(space: Space) -> Space:
    """A space whose catalogue has a primitive with a bug, and one that never ends."""
    module: Any = ModuleType("workshop")
    module.break_down, module.linger = break_down, linger
    catalogue: Catalogue = installed()
    catalogue.add(PackageProvider("workshop", module))
    space.__dict__["catalogue"] = catalogue
    return space


def rows(result: Any) -> list[tuple[str, str]]:
    return [(row.position, row.status) for row in result.steps]


def test_a_failed_step_stops_the_plan(run: Any) -> None:
    """The plan is failed, says which step and why, and later steps do not run."""
    result = run(NUMBER, FAILS, {"type": "say", "value": "never"})
    assert result.status == "failed"
    assert result.reason.startswith("step 2 (coerce) failed: ")
    assert rows(result) == [("1", "success"), ("2", "failed")]
    assert result.result is None


def test_writes_already_made_stay(run: Any, space: Space) -> None:
    """What was named before the failure is still there."""
    run({**NUMBER, "name": "kept"}, FAILS)
    assert run({"type": "load", "target": "kept"}).result.data == 7


def test_after_continue_dependents_are_skipped_with_the_cause_and_the_plan_succeeds(run: Any) -> None:
    """The reason names the step that failed, through any number of skipped ones."""
    result = run(
        NUMBER,
        {**FAILS, "on_fail": "continue"},
        {"type": "create-note", "value": "${x}", "out": "$y"},
        {"type": "say", "value": "${y}"},
        {"type": "create-note", "value": "end"},
    )
    assert result.status == "success"
    assert result.result.data == "end"
    assert [status for _, status in rows(result)] == ["success", "failed", "skipped", "skipped", "success"]
    assert result.steps[1].extra["handled"] is True
    assert result.steps[2].reason == "$x is not bound: step 2 failed and was passed over"
    assert result.steps[3].reason == "$y is not bound: step 3 was skipped, because step 2 failed and was passed over"
    assert [row.extra.get("cause") for row in result.steps] == [None, None, "2", "2", None]
    assert "x" not in result.bindings


def test_an_on_fail_list_runs_in_the_same_scope_with_the_error(run: Any) -> None:
    """`$error` has step, type, reason and kind; what the list binds, the plan has; `$error` goes again."""
    handler = [{"type": "create-note", "value": "$error", "out": "$x"}]
    result = run(NUMBER, {**FAILS, "on_fail": handler}, {"type": "create-note", "value": "$x", "out": "$y"})
    assert result.status == "success"
    error = result.result.data
    assert (error["step"], error["type"], error["kind"]) == ("2", "coerce", "invalid")
    assert "coercion" in error["reason"]
    assert rows(result) == [("1", "success"), ("2", "failed"), ("2.on_fail.1", "success"), ("3", "success")]
    assert result.steps[1].extra["handled"] is True
    assert "error" not in result.bindings


def test_an_outer_error_variable_is_back_after_the_list(run: Any) -> None:
    """A plan may have a variable of that name."""
    mine = {"type": "create-note", "value": "mine", "out": "$error"}
    result = run(NUMBER, mine, {**FAILS, "on_fail": []}, {"type": "create-note", "value": "$error", "out": "$y"})
    assert result.result.data == "mine"


def test_an_on_fail_list_that_fails_is_not_handled(run: Any) -> None:
    """The failure that remains is the list's; the journal does not say handled."""
    result = run(NUMBER, {**FAILS, "on_fail": [{**FAILS, "out": "$z"}]})
    assert result.status == "failed"
    assert result.reason.startswith("step 2.on_fail.1 (coerce) failed: ")
    assert "handled" not in result.steps[1].extra


def test_a_list_that_does_not_bind_the_out_leaves_it_unbound(run: Any) -> None:
    """A later step that needs it is skipped, and says so."""
    result = run(
        NUMBER,
        {**FAILS, "on_fail": [{"type": "say", "value": "oh"}]},
        {"type": "if", "condition": {"type": "bound", "target": "$x"}, "then": [{"type": "say", "value": "$x"}]},
        {"type": "say", "value": "$x"},
    )
    assert rows(result)[-1] == ("4", "skipped")
    assert "step 2 failed, and its `on_fail` does not bind it" in result.steps[-1].reason


def test_a_result_that_ends_unbound_is_a_failed_plan(run: Any) -> None:
    """Though every failure was handled."""
    result = run({"steps": [NUMBER, {**FAILS, "on_fail": "continue"}], "result": "$x"})
    assert result.status == "failed"
    assert "$x is not bound" in result.reason


# Bugs


@pytest.mark.parametrize("on_fail", ["stop", "continue", []])
def test_a_bug_is_in_the_journal_and_no_on_fail_handles_it(workshop: Space, on_fail: Any) -> None:
    """Kind `bug`, a traceback in the row, one sentence to the user, the plan failed."""
    result = run_sync(
        workshop, [{"type": "break-down", "out": "$x", "on_fail": on_fail}, {"type": "say", "value": "no"}]
    )
    assert result.status == "failed"
    assert result.reason == (
        "step 1 (break-down) failed: break-down has a bug (ZeroDivisionError); the traceback is in the journal"
    )
    with workshop.store.reading() as snapshot:
        [row] = snapshot.steps(result.run or "")
    assert row.error == "bug"
    assert "1 // 0" in (row.trace or "")


def test_a_bug_inside_forms_fails_the_plan_too(workshop: Space) -> None:
    """Neither an `if` nor a loop that goes on handles it; the operation of a `map` keeps its traceback."""
    made = {"type": "create-collection", "value": [1, 2], "out": "$c"}
    bug = {"type": "break-down", "out": "$x"}
    loop = {"type": "for-each", "target": "$c", "do": [bug], "on_fail": "continue"}
    true = {"type": "has_value", "target": "$c"}
    for step in (loop, {"type": "if", "condition": true, "then": [bug], "on_fail": "continue"}):
        result = run_sync(workshop, [made, step])
        assert result.status == "failed"
        assert {row.error for row in result.steps[1:]} == {"bug"}
    result = run_sync(
        workshop, [made, {"type": "map", "target": "$c", "operation": "break-down", "on_fail": "continue"}]
    )
    assert result.status == "failed"
    assert "ZeroDivisionError" in (result.steps[1].trace or "")


# Budgets


def test_the_budget_of_steps_runs_out_as_a_failure_that_says_so(run: Any) -> None:
    """Steps in bodies count each; `map` counts one; no `on_fail` gives more."""
    made = {"type": "create-collection", "value": [1, 2, 3], "out": "$c"}
    loop = {"type": "for-each", "target": "$c", "do": [{"type": "say", "value": "$item"}], "on_fail": "continue"}
    result = run({"steps": [made, loop], "budget": {"steps": 4}})
    assert result.status == "failed"
    assert "the budget of 4 steps ran out" in result.reason
    assert run({"steps": [made, loop], "budget": {"steps": 5}}).status == "success"
    mapped = {"type": "map", "target": "$c", "operation": "bind"}
    assert run({"steps": [made, mapped], "budget": {"steps": 2}}).status == "success"


def test_a_handler_of_an_item_that_has_no_step_left_fails_the_loop(run: Any) -> None:
    """No more items are tried: the loop has failed, for the budget."""
    fails = {"type": "coerce", "target": "$item", "coercion": "int"}
    made = {"type": "create-collection", "value": ["one", "two"], "out": "$c"}
    loop = {"type": "for-each", "target": "$c", "do": [fails], "on_fail": [{"type": "say", "value": "passed over"}]}
    result = run({"steps": [made, loop], "budget": {"steps": 3}})
    rows = [(row.position, row.status, row.error) for row in result.steps]
    assert rows == [("1", "success", None), ("2", "failed", "budget"), ("2.do[1].1", "failed", "invalid")]
    assert result.reason == (
        "step 2 (for-each) failed: step 2[1].on_fail.1 (say) failed: the budget of 3 steps ran out"
    )


def test_the_budget_of_depth_is_checked_before_anything_runs(run: Any) -> None:
    """A plan is one deep; each block inside is one more."""
    inner: dict[str, Any] = {"type": "say", "value": "deep"}
    step = {"type": "if", "condition": {"type": "notbound", "target": "$a"}, "then": [inner]}
    assert run({"steps": [step], "budget": {"depth": 2}}).status == "success"
    result = run({"steps": [step], "budget": {"depth": 1}})
    assert [(p.code, p.pointer) for p in result.problems if p.severity == "error"] == [("too-deep", "/steps/0/then/0")]


def test_the_budget_of_seconds_ends_a_step_that_does_not_end(workshop: Space) -> None:
    """The step is journalled as broken off, and nothing of it is written."""
    plan = {"steps": [{"type": "linger", "out": "$x"}], "budget": {"seconds": 0.2}}
    result = run_sync(workshop, plan)
    assert result.status == "failed"
    assert "the budget of 0.2 seconds ran out" in (result.reason or "")
    assert [(row.status, row.error) for row in result.steps] == [("failed", "cancelled")]


# Cancelling


def _cancelled(space: Space, plan: Any) -> str:
    """Run a plan, cancel it once `linger` has begun, and return the run's id."""

    async def follow() -> str:
        prepared: Any = prepare(space, plan)
        run, ended = "", None
        events = stream(space, prepared)
        async for event in events:
            run = getattr(event, "run", run)
            if isinstance(event, StepStarted) and event.type == "linger":
                await asyncio.sleep(0)
                break
            ended = event if isinstance(event, RunFinished) else ended
        await events.aclose()  # type: ignore[attr-defined]
        assert ended is None
        return run

    return asyncio.run(follow())


@pytest.mark.parametrize("where", ["plain", "if", "for-each", "on_fail"])
def test_a_cancelled_run_is_journalled_and_leaves_no_half_written_step(workshop: Space, where: str) -> None:
    """Whatever it stands in; each begun step has one row, the run is cancelled, no Note was kept."""
    linger: Any = {"type": "linger", "out": "$x"}
    made = {"type": "create-collection", "value": [7], "out": "$c"}
    steps: dict[str, Any] = {
        "plain": linger,
        "if": {"type": "if", "condition": {"type": "has_value", "target": "$c"}, "then": [linger]},
        "for-each": {"type": "for-each", "target": "$c", "do": [linger]},
        "on_fail": {"type": "load", "target": "$c[0]", "slice": ":1", "on_fail": [linger], "out": "$x"},
    }
    run = _cancelled(workshop, [made, steps[where]])
    with workshop.store.reading() as snapshot:
        assert snapshot.run(run).status == "cancelled"
        found = [(row.position, row.status) for row in snapshot.steps(run)]
        kept = list(snapshot.listing("Note"))  # type: ignore[arg-type]
    assert found[0] == ("1", "success")
    assert len(found) == (2 if where == "plain" else 3)
    assert {status for _, status in found[1:]} == {"failed"}
    assert kept == []


@pytest.mark.parametrize("form", ["for-each", "map"])
def test_a_bug_in_what_handles_a_failing_item_fails_the_loop(workshop: Space, form: str) -> None:
    """`on_fail` of the loop passes over failures, not over bugs."""
    items = {"type": "create-collection", "value": [7, 8], "out": "$c"}
    cut = {"type": "load", "slice": "0:1"}
    loop: dict[str, Any] = {"type": "map", "target": "$c", "operation": cut}
    if form == "for-each":
        loop = {"type": "for-each", "target": "$c", "do": [{**cut, "target": "$item", "out": "$x"}]}
    result = run_sync(workshop, [items, {**loop, "out": "$r", "on_fail": [{"type": "break-down", "out": "$r"}]}])
    assert result.status == "failed"
    assert "has a bug (ZeroDivisionError)" in str(result.reason)
    assert {row.error for row in result.steps if row.type == "break-down"} == {"bug"}
    assert sum(row.type == "break-down" for row in result.steps) == 1


def test_a_bug_in_an_item_of_a_map_has_its_traceback_in_the_journal(workshop: Space) -> None:
    """In the row of the `map`, whose calls have none of their own."""
    items = {"type": "create-collection", "value": [7], "out": "$c"}
    result = run_sync(workshop, [items, {"type": "map", "target": "$c", "operation": "break-down", "out": "$r"}])
    [row] = [row for row in result.steps if row.type == "map"]
    assert (row.error, "ZeroDivisionError" in str(row.trace)) == ("bug", True)


def test_how_long_a_step_took_leaves_out_how_its_failure_was_handled(run: Any) -> None:
    """The list of `on_fail` has rows of its own."""
    cut = {"type": "load", "target": "$n", "slice": "0:1", "out": "$m"}
    result = run(NUMBER, {**cut, "on_fail": [{"type": "wait", "seconds": 0.1}, {**NUMBER, "out": "$m"}]})
    rows = {row.type: row for row in result.steps}
    failed, handler = rows["load"], rows["wait"]
    ended = datetime.fromisoformat(failed.started) + timedelta(milliseconds=failed.duration_ms)
    assert ended <= datetime.fromisoformat(handler.started) + timedelta(milliseconds=50)


def test_a_skipped_step_names_the_innermost_step_that_should_have_bound_what_it_reads(run: Any) -> None:
    """A variable that is unbound outside, and that the round does not bind either."""
    cut = {"type": "load", "target": "$n", "slice": "0:1", "out": "$m", "on_fail": "continue"}
    read = {"type": "create-note", "value": "${m}", "out": "$k", "on_fail": "continue"}
    items = {"type": "create-collection", "value": [1], "out": "$c"}
    result = run(NUMBER, cut, items, {"type": "for-each", "target": "$c", "do": [cut, read]}, read)
    skipped = {row.position: row.reason for row in result.steps if row.status == "skipped"}
    assert skipped == {
        "4.do[1].2": "$m is not bound: step 4.do[1].1 failed and was passed over",
        "5": "$m is not bound: step 2 failed and was passed over",
    }


def test_the_last_value_is_the_answer_though_a_later_step_deleted_it(run: Any) -> None:
    """As it was then; what the plan names as its result must be there."""
    named = {**NUMBER, "name": "slot"}
    answer = run(named, {"type": "remove", "target": "slot"})
    assert (answer.status, answer.result.data) == ("success", 7)
    assert answer.bindings == {}


def test_a_variable_of_the_plan_that_is_called_error_is_back_after_the_list(run: Any) -> None:
    """Within the list `$error` is what failed; before and after it is what the plan bound."""
    bad = {"type": "coerce", "target": "$text", "coercion": "int", "out": "$number"}
    result = run(
        {"type": "create-note", "value": "mine", "out": "$error"},
        {"type": "create-note", "value": "none", "out": "$text"},
        {**bad, "on_fail": [{"type": "create-note", "value": "${error}", "out": "$seen"}]},
        {"type": "create-note", "value": "${error}", "out": "$after"},
    )
    assert (result.status, result.result.data) == ("success", "mine")
    seen = next(row.value for row in result.steps if row.position == "3.on_fail.1")
    assert seen.startswith('{"step":"3","type":"coerce","reason":')

"""Runs that are put to rest on purpose: they go on as if they had never been."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infospace import Collection, Invalid, Note, Space
from infospace.tools.local import LocalTools
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare, run_sync, stream
from planner.inspect.variable_history import VariableHistory, members_of
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import RunFinished
from planner.journal.result import RunResult
from planner.lifecycle.breakpoints import Breakpoints, ConditionBreakpoint
from planner.lifecycle.resume import answer, plan_of, resume
from planner.parse.saved_plans import save_plan


def note(value: Any, out: str | None = None, **fields: Any) -> dict[str, Any]:
    step = {"type": "create-note", "value": value, **fields}
    return step if out is None else {**step, "out": out}


ITEMS = {"type": "create-collection", "value": ["a", "b"], "out": "$items"}
LOOP = {
    "type": "for-each",
    "target": "$items",
    "do": [note("${item}!", "$loud"), {"type": "say", "value": "${loud}"}],
    "out": "$all",
}
SIZE = {"type": "size", "target": "$all", "out": "$n"}
IF = {"type": "if", "condition": {"type": "equals", "target": "$n", "value": 2}, "then": [note("two", "$word")]}
PLAN = {"steps": [ITEMS, LOOP, SIZE, IF, note("${n}", "$end")], "result": "$end"}


async def begin(space: Space, document: Any, pausing: Breakpoints) -> RunResult:
    prepared = prepare(space, document)
    assert isinstance(prepared, Prepared), prepared
    async for event in stream(space, prepared, SuspendRequest(pausing=pausing)):
        last = event
    assert isinstance(last, RunFinished)
    return last.result


def play(space: Space, document: Any, pausing: Breakpoints) -> RunResult:
    return asyncio.run(begin(space, document, pausing))


def further(space: Space, result: RunResult, pausing: Breakpoints) -> RunResult:
    assert result.run is not None
    return asyncio.run(_further(space, result.run, pausing))


async def _further(space: Space, run: str, pausing: Breakpoints) -> RunResult:
    return await resume(space, run, halt=SuspendRequest(pausing=pausing))


def where(pausing: Breakpoints) -> str | None:
    return None if pausing.paused is None else pausing.paused.position


def test_a_plan_is_gone_through_step_by_step(space: Space) -> None:
    """Into its bodies too; each step once, and the answer is that of the plan."""
    pausing = Breakpoints()
    pausing.resume(each=True)
    result = play(space, PLAN, pausing)
    seen = [where(pausing)]
    while result.status == "suspended":
        pausing.resume(each=True)
        result = further(space, result, pausing)
        seen.append(where(pausing))
    inner = ["2.do[1].1", "2.do[1].2", "2.do[2].1", "2.do[2].2"]
    assert seen == ["2", *inner, "3", "4", "4.then.1", "5", None]
    straight = run_sync(space, PLAN)
    assert {row.position: row.status for row in result.steps} == {row.position: row.status for row in straight.steps}
    assert result.result is not None
    assert result.result.data == "2"
    assert space.store.check() == []


@pytest.mark.parametrize("number", [1, 2])
def test_where_a_run_rests_in_a_loop_the_item_is_seen(space: Space, number: int) -> None:
    """Of the first one too, before anything of the body is in the journal."""
    pausing = Breakpoints(steps={"/steps/1/do/0"})
    pausing.resume()
    result = play(space, PLAN, pausing)
    for _ in range(number - 1):
        pausing.resume()
        result = further(space, result, pausing)
    position = f"2.do[{number}].1"
    assert where(pausing) == position
    with space.store.reading() as snapshot:
        row, rows = snapshot.run(str(result.run)), snapshot.steps(str(result.run))
        moments = VariableHistory(plan_of(row), row, rows, members_of(snapshot))
        seen = {bound.name: bound.id for bound in moments.before(position)}
        items = snapshot.get(seen["items"])
    assert isinstance(items, Collection)
    assert seen["item"] == items.members[number - 1].id


def test_a_breakpoint_rests_before_its_step_each_time(space: Space) -> None:
    """What has run is bound, and the reason says where."""
    pausing = Breakpoints(steps={"/steps/1/do/1"})
    pausing.resume()
    result = play(space, PLAN, pausing)
    assert (result.status, result.reason) == ("suspended", "paused before step 2.do[1].2: a breakpoint")
    assert [row.position for row in result.steps] == ["1", "2.do[1].1"]
    assert set(result.bindings) == {"items"}
    pausing.resume()
    result = further(space, result, pausing)
    assert where(pausing) == "2.do[2].2"
    pausing.resume()
    result = further(space, result, pausing)
    assert (result.status, where(pausing)) == ("success", None)


def test_a_breakpoint_at_the_first_step_lets_nothing_run(space: Space) -> None:
    """Taken away, the run goes to its end."""
    pausing = Breakpoints(steps={"/steps/0"})
    pausing.resume()
    result = play(space, PLAN, pausing)
    assert (where(pausing), result.steps) == ("1", [])
    pausing.steps.clear()
    pausing.resume()
    assert further(space, result, pausing).status == "success"


def test_a_condition_rests_when_it_comes_to_hold(space: Space) -> None:
    """Once, not at each step that it holds at; unbound, it does not."""
    pausing = Breakpoints(when=[ConditionBreakpoint.read("$n == 2")])
    pausing.resume()
    result = play(space, PLAN, pausing)
    assert result.reason == "paused before step 4: $n == 2 holds"
    pausing.resume()
    assert further(space, result, pausing).status == "success"


def test_a_condition_holds_no_more_where_its_variable_is_not_there(space: Space) -> None:
    """It rests anew where it comes to hold again, in the next loop."""
    one = {"type": "create-collection", "value": ["a"], "out": "$one"}
    loop = {"type": "for-each", "target": "$one", "do": [{"type": "say", "value": "${item}"}]}
    pausing = Breakpoints(when=[ConditionBreakpoint.read("$item = 'a'")])
    result, rests = play(space, [one, loop, note("between"), loop], pausing), list[str | None]()
    while result.status == "suspended":
        rests.append(where(pausing))
        pausing.resume()
        result = further(space, result, pausing)
    assert (result.status, rests) == ("success", ["2.do[1].1", "4.do[1].1"])


def test_a_condition_that_comes_to_hold_at_a_breakpoint_does_not_rest_behind_it(space: Space) -> None:
    """It held already where the run rested."""
    pausing = Breakpoints(steps={"/1"}, when=[ConditionBreakpoint.read("$n = 1")])
    result = play(space, [note(1, "$n"), note("second"), note("third")], pausing)
    assert pausing.paused is not None
    assert (pausing.paused.position, pausing.paused.why) == ("2", "a breakpoint")
    pausing.resume()
    assert further(space, result, pausing).status == "success"


def test_a_condition_sees_what_the_step_sees(space: Space) -> None:
    """The item of a loop, for one."""
    pausing = Breakpoints(when=[ConditionBreakpoint.read('{"type": "equals", "target": "$item", "value": "b"}')])
    pausing.resume()
    play(space, PLAN, pausing)
    assert where(pausing) == "2.do[2].1"


@pytest.mark.parametrize(("until", "rests"), [("/steps/1", "3"), ("/steps/1/do/0", "2.do[1].2"), ("/steps/4", None)])
def test_a_run_goes_as_far_as_a_step(space: Space, until: str, rests: str | None) -> None:
    """That step with all that is in it has run; the last one ends the plan."""
    pausing = Breakpoints()
    pausing.resume(until=until)
    result = play(space, PLAN, pausing)
    assert where(pausing) == rests
    assert result.status == ("success" if rests is None else "suspended")


def test_a_question_is_asked_once_though_the_run_rests_before_it(space: Space) -> None:
    """Its answer goes on."""
    ask = {"type": "ask", "value": "Go?", "schema": {"type": "boolean"}, "out": "$go"}
    pausing = Breakpoints()
    pausing.resume(each=True)
    result = play(space, [note("x", "$x"), ask, note("y", "$y")], pausing)
    assert where(pausing) == "2"
    pausing.resume(each=True)
    result = further(space, result, pausing)
    assert ([one.step for one in result.pending], where(pausing)) == (["2"], None)
    answer(space, str(result.run), "2", True)
    pausing.resume(each=True)
    result = further(space, result, pausing)
    assert where(pausing) is None
    assert (result.status, [row.position for row in result.steps]) == ("success", ["1", "2", "3"])


def test_another_process_goes_on_where_one_was_put_to_rest(space: Space) -> None:
    """It needs to know nothing of what had put it there."""
    pausing = Breakpoints(steps={"/steps/2"})
    pausing.resume()
    result = play(space, PLAN, pausing)
    ended = asyncio.run(resume(space, str(result.run)))
    assert (ended.status, len(ended.steps)) == ("success", 10)


def test_a_form_that_was_begun_is_not_begun_again(space: Space) -> None:
    """Whoever goes on with the run, and has a breakpoint at it, rests at what has not begun."""
    ask = {"type": "ask", "value": "which?", "out": "$which"}
    choice = {**IF, "condition": "1 = 1", "then": [ask, note("${which}", "$word")]}
    rested = run_sync(space, [note(1, "$n"), choice, note("after", "$end")])
    assert rested.status == "suspended"
    answer(space, str(rested.run), "2.then.1", "this")
    pausing = Breakpoints(steps={"/1", "/2"})
    result = further(space, rested, pausing)
    assert (result.status, where(pausing)) == ("suspended", "3")
    word = result.bindings["word"]
    assert isinstance(word, Note)
    assert word.content == "this"


def test_a_condition_takes_the_time_of_the_run_for_the_present(space: Space) -> None:
    """That which its steps have, which stands between them."""
    now = {"type": "compute", "expression": "now()", "out": "$then"}
    pausing = Breakpoints(when=[ConditionBreakpoint.read("now() = $then")])
    play(space, [now, {"type": "wait", "seconds": 0.01}, note(1, "$n")], pausing)
    assert where(pausing) == "2"


def test_a_saved_plan_is_one_step(space: Space) -> None:
    """The steps of another document have no place in this one."""
    save_plan(space, "inner", {"steps": [note("a", "$a"), note("b", "$b")]})
    pausing = Breakpoints()
    pausing.resume(each=True)
    play(space, [{"type": "plan:inner", "out": "$x"}, note("${x}", "$y")], pausing)
    assert where(pausing) == "2"


def test_steps_side_by_side_are_put_to_rest_in_their_order(space: Space) -> None:
    """What is under way ends; the others begin when it goes on."""
    server = LocalTools("web")

    @server.tool(read_only=True)
    async def fetch(url: str) -> str:
        """Fetch a page."""
        return f"the page of {url}"

    space.tools.add(server)
    calls = [{"type": "web/fetch", "arguments": {"url": page}, "out": f"${page}"} for page in "abc"]
    pausing, seen = Breakpoints(), []
    pausing.resume(each=True)
    result = play(space, [*calls, note("${a}${b}${c}", "$all")], pausing)
    while result.status == "suspended":
        seen.append(where(pausing))
        pausing.resume(each=True)
        result = further(space, result, pausing)
    assert seen == ["2", "3", "4"]
    assert [row.position for row in result.steps] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "nothing at all",
            "the condition has 'at' (character 8) where an operator or the end was expected",
            "operators are + - * / % ||, = != < <= > >=, IN, LIKE, BETWEEN, IS NULL, AND, OR, NOT",
        ),
        ("{nothing", "'{nothing' says no condition", '`$hits is empty`, or {"type": "empty", "target": "$hits"}'),
        ('{"type": "emty", "target": "$x"}', "there is no condition 'emty'", "did you mean 'empty'?"),
        (
            '{"type": "not", "of": {"type": "tool_condition", "tool": "a/b"}}',
            "a breakpoint cannot ask a tool",
            "its condition only reads variables",
        ),
    ],
)
def test_what_is_no_condition_is_a_sentence(text: str, message: str, hint: str) -> None:
    """With what would be one."""
    with pytest.raises(Invalid) as refused:
        ConditionBreakpoint.read(text)
    assert (refused.value.message, refused.value.hint) == (message, hint)


@pytest.mark.parametrize("text", ["$hits is empty", "$hits is not bound", "len($hits) == 0", "$n.count > 3", "$x"])
def test_a_condition_is_written_in_words_too(text: str) -> None:
    """As people say it."""
    assert ConditionBreakpoint.read(text).text == text


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("operation", ["outside/send", "call-tool"])
def test_a_map_rests_between_items_when_it_is_halted(space: Space, read_only: bool, operation: str) -> None:
    """Calls under way end, no other begins; gone on with, each is made once, and the budget is enough."""
    made: list[str] = []
    halt, outside = SuspendRequest(), LocalTools("outside")

    @outside.tool(read_only=read_only)
    async def send(text: str) -> str:
        """Send a text; the third call halts the run."""
        made.append(text)
        if len(made) == 3:
            halt.set()
        await asyncio.sleep(0)
        return f"sent {text}"

    space.tools.add(outside)
    texts = [f"t{number}" for number in range(60)]
    tool = {"tool": "outside/send"} if operation == "call-tool" else {}
    each = {"type": operation, **tool, "arguments": {"text": "$item"}}
    steps = [
        {"type": "create-collection", "value": texts, "name": "texts", "out": "$c"},
        {"type": "map", "target": "$c", "operation": each, "out": "$m"},
    ]
    prepared = prepare(space, {"steps": steps, "budget": {"tool_calls": 60, "steps": 2}})
    assert isinstance(prepared, Prepared)
    run = Run(space, prepared.plan, lambda _event: None)
    run.halt = halt
    result = asyncio.run(run.run(prepared.bound))
    assert result.status == "suspended"
    assert 3 <= len(made) <= (16 + 3 if read_only else 3)
    assert [(row.position, row.status) for row in result.steps] == [("1", "success"), ("2", "suspended")]
    assert result.steps[1].value == f"interrupted with {60 - len(made)} of 60 items to do"
    with space.store.reading() as snapshot:
        assert {call.status for call in snapshot.calls(str(result.run))} == {"success"}
    assert run_sync(space, [note("more", "$n"), {"type": "add", "target": "texts", "value": "$n"}]).status == "success"
    ended = asyncio.run(resume(space, str(result.run)))
    assert ended.result is not None
    assert (ended.status, ended.result.data) == ("success", [f"sent {text}" for text in texts])
    assert sorted(made) == sorted(texts)

"""A plan that streams in: what runs before all of it is there, and what becomes of that."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from infospace.tools.local import LocalTools
from planner.journal.events import RunStarted
from planner.journal.result import RunResult
from planner.language.plan import Budget
from planner.lifecycle.resume import answer, resume
from planner.parse.saved_plans import save_plan

sys.path.insert(0, str(Path(__file__).parent))
from writing import KEEP, LIST, NOTE, SIZE, Written, kept, runs, steps, write


def test_steps_that_make_and_read_run_before_the_rest_is_written(space: Space) -> None:
    """What writes, and all after it, waits for the whole; the outcome is that of the plan at once."""
    result, written = write(space, ("[" + steps(LIST, SIZE) + ",", 2), steps(KEEP, NOTE), "]")
    assert written.ahead == written.begun_before == ["1", "2"]
    assert written.begun == ["1", "2", "3", "4"]
    assert (result.status, result.result and result.result.data) == ("success", "2 of them")
    assert [row.sequence for row in result.steps] == [1, 2, 3, 4]
    assert kept(space) == ["kept"]
    assert isinstance(written.told[0], RunStarted)
    [run] = runs(space)
    assert run.document == [LIST, SIZE, KEEP, NOTE]
    with space.store.reading() as snapshot:
        assert [row.resource for row in snapshot.steps(run.run)] == [row.resource for row in result.steps]
    assert space.store.check() == []


def test_steps_that_come_when_all_before_them_have_ended_run_before_the_rest_is_written(space: Space) -> None:
    """Where the text stops for a while, what runs ahead waits for more."""
    result, written = write(space, ("[" + steps(LIST), 1), (", " + steps(SIZE), 2), (", " + steps(NOTE), 3), "]")
    assert written.ahead == ["1", "2", "3"]
    assert [(row.position, row.status) for row in result.steps] == [(number, "success") for number in "123"]
    with space.store.reading() as snapshot:
        assert [row.position for row in snapshot.steps(str(result.run))] == ["1", "2", "3"]


def test_nothing_is_journalled_of_a_step_before_the_whole_has_passed(space: Space) -> None:
    """Only that there is a run, whose document is not known."""
    seen: list[Any] = []

    async def go() -> RunResult:
        written = Written(space)

        async def look() -> None:
            await written.until(lambda: len(written.ahead) == 2)
            with space.store.reading() as snapshot:
                [run] = snapshot.runs()
                seen.append((run.status, run.goal, run.document, snapshot.steps(run.run)))

        looking = asyncio.create_task(look())
        result = await written.run(('{"goal": "g", "steps": [' + steps(LIST, SIZE), 2), "]}")
        await looking
        return result

    assert asyncio.run(go()).status == "success"
    assert seen == [("running", "g", None, [])]


LOOK = {"type": "room/look", "arguments": {}}

GATES: dict[str, Any] = {
    "a write": {"type": "persist", "target": "$c"},
    "a name": {"type": "bind", "target": "$c", "name": "list"},
    "say": {"type": "say", "value": "x"},
    "think": {"type": "think", "value": "x"},
    "ask": {"type": "ask", "value": "x?"},
    "wait": {"type": "wait", "seconds": 0},
    "stop": {"type": "stop"},
    "a model": {"type": "generate-note", "prompt": "x"},
    "a tool": LOOK,
    "a tool by its name": {"type": "call-tool", "tool": "room/look"},
    "a tool by its name by map": {
        "type": "map",
        "target": "$c",
        "operation": {"type": "call-tool", "tool": "room/look"},
    },
    "a tool by map": {"type": "map", "target": "$c", "operation": {"type": "room/look", "arguments": {}}},
    "a model by map": {"type": "map", "target": "$c", "operation": {"type": "assess", "predicate": "x"}},
    "a tool that decides": {
        "type": "if",
        "condition": {"type": "not", "of": {"type": "tool_condition", "tool": "room/look", "arguments": {}}},
        "then": [],
    },
    "inside a loop": {"type": "for-each", "target": "$c", "do": [{"type": "say", "value": "$item"}]},
    "deep inside": {
        "type": "parallel",
        "branches": [[{"type": "if", "condition": {"type": "bound", "target": "$c"}, "then": [KEEP]}]],
    },
    "in a handler": {"type": "size", "target": "$c", "on_fail": [{"type": "say", "value": "x"}]},
    "in a saved plan": {"type": "plan:telling"},
    "two plans away": {"type": "plan:outer"},
}


def room() -> LocalTools:
    """A server with one tool."""
    server = LocalTools("room")

    @server.tool(read_only=True)
    def look() -> bool:
        """Look around."""
        return True

    return server


@pytest.mark.parametrize("gate", GATES)
def test_what_does_more_is_a_gate(space: Space, gate: str, endpoint: Any) -> None:
    """At any depth: neither it nor anything after it begins before the whole is there."""
    del endpoint
    space.tools.add(room())
    save_plan(space, "telling", [{"type": "say", "value": "x"}])
    save_plan(space, "outer", [{"type": "plan:telling"}])
    result, written = write(space, ("[" + steps(LIST), 1), "," + steps(GATES[gate], SIZE), "]")
    assert result.status == {"ask": "suspended", "stop": "stopped"}.get(gate, "success"), result.reason
    assert written.begun_before == ["1"]


def test_forms_and_saved_plans_that_only_look_run_ahead(space: Space) -> None:
    """Whole, with all that is in them. What needs nothing of the other begins in either order; the journal has one."""
    save_plan(space, "count", {"inputs": {"of": {"kind": "Collection"}}, "steps": [{**SIZE, "target": "$of"}]})
    loop = {"type": "for-each", "target": "$c", "do": [{"type": "create-note", "value": "<${item}>", "out": "$y"}]}
    call = {"type": "plan:count", "arguments": {"of": "$c"}, "out": "$n"}
    result, written = write(space, ("[" + steps(LIST, {**loop, "out": "$all"}, call), 5), "]")
    positions = ["1", "2", "2.do[1].1", "2.do[2].1", "3", "3/1"]
    begun = written.begun_before
    assert sorted(begun) == positions
    assert begun[0] == "1"
    assert begun.index("2") < min(begun.index("2.do[1].1"), begun.index("2.do[2].1"))
    assert begun.index("3") < begun.index("3/1")
    assert [row.position for row in result.steps] == positions


def test_a_saved_plan_that_is_another_by_then_runs_anew(space: Space) -> None:
    """The whole is checked against what is there when it has arrived."""
    save_plan(space, "told", [{"type": "create-note", "value": "old"}])

    async def go() -> tuple[RunResult, Written]:
        written = Written(space)

        async def change() -> None:
            await written.until(lambda: len(written.ahead) == 2)
            save_plan(space, "told", [{"type": "create-note", "value": "new"}], replace=True)

        changing = asyncio.create_task(change())
        result = await written.run(("[" + steps({"type": "plan:told"}), 2), "]")
        await changing
        return result, written

    result, written = asyncio.run(go())
    assert sorted(written.ahead) == ["1", "1/1"]
    assert (result.status, result.result and result.result.data) == ("success", "new")


@pytest.mark.parametrize("ahead", [[], [LIST]])
def test_what_is_approved_is_called_without_asking(space: Space, ahead: list[Any]) -> None:
    """Whether anything ran ahead of it or not."""
    files, deleted = LocalTools("files"), list[str]()

    @files.tool(destructive=True)
    def delete(path: str) -> None:
        """Delete a file."""
        deleted.append(path)

    space.tools.add(files)
    call = {"type": "files/delete", "arguments": {"path": "a"}}
    begin = "[" + "".join(steps(one) + "," for one in ahead)
    result, written = write(space, (begin, len(ahead)), steps(call), "]", approve=["files/delete"])
    assert (len(written.ahead), result.status, deleted) == (len(ahead), "success", ["a"])


# Inputs


def test_inputs_declared_before_the_steps_are_read_ahead(space: Space) -> None:
    """And what is declared after them is not: such a step waits."""
    use = {"type": "create-note", "value": "$topic"}
    declared = '"goal": "about ${topic}", "inputs": {"topic": {"type": "string"}}'
    first, before = write(space, ("{" + declared + ', "steps": [' + steps(use), 1), "]}", inputs={"topic": "x"})
    last, after = write(space, '{"steps": [' + steps(use), "], " + declared + "}", inputs={"topic": "x"})
    assert (before.begun_before, after.begun_before) == (["1"], [])
    assert first.result is not None
    assert last.result is not None
    assert first.result.data == last.result.data == "x"
    with space.store.reading() as snapshot:
        assert [snapshot.run(str(done.run)).goal for done in (first, last)] == ["about x", "about x"]


def test_inputs_that_do_not_fit_let_nothing_run_ahead_and_refuse(space: Space) -> None:
    """Also those that a document without a head cannot have."""
    use = '{"inputs": {"n": {"type": "integer"}}, "steps": [' + steps(LIST)
    for text, end, pointer, inputs in (
        (use, "]}", "/inputs/n", {"n": "x"}),
        (use, "]}", "/inputs/n", {}),
        ("[" + steps(LIST), "]", "/inputs/m", {"m": 1}),
    ):
        result, written = write(space, text, end, inputs=inputs)
        assert (result.status, result.run, written.begun) == ("refused", None, [])
        assert [problem.pointer for problem in result.problems if problem.severity == "error"] == [pointer]


def test_an_input_declared_late_counts_for_a_condition_that_ran_ahead(space: Space) -> None:
    """What it decided is dropped, and it is decided anew."""
    step = {
        "type": "if",
        "condition": {"type": "bound", "target": "$q"},
        "then": [{"type": "create-note", "value": "bound"}],
        "else": [{"type": "create-note", "value": "unbound"}],
    }
    result, written = write(space, ('{"steps": [' + steps(step), 2), '], "inputs": {"q": {"default": 1}}}')
    assert written.ahead == ["1.else.1", "1"]
    assert result.result is not None
    assert result.result.data == "bound"
    assert [row.position for row in result.steps] == ["1", "1.then.1"]
    assert set(result.bindings) == {"q"}
    [run] = runs(space)
    assert set(run.inputs) == {"q"}


# Budgets


def test_a_budget_that_comes_late_counts_what_was_spent(space: Space) -> None:
    """Steps as if it had come first; seconds as long as steps ran."""
    result, written = write(space, ('{"steps": [' + steps(LIST, SIZE, NOTE), 3), '], "budget": {"steps": 2}}')
    assert written.ahead == ["1", "2", "3"]
    assert (result.status, result.reason) == ("failed", "step 3 (create-note) failed: the budget of 2 steps ran out")
    assert [(row.position, row.status) for row in result.steps] == [("1", "success"), ("2", "success")]
    result, _ = write(space, ('{"steps": [' + steps(LIST, KEEP), 1), '], "budget": {"seconds": 0}}')
    assert (result.status, "the budget of 0 seconds ran out" in (result.reason or "")) == ("failed", True)
    assert kept(space) == []


@pytest.mark.parametrize(
    ("budget", "rest", "reason"),
    [
        ({"tool_calls": 1}, [LOOK, LOOK], "step 3 (room/look) failed: the budget of 1 tool_calls is spent"),
        ({"characters": 3}, [KEEP], "step 2 (create-note) failed: the budget of 3 characters that one step may make"),
    ],
)
def test_a_budget_that_comes_late_bounds_what_comes_behind_it(
    space: Space, budget: dict[str, int], rest: list[Any], reason: str
) -> None:
    """As one that stands before the steps."""
    space.tools.add(room())
    head, first = f'"budget": {json.dumps(budget)}', '"steps": [' + steps({"type": "create-note", "value": "x"})
    late, written = write(space, ("{" + first, 1), f", {steps(*rest)}], {head}}}")
    early, _ = write(space, f"{{{head}, {first}, {steps(*rest)}]}}")
    assert written.ahead == ["1"]
    assert (late.status, str(late.reason)[: len(reason)]) == ("failed", reason)
    assert (early.status, early.reason) == (late.status, late.reason)


def test_a_larger_budget_that_comes_late_holds(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """What used the usual one up is run once more; the usual one is a hundredth of what it is."""
    usual: Any = Budget.__init__.__defaults__
    monkeypatch.setattr(Budget.__init__, "__defaults__", (usual[0] // 100, *usual[1:]))
    start = {"type": "create-note", "value": 1, "out": "$n"}
    loop = {
        "type": "while",
        "condition": {"type": "less_than", "target": "$n", "value": 3},
        "body": [start] * 5,
        "max_iterations": 201,
    }
    result, written = write(space, ('{"steps": [' + steps(start, loop), 1_000), '], "budget": {"steps": 2000}}')
    assert len(written.ahead) == 1_000
    assert "201 iterations" in (result.reason or "")
    assert len(result.steps) == 1_007


# Texts


@pytest.mark.parametrize("around", ["{}", "\ufeff{}", "\n\n{}\n", "```json\n{}\n```"])
def test_any_form_runs_ahead_byte_by_byte(space: Space, around: str) -> None:
    """With a byte order mark, in a code fence, its letters cut in the middle."""
    value = {"text": 'Größe "1" €\\ 😀', "n": -1.5e3}
    document = {"goal": "ä", "plan": [{"type": "create-note", "value": value, "out": "$x"}, KEEP], "result": "$x"}
    text = around.replace("{}", json.dumps(document, ensure_ascii=False)).encode()
    result, written = write(space, *[text[at : at + 1] for at in range(len(text))])
    assert written.ahead == ["1"]
    assert (result.status, result.result and result.result.data) == ("success", value)


def test_what_is_there_at_once_runs_as_if_it_had_not_streamed(space: Space) -> None:
    """Nothing is told ahead; a refused one opens no run."""
    text = "[" + steps(LIST, SIZE) + "]"
    result, written = write(space, text)
    assert (result.status, written.ahead, written.begun) == ("success", [], ["1", "2"])
    assert write(space, "[" + steps(LIST, {"type": "sya"}) + "]")[0].run is None
    empty = write(space)[0]
    assert (empty.status, [problem.message for problem in empty.problems]) == ("refused", ["the plan is empty"])


def test_a_plan_of_thousands_of_steps_arrives(space: Space) -> None:
    """A megabyte in pieces: all but what writes runs ahead, and the outcome is that of the plan at once."""
    many: list[Any] = [
        {"type": "create-note", "value": {"i": index, "text": "lorem ipsum " * 12}, "out": f"$x{index}"}
        for index in range(4_999)
    ]
    text = json.dumps({"steps": [*many, KEEP], "result": "$x4998.i"}).encode()
    assert len(text) > 1_000_000
    *pieces, last = [text[at : at + 10_000] for at in range(0, 800_000, 10_000)]
    result, written = write(space, *pieces, (last.decode(), 3_500), text[800_000:])
    assert len(written.begun_before) > 3_500
    assert (result.status, result.result and result.result.data) == ("success", 4_998)
    assert len(result.steps) == 5_000
    assert kept(space) == ["kept"]


# Afterwards


def test_a_plan_that_arrived_can_wait_and_be_resumed(space: Space) -> None:
    """As any: what ran ahead is not repeated."""
    ask = {"type": "ask", "value": "how many?", "out": "$many"}
    begin = '{"inputs": {"k": {"default": 2}}, "steps": ['
    rest = {"type": "create-note", "value": "${n} ${k} ${many}", "out": "$y"}
    waiting, _ = write(space, (begin + steps(LIST, SIZE), 2), "," + steps(ask, rest) + "]}")
    assert (waiting.status, waiting.run) == ("suspended", "run_1")
    answer(space, "run_1", "3", 7)
    done = asyncio.run(resume(space, "run_1"))
    assert (done.status, done.result and done.result.data) == ("success", "2 2 7")
    assert [row.position for row in done.steps] == ["1", "2", "3", "4"]
    assert [row.resource for row in done.steps[:2]] == [row.resource for row in waiting.steps[:2]]

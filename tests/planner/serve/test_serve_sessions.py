"""Sessions by name, and runs that ask, over the protocol in memory."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from chatting import Endpoint

from infospace import Conflict, Space, open_space
from infospace.core.clock import now
from infospace.core.ids import Kind
from infospace.journal.rows import OpenRun
from infospace.store.changes import GiveName, MakeNote
from infospace.tools.local import LocalTools
from planner.server.arguments import CancelRun, RunSteps
from planner.server.operations import Operations
from planner.sessions.names import PREFIX

sys.path.insert(0, str(Path(__file__).parent))
from serving import NOTE, SLOW, Planner, at, play


def test_a_session_ends_with_cancel_or_stop_and_its_name_is_free_again(space: Space) -> None:
    async def scene(planner: Planner) -> list[str]:
        runs = [(await planner.call("run_steps", session="s", steps=[NOTE]))["run"]]
        assert (await planner.call("cancel_run", run=runs[0]))["status"] == "cancelled"
        answer = await planner.call("run_steps", session="s", steps=[{"type": "say", "value": "$x"}])
        assert (answer["status"], answer["run"]) == ("refused", None)
        answer = await planner.call("run_steps", session="s", steps=[NOTE, {"type": "stop", "value": "$x"}])
        assert (answer["status"], answer["result"]["data"]) == ("stopped", 1)
        runs.append(answer["run"])
        runs.append((await planner.call("run_steps", session="s", steps=[NOTE]))["run"])
        return runs

    assert len(set(play(space, scene))) == 3


def test_a_name_that_no_session_has_is_told_with_the_one_that_was_meant(space: Space) -> None:
    """Steps that read what is bound in another session would else be refused without a word of that."""
    read = [{"type": "say", "value": "$x"}]

    async def scene(planner: Planner) -> None:
        await planner.call("run_steps", session="research", steps=[NOTE])
        meant = "no session 'reserch' is open; did you mean 'research'?"
        answer = await planner.call("run_steps", session="reserch", steps=read)
        assert (answer["status"], answer["run"], answer["reason"]) == ("refused", None, meant)
        assert f"{meant} (run_steps opens one)" in await planner.wrong("list_bindings", session="reserch")
        answer = await planner.call("run_steps", session="research", steps=[{"type": "say", "value": "$y"}])
        assert (answer["status"], answer["reason"]) == ("refused", None)
        assert await planner.wrong("list_bindings", session="9") == "no session '9' is open (run_steps opens one)"

    play(space, scene)


def test_a_cancelled_session_cancels_the_steps_that_run_and_those_that_queue(space: Space) -> None:
    async def scene(planner: Planner) -> Any:
        run = (await planner.call("run_steps", session="s", steps=[NOTE, SLOW], wait_s=0))["run"]
        await planner.until_bound(run, "x")
        await planner.call("run_steps", session="s", steps=[{**NOTE, "out": "$y"}], wait_s=0)
        answer = await planner.call("cancel_run", run=run)
        return answer["status"], list(answer["bindings"])

    assert play(space, scene) == ("cancelled", ["x"])


async def unheard(_done: int, _said: str) -> None:
    """Hear how far it is, and do nothing."""


def test_steps_that_queue_belong_to_their_session_before_they_begin(space: Space) -> None:
    """However long who gave them waits: a cancelled session cancels them, too, and they open no other one."""

    async def scene() -> Any:
        door = Operations(space)
        run = (await door.run_steps(RunSteps(session="s", steps=[SLOW], wait_s=0), unheard))["run"]
        queued = asyncio.create_task(door.run_steps(RunSteps(session="s", steps=[NOTE], wait_s=300), unheard))
        await asyncio.sleep(0)
        assert len(door.lives.going(run)) == 2
        cancelled = await door.cancel_run(CancelRun(run=run), unheard)
        answer = await queued
        await door.close()
        return run, cancelled["status"], (answer["run"], answer["status"])

    run, cancelled, queued = asyncio.run(scene())
    assert (cancelled, queued) == ("cancelled", (run, "cancelled"))
    with space.store.reading() as snapshot:
        assert {row.run: row.status for row in snapshot.runs()} == {run: "cancelled"}


def test_who_cancels_what_is_being_cancelled_waits_and_is_told_that_it_has_ended(space: Space) -> None:
    async def scene() -> list[Any]:
        door = Operations(space)
        run = (await door.run_steps(RunSteps(session="s", steps=[SLOW], wait_s=0), unheard))["run"]
        twice = (door.cancel_run(CancelRun(run=run), unheard) for _ in range(2))
        first, second = await asyncio.gather(*twice, return_exceptions=True)
        await door.close()
        return [run, first, second]

    run, first, second = asyncio.run(scene())
    assert first["status"] == "cancelled"
    assert isinstance(second, Conflict)
    assert second.message == f"{run} has ended already, with cancelled"


def test_a_run_of_the_door_itself_is_waited_for(space: Space) -> None:
    """As long as who asks for it says, not as who began it did."""

    async def scene(planner: Planner) -> Any:
        run = (await planner.call("run_plan", plan=[NOTE, {"type": "wait", "seconds": 0.5}], wait_s=0))["run"]
        return await planner.call("get_run", run=run, wait_s=60)

    assert play(space, scene)["status"] == "success"


def test_steps_that_are_refused_since_too_much_goes_on_keep_no_others_waiting(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planner.server.live_runs.MAX_LIVE_RUNS", 1)

    async def scene(planner: Planner) -> Any:
        run = (await planner.call("run_plan", plan=[SLOW], wait_s=0))["run"]
        refused = await planner.wrong("run_steps", session="s", steps=[NOTE])
        assert refused == "1 runs are going on already (wait for one with get_run, or cancel_run one)"
        await planner.call("cancel_run", run=run)
        async with asyncio.timeout(60):
            return await planner.call("run_steps", session="s", steps=[NOTE])

    assert play(space, scene)["status"] == "success"


def test_a_run_of_another_door_is_waited_for(space: Space) -> None:
    """As one of its own is: until it has ended, and no longer than is said."""
    gate, opened = LocalTools("gate"), asyncio.Event()

    @gate.tool(read_only=True)
    async def enter() -> str:
        """Enter once it is open."""
        await opened.wait()
        return "entered"

    space.tools.add(gate)

    async def scene() -> tuple[Any, Any]:
        async with at(space) as one, at(space) as other:
            run = (await one.call("run_plan", plan=[{"type": "gate/enter"}, NOTE], wait_s=0))["run"]
            soon = await other.call("get_run", run=run, wait_s=0.1)
            waiting = asyncio.create_task(other.call("get_run", run=run, wait_s=60))
            opened.set()
            return soon, await waiting

    soon, late = asyncio.run(scene())
    assert (soon["status"], late["status"]) == ("running", "success")


def test_a_session_of_another_door_to_the_space_is_taken_up(space: Space) -> None:
    """What the one bound the other sees, back and forth."""

    async def go() -> Any:
        async with at(space) as one, at(space) as other:
            await one.call("run_steps", session="s", steps=[NOTE])
            await other.call("run_steps", session="s", steps=[{"type": "create-note", "value": "${x}1", "out": "$y"}])
            answer = await one.call("run_steps", session="s", steps=[{"type": "create-note", "value": "${y}1"}])
            return answer["result"]["data"], [step["step"] for step in answer["steps"]]

    assert asyncio.run(go()) == ("111", ["3"])


def test_a_session_whose_first_step_never_ended_is_still_the_session(space: Space) -> None:
    """Its server was killed before anything was bound."""
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait(300)
    store = space.store
    run, note = store.new_id("run"), store.new_id(Kind.NOTE)
    owner = f"{socket.gethostname()}:{gone.pid}:x"
    changes = [MakeNote(note, {"run": run}, kept=True), GiveName(note, f"{PREFIX}s")]
    store.commit(changes, [OpenRun(run, "session", "session s", None, {}, now(), owner)])

    async def scene(planner: Planner) -> Any:
        assert (await planner.call("get_run", run=run))["status"] == "suspended"
        return (await planner.call("run_steps", session="s", steps=[NOTE]))["run"]

    assert play(space, scene) == run


def test_a_session_that_asks_is_answered_and_goes_on_with_the_rest_of_its_call(space: Space) -> None:
    """Meanwhile it takes no steps, and says which one waits and how to answer; nothing of what was given is lost."""
    steps = [{"type": "ask", "value": "which?", "out": "$a"}, {"type": "create-note", "value": "${a}!", "out": "$b"}]

    async def scene(planner: Planner) -> None:
        answer = await planner.call("run_steps", session="s", steps=[NOTE, *steps])
        run = answer["run"]
        assert (answer["status"], [one["step"] for one in answer["pending"]]) == ("suspended", ["2"])
        shown = await planner.call("get_run", run=run)
        assert (shown["status"], shown["pending"]) == ("suspended", answer["pending"])
        said = await planner.wrong("run_steps", session="s", steps=[{**NOTE, "out": "$y"}])
        assert "step 2 (ask): which?" in said
        assert f"answer_run('{run}', '2', …)" in said
        answer = await planner.call("answer_run", run=run, step="2", value="blue")
        assert (answer["status"], answer["result"]["data"], answer["pending"]) == ("success", "blue!", [])
        assert [step["step"] for step in answer["steps"]] == ["1", "2", "3"]
        answer = await planner.call("run_steps", session="s", steps=[{"type": "create-note", "value": "${b}!"}])
        assert (answer["run"], answer["result"]["data"]) == (run, "blue!!")
        assert [step["step"] for step in answer["steps"]] == ["4"]

    play(space, scene)


def test_two_doors_to_an_opened_space_let_calls_on_a_session_queue(space: Space) -> None:
    """The second waits for the first, and sees what it bound."""

    async def go() -> Any:
        async with at(space) as one, at(space) as other:
            first = one.call("run_steps", session="s", steps=[NOTE, {"type": "wait", "seconds": 0.05}])
            second = other.call("run_steps", session="s", steps=[{"type": "create-note", "value": "${x}!"}])
            await one.call("run_steps", session="s", steps=[{**NOTE, "value": 0}])
            return await asyncio.gather(first, second)

    first, second = asyncio.run(go())
    assert (first["status"], second["status"]) == ("success", "success")
    assert second["run"] == first["run"]


def test_a_session_that_is_taken_up_goes_on_counting_its_calls(space: Space, endpoint: Endpoint) -> None:
    """What it asked before is not asked again; the journal has each call once."""
    endpoint.say("one", "two")

    def asking(prompt: str) -> list[dict[str, str]]:
        return [{"type": "generate-note", "prompt": prompt, "out": "$said"}]

    async def go() -> list[Any]:
        async with at(space) as one:
            first = await one.call("run_steps", session="s", steps=asking("first"))
        async with at(space) as other:
            again = await other.call("run_steps", session="s", steps=asking("first"))
            second = await other.call("run_steps", session="s", steps=asking("second"))
        with space.store.reading() as snapshot:
            calls = [(call.sequence, call.answer) for call in snapshot.calls(first["run"])]
        return [answer["result"]["data"] for answer in (first, again, second)] + calls

    assert asyncio.run(go()) == ["one", "one", "two", (1, "one"), (2, "two")]


def test_steps_that_run_elsewhere_keep_a_session_to_themselves(space: Space) -> None:
    """Another server says so, and does not cancel what is not its own."""

    async def go() -> list[str]:
        with open_space(space.store.address) as same:
            async with at(space) as one, at(same) as other:
                return await both(one, other)

    async def both(one: Planner, other: Planner) -> list[str]:
        run = (await one.call("run_steps", session="s", steps=[NOTE, SLOW], wait_s=0))["run"]
        said = [await other.wrong("run_steps", session="s", steps=[NOTE]), await other.wrong("cancel_run", run=run)]
        shown = await other.call("get_run", run=run)
        assert shown["status"] == "running"
        assert "is running steps in another process" in shown["reason"], "why its own steps were not run"
        assert (await one.call("cancel_run", run=run))["status"] == "cancelled"
        return said

    first, second = asyncio.run(go())
    assert "is running steps in another process" in first
    assert "is not run by this caller (another caller of this server began it, and can cancel it)" in second


# Questions

ASK = {
    "steps": [
        {"type": "ask", "value": "how many?", "schema": {"type": "integer"}, "out": "$n"},
        {"type": "create-note", "value": "${n} it is", "out": "$x"},
    ]
}


def test_a_run_that_asks_is_answered_and_goes_on(space: Space) -> None:
    """Also at another server; an answer that does not fit is refused with what would."""

    async def go() -> None:
        async with at(space) as one:
            answer = await one.call("run_plan", plan=ASK)
            run = answer["run"]
            assert answer["status"] == "suspended"
            assert [(one["step"], one["question"]) for one in answer["pending"]] == [("1", "how many?")]
        async with at(space) as other:
            answer = await other.call("get_run", run=run)
            assert [one["schema"] for one in answer["pending"]] == [{"type": "integer"}]
            assert "does not fit" in await other.wrong("answer_run", run=run, step="1", value="many")
            assert "asks nothing" in await other.wrong("answer_run", run=run, step="2", value=3)
            answer = await other.call("answer_run", run=run, step="1", value=3)
            assert (answer["status"], answer["result"]["data"], answer["pending"]) == ("success", "3 it is", [])

    asyncio.run(go())


def test_questions_of_branches_are_asked_at_once(space: Space) -> None:
    """Each answer says what the run waits for still."""
    branches = [[{"type": "ask", "value": name, "out": f"${name}"}] for name in ("a", "b")]
    plan = [{"type": "parallel", "branches": branches}, {"type": "create-note", "value": "${a}${b}"}]

    async def scene(planner: Planner) -> Any:
        answer = await planner.call("run_plan", plan=plan)
        asked = []
        while answer["status"] == "suspended":
            asked.append([pending["question"] for pending in answer["pending"]])
            pending = answer["pending"][-1]
            given = {"run": answer["run"], "step": pending["step"], "value": pending["question"].upper()}
            answer = await planner.call("answer_run", **given)
        return answer["status"], answer["result"]["data"], asked

    assert play(space, scene) == ("success", "AB", [["a", "b"], ["a"]])


def test_a_run_that_asks_can_be_cancelled(space: Space) -> None:
    async def scene(planner: Planner) -> Any:
        run = (await planner.call("run_plan", plan=ASK))["run"]
        answer = await planner.call("cancel_run", run=run)
        assert "waits for nothing" in await planner.wrong("answer_run", run=run, step="1", value=3)
        return answer["status"], answer["pending"]

    assert play(space, scene) == ("cancelled", [])


def test_a_run_that_waits_for_long_is_looked_at_again_when_it_is_answered(space: Space) -> None:
    """It goes on waiting until its time has come."""

    async def scene(planner: Planner) -> None:
        answer = await planner.call("run_plan", plan=[NOTE, {"type": "wait", "seconds": 3_600}])
        pending = answer["pending"]
        assert (answer["status"], [one["kind"] for one in pending]) == ("suspended", ["wait"])
        answer = await planner.call("answer_run", run=answer["run"], step=pending[0]["step"], value=None)
        assert (answer["status"], answer["pending"]) == ("suspended", pending)

    play(space, scene)

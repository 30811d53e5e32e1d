"""A run, and a session, that callers of different scopes go on with: over the protocol in memory."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from infospace.tools.scope import Scope
from planner.lifecycle.resume import answer, pending_of, resume
from planner.server.access import Access
from planner.sessions.session import Session

sys.path.insert(0, str(Path(__file__).parents[2] / "infospace" / "tools"))
sys.path.insert(0, str(Path(__file__).parent))
from served import odd, synced, write
from serving import Planner
from serving import play as play_at

ECHO = {"type": "one/echo", "arguments": {"text": "x"}, "out": "$x"}


@pytest.fixture
def known(space: Space) -> Space:
    """A space with two servers of the same tools."""
    write(Path(space.store.address).parent, one=odd("plain", trusted=True), two=odd("plain"))
    assert synced(space).failed == []
    return space


def play(space: Space, scene: Any, **access: Any) -> Any:
    """Let a planner play a scene at a door of its own."""
    return play_at(space, scene, Access("ann", **access))


@pytest.mark.parametrize("door", ["run_plan", "run_steps"])
def test_a_run_stays_in_its_scope_whoever_goes_on_with_it(known: Space, door: str) -> None:
    """Though a person answers who may know of everything: a name that it made up finds nothing more."""
    steps = [
        {"type": "create-note", "value": "one/echo", "out": "$tool"},
        {"type": "ask", "value": "who?", "out": "$who"},
        {"type": "call-tool", "tool": "$tool", "arguments": {"text": "$who"}, "out": "$x"},
    ]

    async def begin(planner: Planner) -> Any:
        return await planner.call(door, **({"plan": steps} if door == "run_plan" else {"session": "s", "steps": steps}))

    if door == "run_steps":
        play(known, lambda planner: planner.call("run_steps", session="s", steps=[ECHO]))
    run = play(known, begin, scope=Scope(include_servers=("two",)))["run"]
    with known.store.reading() as snapshot:
        (asked,) = pending_of(snapshot.steps(run))
    answer(known, run, asked.step, "ann")
    result = asyncio.run(resume(known, run))
    assert (result.status, result.steps[-1].type) == ("failed", "call-tool")
    assert "there is no tool 'one/echo'" in str(result.steps[-1].reason)
    if door == "run_steps":
        found = play(known, lambda planner: planner.call("run_steps", session="s", steps=[ECHO]))
        assert (found["status"], found["run"]) == ("success", run)


def test_what_one_configuration_approves_no_other_caller_of_a_session_has(known: Space) -> None:
    """Whoever goes on with it is asked as ever; and whoever it is approved for is not, again."""

    async def call(planner: Planner) -> Any:
        return await planner.call("run_steps", session="s", steps=[{"type": "two/structured"}])

    async def no(planner: Planner) -> Any:
        asked = await call(planner)
        (one,) = asked["pending"]
        said = await planner.call("answer_run", run=asked["run"], step=one["step"], value="no")
        return asked["status"], asked["run"], said["status"]

    first = play(known, call, approve=["two/*", "bad/echo"])
    assert first["status"] == "success"
    for _ in range(2):
        assert play(known, no, approvals="planner") == ("suspended", first["run"], "failed")
    again = play(known, call, approve=["two/structured"])
    assert (again["status"], again["run"]) == ("success", first["run"])


@pytest.mark.parametrize("door", ["run_plan", "run_steps"])
@pytest.mark.parametrize(
    ("last", "scope"),
    [
        ({**ECHO, "arguments": {"text": "$who"}}, Scope(include_servers=("two",))),
        ({"type": "create-note", "value": "$who", "out": "$x"}, Scope(exclude_names=("^create-note$",))),
    ],
)
def test_a_run_that_needs_more_than_a_scope_has_is_left_to_others(
    known: Space, door: str, last: dict[str, Any], scope: Scope
) -> None:
    """Who may not know of all that it still needs answers nothing of it, and breaks nothing."""
    steps = [{"type": "ask", "value": "who?", "out": "$who"}, last]
    given = {"plan": steps} if door == "run_plan" else {"session": "s", "steps": steps}

    async def ask(planner: Planner) -> str:
        return str((await planner.call(door, **given))["run"])

    run = play(known, ask)

    async def meddle(planner: Planner) -> str:
        return await planner.wrong("answer_run", run=run, step="1", value="nobody")

    assert f"step 2 of {run} calls {last['type']}, which is not here" in play(known, meddle, scope=scope)

    async def answer(planner: Planner) -> Any:
        return await planner.call("answer_run", run=run, step="1", value="ann")

    answered = play(known, answer)
    assert (answered["status"], answered["result"]["data"]) == ("success", "ann")


def test_a_session_that_is_answered_in_python_stays_in_its_scope(known: Space) -> None:
    """Its next lines are of whoever gives them."""
    steps = [
        {"type": "create-note", "value": "one/echo", "out": "$tool"},
        {"type": "ask", "value": "who?", "out": "$who"},
        {"type": "call-tool", "tool": "$tool", "arguments": {"text": "$who"}, "out": "$x"},
    ]

    async def begin(planner: Planner) -> Any:
        return await planner.call("run_steps", session="s", steps=steps)

    asked = play(known, begin, scope=Scope(include_servers=("two",)))
    session = Session(known, "s")
    ended = asyncio.run(session.answer(asked["pending"][0]["step"], "ann"))
    assert "there is no tool 'one/echo'" in str(ended.reason)
    after = asyncio.run(session.play([ECHO]))
    assert after.status == "success"

"""What may be called in a session without asking: for all of it, for one caller's calls, and from now on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infospace import Conflict, Space
from infospace.core.clock import now
from infospace.journal.rows import Approve
from infospace.tools.approvals import revoke_approval
from infospace.tools.local import LocalTools
from planner.journal.result import RunResult
from planner.lifecycle.resume import answer, resume
from planner.sessions.session import Session

SEND = {"type": "outside/send", "out": "$s"}
NOTE = {"type": "create-note", "value": 1, "out": "$x"}


@pytest.fixture
def sent(space: Space) -> list[str]:
    """What was sent by `outside/send`, which is asked about; `outside/forget` lets the space ask again."""
    made: list[str] = []
    outside = LocalTools("outside")

    @outside.tool(destructive=True)
    def send() -> str:
        """Send something."""
        made.append("sent")
        return "sent"

    @outside.tool(read_only=True)
    def forget() -> str:
        """Ask again about what might always be sent."""
        revoke_approval(space.store, "outside/send")
        return "forgotten"

    space.tools.add(outside)
    return made


def play(session: Session, *steps: Any) -> RunResult:
    return asyncio.run(session.play(steps))


def test_a_session_is_told_later_what_it_need_not_ask(space: Space, sent: list[str]) -> None:
    """From the next call on, though it has made some."""
    session = Session(space, "s")
    assert play(session, NOTE).status == "success"
    session.allow(["outside/send"])
    assert play(session, SEND).status == "success"
    assert sent == ["sent"]


def test_what_a_caller_approves_for_its_own_calls_is_asked_about_in_those_of_others(
    space: Space, sent: list[str]
) -> None:
    """What somebody answered for the whole run stays approved in all of them."""
    assert play(Session(space, "s", approve=["outside/send"], alone=True), SEND).status == "success"
    asked = play(Session(space, "s", alone=True), SEND)
    assert [(one.step, one.kind) for one in asked.pending] == [("2", "approve")]
    assert sent == ["sent"]
    answer(space, str(asked.run), asked.pending[0].step, "run")
    assert asyncio.run(resume(space, str(asked.run))).status == "success"
    assert play(Session(space, "s", alone=True), SEND).status == "success"
    assert sent == ["sent"] * 3


def test_what_a_caller_approves_holds_though_the_space_asks_again_meanwhile(space: Space, sent: list[str]) -> None:
    """That it was approved in the space, too, took nothing from it."""
    assert play(Session(space, "s"), NOTE).status == "success"
    space.store.commit([], [Approve("outside/send", None, now())])
    session = Session(space, "s", approve=["outside/send"], alone=True)
    assert play(session, {"type": "outside/forget"}, SEND).status == "success"
    assert sent == ["sent"]


def test_a_session_that_never_was_is_said_not_to_be_open(space: Space) -> None:
    """By its name, where it has one."""
    for name, shown in ((None, "session"), ("s", "session 's'")):
        with pytest.raises(Conflict) as error:
            asyncio.run(Session(space, name).resume())
        assert str(error.value) == f"the {shown} is not open (steps that are given to it by its name open one)"


@pytest.mark.parametrize(("status", "ended"), [("success", "stopped"), ("failed", "failed")])
def test_a_session_without_a_name_is_over_with_its_stop(space: Space, status: str, ended: str) -> None:
    """Which comes after an answer: it is not ended another time."""
    question = {"type": "ask", "value": "which?", "out": "$y"}
    asked = play(Session(space), question, {"type": "stop", "value": "$y", "status": status}, NOTE)
    run = str(asked.run)
    answer(space, run, "1", 7)
    result = asyncio.run(resume(space, run))
    assert (result.status, [row.position for row in result.steps]) == (ended, ["1", "2"])
    assert result.reason == "step 2 stopped the plan"
    assert result.result is not None
    assert result.result.data == 7
    with space.store.reading() as snapshot:
        row = snapshot.run(run)
    assert (row.status, row.reason) == (ended, "step 2 stopped the plan")

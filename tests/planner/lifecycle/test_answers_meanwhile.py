"""An answer that is given while a run goes on, or is just being taken up, is taken."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infospace import Conflict, NotFound, Space
from planner.execute.start import run_sync
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Event, RunStarted, StepFinished
from planner.lifecycle.resume import answer, resume
from planner.sessions.session import Session

ASK = {"type": "ask", "value": "who?", "out": "$who"}
LOOK = {"type": "wait", "condition": {"type": "bound", "target": "a name that comes"}}
GREET = {"type": "create-note", "value": "hello ${who}", "out": "$greeting"}
PLAN = [{"type": "parallel", "branches": [[ASK, GREET], [LOOK]]}]
STEP = "1.branches[1].1"


@pytest.fixture
def waiting(space: Space) -> str:
    """A run that waits for an answer and for a condition."""
    run = run_sync(space, PLAN)
    assert [one.kind for one in run.pending] == ["ask", "wait"]
    return str(run.run)


def test_an_answer_between_the_look_and_the_taking_is_taken(
    space: Space, waiting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes after the answers were read, and before the run is owned: the run goes on once, with the answer."""
    commit = space.store.commit

    def answered_before(changes: Any, entries: Any = ()) -> int:
        monkeypatch.setattr(space.store, "commit", commit)
        answer(space, waiting, STEP, "ann")
        return commit(changes, entries)

    monkeypatch.setattr(space.store, "commit", answered_before)
    heard: list[Event] = []
    run = asyncio.run(resume(space, waiting, heard.append))
    assert "hello ann" in [row.value for row in run.steps]
    assert [one.kind for one in run.pending] == ["wait"]
    assert [type(event) for event in heard].count(RunStarted) == 1


def test_an_answer_while_the_run_looks_is_taken_before_it_rests(space: Space, waiting: str) -> None:
    """Whoever gives it need not go on with the run, which is running already."""
    given: list[str] = []
    heard: list[Any] = []

    def hear(event: Event) -> None:
        if isinstance(event, StepFinished):
            heard.append(event.row.value)
            if event.row.type == "wait" and not given:
                given.append(event.row.position)
                answer(space, waiting, STEP, "ann")

    run = asyncio.run(resume(space, waiting, hear))
    assert given
    assert "hello ann" in heard, "who listens hears of what the answer leads to"
    assert "hello ann" in [row.value for row in run.steps]
    assert [one.kind for one in run.pending] == ["wait"]
    with pytest.raises(NotFound, match="asks nothing"):
        answer(space, waiting, STEP, "bob")


def test_a_run_that_goes_on_by_itself_with_an_answer_is_put_to_rest_by_the_same_request(
    space: Space, waiting: str
) -> None:
    """It begins no more steps than one that was asked to rest before."""
    halt, waits = SuspendRequest(), 0

    def hear(event: Event) -> None:
        nonlocal waits
        if isinstance(event, StepFinished) and event.row.type == "wait":
            waits += 1
            if waits == 1:
                answer(space, waiting, STEP, "ann")
        if isinstance(event, RunStarted) and waits:
            halt.set()

    run = asyncio.run(resume(space, waiting, hear, halt))
    assert run.status == "suspended"
    assert "hello ann" not in [row.value for row in run.steps]
    again = asyncio.run(resume(space, waiting))
    assert "hello ann" in [row.value for row in again.steps]


def test_a_run_that_is_put_to_rest_as_it_is_answered_rests(space: Space, waiting: str) -> None:
    """It is not taken up once more for the answer, which is there when somebody goes on with it."""
    halt, heard = SuspendRequest(), list[Event]()

    def hear(event: Event) -> None:
        heard.append(event)
        if isinstance(event, StepFinished) and event.row.type == "wait":
            answer(space, waiting, STEP, "ann")
            halt.set()

    run = asyncio.run(resume(space, waiting, hear, halt))
    assert (run.status, [one.step for one in run.pending]) == ("suspended", [STEP, "1.branches[2].1"])
    assert [type(event) for event in heard].count(RunStarted) == 1
    again = asyncio.run(resume(space, waiting))
    assert "hello ann" in [row.value for row in again.steps]


def test_what_a_running_run_does_not_ask_is_not_answered(space: Space, waiting: str) -> None:
    said: list[str] = []

    def hear(event: Event) -> None:
        if isinstance(event, StepFinished) and event.row.type == "wait" and not said:
            with pytest.raises(Conflict, match="is running, and waits for nothing") as error:
                answer(space, waiting, "7", "ann")
            said.append(str(error.value))

    asyncio.run(resume(space, waiting, hear))
    assert said


def test_an_answer_to_a_session_that_is_just_taken_up_is_taken(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(space, "s")
    run = asyncio.run(session.play(PLAN))
    commit = space.store.commit

    def answered_before(changes: Any, entries: Any = ()) -> int:
        monkeypatch.setattr(space.store, "commit", commit)
        answer(space, str(run.run), STEP, "ann")
        return commit(changes, entries)

    monkeypatch.setattr(space.store, "commit", answered_before)
    ended = asyncio.run(session.resume())
    assert "hello ann" in [row.value for row in ended.steps]

"""What is said where a run cannot be answered, gone on with, cancelled, forked or replayed: each sentence, whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from infospace import InfospaceError, Space, open_space
from infospace.core.clock import now
from infospace.journal.rows import ClaimRun, CloseRun, OpenRun
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync
from planner.journal.lease import new_owner
from planner.lifecycle.cancel import cancel
from planner.lifecycle.fork import fork
from planner.lifecycle.replay import replay
from planner.lifecycle.resume import answer, must_be_all_there, resume
from planner.sessions.session import Session

ASK = {"type": "ask", "value": "Which year?", "schema": {"type": "integer"}, "out": "$year"}
OTHER = {"type": "ask", "id": "colour", "value": "Which colour?", "out": "$colour"}
NOTE = {"type": "create-note", "value": "x", "out": "$t"}
FAILS = {"type": "coerce", "target": "$t", "coercion": "${t}"}
LAST = {"type": "say", "value": "${t}"}
STOPS = {"type": "if", "condition": "1 = 1", "then": [{"type": "stop"}]}


def said(kind: str, call: Callable[[], object]) -> str:
    """Return what a call is refused with, which is an error of this kind."""
    with pytest.raises(InfospaceError) as error:
        call()
    assert type(error.value).__name__ == kind
    return str(error.value)


def test_what_does_not_answer_a_question(space: Space) -> None:
    """Which run and step, what it waits for, and what is near to what was written."""
    run = str(run_sync(space, [{"type": "parallel", "branches": [[ASK], [OTHER]]}, NOTE]).run)
    first, second = "1.branches[1].1", "1.branches[2].colour"
    assert said("NotFound", lambda: answer(space, run, "2", 1)) == (
        f"step '2' of {run} asks nothing (it waits for {first}, {second})"
    )
    assert said("NotFound", lambda: answer(space, run, "1.branches[2].color", 1)) == (
        f"step '1.branches[2].color' of {run} asks nothing (did you mean {second!r}?)"
    )
    assert said("Invalid", lambda: answer(space, run, first, "soon")) == (
        f'the answer to step {first} does not fit: "soon" is not a whole number (Which year?)'
    )
    waits = str(run_sync(space, [{"type": "wait", "condition": {"type": "bound", "target": "$never"}}]).run)
    assert said("NotFound", lambda: answer(space, waits, "1", 1)) == (
        f"step '1' of {waits} asks nothing (`infospace resume` continues it)"
    )
    ended = str(run_sync(space, [NOTE]).run)
    assert said("Conflict", lambda: answer(space, ended, "1", 1)) == (
        f"{ended} is success, and waits for nothing (`infospace runs` says which are suspended)"
    )


def opened(space: Space, kind: Any, status: Any, document: Any = None) -> str:
    """Return a run of a kind that stands so, of an owner in this process."""
    run = space.store.new_id("run")
    owner = new_owner()
    entries: list[Any] = [OpenRun(run, kind, "", document, {}, now(), owner)]
    if status != "running":
        entries.append(CloseRun(run, status, now()))
    space.store.commit([], entries)
    return run


def leave(space: Space, run: str) -> None:
    """Let the process be gone that goes on with a run."""
    with space.store.reading() as snapshot:
        owner = snapshot.run(run).owner
    space.store.commit([], [ClaimRun(run, "gone.example:1:x", owner, "2020-01-01T00:00:00.000Z")])


def test_what_is_not_gone_on_with(space: Space) -> None:
    """For it is none, has ended, is live, was refused, or never came."""

    def going(run: str) -> Callable[[], object]:
        return lambda: asyncio.run(resume(space, run))

    edit = opened(space, "edit", "success")
    assert said("Conflict", going(edit)) == (
        f"{edit} is not a run of a plan or a session, and cannot be resumed (`infospace runs` lists them)"
    )
    left = opened(space, "import", "running")
    leave(space, left)
    assert said("Conflict", going(left)) == (
        f"{left} is not a run of a plan or a session, and cannot be resumed (`infospace runs` lists them)"
    )
    with space.store.reading() as snapshot:
        assert snapshot.run(left).status == "running"
    ended = str(run_sync(space, [NOTE]).run)
    assert said("Conflict", going(ended)) == (
        f"{ended} has ended already: success (`infospace run` runs its plan again)"
    )
    live = opened(space, "plan", "running", [NOTE])
    with space.store.reading() as snapshot:
        owner = snapshot.run(live).owner
    assert said("Conflict", going(live)) == (
        f"{live} is being run by {owner} (it can be resumed once that process has ended)"
    )
    for status, what in (("refused", "was refused"), ("cancelled", "never arrived whole")):
        none = opened(space, "plan", status)
        assert said("Conflict", going(none)) == (
            f"the plan of {none} {what}: nothing of it was done (`infospace run` runs it again)"
        )


def test_what_is_not_cancelled(space: Space) -> None:
    ended = str(run_sync(space, [NOTE]).run)
    assert said("Conflict", lambda: cancel(space, ended)) == (
        f"{ended} has ended already, with success (undo takes back what it did)"
    )
    live = opened(space, "plan", "running", [NOTE])
    with space.store.reading() as snapshot:
        owner = snapshot.run(live).owner
    assert said("Conflict", lambda: cancel(space, live)) == f"{live} is being run by {owner} (cancel it there)"


def test_a_plan_that_its_process_left_before_it_had_arrived_is_cancelled(space: Space) -> None:
    """Whoever would go on with it is told that there is none."""
    run = opened(space, "plan", "running")
    leave(space, run)
    assert said("Conflict", lambda: asyncio.run(resume(space, run))) == (
        f"the plan of {run} never arrived whole: nothing of it was done (`infospace run` runs it again)"
    )
    with space.store.reading() as snapshot:
        row = snapshot.run(run)
    assert (row.status, row.reason) == ("cancelled", "its process ended before its plan had arrived whole")


def test_what_is_not_forked(space: Space) -> None:
    """For it is no run of a plan, has no such step, or ended before it."""

    def forking(run: str, step: str, *patch: Any) -> Callable[[], object]:
        return lambda: asyncio.run(fork(space, run, step, list(patch)))

    edit = opened(space, "edit", "success")
    assert said("Conflict", forking(edit, "1")) == (
        f"{edit} is not a run of a plan, and cannot be forked (`infospace runs` lists them)"
    )
    session = str(asyncio.run(Session(space, "s").play([NOTE])).run)
    assert said("Conflict", forking(session, "1")) == (
        f"{session} is a session, whose lines come call by call, and cannot be forked "
        f"(`infospace show {session} --json` has its lines, to be run as a plan)"
    )
    for ending, how in ((FAILS, "failed"), (STOPS, "stopped the plan")):
        run = str(run_sync(space, [NOTE, ending, LAST]).run)
        assert said("Conflict", forking(run, "3")) == (
            f"step 2 of {run} {how}, and a fork at step 3 would end there too (fork it at step 2)"
        )
    run = str(run_sync(space, [{**NOTE, "id": "first"}, LAST]).run)
    assert said("NotFound", forking(run, "9")) == f"the plan of {run} has no step '9' of its own (it has first, 2)"
    assert said("NotFound", forking(run, "frist")) == (
        f"the plan of {run} has no step 'frist' of its own (did you mean 'first'?)"
    )
    change = {"op": "replace", "path": "/0/value", "value": "y"}
    assert said("Invalid", forking(run, "2", change)) == (
        "step first is changed, and lies before the step from which the run is forked (fork it at step first)"
    )
    absent = {"op": "replace", "path": "/7/value", "value": 5}
    assert said("Invalid", forking(run, "2", absent)) == (
        "operation 0 of the patch names a place that the plan does not have: /7/value "
        f"(`infospace show {run} --json` has the plan)"
    )


def test_what_is_not_replayed(space: Space) -> None:
    edit = opened(space, "edit", "success")
    assert said("Conflict", lambda: asyncio.run(replay(space, edit))) == (
        f"{edit} is not a run of a plan or a session, and cannot be replayed (`infospace runs` lists them)"
    )


def test_what_a_run_needs_that_is_not_here(tmp_path: Path) -> None:
    """The first of its tools that is missing, how many more there are, and where it can be gone on with."""
    outside = LocalTools("outside")

    @outside.tool(read_only=True)
    def look() -> str:
        """Look."""
        return "seen"

    @outside.tool(read_only=True)
    def hear() -> str:
        """Hear."""
        return "heard"

    with open_space(tmp_path / "space.db") as space:
        space.tools.add(outside)
        one = str(run_sync(space, [ASK, {"type": "outside/look"}]).run)
        two = str(run_sync(space, [ASK, {"type": "outside/look"}, {"type": "outside/hear"}]).run)
        must_be_all_there(space, one)
    with open_space(tmp_path / "space.db") as space:
        for run, more in ((one, ""), (two, ", and 1 more")):
            for going in (lambda run: asyncio.run(resume(space, run)), partial(must_be_all_there, space)):
                assert said("Conflict", partial(going, run)) == (
                    f"step 2 of {run} calls outside/look{more}, which is not here "
                    "(it waits as it is: resume it where its servers are connected)"
                )


def test_a_fork_is_told_by_its_goal(space: Space) -> None:
    """With the goal of its run, where that has one, and the run."""
    for goal, of in (("find out", "find out (fork of {run})"), ("", "(fork of {run})")):
        run = str(run_sync(space, {"goal": goal, "steps": [NOTE, LAST]}).run)
        made = str(asyncio.run(fork(space, run, "2", [])).run)
        with space.store.reading() as snapshot:
            row = snapshot.run(made)
        assert (row.goal, row.forked) == (of.format(run=run), run)

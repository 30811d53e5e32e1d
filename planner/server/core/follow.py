"""`follow`: which runs there are, how one stands and what is new of it, answering, resuming, cancelling, forking."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from infospace.core.errors import Invalid
from infospace.core.ids import number_of
from infospace.core.position import is_execution_of, is_nested
from infospace.data.result import truncate
from infospace.journal.rows import RunRow, StepRow
from infospace.space import Space
from planner.inspect.variable_history import by_end_time
from planner.journal.events import Emit
from planner.journal.lease import is_live
from planner.journal.result import RunResult
from planner.lifecycle.fork import fork
from planner.lifecycle.resume import must_be_all_there
from planner.server import arguments
from planner.server.core.answers import REASON, bound_to, show_run
from planner.server.core.arguments import Follow
from planner.server.core.wording import plain
from planner.server.live_runs import Tell
from planner.server.operations import Operations
from planner.server.run_json import find_run
from planner.sessions.session_run import is_between_calls

RUNS: Final = 10
"""Runs that a list shows."""
GOAL: Final = 80
"""Characters of a goal, or of what a step gave."""
PAGE: Final = 4 * RUNS
"""Runs of every kind that are read at once for a list."""
NEW: Final = 8
"""Steps that one look tells of."""
STEPS: Final = 40
"""Steps that are told where they are asked for."""


async def follow(operations: Operations, args: Follow, tell: Tell) -> dict[str, Any]:
    """Return the runs, or how one is after what was done to it. Raises Invalid for what does not go together."""
    if args.run is None:
        return await asyncio.to_thread(_list, operations.space)
    if args.answers:
        if args.step is None or args.do not in ("look", "resume"):
            raise Invalid("`value` answers what a step asks", hint='{"run", "step", "value"}: `asks` names the step')
        return await _answered(operations, args, args.step, tell)
    match args.do:
        case "look":
            asked = arguments.GetRun(run=args.run, wait_s=args.wait_s, first_step=None)
            document = await operations.get_run(asked, tell)
            return await asyncio.to_thread(_run_state, operations, document, args.after)
        case "steps":
            return await asyncio.to_thread(_steps, operations.space, args.run, args.step)
        case "resume":
            return await _shown(operations, await _resumed(operations, args.run, args.waits, tell))
        case "cancel":
            return await _shown(operations, await operations.cancel_run(arguments.CancelRun(run=args.run), tell))
        case "fork":
            return await _forked(operations, args, tell)


async def _shown(operations: Operations, document: Mapping[str, Any]) -> dict[str, Any]:
    return await asyncio.to_thread(show_run, document, operations.access)


async def _answered(operations: Operations, args: Follow, step: str, tell: Tell) -> dict[str, Any]:
    asked = arguments.AnswerRun(run=str(args.run), step=step, value=args.value, wait_s=args.waits)
    return await _shown(operations, await operations.answer_run(asked, tell))


async def _resumed(operations: Operations, run: str, seconds: float, tell: Tell) -> dict[str, Any]:
    """Go on with a run: of one that nobody runs, from where its journal ends. What is asked stays asked."""
    must_be_all_there(operations.space, run)
    return await operations.resume_run(run, seconds, tell)


async def _forked(operations: Operations, args: Follow, tell: Tell) -> dict[str, Any]:
    run, step = str(args.run), args.step
    if step is None:
        raise Invalid("a fork needs `step`, from which the plan runs again", hint="`patch` changes it from there on")

    async def play(emit: Emit) -> RunResult:
        return await fork(operations.space, run, step, args.patch, emit, approve=operations.access.approve)

    find_run(operations.space, run)
    return await _shown(operations, await operations.play(play, args.waits, tell))


# What is told


def _list(space: Space) -> dict[str, Any]:
    """Return the latest plans and sessions, however many imports and edits came after them."""
    rows: list[RunRow] = []
    before: int | None = None
    with space.store.reading() as snapshot:
        while len(rows) < RUNS:
            page = snapshot.runs(limit=PAGE, before=before)
            rows += [row for row in page if row.kind in ("plan", "session")]
            if len(page) < PAGE:
                break
            before = number_of(page[-1].run)
    return {"runs": [_in_a_line(row) for row in rows[:RUNS]]}


def _in_a_line(row: RunRow) -> dict[str, Any]:
    """Return a run in a line; one whose process is no more waits for somebody to go on with it."""
    at_rest = row.kind == "session" and row.status == "suspended" and is_between_calls(row)
    left = row.status == "running" and not is_live(row)
    status = "open" if at_rest else "suspended" if left else row.status
    shown: dict[str, Any] = {"run": row.run, "status": status, "started": row.started[:16]}
    return {**shown, **({"goal": truncate(row.goal, GOAL)} if row.goal else {})}


def _run_state(operations: Operations, document: dict[str, Any], after: int) -> dict[str, Any]:
    """Return how a run is, which steps run, and what ended after the first `after` steps that did: its own by name."""
    shown = show_run(document, operations.access)
    if document["status"] not in ("running", "suspended"):
        return shown
    _, rows = find_run(operations.space, document["run"])
    ended = list(by_end_time([row for row in rows if row.status != "suspended"]))
    fresh = ended[after:]
    report: dict[str, Any] = {"seen": len(ended)}
    live_runs = operations.lives.going(document["run"])
    running = live_runs[-1].running if live_runs else _called(operations.space, document["run"], ended)
    if running and document["status"] == "running":
        report["running"] = running[:NEW]
    own = [row for row in fresh if not is_nested(row.position) and row.status == "success" and row.resource][-NEW:]
    if own:
        ids = {row.position: str(row.resource) for row in own}
        shapes = bound_to(operations.space, ids)
        report["new"] = [f"{row.position} {row.type}: {shapes[row.position]}" for row in own]
    others = len(fresh) - len(own)
    if others:
        report["other_steps"] = others
    return {**shown, **report}


def _called(space: Space, run: str, ended: Sequence[StepRow]) -> list[str]:
    """Return what a run that goes on elsewhere calls now: of its running steps the journal has these alone.

    A call that was broken off stays begun in the journal, and is over with its step, or where it is made again.
    """
    over = {row.position for row in ended}
    with space.store.reading() as snapshot:
        calls = {(call.position, call.digest): call for call in snapshot.calls(run)}
    return [
        f"{call.position} {call.target}"
        for call in calls.values()
        if call.status == "started" and not any(is_execution_of(call.position, position) for position in over)
    ]


def _steps(space: Space, run: str, step: str | None) -> dict[str, Any]:
    """Return the executions of a run, or of one step and those inside it, the last of them."""
    _, rows = find_run(space, run)
    if step is not None:
        rows = [row for row in rows if is_execution_of(row.position, step)]
        if not rows:
            raise Invalid(f"{run} has executed no step {step!r:.60}", hint='such as "4" or "4.do[3].2"')
    document = {"run": run, "steps": [_step(row) for row in rows[-STEPS:]]}
    return {**document, "left_out": len(rows) - STEPS} if len(rows) > STEPS else document


def _step(row: StepRow) -> str:
    out = f" ${row.out}" if row.out else ""
    ref = f" {row.resource}" if row.resource else ""
    text = f": {truncate(plain(row.reason), REASON)}" if row.reason else ""
    return f"{row.position} {row.type} {row.status}{out}{ref} {row.duration_ms:.0f} ms{text}"

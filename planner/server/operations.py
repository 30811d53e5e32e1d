"""What a planner can do through the server, as values: each answers JSON in full, which its tool shows in short."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from infospace.core.clock import now
from infospace.core.errors import Conflict, Invalid, InvalidJSON, NotFound
from infospace.core.json_types import JSON
from infospace.data.json_text import read_json
from infospace.journal.rows import ClaimRun, CloseRun, RunRow
from infospace.space import Space
from infospace.tools.scoped_space import ScopedSpace
from planner.execute.start import Prepared, Refused, check_plan, prepare, stream
from planner.goals.resume import resume
from planner.journal.events import Emit
from planner.journal.lease import is_live, new_owner
from planner.journal.result import RunResult, binding
from planner.journal.suspension import Pending
from planner.language.problems import Problem
from planner.lifecycle.resume import answer, must_be_all_there, pending_of
from planner.metatools.arguments import LONGEST_MS
from planner.metatools.compat.discover import Discovery
from planner.parse.saved_plans import load_plan
from planner.parse.steps import SAVED
from planner.server import arguments
from planner.server.access import Access, Rate
from planner.server.approvals import QuestionStore, refuse_human_question
from planner.server.live_runs import LiveRun, LiveRuns, Playing, Tell, play_run
from planner.server.run_json import find_run, is_over, recorded_run_json
from planner.server.truncate import PART, truncate_bindings
from planner.sessions.bindings import bindings_of, living_bindings
from planner.sessions.names import full_name, not_open, open_run
from planner.sessions.session import Session

LOOK_S = 0.25
"""Seconds between two looks at a run that goes on elsewhere."""
SHOWN = 100
"""Characters that a binding shows of what it is bound to."""


ANYBODY: Final = Access("anybody")


class Operations:
    """One space as one caller sees it, what runs in it here, and its sessions.

    Close it: what goes on is cancelled, and journalled.
    """

    def __init__(self, space: Space, access: Access = ANYBODY) -> None:
        longest = access.timeout_ms / 1000 if access.timeout_ms < LONGEST_MS else None
        self.space = ScopedSpace(space, access.scope, longest, access.sight, access.facts)
        self.access = access
        self.rate = Rate(access.rate_per_minute)
        self.counts: Counter[tuple[str, str]] = Counter()
        """Calls by the name of the tool and what came of them."""
        self.lives = LiveRuns(access.bounds)
        self.asked = QuestionStore()
        self.discovery = Discovery(self.space)
        """What was discovered in this conversation."""
        self._sessions: dict[str, Session] = {}
        self._cancelling: dict[str, asyncio.Event] = {}
        """The runs that are being cancelled here; each event is set once that is journalled."""

    async def close(self) -> None:
        """Cancel what goes on."""
        await self.lives.close()

    # Plans

    async def check_plan(self, args: arguments.CheckPlan, tell: Tell) -> dict[str, Any]:
        """Check a plan, and its inputs where they are given."""
        del tell
        return await asyncio.to_thread(self._checked, args)

    def _checked(self, args: arguments.CheckPlan) -> dict[str, Any]:
        read = self._document(args.plan)
        problems: Sequence[Problem]
        if isinstance(read, Refused):
            problems = read.problems
        elif args.inputs is None:
            problems = check_plan(self.space, read)[1].found
        else:
            prepared = prepare(self.space, read, args.inputs)
            problems = prepared.problems if isinstance(prepared, Refused) else prepared.warnings
        ok = all(problem.severity != "error" for problem in problems)
        return {"ok": ok, "problems": [problem.to_json() for problem in problems]}

    async def run_plan(self, args: arguments.RunPlan, tell: Tell) -> dict[str, Any]:
        """Check and run a plan, and wait for it as long as the caller likes."""
        prepared = await asyncio.to_thread(self._prepared, args)
        if isinstance(prepared, Refused):
            return prepared.to_result().to_json()
        live = self.lives.start(play_run(stream(self.space, prepared, approve=self.access.approve)))
        return await self._followed(live, args.wait_s, tell)

    def _prepared(self, args: arguments.RunPlan) -> Prepared | Refused:
        read = self._document(args.plan)
        return read if isinstance(read, Refused) else prepare(self.space, read, args.inputs)

    async def run_steps(self, args: arguments.RunSteps, tell: Tell) -> dict[str, Any]:
        """Check and run the next steps of a session, after those that others gave it before."""
        session = self._session(args.session)
        place = session.join()

        async def play(emit: Emit) -> RunResult:
            return await session.play(list(args.steps), emit, place=place)

        try:
            live = self.lives.start(play, session.run or "")
        except BaseException:
            place.leave()
            raise
        live.task.add_done_callback(lambda _: place.leave())
        if not await live.wait(args.wait_s, tell) and not live.run:
            live.run = session.run or ""
        report = await self._followed(live, 0, tell)
        if report["status"] == "refused":
            with self.space.store.reading() as snapshot:
                report["reason"] = report["reason"] or not_open(snapshot, args.session, self._owner)
        return report

    def _session(self, name: str) -> Session:
        """Return the session of a name, which need not be open yet. Raises Invalid for what cannot be a name."""
        result = Session(self.space, name, approve=self.access.approve, alone=True, owner=self._owner)
        return self._sessions.setdefault(full_name(name), result)

    @property
    def _owner(self) -> str | None:
        """Whose the sessions are, None where they are everybody's."""
        return self.access.caller if self.access.sight.sessions == "own" else None

    async def _followed(self, live: LiveRun, seconds: float, tell: Tell) -> dict[str, Any]:
        """Wait for something that runs; return how it ended, or how far it is."""
        await live.begun()
        has_ended = await live.wait(seconds, tell)
        if has_ended and not live.task.cancelled():
            return await asyncio.to_thread(lambda: live.task.result().to_json())
        if not live.run:
            raise Conflict("it was cancelled before it began", hint="call again")
        if has_ended and live.run in self._cancelling:
            # A call that queued is cancelled before the one that ran: until then the journal says that the run goes on.
            await self._cancelling[live.run].wait()
        return await asyncio.to_thread(self._shown, live.run)

    def _document(self, plan: JSON) -> JSON | Refused:
        """Return the document that a plan is given as: itself, its text, or a saved one by name."""
        if not isinstance(plan, str):
            return plan
        try:
            if plan.startswith(SAVED):
                return load_plan(self.space, plan.removeprefix(SAVED))
            return read_json(plan)
        except (InvalidJSON, NotFound) as error:
            pointer = error.pointer if isinstance(error, InvalidJSON) else ""
            return Refused((Problem(error.kind, pointer, error.message, error.hint),))

    # Runs

    async def get_run(self, args: arguments.GetRun, tell: Tell) -> dict[str, Any]:
        """Return how far a run is, or how it ended."""
        find_run(self.space, args.run)
        live_runs = self.lives.going(args.run)
        if live_runs:
            await live_runs[-1].wait(args.wait_s, tell)
        else:
            await self._wait_for_end(args.run, args.wait_s)
        return await asyncio.to_thread(self._shown, args.run)

    async def _wait_for_end(self, run: str, seconds: float) -> None:
        """Wait for a run that goes on at another door or in another process, which tell nothing: look now and then."""
        end = asyncio.get_running_loop().time() + seconds
        while (left := end - asyncio.get_running_loop().time()) > 0:
            with self.space.store.reading() as snapshot:
                row = snapshot.run(run)
            if row.status != "running" or not is_live(row):
                return
            await asyncio.sleep(min(LOOK_S, left))

    def _shown(self, run: str) -> dict[str, Any]:
        row, steps = find_run(self.space, run)
        shown = recorded_run_json(self.space, row, steps, live=bool(self.lives.going(run)))
        last = next((live for live in reversed(self.lives.of(run)) if live.task.done()), None)
        if last is not None and last.failed is not None:
            shown["reason"] = shown["reason"] or str(last.failed)
        elif last is not None and last.result is not None:
            shown["problems"] = [problem.to_json() for problem in last.result.problems]
        return shown

    async def answer_run(self, args: arguments.AnswerRun, tell: Tell) -> dict[str, Any]:
        """Answer what a suspended run asks, and wait for it; at a `wait` just look again whether it is over.

        Raises NotAllowed for what people have to answer, who have not, Conflict for a run that cannot go on in this
        scope: then nothing was answered.
        """
        row, steps = find_run(self.space, args.run)
        if row.status == "running" and not self.lives.going(args.run) and not is_live(row):
            # Its process is gone: nothing was asked yet, and going on is what can be done.
            return await self._followed(self.lives.start(self.resuming(args.run), args.run), args.wait_s, tell)
        pending = {one.step: one for one in pending_of(steps)}.get(args.step)
        if pending is None or not self._is_answered(args.run, pending):
            if pending is not None:
                self.may_answer(args.run, pending)
                refuse_human_question(self.space, args.run, pending, self.access)
            must_be_all_there(self.space, args.run)
            if row.status != "suspended" or pending is None or pending.kind != "wait":
                answer(self.space, args.run, args.step, args.value)
        return await self._resumed(args.run, args.wait_s, tell)

    async def _resumed(self, run: str, seconds: float, tell: Tell) -> dict[str, Any]:
        """Go on with a run that was answered, or wait for whoever goes on with it already, and takes the answer."""
        live_runs = self.lives.going(run)
        if live_runs:
            return await self._followed(live_runs[-1], seconds, tell)
        row, _ = find_run(self.space, run)
        if row.status == "running" and is_live(row):
            await self._wait_for_end(run, seconds)
            return await asyncio.to_thread(self._shown, run)
        return await self._followed(self.lives.start(self.resuming(run), run), seconds, tell)

    async def answered_by_person(self, run: str, step: str, word: JSON, seconds: float, tell: Tell) -> dict[str, Any]:
        """Answer for the person behind the client what a suspended run asks, and wait for it."""
        must_be_all_there(self.space, run)
        answer(self.space, run, step, word)
        return await self._resumed(run, seconds, tell)

    async def resume_run(self, run: str, seconds: float, tell: Tell) -> dict[str, Any]:
        """Go on with what a run has left, and wait for it; raises Conflict where there is nothing to go on with."""
        return await self._resumed(run, seconds, tell)

    async def play(self, play: Playing, seconds: float, tell: Tell) -> dict[str, Any]:
        """Play something that is a run, and wait for it."""
        return await self._followed(self.lives.start(play), seconds, tell)

    def resuming(self, run: str) -> Playing:
        """Return the playing of what is left of a run."""

        async def play(emit: Emit) -> RunResult:
            return await resume(self.space, run, emit, approve=self.access.approve)

        return play

    def may_answer(self, run: str, pending: Pending) -> None:
        """Raise NotFound for a question about a tool that may not be known here."""
        tool = None if pending.about is None else pending.about.get("tool")
        if tool is not None and self.space.tools.find(tool) is None:
            raise NotFound(f"step {pending.step!r} of {run} asks nothing that can be answered here")

    def _is_answered(self, run: str, pending: Pending) -> bool:
        """Whether somebody answered already, and the run has not gone on yet."""
        with self.space.store.reading() as snapshot:
            return pending.answer_key in snapshot.answers(run)

    async def cancel_run(self, args: arguments.CancelRun, tell: Tell) -> dict[str, Any]:
        """Cancel a run: what it did stays, what it has not begun is not done."""
        del tell
        if args.run in self._cancelling:
            await self._cancelling[args.run].wait()
        row, _ = find_run(self.space, args.run)
        if is_over(row):
            raise Conflict(
                f"{args.run} has ended already, with {row.status}",
                hint=f"`infospace undo {args.run}` takes back what it did",
            )
        live_runs = self.lives.going(args.run)
        if not live_runs and is_live(row):
            raise Conflict(f"{args.run} is not run by this caller", hint=_who_can_cancel(row))
        journalled = self._cancelling[args.run] = asyncio.Event()
        try:
            await self.lives.cancel(live_runs)
            row, _ = find_run(self.space, args.run)
            if not is_over(row):
                at = now()
                entry = CloseRun(row.run, "cancelled", at, None, "the run was cancelled", row.spent)
                self.space.store.commit([], [ClaimRun(row.run, new_owner(), row.owner, at), entry])
        finally:
            del self._cancelling[args.run]
            journalled.set()
        return self._shown(args.run)

    async def list_bindings(self, args: arguments.ListBindings, tell: Tell) -> dict[str, Any]:
        """Return what the variables of a session or a run are bound to."""
        del tell
        if (args.session is None) is (args.run is None):
            raise Invalid("list_bindings takes `session` or `run`, one of them", hint='{"session": "default"}')
        run = args.run or self._open_session(str(args.session))
        row, steps = find_run(self.space, run)
        context = self.space.context()
        results = {
            name: {**binding(resource), "value": context.preview(resource)[:SHOWN]}
            for name, resource in living_bindings(self.space, bindings_of(row.inputs, steps)).items()
        }
        shown, left_out = truncate_bindings(results, PART)
        document: dict[str, Any] = {"run": run, "bindings": shown}
        return {**document, "left_out": left_out} if left_out else document

    def _open_session(self, name: str) -> str:
        """Return the run that an open session is. Raises NotFound, Invalid for what cannot be a name."""
        with self.space.store.reading() as snapshot:
            row = open_run(snapshot, full_name(name, self._owner))
            if row is None:
                raise NotFound(str(not_open(snapshot, name, self._owner)), hint="run_steps opens one")
            return row.run


def _who_can_cancel(row: RunRow) -> str:
    """Say who can cancel a run that goes on elsewhere."""
    if str(row.owner).startswith(f"{socket.gethostname()}:{os.getpid()}:"):
        return "another caller of this server began it, and can cancel it"
    return "another process runs it, and Ctrl-C there cancels it; once that has ended, it can be cancelled here"
